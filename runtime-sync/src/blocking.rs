//! Waiting for a future on a plain thread: what the `blocking_*` methods have in common.

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
    // In `block_in_place` there is the budget of the task: nobody but this thread waits for this poll.
    let mut future = pin!(coop::unconstrained(future));
    // Mostly it is ready at once, and then there is nothing to be woken. What it may do with this waker is lost, and is
    // seen by the next poll.
    if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        return output;
    }
    let parker = Parker::new();
    let waker = Waker::from(Arc::new(Unpark(parker.unparker().clone())));
    let mut cx = Context::from_waker(&waker);
    loop {
        match future.as_mut().poll(&mut cx) {
            Poll::Ready(output) => return output,
            Poll::Pending => parker.park(),
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::time::Duration;

    use rt::runtime::Builder;

    use crate::{broadcast, oneshot};

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
