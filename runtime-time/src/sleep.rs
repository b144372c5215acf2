//! Waiting until a point in time: [`sleep`](sleep()), [`sleep_until`] and [`Sleep`].
//!
//! A `Sleep` captures its shard of the runtime's timers when it is made, and does nothing else until it is polled, or
//! reset. The concurrent part of it is its [`Entry`]; here is only what the entry's owner decides: when the deadline is
//! compared with the clock, when a timer is set, what to do with a waker.
//!
//! A `Sleep` must never be ready early, and what is due within a tick is due at its end: also a sleep of no time, by
//! which programs give way. It may find out late: `sleep` reads the clock when it is made and not again when it is
//! first polled, as setting a timer whose deadline has just passed is harmless (it fires at the driver's next turn).
//!
//! # The budget
//!
//! A sleep that has been `Pending` once needs no budget when its time has come ([`coop`]): a deadline must be seen
//! beside a branch that spends the whole budget in each poll, whatever combinator holds the two. One that is found past
//! at its first poll, or the first after a reset, does need budget, so that a loop over sleeps until the past, or over
//! the missed ticks of an interval, lets others run. If it is refused, that counts as a wait: at the next poll it is
//! ready.
//!
//! A wait counts once. A sleep that has told its caller of its end, and is polled again without a reset, is like one
//! that is found past: else a loop over it would never let others run.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use pin_project_lite::pin_project;
use runtime_core::context::{self, WorkerToken};
use runtime_core::coop;
use runtime_core::task::waits::{self, Leaf};

use crate::Instant;
use crate::entry::{Entry, State};
use crate::handle::Handle;
use crate::shard_ref::ShardRef;

/// Waits for a duration.
///
/// The time runs from this call, not from the first poll. A sleep never ends early. The resolution is a 32nd of a
/// millisecond, rounded up. Where timers come in crowds, an otherwise idle runtime wakes up for them once a millisecond
/// at most, and fires together what is due by then. So a zero duration lets others run, as any other. Any duration will
/// do; one that the operating system's clock cannot add to the present counts as about thirty years.
///
/// Making a `Sleep` is cheap; a timer is set when it is first polled, or reset.
///
/// # Panics
///
/// Panics when called outside a runtime, or in one without timers. Polling panics when the runtime was shut down before
/// the deadline.
///
/// # Cancel safety
///
/// Dropping a `Sleep` cancels it; nothing is lost.
///
/// # Example
///
/// ```
/// use rt::time::{Duration, Instant, sleep};
///
/// rt::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
///     let start = Instant::now();
///     sleep(Duration::from_millis(5)).await;
///     assert!(start.elapsed() >= Duration::from_millis(5));
/// });
/// ```
#[track_caller]
pub fn sleep(duration: Duration) -> Sleep {
    Sleep::lasting(duration)
}

#[track_caller]
fn starting_now(duration: Duration) -> (ShardRef, Instant) {
    // What comes out of the closure is small: a `Sleep` would be copied on its way.
    let (shard, now) = with_handle_here(|handle, worker_token| (handle.shard(worker_token), handle.now()));
    (shard, Instant::from_std(now).saturating_add(duration))
}

/// Waits until a point in time. Is ready at the first poll if that has passed by a tick.
///
/// The resolution is that of [`sleep`](sleep()): never early. A timer is set when the `Sleep` is first polled. More
/// than four million years ahead, where only a paused clock ever gets, counts as that.
///
/// # Panics
///
/// As [`sleep`](sleep()).
///
/// # Cancel safety
///
/// Dropping a `Sleep` cancels it; nothing is lost.
///
/// # Example
///
/// ```
/// use rt::time::{Duration, Instant, sleep_until};
///
/// rt::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
///     let deadline = Instant::now() + Duration::from_millis(5);
///     sleep_until(deadline).await;
///     assert!(Instant::now() >= deadline);
/// });
/// ```
#[track_caller]
pub fn sleep_until(deadline: Instant) -> Sleep {
    Sleep::new(with_handle_here(|handle, worker_token| handle.shard(worker_token)), deadline, State::New)
}

/// Calls the closure, which must not run user code, with the current runtime's timers, and tells it which worker this
/// thread is. Panics if there are none.
#[track_caller]
#[inline]
fn with_handle_here<R>(f: impl FnOnce(&Arc<Handle>, Option<WorkerToken>) -> R) -> R {
    match context::with_time_here::<Handle, R>(f) {
        Ok(result) => result,
        Err(missing) => panic!("{missing}"),
    }
}

pin_project! {
    /// The future of [`sleep`](sleep()) and [`sleep_until`].
    ///
    /// It is not `Unpin`, as the timer that it sets is part of it. Use [`std::pin::pin!`] or [`Box::pin`] to poll it by
    /// reference, in a loop or in `select!`, and [`reset`](Self::reset) to use it again.
    ///
    /// # Example
    ///
    /// ```
    /// use std::pin::pin;
    /// use rt::time::{Duration, Instant, sleep};
    ///
    /// rt::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
    ///     let mut sleep = pin!(sleep(Duration::from_millis(1)));
    ///     for _ in 0..3 {
    ///         sleep.as_mut().await;
    ///         let next = sleep.deadline() + Duration::from_millis(1);
    ///         sleep.as_mut().reset(next);
    ///     }
    /// });
    /// ```
    // As it is by its field, too; said, for then the documentation does not show how pin-project-lite finds out.
    #[project(!Unpin)]
    #[must_use = "futures do nothing unless polled"]
    pub struct Sleep {
        #[pin]
        entry: Entry,
    }
}

