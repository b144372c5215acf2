//! What happens to tasks, told to the user who asked: the hook behind `Builder::on_task_event`.
//!
//! A runtime without an observer pays one predictable branch for each event. The observer is called on whatever thread
//! the thing happens on, in the middle of the scheduler: it must be quick, and must not block or call back into the
//! runtime. A worker of a multi-thread runtime that has the drivers calls no observer, of whatever runtime, before it
//! has given them back (`scheduler/multi/driver_events.rs`).

use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use crate::task::{Id, TaskRef, contain, discard};

/// Something that happened to a task. (Jobs of [`spawn_blocking`](crate::spawn_blocking) are none: they are never
/// polled.)
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct TaskEvent {
    /// Which task.
    pub id: Id,
    /// What it was called, if it was given a name.
    pub name: Option<&'static str>,
    /// Where it was spawned.
    pub spawned_at: &'static Location<'static>,
    /// What happened.
    pub kind: TaskEventKind,
}

/// The kinds of [`TaskEvent`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TaskEventKind {
    /// It was spawned, and queued for the first time.
    Spawned,
    /// A worker picked it from a queue and is about to poll it.
    Polled,
    /// The poll returned `Pending`.
    Pending,
    /// It was woken while it waited, and queued. (A wake during the poll of the task is not told.)
    Woken,
    /// It gave its output, panicked, or was cancelled.
    Completed,
}

/// The user's observer.
pub type Observer = Arc<dyn Fn(&TaskEvent) + Send + Sync>;

/// Tells the observer, if there is one. A panic of it is contained: it must not take a worker down.
#[inline]
pub(crate) fn emit(observer: Option<&Observer>, task: &TaskRef, kind: TaskEventKind) {
    if let Some(observer) = observer {
        tell(observer, task, kind);
    }
}

#[cold]
fn tell(observer: &Observer, task: &TaskRef, kind: TaskEventKind) {
    let header = task.header();
    let event = TaskEvent { id: header.id(), name: task.name(), spawned_at: header.location(), kind };
    discard(contain(|| observer(&event)));
}

impl fmt::Display for TaskEventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Spawned => "spawned",
            Self::Polled => "polled",
            Self::Pending => "pending",
            Self::Woken => "woken",
            Self::Completed => "completed",
        })
    }
}
