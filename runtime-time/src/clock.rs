//! Stopping and moving a runtime's clock, for tests: [`pause`], [`resume`], [`advance`].
//!
//! The clock itself is in runtime-core; here is who may move it and what has to happen then. Only a runtime with one
//! thread may: with several, it would be nobody's to say at which point of the others' work time moved.
//!
//! While the clock is paused and the runtime has nothing else to do, the timer driver moves the clock to the next
//! deadline on its own, so that a test that sleeps an hour takes no time.

use std::future::Future;
use std::marker::PhantomPinned;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use pin_project_lite::pin_project;
use runtime_core::clock::Clock;
use runtime_core::context::{self, Flavor};
use runtime_core::driver::WakeAtOnce;

use crate::batch::WakeBatch;
use crate::handle::Handle;

/// Stops the clock of the current runtime, which must be a current-thread one.
///
/// [`Instant::now`](crate::Instant::now) then stands still, and moves on by [`advance`], or to the next timer when
/// nothing else can run. Time as the operating system sees it goes on.
///
/// What is done on the blocking pool (`spawn_blocking`, files, the lookup of names) holds the clock back until it is
/// over. What others do does not: a peer at the other end of a socket, a child process, a thread of the program's own.
/// A `timeout` around waiting for one of these ends at once, if nothing else can run. A test that has such a peer
/// should not stop the clock, or wait for it without a timer.
///
/// The clock stops at a whole tick of the timers, up to a 32nd of a millisecond ahead. From there, timers are exact:
/// a sleep of a whole number of milliseconds ends after exactly that number.
///
/// # Panics
///
/// Panics if the clock is paused already, on a multi-thread runtime, and outside a runtime.
///
/// # Example
///
/// ```
/// use rt::time::{self, Duration, Instant};
///
/// let runtime = rt::runtime::Builder::new_current_thread().enable_time().build().unwrap();
/// runtime.block_on(async {
///     time::pause();
///     let start = Instant::now();
///     time::sleep(Duration::from_secs(3600)).await; // returns at once
///     assert_eq!(start.elapsed(), Duration::from_secs(3600));
/// });
/// ```
#[track_caller]
pub fn pause() {
    let (clock, timers) = movable_clock("pause");
    assert!(clock.pause(), "time is paused already");
    let Some(timers) = timers else { return };
    let shared = timers.shared();
    let tick = shared.ticks.not_before(shared.clock.now());
    if let Some(whole) = shared.ticks.time_of(tick) {
        shared.clock.advance_to(whole);
    }
    // A driver may be waiting for real, on another thread that drives this runtime.
    shared.clock_changed();
}

/// Lets the clock of the current runtime run on from where it stands.
///
/// # Panics
///
/// Panics if the clock is not paused, and otherwise as [`pause`].
///
/// # Example
///
/// ```
/// use rt::time::{self, Duration};
///
/// let runtime = rt::runtime::Builder::new_current_thread().enable_time().build().unwrap();
/// runtime.block_on(async {
///     time::pause();
///     time::advance(Duration::from_secs(60)).await;
///     time::resume();
///     time::sleep(Duration::from_millis(1)).await; // takes a millisecond again
/// });
/// ```
#[track_caller]
pub fn resume() {
    let (clock, timers) = movable_clock("resume");
    assert!(clock.resume(), "time is not paused");
    let Some(timers) = timers else { return };
    // Nobody looks there while the clock runs.
    timers.shared().next_turn.end(&mut WakeBatch::new(), &mut WakeAtOnce);
    timers.shared().clock_changed();
}

/// Moves the paused clock of the current runtime on, fires the timers that are due by then, and lets the other tasks
/// run.
///
/// It goes on when the tasks whose timers fired, and all others that can, have run until they wait; or, if they never
/// all do, after some milliseconds of real time.
///
/// Time moves in one step: a task that sleeps in a loop finds that several of its deadlines have passed. To stop at
/// each timer on the way, sleep instead.
///
/// It moves before anything else runs. A task that was spawned just before has not been polled yet: a sleep that it
/// makes begins at the new time. Where it should begin at the old one, let the task run first, as below.
///
/// # Panics
///
/// Panics, when polled, if the clock is not paused or the result would be beyond what the operating system's clock can
/// express, and otherwise as [`pause`].
///
/// # Cancel safety
///
/// The clock moves at the first poll. Dropping the future afterwards only means not to wait for the other tasks.
///
/// # Example
///
/// ```
/// use rt::time::{self, Duration, Instant};
///
/// let runtime = rt::runtime::Builder::new_current_thread().enable_time().build().unwrap();
/// runtime.block_on(async {
///     time::pause();
///     let start = Instant::now();
///     time::advance(Duration::from_millis(1500)).await;
///     assert_eq!(start.elapsed(), Duration::from_millis(1500));
///
///     let task = rt::spawn(async { time::sleep(Duration::from_secs(60)).await });
///     rt::task::yield_now().await; // has the task set its timer
///     time::advance(Duration::from_secs(60)).await;
///     assert!(task.is_finished());
///
///     let task = rt::spawn(async { time::sleep(Duration::from_secs(60)).await });
///     time::advance(Duration::from_secs(60)).await; // comes before the task's first poll
///     assert!(!task.is_finished());
/// });
/// ```
pub fn advance(duration: Duration) -> impl Future<Output = ()> {
    Advance { duration, has_moved: false, _pinned: PhantomPinned }
}

pin_project! {
    /// The future of [`advance`]. Not an `async fn`, so that a panic has the place of the `.await`.
    struct Advance {
        duration: Duration,
        has_moved: bool,
        // As that of an `async fn`.
        #[pin]
        _pinned: PhantomPinned,
    }
}

impl Future for Advance {
    type Output = ();

    #[track_caller]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.project();
        if *this.has_moved {
            return Poll::Ready(());
        }
        let (clock, timers) = movable_clock("advance");
        assert!(clock.is_paused(), "time is not paused: only a paused clock can be advanced");
        assert!(clock.advance(*this.duration), "cannot advance the clock beyond the end of time");
        *this.has_moved = true;
        let Some(timers) = timers else {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        };
        let shared = timers.shared();
        // Even without timers that wait: sleeps that were never polled are to see it.
        shared.look_at_clock();
        timers.fire_due(&mut WakeBatch::new(), &mut WakeAtOnce);
        shared.next_turn.wait(cx.waker().clone());
        // The driver may be waiting already, without a limit, because the clock must not move by itself.
        shared.clock_changed();
        Poll::Pending
    }
}

/// The clock of the current runtime, and its timers, if it has them.
#[track_caller]
fn movable_clock(what: &str) -> (Arc<Clock>, Option<Arc<Handle>>) {
    // Copies, as wakers are going to be called: the context must not be in use then.
    let clock = match context::with_clock(Arc::clone) {
        Ok(clock) => clock,
        Err(missing) => panic!("{missing}"),
    };
    assert!(
        context::flavor() == Some(Flavor::CurrentThread),
        "time::{what}() needs a current-thread runtime: on several threads, time has no moment to stop or move at"
    );
    (clock, context::with_time(Arc::clone).ok())
}