impl Sleep {
    #[inline]
    pub(crate) fn new(shard: ShardRef, deadline: Instant, state: State) -> Self {
        Self { entry: Entry::new(shard, deadline.into_std(), state) }
    }

    /// What [`sleep`](sleep()) returns. Inlined, where that would be copied to its place.
    #[track_caller]
    #[inline]
    pub(crate) fn lasting(duration: Duration) -> Self {
        let (shard, deadline) = starting_now(duration);
        Self::new(shard, deadline, State::Ahead)
    }

    /// When this sleep ends.
    pub fn deadline(&self) -> Instant {
        Instant::from_std(self.entry.deadline())
    }

    /// Whether the deadline has passed and this sleep has noticed: the timer has fired, or a poll found it past.
    pub fn is_elapsed(&self) -> bool {
        self.entry.is_elapsed()
    }

    /// Changes the deadline, to an earlier or a later one, also after the old one has passed.
    ///
    /// A sleep that waits, or whose last poll was ready, wakes its task at the new deadline, and need not be polled
    /// again for that. Any other ends then all the same, and wakes nobody: [`is_elapsed`](Self::is_elapsed) tells.
    ///
    /// # Example
    ///
    /// ```
    /// use std::pin::pin;
    /// use rt::time::{Duration, Instant, sleep};
    ///
    /// rt::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
    ///     let mut sleep = pin!(sleep(Duration::MAX));
    ///     sleep.as_mut().reset(Instant::now() + Duration::from_millis(1));
    ///     sleep.await;
    /// });
    /// ```
    pub fn reset(self: Pin<&mut Self>, deadline: Instant) {
        self.project().entry.move_to(deadline.into_std());
    }

    /// As [`reset`](Self::reset), for a caller that knows the time: sets no timer before the next poll.
    pub(crate) fn rest_until(self: Pin<&mut Self>, deadline: Instant, now: Instant) {
        let ticks = self.entry.shard().shared.ticks;
        let (deadline, now) = (deadline.into_std(), now.into_std());
        let state = if ticks.not_before(deadline) <= ticks.passed(now) { State::Past } else { State::Ahead };
        self.project().entry.rest_until(deadline, state);
    }

    /// The present by the clock that this sleep goes by.
    pub(crate) fn now(&self) -> Instant {
        Instant::from_std(self.entry.shard().shared.clock.now())
    }

    /// Ready with what is known of the wait, once the deadline has passed.
    #[track_caller]
    fn poll_deadline(self: Pin<&mut Self>, waker: &Waker) -> Poll<Waited> {
        let mut entry = self.project().entry;
        let (before, deadline) = (entry.state(), entry.deadline());
        let state = match before {
            State::New if entry.is_overdue() => {
                entry.as_mut().rest(State::Past);
                State::Past
            }
            State::New | State::Ahead => entry.as_mut().set(waker),
            State::Waiting => entry.as_mut().refresh(waker),
            state => state,
        };
        match state {
            State::Fired if matches!(before, State::New | State::Ahead) => Poll::Ready(Waited::No),
            State::Past | State::Told => Poll::Ready(Waited::No),
            State::Fired => Poll::Ready(Waited::Yes),
            State::Closed if context::is_core_revoked() => Poll::Pending,
            State::Closed => closed(),
            _ => waits::pending(Leaf::Timer(deadline)),
        }
    }
}

/// Whether a sleep whose deadline has passed was `Pending` before.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Waited {
    No,
    Yes,
}

#[cold]
#[track_caller]
fn closed() -> ! {
    panic!("this sleep cannot end: the runtime that it was made on, or that runtime's timer driver, has been shut down")
}

impl Sleep {
    /// Polls it, for a caller that does not [`reset`](Self::reset) it when it is ready: keeps no waker then.
    #[track_caller]
    pub(crate) fn poll_once(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        match ready!(self.as_mut().poll_deadline(cx.waker())) {
            Waited::Yes => coop::charge(),
            Waited::No => match coop::poll_proceed(cx) {
                Poll::Ready(coop) => coop.made_progress(),
                Poll::Pending => {
                    self.project().entry.rest(State::Fired);
                    return Poll::Pending;
                }
            },
        }
        self.project().entry.note_told();
        Poll::Ready(())
    }
}

impl Future for Sleep {
    type Output = ();

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        ready!(self.as_mut().poll_once(cx));
        self.project().entry.keep(cx.waker());
        Poll::Ready(())
    }
}

impl fmt::Debug for Sleep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sleep").field("deadline", &self.deadline()).field("state", &self.entry.state()).finish()
    }
}
