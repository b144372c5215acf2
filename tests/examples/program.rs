//! An example as a process.

use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};
use std::{env, thread};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// Nothing here takes a second, on a machine with nothing else to do.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running example. It is killed when this is dropped.
pub(crate) struct Program {
    name: &'static str,
    process: Child,
    lines: Receiver<String>,
    /// What it has printed so far.
    printed: Vec<String>,
}

/// Where the example is, beside this test.
fn path(name: &str) -> PathBuf {
    let own = env::current_exe().unwrap();
    let path = own.parent().unwrap().parent().unwrap().join("examples").join(name);
    assert!(path.exists(), "{} is not there: `cargo build --examples` builds it", path.display());
    path
}

impl Program {
    pub(crate) fn start(name: &'static str, arguments: &[&str]) -> Self {
        let mut process = Command::new(path(name))
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        let (send, lines) = channel();
        thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| send.send(line)));
        Self { name, process, lines, printed: Vec::new() }
    }

    /// Writes all of its standard input, and ends it.
    pub(crate) fn feed(&mut self, input: &str) {
        let mut stdin: ChildStdin = self.process.stdin.take().unwrap();
        stdin.write_all(input.as_bytes()).unwrap();
    }

    /// Waits until it prints a line with this in it, and returns the line.
    pub(crate) fn line(&mut self, part: &str) -> String {
        let end = Instant::now() + PATIENCE;
        loop {
            match self.lines.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(line) => {
                    self.printed.push(line.clone());
                    if line.contains(part) {
                        return line;
                    }
                }
                Err(RecvTimeoutError::Timeout) => panic!("{} does not print {part:?}: {:#?}", self.name, self.printed),
                Err(RecvTimeoutError::Disconnected) => {
                    panic!("{} has ended without printing {part:?}: {:#?}", self.name, self.printed)
                }
            }
        }
    }

    /// The address that it says it listens on.
    pub(crate) fn address(&mut self) -> SocketAddr {
        let line = self.line("listening on ");
        let address = line.split_once("listening on ").unwrap().1;
        address.split([',', ' ']).next().unwrap().parse().unwrap()
    }

    /// As ctrl-c does.
    pub(crate) fn interrupt(&self) {
        kill(Pid::from_raw(self.process.id() as i32), Signal::SIGINT).unwrap();
    }

    /// Waits until it has ended. Returns all that it has printed, and how it ended.
    pub(crate) fn end(mut self) -> (String, ExitStatus) {
        let end = Instant::now() + PATIENCE;
        loop {
            match self.lines.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(line) => self.printed.push(line),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => panic!("{} does not end: {:#?}", self.name, self.printed),
            }
        }
        let status = self.process.wait().unwrap();
        (self.printed.join("\n"), status)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
