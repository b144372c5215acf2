//! Two futures that send one message to and fro.

use std::time::{Duration, Instant};

use super::company::Neighbour;
use crate::{Handle, Runtime, Workload, on_worker};

/// An operation is a round trip: two messages over two async-channels with room for one, and a wake on each side.
///
/// Between two tasks, a runtime that moves one of them to an idle worker pays for waking a thread each time; one that
/// keeps them together does not.
///
/// Between the future in `block_on` and a task, the wake from inside `block_on` is measured, and the wake of it. smol's
/// caller runs the task itself; rt's and Tokio's only waits, so each round trip is two wakes between threads, unless a
/// runtime finds a way around them: by a thread that looks out for the wake instead of going to sleep, say. Where
/// another process takes a processor, that is no way, as the thread that looks out is in the way of the other.
#[derive(Clone, Debug)]
pub struct ThereAndBack {
    in_block_on: bool,
    has_neighbour: bool,
}

impl ThereAndBack {
    /// Between two tasks.
    pub const TASKS: Self = Self { in_block_on: false, has_neighbour: false };
    /// Between the future in `block_on` and a task.
    pub const IN_BLOCK_ON: Self = Self { in_block_on: true, has_neighbour: false };
    /// The same, while another process takes one processor.
    pub const IN_BLOCK_ON_BESIDE_NEIGHBOUR: Self = Self { in_block_on: true, has_neighbour: true };
}

impl Workload for ThereAndBack {
    fn name(&self) -> &'static str {
        match (self.in_block_on, self.has_neighbour) {
            (false, _) => "messaging/there_and_back",
            (true, false) => "messaging/there_and_back_in_block_on",
            (true, true) => "messaging/there_and_back_in_block_on_beside_neighbour",
        }
    }

    fn title(&self) -> &'static str {
        match (self.in_block_on, self.has_neighbour) {
            (false, _) => "two tasks, message there and back (async-channel)",
            (true, false) => "`block_on` and a task, message there and back (async-channel)",
            (true, true) => "the same beside a process that takes one processor",
        }
    }

    fn run<R: Runtime>(&self, runtime: &R, rounds: u64) -> Duration {
        let _neighbour = self.has_neighbour.then(Neighbour::start);
        let driver = drive(runtime.handle(), rounds);
        if self.in_block_on { runtime.block_on(driver) } else { on_worker(runtime, driver) }
    }
}

async fn drive<H: Handle>(handle: H, rounds: u64) -> Duration {
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
}
