//! What a task waits for when every worker is blocked.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use futures_lite::future;

use crate::{Measure, Runtime};

const BLOCKED: Duration = Duration::from_millis(500);

/// As many tasks as there are workers each block their thread for 500 ms, which no async code should do and all does at
/// times. Then a thread outside of the runtime spawns one more task.
#[derive(Clone, Debug)]
pub struct StuckWorkers;

impl Measure for StuckWorkers {
    fn titles(&self) -> Vec<String> {
        vec!["every worker blocked 500 ms: wait of the next task, ms".into()]
    }

    fn run<R: Runtime>(&self, runtime: &R, _prepared: u64) -> Vec<f64> {
        let workers = runtime.workers();
        let blocked = Arc::new(AtomicUsize::new(0));
        let blockers: Vec<_> = (0..workers)
            .map(|_| {
                let blocked = Arc::clone(&blocked);
                runtime.spawn(async move {
                    blocked.fetch_add(1, Ordering::Relaxed);
                    thread::sleep(BLOCKED);
                })
            })
            .collect();
        // A runtime may put two of them on one worker; then this row is about the free one.
        let start = Instant::now();
        while blocked.load(Ordering::Relaxed) < workers && start.elapsed() < BLOCKED / 10 {
            thread::sleep(Duration::from_millis(1));
        }

        let (ran, when) = mpsc::channel();
        let spawned = Instant::now();
        let next = runtime.spawn(async move { ran.send(spawned.elapsed()).expect("the receiver is alive") });
        let wait = when.recv().expect("the task has sent");
        future::block_on(async {
            next.await;
            for blocker in blockers {
                blocker.await;
            }
        });
        vec![wait.as_secs_f64() * 1e3]
    }
}
