//! [`Timer`]: rt's timer in the one box that quinn asks for.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Instant;

use pin_project_lite::pin_project;
use quinn::AsyncTimer;
use rt::time::Sleep;

pin_project! {
    /// A timer that quinn moves as it goes.
    #[derive(Debug)]
    pub(crate) struct Timer {
        #[pin]
        sleep: Sleep,
    }
}

impl Timer {
    pub(crate) fn new(deadline: Instant) -> Self {
        Self { sleep: rt::time::sleep_until(deadline.into()) }
    }
}

impl AsyncTimer for Timer {
    fn reset(self: Pin<&mut Self>, deadline: Instant) {
        self.project().sleep.reset(deadline.into());
    }

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.project().sleep.poll(cx)
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::time::Duration;

    use quinn::Runtime;

    use crate::RtRuntime;

    #[rt::test(start_paused = true)]
    async fn a_timer_that_is_moved_ends_at_its_new_time_and_not_before() {
        let runtime = RtRuntime::new();
        let start = runtime.now();
        let mut timer = runtime.new_timer(start + Duration::from_secs(1));
        timer.as_mut().reset(start + Duration::from_secs(5));
        poll_fn(|cx| timer.as_mut().poll(cx)).await;
        assert!(runtime.now() - start >= Duration::from_secs(5));
        // It serves again.
        timer.as_mut().reset(start + Duration::from_secs(7));
        poll_fn(|cx| timer.as_mut().poll(cx)).await;
        assert!(runtime.now() - start >= Duration::from_secs(7));
    }
}
