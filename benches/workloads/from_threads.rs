//! Several threads that are not part of the runtime spawn tasks at once.

use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use super::from_outside::spawn_and_join;
use crate::{Runtime, Workload};

const TASKS: u64 = 1000;

/// An operation is one spawn and join of any thread; each spawns a thousand and joins them, as in
/// [`FromOutside`](super::FromOutside). The figure is **time on the clock divided by the operations of all threads**:
/// if the way in scales it goes down with more threads until the processors are all busy, and stays there. If the
/// threads are in each other's way it goes up.
///
/// With more threads and workers than processors it also measures what happens to the one who is preempted with a lock
/// held.
#[derive(Clone, Debug)]
pub struct FromThreads {
    threads: u64,
    name: &'static str,
    title: &'static str,
}

impl FromThreads {
    /// One, two, four and eight threads.
    pub const ALL: [Self; 4] = [
        Self { threads: 1, name: "spawn/from_1_thread", title: "spawn and join from 1 foreign thread" },
        Self { threads: 2, name: "spawn/from_2_threads", title: "spawn and join from 2 foreign threads" },
        Self { threads: 4, name: "spawn/from_4_threads", title: "spawn and join from 4 foreign threads" },
        Self { threads: 8, name: "spawn/from_8_threads", title: "spawn and join from 8 foreign threads" },
    ];

    /// How many threads spawn.
    pub fn threads(&self) -> u64 {
        self.threads
    }
}

impl Workload for FromThreads {
    fn name(&self) -> &'static str {
        self.name
    }

    fn title(&self) -> &'static str {
        self.title
    }

    fn operations(&self) -> u64 {
        self.threads * TASKS
    }

    fn run<R: Runtime>(&self, runtime: &R, rounds: u64) -> Duration {
        // Starting the threads is not in the figure; the end of the last is.
        let ready = Barrier::new(self.threads as usize + 1);
        let start = thread::scope(|scope| {
            for _ in 0..self.threads {
                scope.spawn(|| {
                    ready.wait();
                    spawn_and_join(runtime, TASKS, rounds);
                });
            }
            ready.wait();
            Instant::now()
        });
        start.elapsed()
    }
}
