//! The cells that counts are kept in.

use std::sync::atomic::{AtomicU64, Ordering};

/// A count with one writer at a time and any number of readers. Adding is a load and a store, not a locked instruction.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    /// Adds. Only for the thread that the counter belongs to.
    #[inline]
    pub(crate) fn add(&self, n: u64) {
        self.0.store(self.0.load(Ordering::Relaxed).wrapping_add(n), Ordering::Relaxed);
    }

    /// Adds one, and returns the new count. Only for the thread that the counter belongs to.
    #[inline]
    pub(crate) fn increment(&self) -> u64 {
        let count = self.0.load(Ordering::Relaxed).wrapping_add(1);
        self.0.store(count, Ordering::Relaxed);
        count
    }

    /// Adds, from any thread.
    #[inline]
    pub(crate) fn add_shared(&self, n: u64) {
        self.0.fetch_add(n, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

macro_rules! worker_counters {
    (
        counted { $($(#[$doc:meta])* $name:ident),* $(,)? }
        timed { $($(#[$doc_of_time:meta])* $time:ident),* $(,)? }
    ) => {
        /// What one worker counts. Written by its thread alone, except for the block that remote threads share.
        #[derive(Debug, Default)]
        pub(crate) struct WorkerCounters {
            $($(#[$doc])* pub(crate) $name: Counter,)*
        }

        /// What a worker, or the whole runtime, had counted at one moment.
        ///
        /// The counts are read one by one while the program runs: each is right, but they are not of the very same
        /// instant.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct Counts {
            $($(#[$doc])* pub $name: u64,)*
            $($(#[$doc_of_time])* pub $time: u64,)*
        }

        impl WorkerCounters {
            /// All but the times, which are in the worker's [`WorkerTimes`](super::WorkerTimes).
            pub(crate) fn read(&self) -> Counts {
                Counts { $($name: self.$name.get(),)* $($time: 0,)* }
            }
        }

        impl std::ops::AddAssign for Counts {
            fn add_assign(&mut self, other: Self) {
                $(self.$name += other.$name;)*
                $(self.$time += other.$time;)*
            }
        }
    };
}

worker_counters! {
    counted {
        /// Polls of tasks.
        polls,
        /// Polls for nothing: a task was woken, and waited for the same thing as before, without any operation of the
        /// runtime's having succeeded.
        spurious_polls,
        /// Tasks spawned.
        spawns,
        /// Tasks completed: with an output, by a panic, or cancelled.
        completions,
        /// Times the worker went to sleep.
        parks,
        /// Times it came back from there.
        unparks,
        /// Times it went to sleep without having polled a task since it came back.
        idle_wakes,
        /// Times it looked for work at other workers.
        steal_attempts,
        /// Times it found some.
        steals,
        /// Tasks it took from other workers.
        stolen_tasks,
        /// Tasks woken or spawned onto the worker's own queues.
        local_schedules,
        /// Tasks woken or spawned into the global queue (the injector), from outside the workers.
        injector_schedules,
        /// Times a task had used its budget up and was made to yield.
        budget_yields,
        /// Wakers that are not of the runtime's tasks (a future's in `block_on`, an external executor's), called for
        /// sockets and timers.
        foreign_wakes,
        /// Times the worker polled the drivers without waiting, or waited in them.
        driver_polls,
        /// Times it waited in them.
        driver_waits,
    }
    timed {
        /// Nanoseconds in which it had work.
        busy_nanos,
        /// Nanoseconds in which it looked for work at other workers, or waited for some without going to sleep.
        searching_nanos,
        /// Nanoseconds in which it slept, on its own or in the drivers.
        parked_nanos,
    }
}

impl Counts {
    /// Tasks woken: by others, and those that yielded while others were queued.
    pub fn wakes(&self) -> u64 {
        (self.local_schedules + self.injector_schedules).saturating_sub(self.spawns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_add_up() {
        let counters = WorkerCounters::default();
        counters.polls.add(2);
        counters.polls.add(3);
        counters.spawns.add_shared(1);
        let mut total = counters.read();
        total += counters.read();
        assert_eq!((total.polls, total.spawns, total.steals), (10, 2, 0));
    }
}
