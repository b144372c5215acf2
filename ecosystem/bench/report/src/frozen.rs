//! A handler that blocks: what becomes of the other routes.
//!
//! The server is the one with the fixed answer. As many connections as the runtime has workers ask for the route that
//! holds its thread for half a second, each again as soon as it has its answer, while wrk asks for the other one.

use std::io::{self, BufRead, BufReader, ErrorKind, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use crate::load::{self, Seen};
use crate::process::Server;
use crate::{Effort, Sides};

/// Of wrk.
pub(crate) const CONNECTIONS: usize = 64;
pub(crate) const TITLE: &str = "a handler that blocks on every worker";
const ROUNDS: usize = 3;

/// One run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frozen {
    pub(crate) per_second: f64,
    pub(crate) latency_us: [f64; 4],
    /// Blocking requests that were answered, in a second.
    pub(crate) blocked_per_second: f64,
    pub(crate) threads: f64,
}

/// What came of it: the runs of rt and of Tokio, or why there are none. Nothing if the filter is for something else.
pub(crate) type Outcome = Option<Result<Vec<[Frozen; 2]>, String>>;

pub(crate) fn measure(sides: &Sides, effort: Effort, filter: &str) -> io::Result<Outcome> {
    if !TITLE.contains(filter) {
        return Ok(None);
    }
    eprintln!("{TITLE}");
    let workers = thread::available_parallelism()?.get();
    // Frozen for half a second at a time, a server needs some seconds to show anything.
    let length = effort.length.max(Duration::from_secs(3));
    let rounds = (0..ROUNDS).map(|round| {
        let mut runs = [None; 2];
        for side in [round % 2, 1 - round % 2] {
            runs[side] = Some(run(&sides[side], workers, length)?);
        }
        let [Some(on_rt), Some(on_tokio)] = runs else { return Err(io::Error::other("a side is missing")) };
        Ok([on_rt, on_tokio])
    });
    Ok(Some(rounds.collect::<io::Result<_>>().map_err(|error| error.to_string())))
}

fn run(program: &Path, workers: usize, length: Duration) -> io::Result<Frozen> {
    let server = Server::start(program, &["hello"])?;
    load::wrk(CONNECTIONS, server.port, Duration::from_secs(1))?;
    let has_ended = AtomicBool::new(false);
    thread::scope(|scope| {
        let blockers: Vec<_> = (0..workers).map(|_| scope.spawn(|| block(server.port, &has_ended))).collect();
        let seen = load::wrk(CONNECTIONS, server.port, length);
        let held = server.held();
        has_ended.store(true, Relaxed);
        let mut blocked = 0;
        for blocker in blockers {
            blocked += blocker.join().map_err(|_| io::Error::other("a client has panicked"))??;
        }
        let Seen { requests, seconds, latency_us } = seen?;
        let blocked_per_second = f64::from(blocked) / seconds;
        Ok(Frozen { per_second: requests / seconds, latency_us, blocked_per_second, threads: held?.threads })
    })
}

/// Asks for the route that blocks, again and again. Tells how often it was answered.
fn block(port: u16, has_ended: &AtomicBool) -> io::Result<u32> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    let mut answers = BufReader::new(stream.try_clone()?);
    let mut answered = 0;
    while !has_ended.load(Relaxed) {
        stream.write_all(b"GET /block HTTP/1.1\r\nhost: localhost\r\n\r\n")?;
        let mut line = String::new();
        // The body is the only line that begins so.
        while !line.starts_with("at last") {
            line.clear();
            if answers.read_line(&mut line)? == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
        }
        answered += 1;
    }
    Ok(answered)
}
