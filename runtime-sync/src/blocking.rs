//! Waiting for a future on a plain thread: what the `blocking_*` methods have in common.
//!
//! A thread keeps what it is woken by from one call to the next: it takes two allocations, which most calls would make
//! for nothing, because they need not wait. A waker that outlives its call can wake a later one, which then polls its
//! future once more than it needs.

#[cfg(not(loom))]
use std::cell::Cell;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use runtime_core::coop;
use runtime_core::primitive::{Parker, Unparker};
use runtime_core::runtime::control;

struct Unpark(Unparker);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.unpark();
    }
}

/// What a thread waits by.
struct Waits {
    parker: Parker,
    waker: Waker,
}

impl Waits {
    fn new() -> Self {
        let parker = Parker::new();
        let waker = Waker::from(Arc::new(Unpark(parker.unparker().clone())));
        Self { parker, waker }
    }

    /// That of this thread, unless a call further out has it, or the thread is at its end.
    fn take() -> Self {
        #[cfg(not(loom))]
        if let Ok(Some(kept)) = KEPT.try_with(Cell::take) {
            return kept;
        }
        Self::new()
    }

    /// Leaves it to the next call.
    fn keep(self) {
        // Models have objects of their own in each run.
        #[cfg(not(loom))]
        drop(KEPT.try_with(|kept| kept.replace(Some(self))));
    }
}

#[cfg(not(loom))]
thread_local! {
    static KEPT: Cell<Option<Waits>> = const { Cell::new(None) };
}

/// Waits for the future on this thread, which must not be one that drives a runtime.
///
/// # Panics
///
/// Panics inside `block_on` and on the workers of a runtime, where it would hold up other tasks.
#[track_caller]
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    assert!(
        !control::is_entered(),
        "Cannot block the current thread from within a runtime: it drives tasks, and waiting here would hold them up. \
         Await the asynchronous operation instead, or move the call into `spawn_blocking`"
    );
    drive(future)
}

/// Waits for the future on this thread, whatever else that does. For what others are about to complete.
pub(crate) fn drive<F: Future>(future: F) -> F::Output {
    let waits = Waits::take();
    // In `block_in_place` there is the budget of the task: nobody but this thread waits for this poll.
    let mut future = pin!(coop::unconstrained(future));
    let output = loop {
        match future.as_mut().poll(&mut Context::from_waker(&waits.waker)) {
            Poll::Ready(output) => break output,
            Poll::Pending => waits.parker.park(),
        }
    };
    waits.keep();
    output
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::time::Duration;

    use rt::runtime::Builder;

    use super::*;
    use crate::{broadcast, oneshot};

    fn waker_here() -> Waker {
        drive(std::future::poll_fn(|cx| Poll::Ready(cx.waker().clone())))
    }

    #[test]
    fn calls_of_a_thread_share_what_they_wait_by_unless_one_is_within_the_other() {
        let first = waker_here();
        assert!(first.will_wake(&waker_here()));
        let is_shared = drive(std::future::poll_fn(|cx| Poll::Ready(waker_here().will_wake(cx.waker()))));
        assert!(!is_shared);
        assert!(!std::thread::spawn(waker_here).join().unwrap().will_wake(&first));
    }

    #[test]
    fn a_wake_that_was_meant_for_an_earlier_call_ends_none() {
        waker_here().wake();
        let (tx, rx) = oneshot::channel();
        let (asked, ask) = std::sync::mpsc::channel();
        let sender = std::thread::spawn(move || {
            ask.recv().unwrap();
            tx.send(7).unwrap();
        });
        let mut rx = pin!(rx);
        let mut polls = 0;
        let received = drive(std::future::poll_fn(|cx| {
            polls += 1;
            if polls == 2 {
                // Only now, at the poll that the stale wake has led to, does anybody send.
                asked.send(()).unwrap();
            }
            rx.as_mut().poll(cx)
        }));
        assert_eq!(received, Ok(7));
        sender.join().unwrap();
    }

    #[test]
    fn what_blocks_panics_in_tasks_and_in_block_on() {
        for runtime in [Builder::new_current_thread().build(), Builder::new_multi_thread().worker_threads(1).build()] {
            runtime.unwrap().block_on(async {
                let panics = || {
                    let (_tx, rx) = oneshot::channel::<()>();
                    let (_tx, mut broadcast) = broadcast::channel::<()>(1);
                    catch_unwind(AssertUnwindSafe(|| rx.blocking_recv())).is_err()
                        && catch_unwind(AssertUnwindSafe(|| broadcast.blocking_recv())).is_err()
                };
                assert!(panics());
                assert!(rt::spawn(async move { panics() }).await.unwrap());
            });
        }
    }

    #[test]
    fn what_blocks_may_do_so_on_the_blocking_pool_in_place_and_on_threads_with_a_handle() {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let handle = runtime.handle().clone();
        let receive = move || {
            let (tx, rx) = oneshot::channel();
            handle.spawn(async move {
                rt::time::sleep(Duration::from_millis(1)).await;
                tx.send(1)
            });
            let _entered = handle.enter();
            rx.blocking_recv()
        };
        runtime.block_on(async {
            assert_eq!(rt::spawn_blocking(receive.clone()).await.unwrap(), Ok(1));
            let in_place = receive.clone();
            assert_eq!(rt::spawn(async { rt::task::block_in_place(in_place) }).await.unwrap(), Ok(1));
        });
        assert_eq!(receive(), Ok(1));
    }

    /// The budget of the task is no reason to wait: nobody else is served meanwhile.
    #[test]
    fn what_blocks_in_place_needs_no_budget() {
        let runtime = Builder::new_multi_thread().worker_threads(1).build().unwrap();
        runtime.block_on(async {
            let received = rt::spawn(async {
                while rt::task::coop::has_budget_remaining() {
                    rt::task::consume_budget().await;
                }
                let (tx, rx) = oneshot::channel();
                tx.send(1).unwrap();
                rt::task::block_in_place(|| rx.blocking_recv())
            });
            assert_eq!(received.await.unwrap(), Ok(1));
        });
    }
}
