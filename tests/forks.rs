//! A process that was forked beside a runtime in use, and never calls `exec`, has a runtime of its own: as Python's
//! `multiprocessing` does it.
//!
//! In a process of its own, as the child has the locks of all threads of its parent.

#![cfg(unix)]

use std::sync::{Arc, Barrier};
use std::time::Duration;

use rt::runtime::Runtime;
use rt::task::JoinHandle;
use rt_test_util::*;

async fn sleep() {
    rt::time::sleep(Duration::from_millis(1)).await;
}

fn join_all<T>(runtime: &Runtime, handles: Vec<JoinHandle<T>>) -> Vec<T> {
    handles.into_iter().map(|handle| runtime.block_on(handle).unwrap()).collect()
}

/// Has this number of threads of the blocking pool at once, which then wait for more to do.
fn block_at_once(runtime: &Runtime, threads: usize) {
    let barrier = Arc::new(Barrier::new(threads));
    let jobs: Vec<_> = (0..threads)
        .map(|_| {
            let barrier = Arc::clone(&barrier);
            runtime.spawn_blocking(move || barrier.wait().is_leader())
        })
        .collect();
    assert_eq!(join_all(runtime, jobs).into_iter().filter(|&is_leader| is_leader).count(), 1);
}

/// Of the parent all threads wait without work. That must be nowhere where the child's threads come upon it. (Seen
/// with threads that waited in parking_lot's `Condvar`: one child in seventy did not end.)
#[test]
fn a_forked_child_has_threads_of_its_own() {
    let _watchdog = watchdog();
    let parent = multi(4);
    block_at_once(&parent, 16);
    parent.block_on(sleep());
    for _ in 0..60 {
        in_fork(|| {
            for runtime in [multi(4), current()] {
                for threads in [4, 16, 64, 8] {
                    block_at_once(&runtime, threads);
                }
                let sleepers = (0..100).map(|_| runtime.spawn(sleep())).collect();
                join_all(&runtime, sleepers);
            }
        });
    }
    block_at_once(&parent, 32);
}
