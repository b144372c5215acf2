//! UDP over loopback, with a server that sends back what it gets.

use std::io;
use std::time::{Duration, Instant};

use crate::{Datagrams, Handle, Runtime, System, Workload, on_worker};

const BYTES: usize = 128;

/// An operation is one round trip of a datagram of 128 bytes between two connected sockets, each of which has a task of
/// the runtime that is measured. There is one datagram under way for each pair, so none is lost for lack of room.
#[derive(Clone, Debug)]
pub struct UdpEcho {
    pairs: u64,
}

impl UdpEcho {
    /// One pair.
    pub const ONE: Self = Self { pairs: 1 };
    /// 64 pairs.
    pub const MANY: Self = Self { pairs: 64 };
}

impl Workload for UdpEcho {
    fn name(&self) -> &'static str {
        if self.pairs == 1 { "system/udp_1" } else { "system/udp_64" }
    }

    fn title(&self) -> &'static str {
        if self.pairs == 1 { "UDP echo 128 B, 1 pair, a round trip" } else { "UDP echo 128 B, 64 pairs, a round trip" }
    }

    fn operations(&self) -> u64 {
        self.pairs
    }

    fn run<R: Runtime>(&self, runtime: &R, rounds: u64) -> Duration {
        on_worker(runtime, drive::<R>(runtime.handle(), self.pairs, rounds)).expect("loopback works")
    }
}

async fn drive<R: Runtime>(handle: R::Handle, pairs: u64, rounds: u64) -> io::Result<Duration> {
    let mut clients = Vec::new();
    let mut servers = Vec::new();
    for _ in 0..pairs {
        let client = <R::Handle as System>::bind_udp().await?;
        let server = <R::Handle as System>::bind_udp().await?;
        client.connect(server.address()?).await?;
        server.connect(client.address()?).await?;
        clients.push(client);
        servers.push(handle.spawn(serve(server)));
    }
    let start = Instant::now();
    let clients: Vec<_> = clients.into_iter().map(|client| handle.spawn(call(client, rounds))).collect();
    // They stay open: a datagram to a port that is gone would be an error at the other end.
    let mut done = Vec::new();
    for client in clients {
        done.push(client.await?);
    }
    let elapsed = start.elapsed();
    for client in &done {
        client.send(&[]).await?;
    }
    for server in servers {
        server.await?;
    }
    Ok(elapsed)
}

async fn call<S: Datagrams>(socket: S, rounds: u64) -> io::Result<S> {
    let mut reply = [0; BYTES];
    for _ in 0..rounds {
        socket.send(&[7; BYTES]).await?;
        assert_eq!(socket.receive(&mut reply).await?, BYTES);
    }
    Ok(socket)
}

/// Until an empty datagram comes.
async fn serve(socket: impl Datagrams) -> io::Result<()> {
    let mut buffer = [0; BYTES];
    loop {
        match socket.receive(&mut buffer).await? {
            0 => return Ok(()),
            n => socket.send(&buffer[..n]).await?,
        };
    }
}
