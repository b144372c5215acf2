//! A limit on how long a future may take: [`timeout`](timeout()), [`timeout_at`] and [`Timeout`].
//!
//! A future that is ready at its first poll never sets a timer. One that becomes ready later takes its timer out again:
//! two uncontended locks are all that a timeout costs around fast I/O.

use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use pin_project_lite::pin_project;
use runtime_core::task::waits;

use crate::error::Elapsed;
use crate::{Instant, Sleep, sleep_until};

/// Requires a future to be ready within a duration from now.
///
/// The future is always polled first, so one that is ready at once wins against a zero duration. Any duration will do,
/// as with [`sleep`](crate::sleep()).
///
/// # Errors
///
/// [`Elapsed`] if the time is over before the future is ready. The future is then dropped with the [`Timeout`].
///
/// # Panics
///
/// As [`sleep`](crate::sleep()).
///
/// # Cancel safety
///
/// Dropping the `Timeout` drops the future: it is as cancel safe as that one.
///
/// # Example
///
/// ```
/// use rt::time::{Duration, sleep, timeout};
///
/// rt::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
///     assert_eq!(timeout(Duration::from_secs(10), async { 7 }).await, Ok(7));
///     assert!(timeout(Duration::from_millis(1), sleep(Duration::from_secs(10))).await.is_err());
/// });
/// ```
#[track_caller]
pub fn timeout<F: IntoFuture>(duration: Duration, future: F) -> Timeout<F::IntoFuture> {
    Timeout::new(future.into_future(), Sleep::lasting(duration))
}

/// Requires a future to be ready before a point in time. Otherwise as [`timeout`](timeout()).
///
/// # Errors
///
/// [`Elapsed`] if the time comes before the future is ready.
///
/// # Panics
///
/// As [`sleep`](crate::sleep()).
///
/// # Example
///
/// ```
/// use rt::time::{Duration, Instant, timeout_at};
///
/// rt::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
///     let deadline = Instant::now() + Duration::from_millis(1);
///     assert!(timeout_at(deadline, std::future::pending::<()>()).await.is_err());
/// });
/// ```
#[track_caller]
pub fn timeout_at<F: IntoFuture>(deadline: Instant, future: F) -> Timeout<F::IntoFuture> {
    Timeout::new(future.into_future(), sleep_until(deadline))
}

pin_project! {
    /// The future of [`timeout`](timeout()) and [`timeout_at`].
    ///
    /// It is not `Unpin`, as the timer that it sets is part of it.
    // As with `Sleep`.
    #[project(!Unpin)]
    #[must_use = "futures do nothing unless polled"]
    #[derive(Debug)]
    pub struct Timeout<F> {
        #[pin]
        value: F,
        #[pin]
        delay: Sleep,
    }
}

impl<F> Timeout<F> {
    pub(crate) fn new(value: F, delay: Sleep) -> Self {
        Self { value, delay }
    }

    /// The future inside.
    pub fn get_ref(&self) -> &F {
        &self.value
    }

    /// The future inside.
    pub fn get_mut(&mut self) -> &mut F {
        &mut self.value
    }

    /// Gives the future inside back, without its limit.
    pub fn into_inner(self) -> F {
        self.value
    }
}

impl<F: Future> Future for Timeout<F> {
    type Output = Result<F::Output, Elapsed>;

    #[track_caller]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let said = waits::said();
        if let Poll::Ready(value) = this.value.poll(cx) {
            return said.unless_pending(Poll::Ready(Ok(value)));
        }
        // Ready once its time has come, even if the future spends the whole budget in each poll: see `sleep.rs`.
        said.unless_pending(this.delay.poll_once(cx).map(|()| Err(Elapsed::new())))
    }
}
