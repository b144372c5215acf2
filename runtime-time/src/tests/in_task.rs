//! Timers that a task on a real scheduler sets, and what becomes of them in the same poll, on other threads, and at the
//! end.

use std::future::{pending, poll_fn};
use std::thread;

use runtime_core::runtime::Flavor;
use runtime_core::{block_in_place, spawn};

use super::runtime::{HOUR, Runtime, runtime};
use super::*;
use crate::{advance, interval, pause, sleep, timeout};

/// A task on a worker, which the caller waits for.
fn in_task<T: Send + 'static>(runtime: &Runtime, task: impl Future<Output = T> + Send + 'static) -> T {
    runtime.block_on(async { spawn(task).await.unwrap() })
}

/// Polls once, with the waker of the task.
async fn poll_once<F: Future>(mut future: Pin<&mut F>) -> Poll<F::Output> {
    poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx))).await
}

const BOTH: [Flavor; 2] = [Flavor::CurrentThread, Flavor::MultiThread];

#[test]
fn all_timers_that_one_poll_sets_fire() {
    for flavor in BOTH {
        let runtime = runtime(flavor);
        in_task(&runtime, async {
            let mut sleeps: Vec<_> = (0..50).map(|i| Box::pin(sleep((1 + i % 5) * MS))).collect();
            let mut fired = 0;
            poll_fn(|cx| {
                sleeps.retain_mut(|sleep| sleep.as_mut().poll(cx).is_pending());
                fired = 50 - sleeps.len();
                if sleeps.is_empty() { Poll::Ready(()) } else { Poll::Pending }
            })
            .await;
            assert_eq!(fired, 50);
        });
    }
}

#[test]
fn a_task_that_polls_until_it_fires_within_one_poll_sees_it_fire() {
    in_task(&runtime(Flavor::MultiThread), async {
        let mut timer = Box::pin(sleep(2 * MS));
        while poll_once(timer.as_mut()).await.is_pending() {
            thread::yield_now();
        }
        assert!(timer.is_elapsed());
    });
}

#[test]
fn a_deadline_that_passes_during_the_poll_wakes_the_task() {
    for flavor in BOTH {
        in_task(&runtime(flavor), async {
            let mut timer = Box::pin(sleep(MS));
            // A machine on which its time has come by then is too slow for this test.
            let Poll::Pending = poll_once(timer.as_mut()).await else { return };
            let deadline = timer.deadline();
            while Instant::now() < deadline + MS {
                thread::yield_now();
            }
            let mut polls = 0;
            poll_fn(|cx| {
                polls += 1;
                // Not a second time in the same poll.
                if polls == 1 { Poll::Pending } else { timer.as_mut().poll(cx) }
            })
            .await;
        });
    }
}

#[test]
fn a_reset_in_the_same_poll_counts() {
    for flavor in BOTH {
        let runtime = runtime(flavor);
        in_task(&runtime, async {
            let (mut sooner, mut later) = (Box::pin(sleep(HOUR)), Box::pin(sleep(MS)));
            assert!(poll_once(sooner.as_mut()).await.is_pending());
            // On a slow machine its time may have come.
            let _ = poll_once(later.as_mut()).await;
            let start = Instant::now();
            sooner.as_mut().reset(start + 2 * MS);
            later.as_mut().reset(start + HOUR);
            // It is not polled again, and wakes the task all the same. (The other one may have woken the task before,
            // if its time had come before it was reset.)
            poll_fn(|_| if sooner.is_elapsed() { Poll::Ready(()) } else { Poll::Pending }).await;
            assert!(start.elapsed() >= 2 * MS && !later.is_elapsed());
        });
    }
}

/// Has another thread do something with a timer that the task has set in the poll that still goes on.
fn elsewhere<T: Send + 'static>(f: impl FnOnce(Pin<Box<Sleep>>) -> T + Send + 'static) -> T {
    in_task(&runtime(Flavor::MultiThread), async move {
        let mut timer = Box::pin(sleep(HOUR));
        assert!(poll_once(timer.as_mut()).await.is_pending());
        // A second one, which stays where it is.
        let mut other = Box::pin(sleep(MS));
        let _ = poll_once(other.as_mut()).await;
        let done = thread::spawn(move || f(timer)).join().unwrap();
        other.await;
        done
    })
}

#[test]
fn another_thread_may_drop_it() {
    elsewhere(drop);
}

#[test]
fn another_thread_may_wait_for_it() {
    elsewhere(|mut timer| {
        let (woken, waker) = Woken::new();
        assert!(poll(timer.as_mut(), &waker).is_pending());
        let sooner = timer.deadline() - HOUR + MS;
        timer.as_mut().reset(sooner);
        while woken.count() == 0 {
            thread::yield_now();
        }
        assert!(poll(timer.as_mut(), &waker).is_ready());
    });
}

