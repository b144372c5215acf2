//! [`Runner`]: what the thread that runs a task brings along.

use super::arena::LocalArena;
use super::current::CurrentTask;
use super::poll_timer::PollTimer;
use super::raw::TaskRef;
use crate::events::{Events, TaskEventKind};
use crate::metrics::Counter;
use crate::trace::LaneId;

/// The thread that runs a task, as the task needs to know it. Handing it over spares every step of a poll the search
/// for it in thread-local storage.
#[derive(Clone, Copy)]
pub(crate) struct Runner<'a> {
    /// Who is told what happens to the task, if anybody listens.
    pub(crate) events: Option<&'a Events>,
    /// As whose doing that is recorded.
    pub(crate) lane: LaneId,
    /// Where its completion is counted, if anywhere. This thread alone adds to it.
    pub(crate) completions: Option<&'a Counter>,
    /// Where its tasks are freed, if it has an arena.
    pub(crate) local_arena: Option<&'a LocalArena>,
    /// Where the spurious polls of its tasks are counted, and what says how long polls take, if anything.
    #[cfg_attr(loom, allow(dead_code))] // models do not inspect
    pub(crate) polls: Option<(&'a Counter, &'a PollTimer)>,
    /// What the context knows of the task: put in by `Notified::run_current`.
    pub(crate) current: Option<&'a CurrentTask>,
}

impl Runner<'_> {
    /// For tasks that are in no arena, and that nobody observes.
    pub(crate) const NOBODY: Self = Runner {
        events: None,
        lane: LaneId::Shared(0),
        completions: None,
        local_arena: None,
        polls: None,
        current: None,
    };

    #[inline]
    pub(super) fn tell(&self, task: &TaskRef, kind: TaskEventKind) {
        if let Some(events) = self.events {
            events.tell(self.lane, task, kind);
        }
    }

    /// The poll has panicked.
    #[cold]
    pub(super) fn tell_panic(&self, task: &TaskRef) {
        if let Some(events) = self.events {
            events.note_panic(self.lane, task);
        }
    }

    /// A poll is over in which the task has not made any progress.
    #[cfg_attr(loom, allow(dead_code))]
    #[cold]
    pub(super) fn count_spurious_poll(&self) {
        if let Some((spurious, _)) = self.polls {
            spurious.add(1);
        }
    }

    /// Whether the task has asked for another poll without a word to its state.
    #[inline]
    pub(super) fn has_yielded(&self) -> bool {
        self.current.is_some_and(CurrentTask::yields)
    }

    /// The last poll is over, and the future is gone.
    #[inline]
    pub(super) fn end_last_poll(&self) {
        if let Some(current) = self.current {
            current.end_last_poll();
        }
    }

    #[inline]
    pub(super) fn count_completion(&self) {
        if let Some(completions) = self.completions {
            completions.add(1);
        }
    }
}
