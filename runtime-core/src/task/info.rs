//! [`TaskInfo`]: what is told of a task that is not over.

use std::fmt;
use std::panic::Location;
use std::time::Duration;

use super::{Id, WaitsFor};

/// What a task is doing, and how it has fared, from [`Handle::tasks`](crate::runtime::Handle::tasks).
///
/// Everything is as it was at one moment during that call; single counts may be a poll apart.
///
/// *How long polls took* is measured where they are long enough for that to cost nothing: from some tens of
/// microseconds on each by itself. Shorter ones count as the average of their worker. So does a single long one among
/// short ones, at first: but polls that come soon after it are measured one by one; and one of some milliseconds counts
/// for as long as the runtime has noticed it, except on a current-thread runtime. No poll counts for what another task
/// or the runtime did. Polls of tasks of a `LocalSet` are not measured, and none at all if
/// `Builder::metrics_histograms` is switched off.
///
/// *Since when* a task is in its state is known as exactly as its worker, or the thread that woke it, knew the time:
/// where polls are short, to within a fraction of a millisecond, and else to within a poll.
///
/// *From when on*: polls, times and what tasks wait for are recorded once somebody looks at the tasks of any runtime of
/// the process, or a builder has asked for it (`Builder::record_tasks`, `Builder::inspect`, `RT_INSPECT`). Counts begin
/// then; of a task that was not polled since, what it waits for is not known.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TaskInfo {
    /// Which task.
    pub id: Id,
    /// What it was called, if it was given a name.
    pub name: Option<&'static str>,
    /// Where it was spawned.
    pub spawned_at: &'static Location<'static>,
    /// What it is doing.
    pub state: TaskState,
    /// Polls, the one that goes on included.
    pub polls: u64,
    /// How long its polls took, all together, without the one that goes on.
    pub total_poll_time: Duration,
    /// How long the longest of them took.
    pub longest_poll: Duration,
    /// How often it was woken. Wakes that found it woken already do not count.
    pub wakes: u64,
    /// Polls for nothing: the task was woken, and waited for the same thing as before, without any operation of the
    /// runtime's having succeeded. (Where it is not known what a task waits for, or only a timer, a signal or a
    /// cancellation token is, which may be the limit of something else, none is counted; nor are more than four
    /// billion.)
    pub spurious_polls: u64,
    /// What it waits for, if it waits.
    pub waits_for: Option<WaitsFor>,
    /// Whether it waits for other things too, as in a `select!`. The last one that was asked is told, and a timer only
    /// if there is nothing else. What the task has waited for earlier in the same poll, and has given up otherwise than
    /// by `select!`, `try_join!`, a timeout or `run_until_cancelled` (by another library's `select!`, say), counts as
    /// one of them: it may be told in place of a timer, or of something that the runtime does not know.
    pub waits_for_others: bool,
}

/// What a task is doing, and for how long it has been, as far as that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TaskState {
    /// It is being polled.
    #[non_exhaustive]
    Running {
        /// How long the poll has taken.
        since: Option<Duration>,
    },
    /// It was spawned or woken, and waits for a worker to poll it.
    #[non_exhaustive]
    Queued {
        /// For how long. Not known before the end of its first poll, nor if it was woken before the first look at any
        /// tasks of the process.
        since: Option<Duration>,
    },
    /// It waits to be woken.
    #[non_exhaustive]
    Waiting {
        /// For how long.
        since: Option<Duration>,
    },
}

impl TaskState {
    /// For how long the task has been in this state, if that is known.
    pub fn since(&self) -> Option<Duration> {
        match *self {
            Self::Running { since } | Self::Queued { since } | Self::Waiting { since } => since,
        }
    }

    /// Whether the task is being polled.
    pub fn is_running(&self) -> bool {
        matches!(self, Self::Running { .. })
    }

    /// Whether the task waits for a worker to poll it.
    pub fn is_queued(&self) -> bool {
        matches!(self, Self::Queued { .. })
    }

    /// Whether the task waits to be woken.
    pub fn is_waiting(&self) -> bool {
        matches!(self, Self::Waiting { .. })
    }
}

impl fmt::Display for TaskState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Running { .. } => "running",
            Self::Queued { .. } => "queued",
            Self::Waiting { .. } => "waiting",
        })
    }
}
