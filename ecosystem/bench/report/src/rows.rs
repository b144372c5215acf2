//! What is measured, and how.
//!
//! Runs come in pairs, one of each side, and the
//! side that begins changes from pair to pair. Each pair has servers of its own: two processes of one server differ by
//! more than two runs of one process. What is judged is the median of the ratios within the pairs.

use std::io;
use std::time::Duration;

use crate::load::{self, Client, Seen};
use crate::process::{self, Held, Server};
use crate::{Effort, Sides, burn};

/// Before the clocks count: what is made once is made.
const WARM_UP: Duration = Duration::from_secs(1);
const CONNECTIONS: [usize; 3] = [1, 64, 512];
/// That of the rows with a busy neighbour.
const BESIDE: usize = 64;
/// Those who receive what one sends.
const LISTENERS: usize = 1000;

/// A server under a load.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) title: &'static str,
    server: &'static str,
    client: Client,
    pub(crate) connections: usize,
    pub(crate) is_beside_burner: bool,
    /// Whether tasks, timers and channels carry the work, so that rt has to be ahead.
    pub(crate) has_to_lead: bool,
}

/// What one run has shown. Times are microseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    pub(crate) per_second: f64,
    /// The 50th, 99th and 99.9th percentile, and the slowest.
    pub(crate) latency_us: [f64; 4],
    /// Of the server, for a request.
    pub(crate) cpu_us: f64,
    pub(crate) held: Held,
}

/// What came of a row: pairs of rt's run and Tokio's, or why there are none.
pub(crate) struct Measured {
    pub(crate) row: Row,
    pub(crate) pairs: Result<Vec<[Run; 2]>, String>,
}

impl Row {
    fn all() -> Vec<Self> {
        let kinds = [
            ("axum, a fixed answer", "hello", Client::Wrk, false),
            ("axum, time limits, a task and channels", "layers", Client::Wrk, true),
            ("axum, one connection to Redis", "redis", Client::Wrk, true),
            ("Redis' protocol by tokio-util's codec", "kv", Client::RedisBenchmark, false),
            ("tonic, unary calls", "grpc", Client::GrpcCalls, false),
            ("tonic, streams both ways", "grpc", Client::GrpcStreams, true),
        ];
        let mut rows = Vec::new();
        for (title, server, client, has_to_lead) in kinds {
            let row = |connections, is_beside_burner| Self {
                title,
                server,
                client,
                connections,
                is_beside_burner,
                has_to_lead,
            };
            rows.extend(CONNECTIONS.map(|connections| row(connections, false)));
            rows.push(row(BESIDE, true));
        }
        rows.extend([false, true].map(|is_beside_burner| Self {
            title: "axum, a WebSocket message to all",
            server: "sockets",
            client: Client::FanOut,
            connections: LISTENERS,
            is_beside_burner,
            has_to_lead: true,
        }));
        rows
    }

    pub(crate) fn full_title(&self) -> String {
        let Self { title, connections, .. } = self;
        let plural = if *connections == 1 { "" } else { "s" };
        let beside = if self.is_beside_burner { ", beside a busy process" } else { "" };
        format!("{title}, {connections} connection{plural}{beside}")
    }
}

/// Measures the rows whose titles contain the filter. What goes wrong with a row is told in its place.
pub(crate) fn measure(sides: &Sides, effort: Effort, filter: &str) -> io::Result<Vec<Measured>> {
    let (_redis, url) = process::redis()?;
    let rows = Row::all().into_iter().filter(|row| row.full_title().contains(filter));
    let measured = rows.map(|row| {
        eprintln!("{}", row.full_title());
        let pairs: io::Result<Vec<_>> =
            (0..effort.pairs).map(|round| pair(&row, sides, &url, round, effort.length)).collect();
        Measured { row, pairs: pairs.map_err(|error| error.to_string()).inspect_err(|error| eprintln!("  {error}")) }
    });
    Ok(measured.collect())
}

fn pair(row: &Row, sides: &Sides, url: &str, round: usize, length: Duration) -> io::Result<[Run; 2]> {
    let mut runs = [None; 2];
    for side in [round % 2, 1 - round % 2] {
        let server = Server::start(&sides[side], &[row.server, url])?;
        let _burner = row.is_beside_burner.then(burn::start).transpose()?;
        load::run(row.client, row.connections, server.port, WARM_UP.min(length / 2))?;
        let before = server.cpu()?;
        let Seen { requests, seconds, latency_us } = load::run(row.client, row.connections, server.port, length)?;
        let cpu_us = (server.cpu()? - before).as_secs_f64() * 1e6 / requests;
        runs[side] = Some(Run { per_second: requests / seconds, latency_us, cpu_us, held: server.held()? });
    }
    let [Some(on_rt), Some(on_tokio)] = runs else { return Err(io::Error::other("a side is missing")) };
    Ok([on_rt, on_tokio])
}

/// All rows, none of which could be measured.
#[cfg(test)]
pub(crate) fn unmeasured(failure: &str) -> Vec<Measured> {
    Row::all().into_iter().map(|row| Measured { row, pairs: Err(failure.to_owned()) }).collect()
}
