//! What happens to tasks, told to those who asked: the user's observer (the hook behind `Builder::on_task_event`) and
//! hooks as Tokio has them (`task_hooks.rs`), which are the `Listeners`; and the flight recorder (`trace/`).
//!
//! While nobody listens, each event costs one predictable branch, for both together. The recorder may be told of an
//! event anywhere; it runs no code of a user's, and comes first. A listener is called on whatever thread the thing
//! happens on, in the middle of the scheduler: it must be quick, and must not block. A worker of a multi-thread runtime
//! that has the drivers calls none, of whatever runtime, before it has given them back
//! (`scheduler/multi/driver_events.rs`).

use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use crate::task::{Id, TaskRef, contain, discard};
use crate::task_hooks::{HookCaller, TaskHooks};
use crate::trace::{Kind, LaneId, LaneNumbers, Recorder, Trouble};

/// Something that happened to a task. (Of the jobs of [`spawn_blocking`](crate::spawn_blocking) nobody is told.)
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

/// Those of a runtime that may want to hear of events.
pub(crate) struct Events {
    listeners: Option<Listeners>,
    recorder: Arc<Recorder>,
}

impl Events {
    pub(crate) fn new(listeners: Option<Listeners>, numbers: LaneNumbers) -> Self {
        let recorder = Recorder::new(numbers, listeners.is_some());
        Self { listeners, recorder }
    }

    pub(crate) fn recorder(&self) -> &Arc<Recorder> {
        &self.recorder
    }

    /// Those that hear of events of this kind.
    pub(crate) fn listeners_to(&self, kind: TaskEventKind) -> Option<&Listeners> {
        self.listeners.as_ref().filter(|listeners| listeners.hear(kind))
    }

    /// Whether listeners are called before or after each poll, which takes longer than to read the clock.
    pub(crate) fn are_polls_heard(&self) -> bool {
        self.listeners.as_ref().is_some_and(Listeners::hear_polls)
    }

    /// Them, if anybody listens at the moment.
    #[inline]
    pub(crate) fn heard(&self) -> Option<&Self> {
        self.recorder.is_heard().then_some(self)
    }

    /// Tells those that listen. `lane` is asked for if anybody does.
    #[inline]
    pub(crate) fn emit(&self, lane: impl FnOnce() -> LaneId, task: &TaskRef, kind: TaskEventKind) {
        if let Some(events) = self.heard() {
            events.tell(lane(), task, kind);
        }
    }

    #[cold]
    fn tell(&self, lane: LaneId, task: &TaskRef, kind: TaskEventKind) {
        self.write(lane, task, kind);
        if let Some(listeners) = self.listeners_to(kind) {
            listeners.tell(task, kind);
        }
    }

    /// Has the recorder write it down, if that runs. The listeners are told by the caller at another time, or not at
    /// all.
    #[cold]
    pub(crate) fn record(&self, lane: LaneId, task: &TaskRef, kind: TaskEventKind) {
        self.write(lane, task, kind);
    }

    /// As [`record`](Self::record), for callers that are cold themselves: a record takes as long as some calls.
    #[inline]
    pub(crate) fn write(&self, lane: LaneId, task: &TaskRef, kind: TaskEventKind) {
        let kind = match kind {
            TaskEventKind::Spawned => Kind::Spawned,
            TaskEventKind::Polled => Kind::Polled,
            TaskEventKind::Pending => Kind::Pending,
            TaskEventKind::Woken => Kind::Woken,
            TaskEventKind::Completed => Kind::Completed,
        };
        self.recorder.task_event(lane, kind, task);
    }

    /// Has the recorder write down that these tasks were woken, at the present moment. They must not be queued yet:
    /// else another worker's poll of one would come before its wake.
    #[cold]
    pub(crate) fn record_wakes<'a>(&self, lane: LaneId, tasks: impl Iterator<Item = &'a TaskRef> + Clone) {
        self.recorder.wakes(lane, tasks);
    }

    /// A poll panicked.
    #[cold]
    pub(crate) fn note_panic(&self, lane: LaneId, task: &TaskRef) {
        self.recorder.task_event(lane, Kind::Panicked, task);
        self.recorder.note_trouble(Trouble::Panic);
    }

    /// A poll blocked its worker.
    pub(crate) fn note_blocked(&self) {
        self.recorder.note_trouble(Trouble::Blocked);
    }

    /// A worker goes to sleep, or has come back.
    #[cold]
    pub(crate) fn record_sleep(&self, lane: LaneId, is_asleep: bool) {
        self.recorder.other_events(lane, &[(if is_asleep { Kind::Parked } else { Kind::Unparked }, 0)]);
    }

    /// How many tasks wait for a worker, and for any worker.
    #[cold]
    pub(crate) fn record_depths(&self, lane: LaneId, own: usize, injector: usize) {
        let depths = [(Kind::QueueDepth, own as u64), (Kind::InjectorDepth, injector as u64)];
        self.recorder.other_events(lane, &depths);
    }

    /// The calling thread has this core from now on, and may have events with it.
    pub(crate) fn prepare_lane(&self, core: usize) {
        self.recorder.prepare_lane(core);
    }

    /// The next poll on this lane does not begin when the last event happened: the thread did something else meanwhile,
    /// or has come by a task that another thread may have queued since.
    #[cold]
    pub(crate) fn record_passing(&self, lane: LaneId) {
        self.recorder.time_passes(lane);
    }
}

/// What the user has asked to be called. A panic of it is contained: it must not take a worker down.
pub(crate) struct Listeners {
    observer: Option<Observer>,
    hooks: Option<HookCaller>,
}

impl Listeners {
    /// `None` if there is nobody.
    pub(crate) fn new(observer: Option<Observer>, hooks: &TaskHooks) -> Option<Self> {
        let hooks = HookCaller::new(hooks);
        (observer.is_some() || hooks.is_some()).then_some(Self { observer, hooks })
    }

    /// Whether anybody is called for events of this kind: nothing is done for the sake of those whom nobody asked for.
    pub(crate) fn hear(&self, kind: TaskEventKind) -> bool {
        self.observer.is_some() || self.hooks.as_ref().is_some_and(|hooks| hooks.hear(kind))
    }

    /// Whether anybody is called before or after each poll.
    pub(crate) fn hear_polls(&self) -> bool {
        self.hear(TaskEventKind::Polled) || self.hear(TaskEventKind::Pending)
    }

    #[cold]
    pub(crate) fn tell(&self, task: &TaskRef, kind: TaskEventKind) {
        if let Some(observer) = &self.observer {
            let header = task.header();
            let event = TaskEvent { id: header.id(), name: task.name(), spawned_at: header.location(), kind };
            discard(contain(|| observer(&event)));
        }
        if let Some(hooks) = self.hooks.as_ref().filter(|hooks| hooks.hear(kind)) {
            hooks.tell(task, kind);
        }
    }
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
