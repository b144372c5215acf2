//! What becomes of the wakers of tasks, told to `tracing` in Tokio's words: for tokio-console, which counts the wakes
//! of a task, and warns of one that nobody has a waker of.
//!
//! An event names the span of the task. A waker knows the task's number only, so there is a table of the two. A task is
//! in it from when its span is made until its future is dropped. It is looked at only while somebody listens to events
//! of this level ([`hear`]).
//!
//! The subscriber is user code, so while somebody listens the waker of a task is as good as any other: it is not called,
//! cloned or dropped where only the runtime's own code may run (`task/waker.rs` has the question).

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use parking_lot::Mutex;
use pin_project_lite::pin_project;
use tracing::Span;
use tracing::instrument::{Instrument, Instrumented};
use tracing::level_filters::LevelFilter;

use crate::task::Id;

/// So that threads that spawn seldom wait for each other.
const SHARDS: usize = 16;

/// The spans of tasks.
static SPANS: [Mutex<Option<HashMap<u64, u64>>>; SHARDS] = [const { Mutex::new(None) }; SHARDS];

fn shard(task: Id) -> &'static Mutex<Option<HashMap<u64, u64>>> {
    &SPANS[task.0 as usize % SHARDS]
}

/// Whether anybody may listen. Calls nobody.
#[inline]
pub(crate) fn hear() -> bool {
    LevelFilter::current() >= LevelFilter::TRACE
}

/// Tells what is about to be done with a waker of the task.
#[inline]
pub(crate) fn tell(task: impl FnOnce() -> Id, what: &'static str) {
    if hear() {
        tell_listener(task(), what);
    }
}

#[cold]
fn tell_listener(task: Id, what: &'static str) {
    let span = shard(task).lock().as_ref().and_then(|spans| spans.get(&task.0).copied());
    if let Some(span) = span {
        tracing::trace!(target: "tokio::task::waker", op = what, task.id = span);
    }
}

/// A task's place in the table.
#[derive(Debug)]
struct Listed(Id);

impl Listed {
    /// `None` if nobody wants to know of the span.
    fn new(task: Id, span: &Span) -> Option<Self> {
        let span = span.id()?;
        shard(task).lock().get_or_insert_default().insert(task.0, span.into_u64());
        Some(Self(task))
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        if let Some(spans) = &mut *shard(self.0).lock() {
            spans.remove(&self.0.0);
        }
    }
}

pin_project! {
    /// A future in the span of its task.
    #[derive(Debug)]
    pub(crate) struct InSpan<F> {
        #[pin]
        future: Instrumented<F>,
        // Dropped after the future, whose drop may wake the task.
        _listed: Option<Listed>,
    }
}

impl<F> InSpan<F> {
    pub(super) fn new(future: F, task: Id, span: Span) -> Self {
        let _listed = Listed::new(task, &span);
        Self { future: future.instrument(span), _listed }
    }
}

impl<F: Future> Future for InSpan<F> {
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        self.project().future.poll(cx)
    }
}
