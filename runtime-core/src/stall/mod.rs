//! Tasks that can never go on: found by a thread that looks at all tasks now and then, and told to the user.
//!
//! Asked for by `Builder::report_stalls` or `RT_STALL`; else there is no such thread. `watch.rs` is the thread,
//! `look.rs` says what is taken for certain of a task, `graph.rs` searches, `findings.rs` remembers what was told.
//!
//! The rule of this module: a finding is certain, or it is none; but for guards that were given away, and those that
//! were forgotten before their lock was moved. What tasks could wait for is endless, and a thread, a signal or another
//! process may do something at any time; so there is much that stands still for ever and is not found. What is not
//! found, [`Stall`] says.
//!
//! What it must never do: wake or poll anything, take a reference to a task, or run anything of a user's on its thread.

mod findings;
mod graph;
mod look;
mod watch;

use std::fmt;
use std::panic::Location;
use std::sync::Arc;

pub(crate) use self::watch::Watch;
use crate::task::{Id, WaitsFor};

/// Told of tasks that can never go on.
pub type StallHook = Arc<dyn Fn(&Stall) + Send + Sync>;

/// Tasks that can never go on by themselves. See `Builder::report_stalls`.
///
/// Its `Display` is the line that is written to stderr if there is no hook.
///
/// # What is found, and what is not
///
/// A finding is certain, with two exceptions. The program may end the standstill from outside: abort tasks of which it
/// has handles, or drop a `LocalSet`. And a lock counts as held by the task that acquired it last: a ring that has a
/// lock in it is none if that task has given the guard to another task or thread, as it may if the lock lives for ever
/// (a `static`, for example), or has forgotten the guard, and then moved the lock.
///
/// A task is taken to be kept by another only if all is known of what could wake it: it waits for one lock, or for the
/// end of one task, by itself; nothing else has a waker of it. So none of these are found:
///
/// - tasks that wait for messages, permits, notifications or barriers that never come: anybody could send them;
/// - readers and writers that wait for readers: which tasks read, nobody notes;
/// - locks that were acquired before somebody looked, by `lock_owned` and its kind, or outside of tasks;
/// - tasks that wait in a `select!` or with a timeout, through `FuturesUnordered` and other combinators that poll with
///   wakers of their own, or of which there are `AbortHandle`s;
/// - rings through tasks of several runtimes, and futures of `block_on`.
///
/// # Example
///
/// ```
/// use std::sync::{Arc, mpsc};
/// use std::time::Duration;
///
/// use rt::runtime::Stall;
/// use rt::sync::Mutex;
///
/// let (found, findings) = mpsc::channel();
/// let runtime = rt::runtime::Builder::new_multi_thread()
///     .worker_threads(1)
///     .report_stalls(Duration::from_millis(10))
///     .on_stall(move |stall| drop(found.send(stall.clone())))
///     .build()
///     .unwrap();
/// let lock = Arc::new(Mutex::new(()));
/// runtime.spawn(async move {
///     let _once = lock.lock().await;
///     let _twice = lock.lock().await;
/// });
/// let stall = findings.recv().unwrap();
/// println!("{stall}");
/// assert!(matches!(stall, Stall::Ring { tasks, .. } if tasks.len() == 1));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Stall {
    /// Tasks that wait for each other's locks or ends: each for the next one, and the last one for the first. One that
    /// waits for itself is such a ring, too.
    #[non_exhaustive]
    Ring {
        /// The tasks.
        tasks: Vec<StalledTask>,
        /// How many further tasks wait for one of them, directly or by way of others.
        behind: usize,
    },
    /// Tasks that nobody can wake any more: they wait, and there is neither a waker nor a handle of them. Until the
    /// runtime ends they stay in memory, with all that they own.
    ///
    /// Told for a place in the program where they are spawned; once more when there are twice as many. A task may be
    /// meant to stay so: to keep a guard, say. Its handle should be kept then, and it is not reported.
    #[non_exhaustive]
    Lost {
        /// One of them.
        task: StalledTask,
        /// How many there are of that place.
        count: usize,
    },
    /// None of the runtime's tasks can go on: each is in a ring, lost, or waits for one that is. New tasks, and the
    /// future of a `block_on`, can.
    #[non_exhaustive]
    AllTasks {
        /// How many tasks there are.
        count: usize,
    },
}

