//! TCP connections over loopback, with a server that sends back what it gets.

use std::io;
use std::time::{Duration, Instant};

use super::loopback::Loopback;
use crate::{Handle, Runtime, Stream, Workload, on_worker};

/// An operation is one round trip of one connection: the client writes a message and reads it back whole, the server
/// echoes what it reads. Each end is a task, and both are on the runtime that is measured, so it is four socket calls
/// and two waits in the poller. Connecting is not in it.
///
/// With one connection nothing overlaps, and the figure is latency; with 64 or 1,000 the workers are busy, and it is
/// throughput. 64 KiB messages measure copying and the sockets' buffers as much as the runtime.
#[derive(Clone, Debug)]
pub struct Echo {
    name: &'static str,
    title: &'static str,
    connections: u64,
    bytes: usize,
}

impl Echo {
    /// 128 bytes on one connection.
    pub const ONE: Self = Self {
        name: "echo/1_connection",
        title: "TCP echo 128 B, 1 connection, a round trip",
        connections: 1,
        bytes: 128,
    };
    /// 128 bytes on each of 64 connections.
    pub const MANY: Self = Self {
        name: "echo/64_connections",
        title: "TCP echo 128 B, 64 connections, a round trip",
        connections: 64,
        bytes: 128,
    };
    /// 128 bytes on each of 1,000 connections.
    pub const THOUSAND: Self = Self {
        name: "echo/1000_connections",
        title: "TCP echo 128 B, 1,000 connections, a round trip",
        connections: 1000,
        bytes: 128,
    };
    /// 64 KiB on one connection.
    pub const LARGE: Self = Self {
        name: "echo/64_KiB",
        title: "TCP echo 64 KiB, 1 connection, a round trip",
        connections: 1,
        bytes: 64 * 1024,
    };
}

impl Workload for Echo {
    fn name(&self) -> &'static str {
        self.name
    }

    fn title(&self) -> &'static str {
        self.title
    }

    fn operations(&self) -> u64 {
        self.connections
    }

    fn run<R: Runtime>(&self, runtime: &R, rounds: u64) -> Duration {
        let Self { connections, bytes, .. } = *self;
        on_worker(runtime, drive::<R>(runtime.handle(), connections, bytes, rounds)).expect("loopback works")
    }
}

async fn drive<R: Runtime>(handle: R::Handle, connections: u64, bytes: usize, rounds: u64) -> io::Result<Duration> {
    let Loopback::<R> { clients, servers } = Loopback::connect(handle, connections, bytes).await?;
    let start = Instant::now();
    let clients: Vec<_> = clients.into_iter().map(|client| handle.spawn(call(client, bytes, rounds))).collect();
    for client in clients {
        client.await?;
    }
    let elapsed = start.elapsed();
    servers.finish().await?;
    Ok(elapsed)
}

pub(super) async fn call(mut stream: impl Stream, bytes: usize, rounds: u64) -> io::Result<()> {
    let message = vec![7; bytes];
    let mut reply = vec![0; bytes];
    for _ in 0..rounds {
        stream.write_all(&message).await?;
        stream.read_exact(&mut reply).await?;
    }
    Ok(())
}
