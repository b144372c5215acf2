//! The processes: the servers that are measured, Redis, and what the kernel says that they used.

use std::io::{self, BufRead, BufReader, ErrorKind};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use std::{fs, path::Path};

/// A process that ends with this.
pub(crate) struct Ended(pub(crate) Child);

impl Drop for Ended {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A server, until it is dropped.
pub(crate) struct Server {
    process: Ended,
    pub(crate) port: u16,
    /// The server ends with it.
    _input: ChildStdin,
}

/// What a process holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    pub(crate) threads: f64,
    /// The most memory that it ever had in use, in MiB.
    pub(crate) peak_mib: f64,
}

impl Server {
    pub(crate) fn start(program: &Path, arguments: &[&str]) -> io::Result<Self> {
        let mut process =
            Ended(Command::new(program).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?);
        let input = process.0.stdin.take().ok_or(ErrorKind::BrokenPipe)?;
        let mut line = String::new();
        BufReader::new(process.0.stdout.take().ok_or(ErrorKind::BrokenPipe)?).read_line(&mut line)?;
        let port = line.trim().parse().map_err(|_| io::Error::other(format!("a server that says {line:?}")))?;
        Ok(Self { process, port, _input: input })
    }

    /// Processor time up to now, of all threads that it has and had. The kernel counts in hundredths of a second.
    pub(crate) fn cpu(&self) -> io::Result<Duration> {
        let text = fs::read_to_string(format!("/proc/{}/stat", self.process.0.id()))?;
        // The name is in parentheses and may have anything in it. User and system time are the 12th and 13th after it.
        let ticks = text.rsplit_once(')').map(|(_, rest)| rest.split_ascii_whitespace().skip(11).take(2));
        let ticks: u64 = ticks.into_iter().flatten().filter_map(|figure| figure.parse::<u64>().ok()).sum();
        Ok(Duration::from_millis(ticks * 10))
    }

    pub(crate) fn held(&self) -> io::Result<Held> {
        let text = fs::read_to_string(format!("/proc/{}/status", self.process.0.id()))?;
        let figure = |name: &str| -> Option<f64> {
            let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
            rest.split_ascii_whitespace().next()?.parse().ok()
        };
        match (figure("Threads:"), figure("VmHWM:")) {
            (Some(threads), Some(kib)) => Ok(Held { threads, peak_mib: kib / 1024.0 }),
            _ => Err(io::Error::other("the kernel does not say what a process holds")),
        }
    }
}

/// A Redis server that keeps nothing on the disk, and its URL.
pub(crate) fn redis() -> io::Result<(Ended, String)> {
    // Free a moment ago; Redis says so if it is not any more.
    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let mut command = Command::new("redis-server");
    command.args(["--bind", "127.0.0.1", "--port", &port.to_string(), "--save", "", "--appendonly", "no"]);
    let mut process = Ended(command.stdin(Stdio::null()).stdout(Stdio::null()).spawn()?);
    let begun = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        if begun.elapsed() > Duration::from_secs(10) || process.0.try_wait()?.is_some() {
            return Err(io::Error::other("redis-server does not start"));
        }
        thread::sleep(Duration::from_millis(10));
    }
    Ok((process, format!("redis://127.0.0.1:{port}/")))
}
