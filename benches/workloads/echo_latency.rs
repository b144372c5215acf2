//! How long a round trip takes while many connections are busy.

use std::io;
use std::time::{Duration, Instant};

use super::loopback::Loopback;
use crate::{Handle, Measure, Percentiles, Runtime, Stream, on_worker};

const BYTES: usize = 128;

/// Round trips that began in the first part are not in the figures.
const WARM_UP: Duration = Duration::from_millis(100);
const TIME: Duration = Duration::from_millis(700);

/// Room for this many round trips is made at the beginning, so that no vector grows on the way.
const ROUND_TRIPS: usize = 1 << 19;

/// The same as [`Echo`](super::Echo), but every round trip is recorded: from before the client writes to when it has
/// read the reply. All connections are busy until the time is up, for each sends its next message when the last has
/// come back.
///
/// Such a closed loop never has more messages under way than connections, so the average is the number of connections
/// divided by the throughput, whatever a runtime does. What it can do is share the waiting fairly, or serve some at
/// once and leave the others: the median and the tail together tell. Requests that come at their own times are not
/// measured.
#[derive(Clone, Debug)]
pub struct EchoLatency {
    connections: u64,
    title: &'static str,
}

impl EchoLatency {
    /// 64 connections.
    pub const AT_64: Self = Self { connections: 64, title: "TCP echo 128 B, 64 connections, round trip" };
    /// 1,000 connections.
    pub const AT_1000: Self = Self { connections: 1000, title: "TCP echo 128 B, 1,000 connections, round trip" };
}

impl Measure for EchoLatency {
    fn titles(&self) -> Vec<String> {
        Percentiles::titles(self.title)
    }

    /// Each run leaves out its own beginning.
    fn prepare<R: Runtime>(&self, _runtime: &R) -> u64 {
        0
    }

    fn run<R: Runtime>(&self, runtime: &R, _prepared: u64) -> Vec<f64> {
        let round_trips = on_worker(runtime, drive::<R>(runtime.handle(), self.connections)).expect("loopback works");
        Percentiles::new(round_trips).micros()
    }
}

async fn drive<R: Runtime>(handle: R::Handle, connections: u64) -> io::Result<Vec<Duration>> {
    let Loopback::<R> { clients, servers } = Loopback::connect(handle, connections, BYTES).await?;
    let capacity = ROUND_TRIPS / connections as usize;
    let begin = Instant::now() + WARM_UP;
    let clients: Vec<_> = clients.into_iter().map(|client| handle.spawn(call(client, capacity, begin))).collect();
    let mut round_trips = Vec::with_capacity(ROUND_TRIPS);
    for client in clients {
        round_trips.extend(client.await?);
    }
    servers.finish().await?;
    Ok(round_trips)
}

async fn call(mut stream: impl Stream, capacity: usize, begin: Instant) -> io::Result<Vec<Duration>> {
    let mut round_trips = Vec::with_capacity(capacity);
    let message = [7; BYTES];
    let mut reply = [0; BYTES];
    let end = begin + TIME;
    let mut now = Instant::now();
    while now < end {
        let sent = now;
        stream.write_all(&message).await?;
        stream.read_exact(&mut reply).await?;
        now = Instant::now();
        if sent >= begin {
            round_trips.push(now - sent);
        }
    }
    Ok(round_trips)
}
