//! I3, beside a task that computes and yields: its worker is never idle, and helps the others all the same.
//!
//! The mutation that this is for: a worker whose tasks have all given way looks for none on the queues of others.

use std::future::poll_fn;
use std::mem;
use std::sync::Arc;
use std::task::Poll;
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rt::runtime::Runtime;
use rt::task::{AbortOnDropHandle, JoinSet};
use rt_test_util::*;

/// Tasks that wake themselves over and over wait on one worker, and the other is kept busy by one that yields.
const WAITING: usize = 10;
/// A poll of that one. A worker that is not seen for twice that time is helped in any case, so this is longer than a
/// few polls take on a busy machine.
const POLL: Duration = Duration::from_millis(2);
/// How long the others wait.
const WAIT: Duration = Duration::from_millis(40);

/// Computes and yields. Says on which thread.
fn computes_and_yields(runtime: &Runtime) -> (AbortOnDropHandle<()>, Arc<Mutex<Option<ThreadId>>>) {
    let thread = Arc::new(Mutex::new(None));
    let told = thread.clone();
    let task = runtime.spawn(async move {
        loop {
            *told.lock() = Some(thread::current().id());
            let since = Instant::now();
            while since.elapsed() < POLL {}
            rt::task::yield_now().await;
        }
    });
    (AbortOnDropHandle::new(task), thread)
}

/// Goes behind the others on its worker, once, and does not give way.
async fn wake_oneself() {
    let mut is_woken = false;
    poll_fn(|cx| {
        if mem::replace(&mut is_woken, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Whether any of many tasks, spawned by one that is on the other worker, gets to the worker of the one that yields.
async fn is_any_taken(yields: Arc<Mutex<Option<ThreadId>>>) -> Option<bool> {
    let is_there = move || *yields.lock() == Some(thread::current().id());
    if is_there() {
        // By chance the worker has taken this one. Another time.
        return None;
    }
    let mut waiting = JoinSet::new();
    for _ in 0..WAITING {
        let is_there = is_there.clone();
        waiting.spawn(async move {
            let since = Instant::now();
            while since.elapsed() < WAIT {
                if is_there() {
                    return true;
                }
                wake_oneself().await;
            }
            false
        });
    }
    Some(waiting.join_all().await.contains(&true))
}

#[test]
fn i3_a_worker_whose_tasks_all_give_way_takes_what_waits_on_others() {
    const ROUNDS: usize = 15;
    let _watchdog = watchdog();
    let runtime = multi(2);
    let (_busy, thread) = computes_and_yields(&runtime);
    eventually(|| thread.lock().is_some());
    let try_once = || runtime.block_on(runtime.spawn(is_any_taken(thread.clone()))).unwrap();
    let taken = std::iter::from_fn(|| Some(try_once())).flatten().take(ROUNDS).filter(|&taken| taken).count();
    // The system may keep either of the threads waiting.
    assert!(taken > ROUNDS / 2, "in {taken} of {ROUNDS} rounds");
}
