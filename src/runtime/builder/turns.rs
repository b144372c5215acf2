//! How often a worker looks at what, and how much a task may do in a poll.

use runtime_core::RngSeed;

use super::Builder;

/// # Turns
impl Builder {
    /// After at most `ticks` ticks a busy worker looks into the global queue, where tasks wait that were spawned or
    /// woken from outside (61). When tasks take long, it does so sooner by itself. Whatever the interval, its own tasks
    /// are left half of its polls, unless all of them have yielded.
    ///
    /// # Panics
    ///
    /// If it is zero.
    #[track_caller]
    pub fn global_queue_interval(&mut self, ticks: u32) -> &mut Self {
        assert!(ticks > 0, "the global queue's interval must be above zero");
        self.config.global_queue_interval = ticks;
        self
    }

    /// After at most `ticks` ticks a busy worker sees whether it is time to look after sockets and timers (61). When
    /// tasks take long, it does so sooner by itself. It is time when 20 µs have passed since it last did and timers
    /// fired then, or events may have been left with the system, or when otherwise 200 µs would pass; and not before 2
    /// ms have, while many tasks are left on its own queue that sockets have woken.
    ///
    /// # Panics
    ///
    /// If it is zero.
    #[track_caller]
    pub fn event_interval(&mut self, ticks: u32) -> &mut Self {
        assert!(ticks > 0, "the event interval must be above zero");
        self.config.event_interval = ticks;
        self
    }

    /// How many operations on sockets, timers, channels and handles a task may do in one poll before it is made to
    /// yield (128). See [`task::coop`](crate::task::coop).
    ///
    /// # Panics
    ///
    /// If it is zero.
    #[track_caller]
    pub fn coop_budget(&mut self, operations: u32) -> &mut Self {
        assert!(operations > 0, "with a budget of zero no task could ever make progress");
        self.config.coop_budget = operations;
        self
    }

    /// The most events that one call to the operating system's poller delivers (32 with workers, 1,024 on a
    /// current-thread runtime). More than 65,536 count as that.
    ///
    /// A tick makes a second call if the first one delivered as many, and half of them or fewer woke a task.
    ///
    /// What a call does not deliver stays with the system for the next one, which may be another worker's. What it does
    /// deliver waits on the worker's queue, and if the operating system takes the processor from that worker it waits
    /// for longer.
    ///
    /// # Panics
    ///
    /// If it is zero.
    #[track_caller]
    pub fn max_io_events_per_tick(&mut self, events: usize) -> &mut Self {
        assert!(
            events > 0,
            "max_io_events_per_tick must be non-zero: the poller delivers at least one event at a time"
        );
        self.io_events = Some(events);
        self
    }

    /// As [`max_io_events_per_tick`](Self::max_io_events_per_tick), for the ticks of a worker that has other work and
    /// does not wait for events. It is as many, if this is not set.
    ///
    /// # Panics
    ///
    /// If it is zero.
    ///
    /// # Example
    ///
    /// ```
    /// let runtime = rt::runtime::Builder::new_multi_thread().enable_all().max_io_events_per_busy_tick(8).build();
    /// # runtime.unwrap();
    /// ```
    #[track_caller]
    pub fn max_io_events_per_busy_tick(&mut self, events: usize) -> &mut Self {
        assert!(events > 0, "max_io_events_per_busy_tick must be non-zero: a busy worker takes at least one event");
        self.busy_io_events = Some(events);
        self
    }

    /// The seed of the runtime's random decisions: which worker to steal from, which branch of `select!` to poll first.
    pub fn rng_seed(&mut self, seed: RngSeed) -> &mut Self {
        self.config.rng_seed = Some(seed);
        self
    }
}
