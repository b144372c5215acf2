//! [`RtTimer`]: hyper's timeouts.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use hyper::rt::{Sleep, Timer};
use pin_project_lite::pin_project;

/// Gives hyper the timers of the runtime that it is used in.
///
/// A timeout that hyper moves, as it does with each request, stays the timer that it is.
///
/// # Panics
///
/// hyper makes timers where a connection is polled. As [`rt::time::sleep`] that panics outside of a runtime of rt with
/// timers.
#[derive(Clone, Copy, Debug, Default)]
pub struct RtTimer {
    _private: (),
}

pin_project! {
    /// The timer in the one box that hyper asks for.
    struct RtSleep {
        #[pin]
        sleep: rt::time::Sleep,
    }
}

impl RtTimer {
    /// A timer for whichever runtime it is used in.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Timer for RtTimer {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Sleep>> {
        Box::pin(RtSleep { sleep: rt::time::sleep(duration) })
    }

    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn Sleep>> {
        Box::pin(RtSleep { sleep: rt::time::sleep_until(deadline.into()) })
    }

    fn now(&self) -> Instant {
        // In tests the clock of the runtime may be paused.
        rt::time::Instant::now().into()
    }

    fn reset(&self, sleep: &mut Pin<Box<dyn Sleep>>, deadline: Instant) {
        match sleep.as_mut().downcast_mut_pin::<RtSleep>() {
            Some(own) => own.project().sleep.reset(deadline.into()),
            None => *sleep = self.sleep_until(deadline),
        }
    }
}

impl Future for RtSleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.project().sleep.poll(cx)
    }
}

impl Sleep for RtSleep {}
