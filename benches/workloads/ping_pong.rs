//! Many pairs of tasks, each of which exchanges one message there and one back.

use std::time::{Duration, Instant};

use futures_channel::oneshot;

use crate::{Handle, Runtime, Workload, on_worker};

const PAIRS: u64 = 1000;

/// An operation is one pair: two spawns, two oneshot channels, two messages, two joins. A thousand pairs are under way
/// at once.
///
/// The channels are futures' oneshot, whose two allocations are in the figure and the same for all.
#[derive(Clone, Debug)]
pub struct PingPong;

impl Workload for PingPong {
    fn name(&self) -> &'static str {
        "messaging/ping_pong"
    }

    fn title(&self) -> &'static str {
        "ping-pong over two oneshots, two spawns"
    }

    fn operations(&self) -> u64 {
        PAIRS
    }

    fn run<R: Runtime>(&self, runtime: &R, rounds: u64) -> Duration {
        let handle = runtime.handle();
        on_worker(runtime, async move {
            let mut pairs = Vec::with_capacity(PAIRS as usize);
            let start = Instant::now();
            for _ in 0..rounds {
                pairs.extend((0..PAIRS).map(|_| handle.spawn(ping(handle))));
                for pair in pairs.drain(..) {
                    pair.await;
                }
            }
            start.elapsed()
        })
    }
}

async fn ping<H: Handle>(handle: H) {
    let (ping, pinged) = oneshot::channel();
    let (pong, ponged) = oneshot::channel();
    let other = handle.spawn(async move {
        pinged.await.expect("the other task sends");
        pong.send(()).expect("the other task waits");
    });
    ping.send(()).expect("the other task waits");
    ponged.await.expect("the other task sends");
    other.await;
}
