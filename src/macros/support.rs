//! What the expansions of the macros refer to. Not part of the public interface: no name in here is to be used by hand,
//! and all of it may change in any release.

pub use core::future::poll_fn;
pub use core::pin::{Pin, pin};
pub use core::task::{Context, Poll};

pub use runtime_macros::{join_internal, select_internal, try_join_internal};

use pin_project_lite::pin_project;

/// A number below `n`, which decides where a `select!` starts.
///
/// It comes from the seeded generator of the runtime that the caller runs on, so that a run can be repeated.
#[must_use]
#[inline]
pub fn thread_rng_n(n: u32) -> u32 {
    runtime_core::context::random_below(n)
}

/// Whether a `select!` may begin in this turn of the task; if not, the task has been woken for the next.
///
/// It may not once the task's budget is used up. The runtime's own futures would find that out for themselves, but
/// others would be polled all the same. They would win every time against those, though these are ready and may stand
/// first in a `biased;` one; and a loop over the `select!` would keep the thread for ever.
///
/// `select!` asks when it is polled for the first time, and not again. One that has been waiting polls all its
/// branches, because one of them may be a timer, which needs no budget: a deadline must be seen also where another
/// future of the task spends the whole budget in each turn, before the `select!` is polled.
#[inline]
pub fn poll_begin(cx: &mut Context<'_>) -> Poll<()> {
    runtime_core::coop::poll_budget_available(cx)
}

/// As [`poll_fn`], for what may be done while some of its futures still wait: when it is, inspection does not tell that
/// the task waits for them.
pub fn race_fn<T>(mut poll: impl FnMut(&mut Context<'_>) -> Poll<T>) -> impl Future<Output = T> {
    poll_fn(move |cx| {
        let said = runtime_core::task::waits::said();
        said.unless_pending(poll(cx))
    })
}

/// Names the type of a value that is never made, so that an expansion can say what type it expects.
///
/// # Panics
///
/// Always.
#[must_use]
pub fn never_called<T>() -> T {
    unreachable!("it is only there to be looked at by the compiler")
}

pin_project! {
    /// One future of a `join!`, and its output from when it is done until all are.
    ///
    /// The two share their space. The future is dropped when it is done, not when all are: it may hold what another
    /// of them waits for.
    #[project = SlotView]
    #[project_replace = SlotValue]
    #[derive(Debug)]
    pub enum Slot<F, T> {
        Running { #[pin] future: F },
        Done { output: T },
        Taken,
    }
}

// The bounds stand on the functions that poll, not on the types: whatever is wrong with a future is then reported once,
// by the call that stands at the future's place in the user's code.
impl<F, T> Slot<F, T> {
    #[must_use]
    pub fn new(future: F) -> Self {
        Slot::Running { future }
    }

    /// Polls the future unless it is done: what `join!` does.
    pub fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()>
    where
        F: Future<Output = T>,
    {
        if let SlotView::Running { future } = self.as_mut().project() {
            match future.poll(cx) {
                Poll::Ready(output) => self.put(output),
                Poll::Pending => return Poll::Pending,
            }
        }
        Poll::Ready(())
    }

    /// Polls the future unless it is done: what `try_join!` does. An `Ok` is kept. An error is handed out, and ends the
    /// future at once too.
    pub fn try_poll<E>(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), E>>
    where
        F: Future<Output = Result<T, E>>,
    {
        if let SlotView::Running { future } = self.as_mut().project() {
            match future.poll(cx) {
                Poll::Ready(Ok(output)) => self.put(output),
                Poll::Ready(Err(error)) => {
                    self.set(Slot::Taken);
                    return Poll::Ready(Err(error));
                }
                Poll::Pending => return Poll::Pending,
            }
        }
        Poll::Ready(Ok(()))
    }

    fn put(self: Pin<&mut Self>, output: T) {
        self.project_replace(Slot::Done { output });
    }

    /// The output of a future that is done.
    ///
    /// # Panics
    ///
    /// Panics if the future still runs, or its output was taken before.
    #[must_use]
    pub fn take(self: Pin<&mut Self>) -> T {
        match self.project_replace(Slot::Taken) {
            SlotValue::Done { output } => output,
            SlotValue::Running { .. } | SlotValue::Taken => {
                unreachable!("join! takes each output once, when all are there")
            }
        }
    }
}
