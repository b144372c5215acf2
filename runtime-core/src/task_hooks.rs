//! Hooks around tasks, as Tokio has them: called when a task is spawned, before and after each of its polls, and when
//! it is over.
//!
//! They are told by the listeners (`events.rs`), beside the observer that rt has of its own. A runtime
//! without any pays nothing for them. `Builder::on_task_spawn` and its kind fill [`TaskHooks`] in.
//!
//! What a poll's second hook has to know (that there was a poll, and how long the task had waited for it) is kept by
//! the thread that polls, and not by the task: a task has no room for it, and most programs have no hooks.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use crate::clock::Moment;
use crate::events::TaskEventKind;
use crate::task::{Id, TaskRef, contain, discard};

/// What a hook is told of a task.
///
/// # Example
///
/// ```
/// let runtime = rt::runtime::Builder::new_multi_thread()
///     .on_task_spawn(|task| println!("task {}, spawned at {}", task.id(), task.spawned_at()))
///     .build()
///     .unwrap();
/// # runtime.block_on(async { rt::spawn(async {}).await.unwrap() });
/// ```
#[derive(Clone, Copy, Debug)]
pub struct TaskMeta<'a> {
    id: Id,
    spawned_at: &'static Location<'static>,
    schedule_latency: Option<Duration>,
    /// Tied to the call, as Tokio's is.
    _call: PhantomData<&'a ()>,
}

impl TaskMeta<'_> {
    /// Which task.
    pub fn id(&self) -> Id {
        self.id
    }

    /// Where it was spawned.
    pub fn spawned_at(&self) -> &'static Location<'static> {
        self.spawned_at
    }

    /// How long the task has waited for this poll since it was queued, in the hooks of a poll, if
    /// `Builder::track_task_schedule_latency` asks for that. A task that was woken during its poll is queued when that
    /// is over.
    pub fn schedule_latency(&self) -> Option<Duration> {
        self.schedule_latency
    }
}

/// A hook that is told of a task.
pub type TaskHook = Arc<dyn Fn(&TaskMeta<'_>) + Send + Sync>;

/// The hooks of a runtime.
#[derive(Clone, Default)]
pub struct TaskHooks {
    /// A task was spawned, and is about to be queued for the first time.
    pub spawn: Option<TaskHook>,
    /// A task is about to be polled.
    pub before_poll: Option<TaskHook>,
    /// The poll is over.
    pub after_poll: Option<TaskHook>,
    /// A task has given its output, panicked, or was cancelled.
    pub terminate: Option<TaskHook>,
    /// Whether those of polls are told how long the task has waited.
    pub measure_latency: bool,
}

impl TaskHooks {
    fn are_of_polls(&self) -> bool {
        self.before_poll.is_some() || self.after_poll.is_some()
    }
}

impl fmt::Debug for TaskHooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskHooks").field("measure_latency", &self.measure_latency).finish_non_exhaustive()
    }
}

/// Calls the hooks of a runtime.
pub(crate) struct HookCaller {
    hooks: TaskHooks,
    queued: Option<QueueTimes>,
}

/// Which task is polled, and how long it had waited.
type Poll = (Id, Option<Duration>);

thread_local! {
    /// The polls on this thread whose hooks are called, the innermost last.
    static POLLS: RefCell<Vec<Poll>> = const { RefCell::new(Vec::new()) };
}

/// `None` on a thread that is ending, and has dropped them: what it still polls has no hook behind it.
fn with_polls<R>(f: impl FnOnce(&mut Vec<Poll>) -> R) -> Option<R> {
    POLLS.try_with(|polls| f(&mut polls.borrow_mut())).ok()
}

impl HookCaller {
    /// `None` if there is none.
    pub(crate) fn new(hooks: &TaskHooks) -> Option<Self> {
        let any = hooks.are_of_polls() || hooks.spawn.is_some() || hooks.terminate.is_some();
        let queued = (hooks.are_of_polls() && hooks.measure_latency).then(QueueTimes::default);
        any.then(|| Self { hooks: hooks.clone(), queued })
    }

    /// Whether there is anything to do about events of this kind.
    pub(crate) fn hear(&self, kind: TaskEventKind) -> bool {
        match kind {
            TaskEventKind::Spawned => self.hooks.spawn.is_some() || self.queued.is_some(),
            TaskEventKind::Woken => self.queued.is_some(),
            TaskEventKind::Polled | TaskEventKind::Pending => self.hooks.are_of_polls(),
            TaskEventKind::Completed => self.hooks.terminate.is_some() || self.hooks.are_of_polls(),
        }
    }

    pub(crate) fn tell(&self, task: &TaskRef, kind: TaskEventKind) {
        let header = task.header();
        let meta = |schedule_latency| TaskMeta {
            id: header.id(),
            spawned_at: header.location(),
            schedule_latency,
            _call: PhantomData,
        };
        match kind {
            TaskEventKind::Spawned => {
                call(&self.hooks.spawn, meta(None));
                self.note_queued(header.id());
            }
            TaskEventKind::Woken => self.note_queued(header.id()),
            TaskEventKind::Polled => {
                let latency = self.queued.as_ref().and_then(|queued| queued.take(header.id()));
                with_polls(|polls| polls.push((header.id(), latency)));
                call(&self.hooks.before_poll, meta(latency));
            }
            TaskEventKind::Pending => {
                // It may have been woken during the poll. Else the next wake says when.
                self.note_queued(header.id());
                self.end_poll(header.id(), meta);
            }
            TaskEventKind::Completed => {
                call(&self.hooks.terminate, meta(None));
                if let Some(queued) = &self.queued {
                    queued.take(header.id());
                }
                self.end_poll(header.id(), meta);
            }
        }
    }

    fn note_queued(&self, task: Id) {
        if let Some(queued) = &self.queued {
            queued.note(task);
        }
    }

    /// The poll of this task is over, if there was one: a task may end between two.
    fn end_poll<'a>(&self, task: Id, meta: impl FnOnce(Option<Duration>) -> TaskMeta<'a>) {
        let ended = with_polls(|polls| polls.pop_if(|(polled, _)| *polled == task));
        if let Some((_, latency)) = ended.flatten() {
            call(&self.hooks.after_poll, meta(latency));
        }
    }
}

fn call(hook: &Option<TaskHook>, meta: TaskMeta<'_>) {
    if let Some(hook) = hook {
        discard(contain(|| hook(&meta)));
    }
}

/// Since when tasks are queued. A task is in it from its spawn on, but while it is polled.
#[derive(Debug, Default)]
struct QueueTimes([Mutex<HashMap<Id, Moment>>; QueueTimes::SHARDS]);

impl QueueTimes {
    /// There are several, so that two threads rarely want the same one.
    const SHARDS: usize = 16;

    fn shard(&self, task: Id) -> &Mutex<HashMap<Id, Moment>> {
        &self.0[task.0 as usize % Self::SHARDS]
    }

    fn note(&self, task: Id) {
        let now = Moment::now();
        self.shard(task).lock().insert(task, now);
    }

    fn take(&self, task: Id) -> Option<Duration> {
        let queued = self.shard(task).lock().remove(&task)?;
        Some(Moment::now().since(queued))
    }
}
