//! [`Joined`]: join handles whose errors are a bug of the benchmark.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// A join handle of rt or Tokio that panics where theirs returns an error, as smol's does.
#[derive(Debug)]
#[must_use = "dropping it detaches the task"]
pub struct Joined<H>(pub(super) H);

impl<H, T, E> Future for Joined<H>
where
    H: Future<Output = Result<T, E>> + Unpin,
    E: fmt::Debug,
{
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        Pin::new(&mut self.0).poll(cx).map(|outcome| outcome.expect("a benchmark's task panicked"))
    }
}
