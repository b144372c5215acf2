//! Two tasks that send one message to and fro.

use std::time::{Duration, Instant};

use crate::{Handle, Runtime, Workload, on_worker};

/// An operation is a round trip: two messages over two async-channels with room for one, and a wake of each task.
///
/// A runtime that moves one of the tasks to an idle worker pays for waking a thread each time; one that keeps them
/// together does not.
#[derive(Clone, Debug)]
pub struct ThereAndBack;

impl Workload for ThereAndBack {
    fn name(&self) -> &'static str {
        "messaging/there_and_back"
    }

    fn title(&self) -> &'static str {
        "two tasks, message there and back (async-channel)"
    }

    fn run<R: Runtime>(&self, runtime: &R, rounds: u64) -> Duration {
        let handle = runtime.handle();
        on_worker(runtime, async move {
            let (there, arrivals) = async_channel::bounded(1);
            let (back, returns) = async_channel::bounded(1);
            let other = handle.spawn(async move {
                while let Ok(message) = arrivals.recv().await {
                    back.send(message).await.expect("the driver waits");
                }
            });
            let start = Instant::now();
            for round in 0..rounds {
                there.send(round).await.expect("the other task waits");
                assert_eq!(returns.recv().await, Ok(round));
            }
            let elapsed = start.elapsed();
            drop(there);
            other.await;
            elapsed
        })
    }
}
