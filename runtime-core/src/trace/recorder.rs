//! [`Recorder`]: a runtime's flight recorder, off until it is asked for.
//!
//! # Who has it run
//!
//! One user starts and stops it (`start`, `stop`). Others *hold* it for a time, and have it run meanwhile if it does
//! not run already: they do not know of each other. It runs while it is started or held. Who does what is under a lock,
//! for which no thread waits that has an event: those look at the switch (`switch.rs`) and at nothing else. Threads of
//! spare workers take it once, before they begin to work.
//!
//! # Memory
//!
//! A *recording* (`recording.rs`) is made when the recorder is started with its size for the first time. A thread may
//! be about to write a last record at any time, so it stays until the runtime is gone, and is used again by the next
//! start with its size. Sizes are powers of two, so all recordings together have less than twice the memory of the
//! largest.
//!
//! A recording that is used again has old records in it. The *session* knows when it began and when it ended, and a
//! snapshot has no records from before and after that.
//!
//! A start while it is held may ask for more events than it runs with. Then the session goes on with a larger
//! recording, and what it has in the smaller one stays its own: a snapshot has both. It never goes on with a smaller
//! one: the holder may want more.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use parking_lot::Mutex;

use super::config::TraceConfig;
use super::dump::{Dumps, Trouble};
use super::record::Kind;
use super::recording::{Common, LaneId, LaneNumbers, Raw, Recording};
use super::sites::SpawnedAt;
use super::switch::Switch;
use crate::clock::Ticks;
use crate::task::TaskRef;

/// The largest rings have 2 to this power of records: 16 GiB for each.
pub(super) const MAX_SIZE_LOG: usize = 30;

/// A runtime's flight recorder.
pub(crate) struct Recorder {
    switch: Switch<Recording, { MAX_SIZE_LOG + 1 }>,
    numbers: LaneNumbers,
    has_observer: bool,
    control: Mutex<Control>,
    pub(super) dumps: Dumps,
}

#[derive(Default)]
struct Control {
    /// The last one.
    session: Option<Session>,
    /// By `start`, until `stop`.
    is_started: bool,
    holders: usize,
    /// There were at most as many spare workers at once.
    spares: usize,
    /// From the first time on.
    common: Option<Common>,
}

/// A time in which it runs, or ran.
#[derive(Clone, Copy)]
pub(super) struct Session {
    /// A bit for each binary logarithm of a size of rings that were used. The largest is the last.
    sizes: u32,
    /// In ticks.
    pub(super) started: u64,
    /// If it is over.
    pub(super) stopped: Option<u64>,
}

const _: () = assert!(MAX_SIZE_LOG < u32::BITS as usize);

/// What was recorded in a session.
pub(super) struct Reading {
    pub(super) ticks: Ticks,
    pub(super) session: Session,
    /// The number of workers, whose lanes are the first.
    pub(super) workers: usize,
    /// In the order of time.
    pub(super) parts: Vec<Raw>,
    pub(super) sites: Vec<Option<SpawnedAt>>,
}

impl Recorder {
    pub(crate) fn new(numbers: LaneNumbers, has_observer: bool) -> Arc<Self> {
        Arc::new(Self {
            switch: Switch::new(has_observer),
            numbers,
            has_observer,
            control: Mutex::default(),
            dumps: Dumps::default(),
        })
    }

    /// Whether anybody wants to hear of events.
    #[inline]
    pub(crate) fn is_heard(&self) -> bool {
        // The models of schedulers have no recorder that runs; they need not try every order of these looks.
        if cfg!(loom) { self.has_observer } else { self.switch.is_heard() }
    }

    pub(crate) fn is_running(&self) -> bool {
        self.switch.current().is_some()
    }

    /// Starts it. False if it was started already.
    pub(crate) fn start(&self, config: &TraceConfig) -> bool {
        let mut control = self.control.lock();
        if control.is_started {
            return false;
        }
        control.is_started = true;
        if !self.runs_with(&control, config.size_log()) {
            self.run(&mut control, config.size_log());
        }
        self.dumps.configure(config);
        if let Some(recording) = self.switch.current() {
            recording.look_out_for(config.slow_poll);
        }
        true
    }

