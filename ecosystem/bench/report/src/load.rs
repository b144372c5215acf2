//! The clients. Each has one thread, and waits for each answer before it asks again.

use std::io::{self, ErrorKind, Write};
use std::process::{self, Command, Output, Stdio};
use std::time::Duration;
use std::{env, fs};

use crate::statistics::{quantile, sorted};

/// What loads a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Client {
    Wrk,
    RedisBenchmark,
    /// tonic's own, a call after the other on each connection.
    GrpcCalls,
    /// The same with a message after the other on a stream of each connection.
    GrpcStreams,
    /// tokio-tungstenite: one sends, all receive.
    FanOut,
}

/// What a client saw.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    pub(crate) requests: f64,
    pub(crate) seconds: f64,
    /// The 50th, 99th and 99.9th percentile and the slowest, in microseconds.
    pub(crate) latency_us: [f64; 4],
}

impl Seen {
    /// Of latencies in microseconds.
    pub(crate) fn of(latencies: impl IntoIterator<Item = f64>, took: Duration) -> io::Result<Self> {
        let latencies = sorted(latencies);
        if latencies.is_empty() {
            return Err(io::Error::other("not one answer"));
        }
        let latency_us = [0.5, 0.99, 0.999, 1.0].map(|part| quantile(&latencies, part));
        Ok(Self { requests: latencies.len() as f64, seconds: took.as_secs_f64(), latency_us })
    }
}

/// What wrk prints at its end: requests, microseconds, percentiles in microseconds, failures.
const WRK_SCRIPT: &str = "\
done = function(summary, latency, requests)
    local errors = summary.errors
    local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
    io.write(string.format('figures %d %d %d %d %d %d %d\\n', summary.requests, summary.duration,
        latency:percentile(50), latency:percentile(99), latency:percentile(99.9), latency.max, failed))
end
";

/// Loads a server for about that long.
pub(crate) fn run(client: Client, connections: usize, port: u16, length: Duration) -> io::Result<Seen> {
    match client {
        Client::Wrk => wrk(connections, port, length),
        Client::RedisBenchmark => redis_benchmark(connections, port, length),
        Client::GrpcCalls => crate::grpc::calls(connections, port, length),
        Client::GrpcStreams => crate::grpc::streams(connections, port, length),
        Client::FanOut => crate::sockets::fan_out(connections, port, length),
    }
}

pub(crate) fn wrk(connections: usize, port: u16, length: Duration) -> io::Result<Seen> {
    let script = env::temp_dir().join(format!("rt-ecosystem-{}.lua", process::id()));
    fs::write(&script, WRK_SCRIPT)?;
    let mut command = Command::new("wrk");
    command.args(["-t1", "-c", &connections.to_string(), "-d", &format!("{}s", length.as_secs().max(1))]);
    // A server that is frozen for a while does not fail by it: the wait is what is measured.
    command.args(["--timeout", "60s", "-s"]).arg(&script).arg(format!("http://127.0.0.1:{port}/"));
    let output = output(&mut command);
    fs::remove_file(&script)?;
    let text = output?;
    let figures = text.lines().find_map(|line| line.strip_prefix("figures ")).ok_or_else(|| unexpected(&text))?;
    let figures: Vec<f64> = figures.split(' ').filter_map(|figure| figure.parse().ok()).collect();
    let [requests, duration_us, p50, p99, p999, most, failed] = figures[..] else { return Err(unexpected(&text)) };
    if failed > 0.0 {
        return Err(io::Error::other(format!("{failed} requests failed: {text}")));
    }
    Ok(Seen { requests, seconds: duration_us / 1e6, latency_us: [p50, p99, p999, most] })
}

/// redis-benchmark is told a number of requests, not a time: a first, short run finds how many fill it.
fn redis_benchmark(connections: usize, port: u16, length: Duration) -> io::Result<Seen> {
    const FIRST: f64 = 10_000.0;
    let first = redis_requests(connections, port, FIRST)?;
    redis_requests(connections, port, (first.requests / first.seconds * length.as_secs_f64()).max(FIRST))
        .map(|seen| Seen { requests: seen.requests + first.requests, seconds: seen.seconds + first.seconds, ..seen })
}

fn redis_requests(connections: usize, port: u16, requests: f64) -> io::Result<Seen> {
    let mut command = Command::new("redis-benchmark");
    command.args(["-p", &port.to_string(), "-c", &connections.to_string(), "-n", &format!("{requests:.0}")]);
    command.args(["--precision", "3", "-t", "get"]);
    let text = output(&mut command)?;
    let number = |text: &str| text.trim().parse::<f64>().ok();
    let per_second = text.lines().find_map(|line| {
        let (figure, _) = line.trim().strip_prefix("throughput summary:")?.split_once("requests")?;
        number(figure)
    });
    // Lines as "99.902% <= 0.303 milliseconds (cumulative count 19981)".
    let steps = text.lines().filter_map(|line| {
        let (percent, rest) = line.trim().split_once("% <= ")?;
        let (milliseconds, _) = rest.split_once(" milliseconds")?;
        Some((number(percent)?, number(milliseconds)? * 1e3))
    });
    let steps: Vec<(f64, f64)> = steps.collect();
    let at = |percent| steps.iter().find(|(reached, _)| *reached >= percent).map(|(_, latency)| *latency);
    match (per_second, at(50.0), at(99.0), at(99.9), at(100.0)) {
        (Some(per_second), Some(p50), Some(p99), Some(p999), Some(most)) => {
            Ok(Seen { requests, seconds: requests / per_second, latency_us: [p50, p99, p999, most] })
        }
        _ => Err(unexpected(&text)),
    }
}

fn output(command: &mut Command) -> io::Result<String> {
    let Output { status, stdout, stderr } = command.stdin(Stdio::null()).output().map_err(|error| {
        let missing = error.kind() == ErrorKind::NotFound;
        if missing { io::Error::other(format!("{command:?} is not installed: ./install does that")) } else { error }
    })?;
    if !status.success() {
        io::stderr().write_all(&stderr)?;
        return Err(io::Error::other(format!("{command:?} ended with {status}")));
    }
    String::from_utf8(stdout).map_err(io::Error::other)
}

fn unexpected(text: &str) -> io::Error {
    io::Error::other(format!("a client printed what is not understood: {text}"))
}
