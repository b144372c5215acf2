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
        "a blocking operation was called inside a runtime: this thread drives tasks, and waiting here would hold them \
         up. Await the asynchronous operation instead, or move the call into `spawn_blocking`"
    );
    let parker = Parker::new();
    let waker = Waker::from(Arc::new(Unpark(parker.unparker().clone())));
    let mut cx = Context::from_waker(&waker);
    // In `block_in_place` there is the budget of the task: nobody but this thread waits for this poll.
    let mut future = pin!(coop::unconstrained(future));
    loop {
        match future.as_mut().poll(&mut cx) {
            Poll::Ready(output) => return output,
            Poll::Pending => parker.park(),
        }
    }
}