    /// Stops it, unless it is held. False if it was not started.
    pub(crate) fn stop(&self) -> bool {
        let mut control = self.control.lock();
        if !control.is_started {
            return false;
        }
        control.is_started = false;
        self.dumps.disable();
        if let Some(recording) = self.switch.current() {
            recording.look_out_for(None);
        }
        self.rest(&mut control);
        true
    }

    /// Has it run until it is released. Returns the present, in ticks.
    pub(super) fn hold(&self, config: &TraceConfig) -> u64 {
        let mut control = self.control.lock();
        control.holders += 1;
        if !self.is_running() {
            self.run(&mut control, config.size_log());
        }
        self.switch.current().expect("it runs").ticks.now()
    }

    pub(super) fn release(&self) {
        let mut control = self.control.lock();
        control.holders -= 1;
        self.rest(&mut control);
    }

    /// Whether it runs, and with rings of this size at least.
    fn runs_with(&self, control: &Control, size: usize) -> bool {
        self.is_running() && control.session.is_some_and(|session| session.sizes >> size != 0)
    }

    /// Has it run with rings of this size, or go on with them.
    fn run(&self, control: &mut Control, size: usize) {
        let begun = control.session.filter(|_| self.is_running());
        let common = control.common.get_or_insert_with(Common::new).clone();
        let mut started = 0;
        self.switch.turn_on(
            size,
            || Recording::new(1 << size, self.numbers, common),
            |recording| {
                let first = self.numbers.workers + self.numbers.block_on_threads;
                (0..control.spares).for_each(|number| recording.add_lane(first + number, true));
                // What earlier writers have left is older.
                started = recording.ticks.now();
                recording.started.store(started, Relaxed);
            },
        );
        let begun = begun.unwrap_or(Session { sizes: 0, started, stopped: None });
        control.session = Some(Session { sizes: begun.sizes | 1 << size, ..begun });
    }

    /// Has it rest if nobody wants it.
    fn rest(&self, control: &mut Control) {
        if control.is_started || control.holders > 0 {
            return;
        }
        let stopped = self.switch.current().map(|recording| recording.ticks.now());
        self.switch.turn_off();
        if let Some(session) = &mut control.session {
            session.stopped = stopped;
        }
    }

    /// The calling thread has this core from now on. Called before it has any events with it.
    pub(crate) fn prepare_lane(&self, core: usize) {
        let Some(spare) = self.numbers.spare(core) else { return };
        let mut control = self.control.lock();
        control.spares = control.spares.max(spare + 1);
        if let Some(recording) = self.switch.current() {
            recording.add_lane(core, true);
        }
    }

    /// Writes a task's event down, if the recorder runs.
    #[inline]
    pub(crate) fn task_event(self: &Arc<Self>, lane: LaneId, kind: Kind, task: &TaskRef) {
        if let Some(recording) = self.switch.current()
            && recording.task_event(lane, kind, task)
        {
            self.note_trouble(Trouble::SlowPoll);
        }
    }

    /// Writes down that tasks were woken, if the recorder runs: all at the present moment.
    pub(crate) fn wakes<'a>(&self, lane: LaneId, tasks: impl Iterator<Item = &'a TaskRef> + Clone) {
        if let Some(recording) = self.switch.current() {
            recording.wakes(lane, tasks);
        }
    }

    /// Writes down what is no task's, if the recorder runs: events of one moment.
    pub(crate) fn other_events(&self, lane: LaneId, events: &[(Kind, u64)]) {
        if let Some(recording) = self.switch.current() {
            recording.other_events(lane, events);
        }
    }

    /// The next poll on this lane begins at a time of its own.
    #[inline]
    pub(crate) fn time_passes(&self, lane: LaneId) {
        if let Some(recording) = self.switch.current() {
            recording.time_passes(lane);
        }
    }

    /// What the rings hold of the last session. `None` if it was never started.
    pub(super) fn read(&self) -> Option<Reading> {
        let (session, Common { ticks, sites }) = {
            let control = self.control.lock();
            (control.session?, control.common.clone()?)
        };
        let sizes = (0..=MAX_SIZE_LOG).filter(|size| session.sizes >> size & 1 == 1);
        let parts = sizes.filter_map(|size| Some(self.switch.kept(size)?.read(self.numbers))).collect();
        Some(Reading { ticks, session, workers: self.numbers.workers, parts, sites: sites.all() })
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").field("is_running", &self.is_running()).finish_non_exhaustive()
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
