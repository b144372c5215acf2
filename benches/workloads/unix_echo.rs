//! Unix stream sockets, with a server that sends back what it gets.

use std::io;
use std::time::{Duration, Instant};

use super::{echo, loopback};
use crate::{Handle, Runtime, System, Workload, on_worker};

const BYTES: usize = 128;

/// As [`Echo`](super::Echo), over Unix sockets: the kernel does less, so the runtime is a larger part of it.
#[derive(Clone, Debug)]
pub struct UnixEcho {
    connections: u64,
}

impl UnixEcho {
    /// One connection.
    pub const ONE: Self = Self { connections: 1 };
    /// 64 connections.
    pub const MANY: Self = Self { connections: 64 };
}

impl Workload for UnixEcho {
    fn name(&self) -> &'static str {
        if self.connections == 1 { "system/unix_1" } else { "system/unix_64" }
    }

    fn title(&self) -> &'static str {
        if self.connections == 1 {
            "Unix stream echo 128 B, 1 connection, a round trip"
        } else {
            "Unix stream echo 128 B, 64 connections, a round trip"
        }
    }

    fn operations(&self) -> u64 {
        self.connections
    }

    fn run<R: Runtime>(&self, runtime: &R, rounds: u64) -> Duration {
        on_worker(runtime, drive::<R>(runtime.handle(), self.connections, rounds)).expect("sockets can be made")
    }
}

async fn drive<R: Runtime>(handle: R::Handle, connections: u64, rounds: u64) -> io::Result<Duration> {
    let mut clients = Vec::new();
    let mut servers = Vec::new();
    for _ in 0..connections {
        let (client, server) = <R::Handle as System>::unix_pair()?;
        clients.push(client);
        servers.push(handle.spawn(loopback::serve(server, BYTES)));
    }
    let start = Instant::now();
    let clients: Vec<_> = clients.into_iter().map(|client| handle.spawn(echo::call(client, BYTES, rounds))).collect();
    for client in clients {
        client.await?;
    }
    let elapsed = start.elapsed();
    for server in servers {
        server.await?;
    }
    Ok(elapsed)
}
