//! The clients: wrk for HTTP, redis-benchmark for lines. Both are a process with one thread, and wait for each answer
//! (or for as many as are pipelined) before they ask again.

use std::io::{self, ErrorKind, Write};
use std::process::{self, Command, Output, Stdio};
use std::time::Duration;
use std::{env, fs};

use rt_benches::servers::Kind;

use super::scenario::Scenario;

/// What a client saw.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    pub(super) requests: f64,
    pub(super) requests_per_second: f64,
    /// The 50th, 99th and 99.9th percentile, in microseconds.
    pub(super) latency_us: [f64; 3],
}

/// What wrk prints at its end: requests, microseconds, percentiles in microseconds, failures.
const WRK_SCRIPT: &str = "\
done = function(summary, latency, requests)
    local errors = summary.errors
    local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
    io.write(string.format('figures %d %d %d %d %d %d\\n', summary.requests, summary.duration,
        latency:percentile(50), latency:percentile(99), latency:percentile(99.9), failed))
end
";

/// Whether the clients are installed. The message says what to do if not.
pub(super) fn check() -> Result<(), String> {
    for client in ["wrk", "redis-benchmark"] {
        let found = Command::new(client).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        if found.is_err_and(|error| error.kind() == ErrorKind::NotFound) {
            return Err(format!("{client} is not installed: `benches/servers/install-clients` installs it on Debian"));
        }
    }
    Ok(())
}

/// Loads a server for about that long.
pub(super) fn run(scenario: &Scenario, port: u16, length: Duration) -> io::Result<Seen> {
    match scenario.kind {
        Kind::Hello | Kind::Work | Kind::Bodies => wrk(scenario, port, length),
        Kind::Lines => redis_benchmark(scenario, port, length),
    }
}

fn wrk(scenario: &Scenario, port: u16, length: Duration) -> io::Result<Seen> {
    let script = env::temp_dir().join(format!("rt-report-{}.lua", process::id()));
    fs::write(&script, WRK_SCRIPT)?;
    let mut command = scenario.place.command("wrk");
    command.args([
        "-t1",
        "-c",
        &scenario.connections.to_string(),
        "-d",
        &format!("{}s", length.as_secs().max(1)),
        "-s",
    ]);
    let output = output(command.arg(&script).arg(format!("http://127.0.0.1:{port}/")));
    fs::remove_file(&script)?;
    let text = output?;
    let figures = text.lines().find_map(|line| line.strip_prefix("figures ")).ok_or_else(|| unexpected(&text))?;
    let figures: Vec<f64> = figures.split(' ').filter_map(|figure| figure.parse().ok()).collect();
    let [requests, duration_us, p50, p99, p999, failed] = figures[..] else { return Err(unexpected(&text)) };
    if failed > 0.0 {
        return Err(io::Error::other(format!("{failed} requests failed: {text}")));
    }
    Ok(Seen { requests, requests_per_second: requests / duration_us * 1e6, latency_us: [p50, p99, p999] })
}

/// redis-benchmark is told a number of requests, not a time: a first, short run finds how many fill it.
fn redis_benchmark(scenario: &Scenario, port: u16, length: Duration) -> io::Result<Seen> {
    const FIRST: f64 = 20_000.0;
    let first = redis_requests(scenario, port, FIRST)?;
    redis_requests(scenario, port, (first.requests_per_second * length.as_secs_f64()).max(FIRST))
}

fn redis_requests(scenario: &Scenario, port: u16, requests: f64) -> io::Result<Seen> {
    let mut command = scenario.place.command("redis-benchmark");
    command.args(["-p", &port.to_string(), "-c", &scenario.connections.to_string(), "-n", &format!("{requests:.0}")]);
    command.args(["-P", &scenario.pipelined.to_string(), "--precision", "3", "-t", "get"]);
    let text = output(&mut command)?;
    let number = |text: &str| text.trim().parse::<f64>().ok();
    let requests_per_second = text.lines().find_map(|line| {
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
    match (requests_per_second, at(50.0), at(99.0), at(99.9)) {
        (Some(requests_per_second), Some(p50), Some(p99), Some(p999)) => {
            Ok(Seen { requests, requests_per_second, latency_us: [p50, p99, p999] })
        }
        _ => Err(unexpected(&text)),
    }
}

fn output(command: &mut Command) -> io::Result<String> {
    let Output { status, stdout, stderr } = command.stdin(Stdio::null()).output()?;
    if !status.success() {
        io::stderr().write_all(&stderr)?;
        return Err(io::Error::other(format!("{command:?} ended with {status}")));
    }
    String::from_utf8(stdout).map_err(io::Error::other)
}

fn unexpected(text: &str) -> io::Error {
    io::Error::other(format!("a client printed what is not understood: {text}"))
}