#[test]
fn another_thread_may_put_it_forward_and_its_task_is_woken() {
    let other = in_task(&runtime(Flavor::MultiThread), async move {
        let mut timer = Box::pin(sleep(HOUR));
        assert!(poll_once(timer.as_mut()).await.is_pending());
        let other = thread::spawn(move || {
            let sooner = timer.deadline() - HOUR + MS;
            timer.as_mut().reset(sooner);
            while !timer.is_elapsed() {
                thread::yield_now();
            }
            timer
        });
        let mut polls = 0;
        poll_fn(|_| {
            polls += 1;
            if polls == 1 { Poll::Pending } else { Poll::Ready(()) }
        })
        .await;
        other
    });
    assert!(other.join().unwrap().is_elapsed());
}

#[test]
fn another_task_has_it_when_its_own_is_done() {
    for flavor in BOTH {
        let runtime = runtime(flavor);
        let timer = in_task(&runtime, async {
            let mut timer = Box::pin(sleep(2 * MS));
            let _ = poll_once(timer.as_mut()).await;
            Some(timer)
        });
        in_task(&runtime, timer.unwrap());
    }
}

#[test]
fn it_fires_while_its_task_blocks_in_place() {
    let runtime = runtime(Flavor::MultiThread);
    let handle = runtime.0.clone();
    in_task(&runtime, async move {
        let mut timer = Box::pin(sleep(MS));
        // A machine on which its time has come by then is too slow for this test.
        let Poll::Pending = poll_once(timer.as_mut()).await else { return };
        block_in_place(|| {
            while handle.metrics().drivers().timers_fired == 0 {
                thread::yield_now();
            }
        });
        assert!(timer.is_elapsed());
    });
}

#[test]
fn the_end_of_the_runtime_ends_what_a_task_has_set() {
    for flavor in BOTH {
        let runtime = runtime(flavor);
        let kept: Arc<Mutex<Option<Pin<Box<Sleep>>>>> = Arc::default();
        let keep = kept.clone();
        in_task(&runtime, async move {
            let mut timer = Box::pin(sleep(HOUR));
            assert!(poll_once(timer.as_mut()).await.is_pending());
            *keep.lock() = Some(timer);
            drop(spawn(async {
                let _ = timeout(HOUR, pending::<()>()).await;
            }));
        });
        drop(runtime);
        let timer = kept.lock().take().unwrap();
        assert!(!timer.is_elapsed());
        assert!(format!("{timer:?}").contains("Closed"), "{timer:?}");
    }
}

#[test]
fn one_that_is_known_to_be_due_is_ready_at_its_first_poll() {
    in_task(&runtime(Flavor::CurrentThread), async {
        pause();
        let mut timer = Box::pin(sleep(MS));
        advance(10 * MS).await;
        assert!(poll_once(timer.as_mut()).await.is_ready());
    });
    in_task(&runtime(Flavor::CurrentThread), async {
        let mut interval = interval(2 * MS);
        interval.tick().await;
        sleep(5 * MS).await;
        assert!(poll_fn(|cx| Poll::Ready(interval.poll_tick(cx))).await.is_ready(), "it is overdue");
    });
}

#[test]
fn one_that_is_set_in_a_nested_block_on_wakes_the_task_outside() {
    let (outer, other) = (runtime(Flavor::MultiThread), runtime(Flavor::MultiThread));
    for inner in [outer.0.clone(), other.0.clone()] {
        in_task(&outer, async move {
            let mut timer = None;
            poll_fn(|cx| {
                let mut poll = || timer.get_or_insert_with(|| Box::pin(sleep(2 * MS))).as_mut().poll(cx);
                block_in_place(|| inner.block_on(async { poll() }))
            })
            .await;
        });
    }
}

#[test]
fn a_timer_may_be_set_after_the_last_poll_of_its_task() {
    type LocalRefs = Arc<Mutex<Option<Pin<Box<Sleep>>>>>;
    /// An output that sets a timer when it is dropped.
    struct Late(Waker, LocalRefs);
    impl Drop for Late {
        fn drop(&mut self) {
            let mut timer = Box::pin(sleep(HOUR));
            assert!(poll(timer.as_mut(), &self.0).is_pending());
            *self.1.lock() = Some(timer);
        }
    }
    for flavor in BOTH {
        let (runtime, kept) = (runtime(flavor), LocalRefs::default());
        let keep = kept.clone();
        runtime.block_on(async {
            drop(spawn(poll_fn(move |cx| Poll::Ready(Late(cx.waker().clone(), keep.clone())))));
            while kept.lock().is_none() {
                runtime_core::task::yield_now().await;
            }
        });
        assert_eq!(runtime.0.metrics().drivers().timers_set, 1);
    }
}

/// What a runtime leaves behind may meet another one at the same address, and is closed all the same.
#[test]
fn a_timer_of_a_runtime_that_is_gone_is_closed_wherever_it_is_polled() {
    for _ in 0..50 {
        let first = runtime(Flavor::CurrentThread);
        let mut timer = in_task(&first, async { Some(Box::pin(sleep(HOUR))) }).unwrap();
        drop(first);
        let task = async move {
            spawn(async move { poll_fn(|cx| timer.as_mut().poll(cx)).await }).await.unwrap_err().is_panic()
        };
        assert!(runtime(Flavor::CurrentThread).block_on(task));
    }
}
