//! The processes: a server, a neighbour, and what counts a server's system calls.

use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::{env, hint};

use rt_benches::Usage;
use rt_benches::servers::{COMMAND, Mark};

use super::place::{Place, Quota};
use super::scenario::Scenario;

/// The argument by which this program is told to burn a processor.
const BURN: &str = "--burn";

/// A server, until it is dropped.
pub(super) struct Server {
    process: Ended,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
    pub(super) port: u16,
    _quota: Option<Quota>,
    _neighbour: Option<Ended>,
}

/// A process that ends with this.
struct Ended(Child);

/// A count of system calls under way.
pub(super) struct WaitCount(Child);

impl Server {
    /// Starts the server on a runtime, and what belongs to its place. Fails where there can be no such place.
    pub(super) fn start(scenario: &Scenario, runtime: &str, workers: usize) -> io::Result<Self> {
        let program = env::current_exe()?;
        let quota = (scenario.place == Place::Quota).then(Quota::set).transpose()?;
        let mut command = match &quota {
            Some(quota) => quota.command(&program),
            None => scenario.place.command(&program),
        };
        let workers = scenario.place.workers(workers).to_string();
        command.args([COMMAND, runtime, scenario.kind.name(), &workers]);
        let mut process = Ended(command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?);
        let orders = process.0.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let mut answers = BufReader::new(process.0.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?);
        let port = line(&mut answers)?.trim().parse().map_err(io::Error::other)?;
        let is_beside = scenario.place == Place::Neighbour;
        let neighbour = is_beside.then(|| Command::new(&program).arg(BURN).spawn().map(Ended)).transpose()?;
        Ok(Self { process, orders, answers, port, _quota: quota, _neighbour: neighbour })
    }

    /// What it has used up to now.
    pub(super) fn usage(&mut self) -> io::Result<Usage> {
        writeln!(self.orders, "?")?;
        let Mark(usage) = line(&mut self.answers)?.parse().map_err(io::Error::other)?;
        Ok(usage)
    }

    /// Counts how often it asks for events from now on, by the kernel's trace points. `None` where these, or perf, are
    /// not to be had.
    pub(super) fn count_waits(&self) -> Option<WaitCount> {
        let mut command = Command::new("perf");
        command.args(["stat", "-x,", "-e", WaitCount::EVENTS, "-p", &self.process.0.id().to_string()]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        command.spawn().ok().map(WaitCount)
    }
}

impl WaitCount {
    /// The calls by which mio and others wait.
    const EVENTS: &str = "syscalls:sys_enter_epoll_wait,syscalls:sys_enter_epoll_pwait,syscalls:sys_enter_epoll_pwait2,\
                          syscalls:sys_enter_ppoll,syscalls:sys_enter_poll";

    /// How many there have been. The server must have ended, which ends the count.
    pub(super) fn end(self) -> Option<f64> {
        let output = self.0.wait_with_output().ok()?;
        let text = String::from_utf8(output.stderr).ok()?;
        let counts: Vec<f64> = text.lines().filter_map(|line| line.split(',').next()?.parse().ok()).collect();
        (!counts.is_empty()).then(|| counts.iter().sum())
    }
}

impl Drop for Ended {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn line(from: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    match from.read_line(&mut line)? {
        0 => Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the server has ended")),
        _ => Ok(line),
    }
}

/// Burns a processor until the process is ended, if the arguments say so.
pub(crate) fn burn_if_told(arguments: &[String]) {
    if matches!(arguments, [only] if only == BURN) {
        loop {
            hint::black_box(());
        }
    }
}
