//! A limit on how long a future may take, by the timers of whatever runtime the calling code is in.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use runtime_core::context;

/// The future's output, or `None` if it takes longer than so long from the first poll on. Sets a timer only if it has
/// to wait.
///
/// # Panics
///
/// Outside of a runtime that has timers.
pub(crate) async fn timeout<F: Future>(duration: Duration, future: F) -> Option<F::Output> {
    context::check_time().unwrap_or_else(|missing| panic!("{missing}"));
    let mut future = pin!(future);
    let mut sleep = None;
    poll_fn(|cx| {
        if let Poll::Ready(output) = future.as_mut().poll(cx) {
            return Poll::Ready(Some(output));
        }
        let sleep = sleep.get_or_insert_with(|| context::sleep(duration).unwrap_or_else(|missing| panic!("{missing}")));
        sleep.as_mut().poll(cx).map(|()| None)
    })
    .await
}
