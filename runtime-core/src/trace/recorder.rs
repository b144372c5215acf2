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

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use parking_lot::Mutex;

use super::config::TraceConfig;
use super::dump::{Dumps, Trouble};
use super::record::Kind;
use super::recording::{LaneId, LaneNumbers, Raw, Recording};
use super::switch::Switch;
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
}

/// A time in which it runs, or ran.
#[derive(Clone, Copy)]
pub(super) struct Session {
    /// The binary logarithm of the rings' size.
    size: usize,
    /// In ticks.
    pub(super) started: u64,
    /// If it is over.
    pub(super) stopped: Option<u64>,
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
        self.run(&mut control, config);
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
        self.run(&mut control, config);
        self.switch.current().expect("it runs").ticks.now()
    }

    pub(super) fn release(&self) {
        let mut control = self.control.lock();
        control.holders -= 1;
        self.rest(&mut control);
    }

    /// Has it run.
    fn run(&self, control: &mut Control, config: &TraceConfig) {
        if self.is_running() {
            return;
        }
        let size = config.size_log();
        let mut started = 0;
        self.switch.turn_on(
            size,
            || Recording::new(1 << size, self.numbers),
            |recording| {
                let first = self.numbers.workers + self.numbers.block_on_threads;
                (0..control.spares).for_each(|number| recording.add_lane(first + number, true));
                // What earlier writers have left is older.
                started = recording.ticks.now();
                recording.started.store(started, Relaxed);
            },
        );
        control.session = Some(Session { size, started, stopped: None });
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

    /// What the rings hold, of which session, and the recording they are of. `None` if it was never started.
    pub(super) fn read(&self) -> Option<(&Recording, Session, Raw)> {
        let session = self.control.lock().session?;
        let recording = self.switch.kept(session.size)?;
        Some((recording, session, recording.read(self.numbers)))
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").field("is_running", &self.is_running()).finish_non_exhaustive()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::trace::TraceSnapshot;

    const NUMBERS: LaneNumbers = LaneNumbers { workers: 2, block_on_threads: 1, spares: 3 };

    fn recorder() -> Arc<Recorder> {
        Recorder::new(NUMBERS, false)
    }

    fn config() -> TraceConfig {
        TraceConfig::new().events(16)
    }

    fn event(recorder: &Recorder, core: usize) {
        recorder.other_events(LaneId::Core(core), &[(Kind::QueueDepth, 1)]);
    }

    fn lanes(recorder: &Recorder) -> Vec<String> {
        recorder.read().map_or_else(Vec::new, |(_, _, raw)| raw.lanes.into_iter().map(|(name, _)| name).collect())
    }

    fn lost(recorder: &Recorder) -> u64 {
        recorder.read().unwrap().2.lost
    }

    #[test]
    fn it_runs_while_it_is_started_or_held() {
        let recorder = recorder();
        let began = recorder.hold(&config());
        assert!(recorder.is_running() && !recorder.stop());
        let later = recorder.hold(&config());
        assert!(began <= later);
        recorder.release();
        assert!(recorder.is_running());
        // One who starts it meanwhile finds that it was not started, and goes on after the others.
        assert!(recorder.start(&config()) && !recorder.start(&config()));
        assert_eq!(recorder.read().unwrap().1.started, recorder.switch.current().unwrap().started.load(Relaxed));
        recorder.release();
        assert!(recorder.is_running());
        recorder.hold(&config());
        assert!(recorder.stop() && !recorder.stop());
        assert!(recorder.is_running() && recorder.read().unwrap().1.stopped.is_none());
        recorder.release();
        assert!(!recorder.is_running() && recorder.read().unwrap().1.stopped.is_some());
    }

    #[test]
    fn the_lanes_of_spare_workers_are_made_when_they_are_needed_and_the_others_at_the_start() {
        let recorder = recorder();
        recorder.prepare_lane(0);
        // The first spare comes before the start.
        recorder.prepare_lane(3);
        recorder.start(&config());
        let first = ["worker 0", "worker 1", "block_on 0", "spare worker 0"];
        let others = ["other threads 0", "other threads 1", "other threads 2", "other threads 3"];
        assert_eq!(lanes(&recorder), [&first[..], &others].concat());
        (0..4).for_each(|core| event(&recorder, core));
        recorder.other_events(LaneId::Shared(9), &[(Kind::QueueDepth, 1)]);
        assert_eq!(lost(&recorder), 0);
        // An event makes none.
        event(&recorder, 4);
        assert_eq!((lanes(&recorder).len(), lost(&recorder)), (8, 1));
        recorder.prepare_lane(4);
        event(&recorder, 4);
        assert_eq!((lanes(&recorder).len(), lost(&recorder)), (9, 1));
        // The next recording has them from the start.
        recorder.stop();
        recorder.start(&config().events(32));
        assert_eq!((lanes(&recorder).len(), lost(&recorder)), (9, 0));
    }

    #[test]
    fn what_is_written_after_the_stop_is_in_no_session() {
        let recorder = recorder();
        recorder.start(&config());
        let recording = recorder.switch.current().unwrap();
        event(&recorder, 0);
        recorder.stop();
        // A thread that was about to write.
        let stopped = recorder.read().unwrap().1.stopped.unwrap();
        while recording.ticks.now() == stopped {}
        recording.other_events(LaneId::Core(0), &[(Kind::InjectorDepth, 1)]);
        let events = |recorder| {
            let snapshot = TraceSnapshot::take(recorder, 0);
            snapshot.lanes().map(|lane| lane.events().count()).sum::<usize>()
        };
        assert_eq!(events(&recorder), 1);
        recorder.start(&config());
        assert_eq!(events(&recorder), 0);
    }
}
