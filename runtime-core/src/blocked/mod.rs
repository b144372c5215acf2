//! Workers that are blocked: what is said about one ([`BlockedTask`]), and what can be found out about its thread.
//!
//! The monitor (`scheduler/multi/rescue/`) notices them and fills this in. Nothing here decides anything.

#[cfg(all(feature = "blocked-backtrace", target_os = "linux", not(loom)))]
mod backtrace;
mod thread;

use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

#[cfg(all(feature = "blocked-backtrace", target_os = "linux", not(loom)))]
pub(crate) use self::backtrace::Stack;
pub(crate) use self::thread::{Reading, ThreadId, Times};
use crate::task::Id;

/// No stacks without the feature, or elsewhere.
#[cfg(not(all(feature = "blocked-backtrace", target_os = "linux", not(loom))))]
#[derive(Clone, Debug)]
pub(crate) enum Stack {}

#[cfg(not(all(feature = "blocked-backtrace", target_os = "linux", not(loom))))]
impl Stack {
    pub(crate) const CAN_BE_HAD: bool = false;

    pub(crate) fn of(_: ThreadId) -> Option<Self> {
        None
    }

    pub(crate) fn describe(&self) -> String {
        match *self {}
    }
}

/// The default of `blocked_threshold`. How often the monitor looks, and how long it waits, is a part or a multiple of
/// it.
pub(crate) const DEFAULT_BLOCKED_THRESHOLD: Duration = Duration::from_millis(10);

/// Told of tasks that blocked their workers.
pub type BlockedHook = Arc<dyn Fn(&BlockedTask) + Send + Sync>;

/// A task that blocked the worker that polled it, while other work waited. See `Builder::on_blocked`.
///
/// Its `Display` is the line that is written to stderr if there is no hook.
///
/// # Example
///
/// ```
/// use std::sync::mpsc;
/// use std::time::Duration;
/// let (reports, reported) = mpsc::channel();
/// let (end, until_end) = mpsc::channel::<()>();
/// let runtime = rt::runtime::Builder::new_multi_thread()
///     .worker_threads(1)
///     .on_blocked(move |blocked| reports.send(blocked.clone()).unwrap())
///     .build()
///     .unwrap();
/// runtime.spawn(async move {
///     rt::spawn(async { println!("this waits for the worker") });
///     let _ = until_end.recv();
/// });
/// let blocked = reported.recv().unwrap();
/// assert!(blocked.duration >= Duration::from_millis(10));
/// println!("{blocked}");
/// drop(end);
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BlockedTask {
    /// Which task. `None` if it was no task, but a hook or an external waker that a worker called.
    pub id: Option<Id>,
    /// What it was called, if it was given a name.
    pub name: Option<&'static str>,
    /// Where it was spawned.
    pub spawned_at: Option<&'static Location<'static>>,
    /// For how long its worker was in the same poll; exact to the monitor's samples, which are a few milliseconds
    /// apart.
    pub duration: Duration,
    /// Whether the poll has returned. If not the duration is what it was so far.
    pub is_over: bool,
    /// What its thread was doing.
    pub activity: Activity,
    /// The most tasks that were seen waiting for a worker meanwhile.
    pub tasks_waiting: usize,
    /// Whether timers and sockets waited meanwhile, with nobody to look after them.
    pub drivers_waited: bool,
    /// The stack of the thread, seen while it was blocked: with the feature `blocked-backtrace`, on Linux.
    pub backtrace: Option<String>,
}

/// What the thread of a blocked worker was doing. See [`BlockedTask`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Activity {
    /// It slept: in a system call, for a lock, on a blocking channel.
    Sleeping,
    /// It computed.
    Burning,
    /// The operating system does not tell.
    Unknown,
}

impl fmt::Display for Activity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sleeping => "sleeping",
            Self::Burning => "burning CPU",
            Self::Unknown => "doing something",
        })
    }
}

impl fmt::Display for BlockedTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.id {
            Some(id) => write!(f, "task {id}")?,
            None => f.write_str("a hook or a waker, outside of any task,")?,
        }
        if let Some(name) = self.name {
            write!(f, " ({name:?})")?;
        }
        if let Some(location) = self.spawned_at {
            write!(f, ", spawned at {location},")?;
        }
        let so_far = if self.is_over { "" } else { " so far" };
        write!(f, " blocked its worker for {} ms{so_far}, {}, while ", self.duration.as_millis(), self.activity)?;
        match self.tasks_waiting {
            0 => {}
            1 => f.write_str("1 task")?,
            tasks => write!(f, "{tasks} tasks")?,
        }
        f.write_str(match (self.tasks_waiting, self.drivers_waited) {
            (0, _) => "timers and sockets",
            (_, true) => ", timers and sockets",
            (_, false) => "",
        })?;
        f.write_str(" waited; use `spawn_blocking` or `block_in_place` for what blocks")?;
        match &self.backtrace {
            Some(backtrace) => write!(f, "; its stack was:\n{backtrace}"),
            None => Ok(()),
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_who_where_how_long_and_what_to_do() {
        let at = Location::caller();
        let mut blocked = BlockedTask {
            id: Some(Id(7)),
            name: Some("accept loop"),
            spawned_at: Some(at),
            duration: Duration::from_millis(512),
            is_over: true,
            activity: Activity::Sleeping,
            tasks_waiting: 3,
            drivers_waited: true,
            backtrace: None,
        };
        assert_eq!(
            blocked.to_string(),
            format!(
                "task 7 (\"accept loop\"), spawned at {at}, blocked its worker for 512 ms, sleeping, while 3 tasks, \
                 timers and sockets waited; use `spawn_blocking` or `block_in_place` for what blocks"
            )
        );
        blocked = BlockedTask {
            id: None,
            name: None,
            spawned_at: None,
            is_over: false,
            activity: Activity::Burning,
            tasks_waiting: 0,
            ..blocked
        };
        assert_eq!(
            blocked.to_string(),
            "a hook or a waker, outside of any task, blocked its worker for 512 ms so far, burning CPU, while timers \
             and sockets waited; use `spawn_blocking` or `block_in_place` for what blocks"
        );
    }
}
