//! The memory of tasks that wait.

use std::future::{self, Future};
use std::thread;
use std::time::Duration;

use crate::{Handle, Runtime, on_worker};

const TASKS: usize = 100_000;
const BURST: usize = 50;

/// A hundred thousand tasks that wait: for something that holds nothing itself, or for a timer of an hour.
///
/// It counts what the runtime has asked of the allocator, on a runtime that is otherwise idle. The allocator's own
/// rounding and the stacks of threads are not in it, and neither are the join handles, which lie in a vector.
#[derive(Clone, Debug)]
pub struct BytesPerTask;

/// What a run of [`BytesPerTask`] shows.
#[derive(Clone, Copy, Debug)]
pub struct TaskBytes {
    /// Bytes a task that waits for `future::pending`.
    pub parked: f64,
    /// Bytes a task that sleeps.
    pub sleeping: f64,
}

impl BytesPerTask {
    /// Counts on new runtimes, given a way to tell how many bytes are allocated.
    pub fn measure<R: Runtime>(&self, workers: usize, allocated: impl Fn() -> isize) -> TaskBytes {
        let parked = park::<R, _>(workers, &allocated, future::pending::<()>);
        let sleeping = park::<R, _>(workers, &allocated, || R::Handle::sleep(Duration::from_secs(3600)));
        TaskBytes { parked, sleeping }
    }
}

fn park<R, F>(workers: usize, allocated: impl Fn() -> isize, wait: impl Fn() -> F + Send + 'static) -> f64
where
    R: Runtime,
    F: Future<Output = ()> + Send + 'static,
{
    let runtime = R::start(workers);
    let handle = runtime.handle();
    // What is made on first use is made now.
    for _ in 0..100 {
        on_worker(&runtime, async { R::Handle::sleep(Duration::from_micros(10)).await });
    }

    let mut tasks = Vec::with_capacity(TASKS);
    let before = allocated();
    let tasks = on_worker(&runtime, async move {
        while tasks.len() < TASKS {
            tasks.extend((0..BURST).map(|_| handle.spawn(wait())));
            // They go to sleep at once, so that no queue grows for them.
            R::Handle::yield_now().await;
        }
        tasks
    });
    // By then each has been polled.
    thread::sleep(Duration::from_millis(300));
    let bytes = allocated() - before;
    drop(tasks);
    bytes as f64 / TASKS as f64
}
