//! With the feature.

use std::collections::HashMap;

use parking_lot::Mutex;
use tracing::Span;
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
pub(crate) struct Untold {
    /// Of tasks that need not be queued for it.
    idle: Vec<Id>,
    /// Whether there are others, which whoever queues the tasks tells of, one by one.
    are_queued: bool,
}

impl Untold {
    pub(crate) fn note_idle(&mut self, task: Id) {
        self.idle.push(task);
    }

    pub(crate) fn note_queued(&mut self) {
        self.are_queued = true;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.idle.is_empty() && !self.are_queued
    }

    /// Tells of those that are of no task in a queue. The caller tells of the others.
    pub(crate) fn tell_idle(&mut self) {
        self.are_queued = false;
        self.idle.drain(..).for_each(|task| tell(|| task, WAKE));
    }
}

/// A task's place in the table.
#[derive(Debug)]
pub(crate) struct Listed(Id);

impl Listed {
    /// `None` if nobody wants to know of the span.
    pub(crate) fn new(task: Id, span: &Span) -> Option<Self> {
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
