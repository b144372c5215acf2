//! What becomes of the wakers of tasks, told to `tracing` in Tokio's words: for tokio-console, which counts the wakes
//! of a task, and warns of one that nobody has a waker of.
//!
//! An event names the span of the task. A waker knows the task's number only, so there is a table of the two. A task is
//! in it from when its span is made until its future is dropped. It is looked at only while somebody listens to events
//! of this level ([`hear`]).
//!
//! The subscriber is user code. A panic of it is contained here, so that the waker of a task never panics. It is not
//! called under a lock: there, wakers are cloned in silence or not at all (`task::clone_if_plain`). Nor is it called
//! while a worker of a multi-thread runtime has the drivers: what these wake is [`Untold`] until it has given them back.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use parking_lot::Mutex;
use pin_project_lite::pin_project;
use tracing::Span;
use tracing::instrument::{Instrument, Instrumented};
use tracing::level_filters::{LevelFilter, STATIC_MAX_LEVEL};

use crate::task::{Id, contain, discard};

/// There are several, so that two threads that spawn rarely want the same one.
const SHARDS: usize = 16;

/// The spans of tasks.
static SPANS: [Mutex<Option<HashMap<u64, u64>>>; SHARDS] = [const { Mutex::new(None) }; SHARDS];

fn shard(task: Id) -> &'static Mutex<Option<HashMap<u64, u64>>> {
    &SPANS[task.0 as usize % SHARDS]
}

/// What is done with a waker that is called, and used up.
pub(crate) const WAKE: &str = "waker.wake";

/// Whether anybody may listen. Calls nobody.
#[inline]
pub(crate) fn hear() -> bool {
    STATIC_MAX_LEVEL >= LevelFilter::TRACE && LevelFilter::current() >= LevelFilter::TRACE
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
        discard(contain(|| tracing::trace!(target: "tokio::task::waker", op = what, task.id = span)));
    }
}

/// Wakes that nobody has been told of yet.
#[derive(Debug, Default)]
pub(crate) struct Untold(Vec<Id>);

impl Untold {
    pub(crate) fn note(&mut self, task: Id) {
        self.0.push(task);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Tells of them.
    pub(crate) fn tell(&mut self) {
        self.0.drain(..).for_each(|task| tell(|| task, WAKE));
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
        // Dropped first: no event is to name a span that is closed.
        _listed: Option<Listed>,
        #[pin]
        future: Instrumented<F>,
    }
}

impl<F> InSpan<F> {
    /// The future of a task with that number, or one that is none.
    pub(super) fn new(future: F, task: Option<Id>, span: Span) -> Self {
        let _listed = task.and_then(|task| Listed::new(task, &span));
        Self { _listed, future: future.instrument(span) }
    }
}

impl<F: Future> Future for InSpan<F> {
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        self.project().future.poll(cx)
    }
}
