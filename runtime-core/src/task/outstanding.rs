//! How long a runtime's memory lives: longer than its last task.
//!
//! Tasks point into their runtime without counting references: a count that every spawn on every core writes would be
//! the slowest thing in a spawn. Instead all tasks together hold one reference to the runtime. Shutdown cancels them,
//! counts those whose memory is still in use (a handle or a waker remains), and says so here, once
//! ([`Outstanding::add`]); each of these counts itself off when it is freed ([`Outstanding::remove_one`]), and
//! whichever comes last, shutdown or a task, gives the common reference back.
//!
//! A task may be freed after its arena was closed but before shutdown has added up all arenas: the count then starts
//! below zero and wraps, which is harmless, because only reaching exactly zero *after* the sum was added means the end.
//! It cannot be taken for that before: counting down from zero never passes one.

use crate::primitive::atomic::AtomicUsize;
use crate::primitive::atomic::Ordering::AcqRel;

/// The tasks of closed arenas that are still referred to, and shutdown's part in the end of the runtime.
#[derive(Debug)]
pub(crate) struct Outstanding(AtomicUsize);

impl Outstanding {
    pub(crate) fn new() -> Self {
        Self(AtomicUsize::new(0))
    }

    /// Called by shutdown with the number of tasks that were left in the arenas when they were closed. True if none is
    /// left by now.
    #[must_use]
    pub(crate) fn add(&self, tasks: usize) -> bool {
        // AcqRel: the one that ends it all has seen everything that was done to the runtime through the other tasks.
        self.0.fetch_add(tasks, AcqRel).wrapping_add(tasks) == 0
    }

    /// A task of a closed arena was freed. True if it was the last.
    #[must_use]
    pub(crate) fn remove_one(&self) -> bool {
        self.0.fetch_sub(1, AcqRel) == 1
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_shutdown_and_tasks_ends_it() {
        let none = Outstanding::new();
        assert!(none.add(0));

        let early = Outstanding::new();
        assert!(!early.remove_one());
        assert!(!early.remove_one());
        assert!(early.add(2));

        let late = Outstanding::new();
        assert!(!late.remove_one());
        assert!(!late.add(2));
        assert!(late.remove_one());
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use loom::sync::Arc;
    use loom::thread;

    use super::*;
    use crate::primitive::UnsafeCell;

    /// Two tasks outlive their arenas, and go while shutdown adds up: one of the three ends the runtime, when all
    /// others have done with it.
    #[test]
    fn loom_the_last_of_shutdown_and_tasks_ends_the_runtime_alone() {
        loom::model(|| {
            // The cells stand for the runtime's memory: each thread uses its own, and the one that ends it all takes
            // them all.
            let runtime = Arc::new((Outstanding::new(), [(); 3].map(|()| UnsafeCell::new(()))));
            let leave = |who: usize, is_last: fn(&Outstanding) -> bool| {
                let runtime = runtime.clone();
                move || {
                    let (outstanding, used) = &*runtime;
                    used[who].with_mut(|_| ());
                    let last = is_last(outstanding);
                    if last {
                        used.iter().for_each(|used| used.with_mut(|_| ()));
                    }
                    usize::from(last)
                }
            };
            let tasks = [0, 1].map(|task| thread::spawn(leave(task, Outstanding::remove_one)));
            let ended = leave(2, |outstanding| outstanding.add(2))();
            assert_eq!(ended + tasks.into_iter().map(|task| task.join().unwrap()).sum::<usize>(), 1);
        });
    }
}
