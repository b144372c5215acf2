//! [`Runner`]: what the thread that runs a task brings along; and [`Run`], for one time.

use super::arena::LocalArena;
use super::current::{CurrentTask, SelfWake};
use super::poll_clock::PollClock;
use super::raw::TaskRef;
use crate::events::{Events, TaskEventKind};
use crate::metrics::Counter;
use crate::trace::LaneId;

/// The thread that runs tasks, as they need to know it. Handing it over spares every step of a poll the search for it
/// in thread-local storage. A worker of a multi-thread runtime makes one, and hands it to all its tasks.
pub(crate) struct Runner<'a> {
    /// Who is told what happens to its tasks, while anybody listens.
    pub(crate) events: Option<&'a Events>,
    /// As whose doing that is recorded.
    pub(crate) lane: LaneId,
    /// Where completions are counted, if anywhere. This thread alone adds to it.
    pub(crate) completions: Option<&'a Counter>,
    /// Where tasks are freed, if the thread has an arena.
    pub(crate) local_arena: Option<&'a LocalArena>,
    /// What says how long a poll takes, if anything.
    pub(crate) clock: Option<PollClock<'a>>,
}

impl Runner<'_> {
    /// For tasks that are in no arena, and that nobody observes.
    pub(crate) const NOBODY: Self =
        Runner { events: None, lane: LaneId::Shared(0), completions: None, local_arena: None, clock: None };

    /// A poll is over in which the task has not made any progress.
    #[cfg_attr(loom, allow(dead_code))]
    #[cold]
    pub(super) fn count_spurious_poll(&self) {
        if let Some(clock) = &self.clock {
            clock.counters.spurious_polls.add(1);
        }
    }

    /// The poll goes on, after all: the task was cancelled meanwhile.
    #[cold]
    pub(super) fn take_back_end(&self) {
        if let Some(clock) = &self.clock {
            clock.take_back_end();
        }
    }

    #[inline]
    pub(super) fn count_completion(&self) {
        if let Some(completions) = self.completions {
            completions.add(1);
        }
    }
}

/// One time that a task is polled, or cancelled.
pub(super) struct Run<'a> {
    pub(super) runner: &'a Runner<'a>,
    /// What the thread knows of the task, if that is its current one.
    pub(super) current: Option<&'a CurrentTask>,
    /// If anybody listens. Looked up once: who hears of the beginning hears of the end.
    events: Option<&'a Events>,
}

impl<'a> Run<'a> {
    #[inline]
    pub(super) fn begin(runner: &'a Runner<'a>, current: Option<&'a CurrentTask>) -> Self {
        Self { runner, current, events: runner.events.and_then(Events::heard) }
    }

    #[inline]
    pub(super) fn tell(&self, task: &TaskRef, kind: TaskEventKind) {
        if let Some(events) = self.events {
            self.tell_listeners(events, task, kind);
        }
    }

    #[cold]
    fn tell_listeners(&self, events: &Events, task: &TaskRef, kind: TaskEventKind) {
        events.write(self.runner.lane, task, kind);
        if let Some(listeners) = events.listeners_to(kind) {
            let tell = || listeners.tell(task, kind);
            match &self.runner.clock {
                Some(clock) => clock.leave_out(kind == TaskEventKind::Polled, tell),
                None => tell(),
            }
            events.record_passing(self.runner.lane);
        }
    }

    /// The poll has panicked.
    #[cold]
    pub(super) fn tell_panic(&self, task: &TaskRef) {
        if let Some(events) = self.events {
            events.note_panic(self.runner.lane, task);
        }
    }

    /// Whether the task has asked for another poll without a word to its state.
    #[inline]
    pub(super) fn has_yielded(&self) -> bool {
        self.current.is_some_and(|current| current.self_wake() != SelfWake::No)
    }

    /// The last poll is over, and the future is gone.
    #[inline]
    pub(super) fn end_last_poll(&self) {
        if let Some(current) = self.current {
            current.end_last_poll();
        }
    }
}
