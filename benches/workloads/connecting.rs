//! Connections that are made and closed at once.

use std::io;
use std::time::{Duration, Instant};

use crate::{Handle, Listener, Runtime, Stream, Workload, on_worker};

/// An operation is one connection over loopback: a task connects, another accepts and closes it, and the first sees the
/// end and closes its side. One at a time.
///
/// It is a dozen system calls, most of them costly, and registering two sockets with the poller and taking them out
/// again. Both sides set `TCP_NODELAY`, as in the other rows.
#[derive(Clone, Debug)]
pub struct Connecting;

impl Workload for Connecting {
    fn name(&self) -> &'static str {
        "echo/connect_accept_close"
    }

    fn title(&self) -> &'static str {
        "TCP connect, accept and close"
    }

    fn run<R: Runtime>(&self, runtime: &R, rounds: u64) -> Duration {
        on_worker(runtime, drive::<R>(runtime.handle(), rounds)).expect("loopback works")
    }
}

async fn drive<R: Runtime>(handle: R::Handle, rounds: u64) -> io::Result<Duration> {
    let listener = R::Handle::listen().await?;
    let address = listener.address()?;
    let server = handle.spawn(async move {
        for _ in 0..rounds {
            drop(listener.accept().await?);
        }
        io::Result::Ok(())
    });
    let start = Instant::now();
    for _ in 0..rounds {
        let mut client = R::Handle::connect(address).await?;
        assert_eq!(client.read(&mut [0]).await?, 0, "nothing is sent");
    }
    let elapsed = start.elapsed();
    server.await?;
    Ok(elapsed)
}
