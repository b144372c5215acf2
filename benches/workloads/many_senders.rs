//! Sixteen tasks send to one.

use std::time::{Duration, Instant};

use crate::{Handle, Runtime, Workload, on_worker};

const SENDERS: u64 = 16;
const CAPACITY: usize = 128;

/// An operation is one message through a bounded async-channel that is often full: waking senders that wait for room,
/// and the receiver when there is something. Most of the figure is the channel's, and how its cache lines wander
/// between workers.
#[derive(Clone, Debug)]
pub struct ManySenders;

impl Workload for ManySenders {
    fn name(&self) -> &'static str {
        "messaging/16_senders"
    }

    fn title(&self) -> &'static str {
        "16 senders, one receiver (async-channel), a message"
    }

    fn operations(&self) -> u64 {
        SENDERS
    }

    fn run<R: Runtime>(&self, runtime: &R, rounds: u64) -> Duration {
        let handle = runtime.handle();
        on_worker(runtime, async move {
            let (sender, receiver) = async_channel::bounded(CAPACITY);
            let start = Instant::now();
            for _ in 0..SENDERS {
                let sender = sender.clone();
                handle.spawn_detached(async move {
                    for message in 0..rounds {
                        sender.send(message).await.expect("the driver receives");
                    }
                });
            }
            drop(sender);
            let mut received = 0;
            while receiver.recv().await.is_ok() {
                received += 1;
            }
            assert_eq!(received, rounds * SENDERS);
            start.elapsed()
        })
    }
}
