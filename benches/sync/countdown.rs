//! [`Countdown`]: one task waits until others have done something a given number of times. It belongs to no library,
//! and costs all the same.

use std::future::poll_fn;
use std::task::{Poll, Waker};

use parking_lot::Mutex;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Countdown(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    left: u64,
    waker: Option<Waker>,
}

impl Countdown {
    /// Begins anew. Nobody may be counting.
    pub(super) fn set(&self, number: u64) {
        self.0.lock().left = number;
    }

    pub(super) fn count(&self) {
        let mut state = self.0.lock();
        state.left -= 1;
        let waker = if state.left == 0 { state.waker.take() } else { None };
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    pub(super) async fn wait(&self) {
        poll_fn(|cx| {
            let mut state = self.0.lock();
            if state.left == 0 {
                return Poll::Ready(());
            }
            state.waker = Some(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }
}
