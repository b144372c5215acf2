//! Futures whose first poll may panic, at the line that awaits them.
//!
//! Whether there is a runtime with an I/O driver can be told only when a future is polled: it may have been made before
//! the runtime. In an `async fn` such a panic would have a place in this crate. The `poll` of these futures has
//! `#[track_caller]` instead, and is called by the `.await`. Combinators in between do not pass that on, so the message
//! names the place where the future was made as well.

use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;
use runtime_core::context::{self, Missing};

use crate::driver::Handle;

/// A future that is made of the current I/O driver in its first poll.
#[track_caller]
pub(crate) fn with_driver<M, F>(make: M) -> impl Future<Output = F::Output> + use<M, F>
where
    M: FnOnce(Arc<Handle>) -> F,
    F: Future,
{
    with_what_is_there(|| context::with_io(|handle: &Arc<Handle>| handle.clone()), make)
}

/// A future that is made in its first poll of what the runtime has, unless that is missing.
#[track_caller]
pub(crate) fn with_what_is_there<L, T, M, F>(look: L, make: M) -> impl Future<Output = F::Output> + use<L, T, M, F>
where
    L: FnOnce() -> Result<T, Missing>,
    M: FnOnce(T) -> F,
    F: Future,
{
    Located::Made { parts: Some((look, make)), made_at: Location::caller() }
}

pin_project! {
    #[project = View]
    enum Located<L, M, F> {
        Made { parts: Option<(L, M)>, made_at: &'static Location<'static> },
        Begun { #[pin] future: F },
    }
}

impl<L, T, M, F> Future for Located<L, M, F>
where
    L: FnOnce() -> Result<T, Missing>,
    M: FnOnce(T) -> F,
    F: Future,
{
    type Output = F::Output;

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        if let View::Made { parts, made_at } = self.as_mut().project() {
            let (look, make) = parts.take().expect("polled again after its first poll has panicked");
            let future = match look() {
                Ok(there) => make(there),
                Err(missing) => panic!("{missing} (the operation was started at {made_at})"),
            };
            self.set(Self::Begun { future });
        }
        match self.project() {
            View::Begun { future } => future.poll(cx),
            View::Made { .. } => unreachable!("begun above"),
        }
    }
}