/// A task that can never go on. See [`Stall`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StalledTask {
    /// Which task.
    pub id: Id,
    /// What it was called, if it was given a name.
    pub name: Option<&'static str>,
    /// Where it was spawned.
    pub spawned_at: &'static Location<'static>,
    /// What it waits for, as far as that is known.
    pub waits_for: WaitsFor,
}

/// As `task 7 ("accept loop"), spawned at src/main.rs:12:5`.
impl fmt::Display for StalledTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "task {}", self.id)?;
        if let Some(name) = self.name {
            write!(f, " ({name:?})")?;
        }
        write!(f, ", spawned at {}", self.spawned_at)
    }
}

impl fmt::Display for Stall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ring { tasks, behind } => {
                match tasks.len() {
                    1 => f.write_str("a task waits for itself: ")?,
                    _ => f.write_str("tasks wait for each other: ")?,
                }
                for (number, task) in tasks.iter().enumerate() {
                    let separator = if number == 0 { "" } else { "; " };
                    write!(f, "{separator}{task}, waits for: {}", task.waits_for)?;
                }
                match behind {
                    0 => {}
                    1 => f.write_str("; 1 more task waits behind")?,
                    _ => write!(f, "; {behind} more tasks wait behind")?,
                }
                if tasks.iter().any(|task| matches!(task.waits_for, WaitsFor::Lock { .. })) {
                    f.write_str(" (for ever, unless the guard of a lock was given to another task or thread)")?;
                }
                Ok(())
            }
            Self::Lost { task, count } => {
                write!(f, "{task}, waits for ever: nobody has a waker or a handle of it")?;
                match count {
                    0 | 1 => Ok(()),
                    _ => write!(f, "; there are {count} such tasks of that place"),
                }
            }
            Self::AllTasks { count: 1 } => f.write_str("the only task of the runtime can never go on"),
            Self::AllTasks { count } => write!(f, "none of the {count} tasks of the runtime can ever go on"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::LockKind;

    #[test]
    fn the_line_says_which_tasks_where_and_what_they_wait_for() {
        let spawned_at = Location::caller();
        let (name, holder) = (Some("one"), Some(Id(8)));
        let waits_for = WaitsFor::Lock { kind: LockKind::Mutex, holder };
        let one = StalledTask { id: Id(7), name, spawned_at, waits_for };
        let other = StalledTask { id: Id(8), name: None, spawned_at, waits_for: WaitsFor::Join { task: Id(7) } };
        let ring = Stall::Ring { tasks: vec![one.clone(), other], behind: 2 };
        assert_eq!(
            ring.to_string(),
            format!(
                "tasks wait for each other: task 7 (\"one\"), spawned at {spawned_at}, waits for: mutex, held by task 8; \
                 task 8, spawned at {spawned_at}, waits for: end of task 7; 2 more tasks wait behind (for ever, unless the \
                 guard of a lock was given to another task or thread)"
            )
        );
        let ring = Stall::Ring { tasks: vec![one.clone()], behind: 0 };
        assert!(ring.to_string().starts_with("a task waits for itself: task 7"), "{ring}");
        let lost = Stall::Lost { task: one, count: 3 };
        assert_eq!(
            lost.to_string(),
            format!(
                "task 7 (\"one\"), spawned at {spawned_at}, waits for ever: nobody has a waker or a handle of it; there \
                 are 3 such tasks of that place"
            )
        );
        assert_eq!(Stall::AllTasks { count: 2 }.to_string(), "none of the 2 tasks of the runtime can ever go on");
    }
}
