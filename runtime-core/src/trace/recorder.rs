//! [`Recorder`]: a runtime's flight recorder, off until it is asked for.
//!
//! One word, the *mode*, says whether anybody wants to hear of events: the user's observer (`events.rs`), which is
//! there for as long as the runtime, or the recorder, which is started and stopped. All threads look at it at each
//! event, and go on if it is zero.
//!
//! # Memory
//!
//! A *recording* is the rings of all threads, of one size. It is made when the recorder is started with that size for
//! the first time; the rings of workers at once, those of spare workers, of threads in `block_on` and of other threads
//! with their first event. A thread may be about to write a last record at any time, so a recording stays until the
//! runtime is gone, and is used again by the next start with its size. Sizes are powers of two, so all recordings
//! together have less than twice the memory of the largest.
//!
//! A recording that is used again has old records in it. It knows when it was started, and a snapshot has no records
//! from before that.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU32, AtomicU64};

use crossbeam_utils::CachePadded;
use parking_lot::Mutex;

use super::config::TraceConfig;
use super::dump::Dumps;
use super::lane::{Lane, SharedLanes};
use super::record::Kind;
use super::ring::Words;
use super::sites::{Site, Sites};
use crate::clock::Ticks;
use crate::primitive::OnceLock;
use crate::task::TaskRef;

/// The user's observer wants to hear of events.
const OBSERVED: u32 = 1;
/// The upper bits of the mode: the binary logarithm of the rings' size, if the recorder runs. (It is not zero.)
const SIZE_SHIFT: u32 = 8;
/// The largest rings have 2 to this power of records: 16 GiB for each.
pub(super) const MAX_SIZE_LOG: usize = 30;

/// Which threads a runtime has, for the names of their lanes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LaneNumbers {
    /// Those with the first numbers.
    pub(crate) workers: usize,
    /// Then come these.
    pub(crate) block_on_threads: usize,
    /// And then these.
    pub(crate) spares: usize,
}

/// Where a thread's records go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LaneId {
    /// To the lane of a core, which the thread has.
    Core(usize),
    /// To a shared one. A token tells threads apart.
    Shared(usize),
}

/// A runtime's flight recorder.
pub(crate) struct Recorder {
    mode: AtomicU32,
    numbers: LaneNumbers,
    /// By the binary logarithm of the rings' size.
    recordings: [OnceLock<Box<Recording>>; MAX_SIZE_LOG + 1],
    sites: Sites,
    /// The binary logarithm of the size that the recorder was last started with. Under this lock it is started and
    /// stopped.
    last: Mutex<Option<usize>>,
    pub(super) dumps: Dumps,
}

struct Recording {
    ticks: Ticks,
    started: AtomicU64,
    /// When it was stopped, or zero.
    stopped: AtomicU64,
    places: usize,
    lanes: Box<[OnceLock<LaneBox>]>,
    shared: SharedLanes<LaneBox>,
}

/// Few of the lanes that there can be are ever used.
type LaneBox = Box<CachePadded<Lane>>;

/// What was recorded, as it lies in the rings.
pub(super) struct Raw {
    pub(super) ticks: Ticks,
    pub(super) started: u64,
    pub(super) taken: u64,
    pub(super) lost: u64,
    pub(super) lanes: Vec<(String, Vec<Words>)>,
    pub(super) sites: Vec<Site>,
}

impl Recorder {
    pub(crate) fn new(numbers: LaneNumbers, has_observer: bool) -> Arc<Self> {
        Arc::new(Self {
            mode: AtomicU32::new(if has_observer { OBSERVED } else { 0 }),
            numbers,
            recordings: [const { OnceLock::new() }; MAX_SIZE_LOG + 1],
            sites: Sites::default(),
            last: Mutex::new(None),
            dumps: Dumps::default(),
        })
    }

    /// Whether anybody wants to hear of events.
    #[inline]
    pub(crate) fn is_heard(&self) -> bool {
        // Relaxed: what a thread does just before it sees that the recorder runs is not recorded.
        self.mode.load(Relaxed) != 0
    }

    /// Starts it. False if it runs already.
    pub(crate) fn start(self: &Arc<Self>, config: &TraceConfig) -> bool {
        let mut last = self.last.lock();
        if self.is_running() {
            return false;
        }
        let size = config.size_log();
        let recording = self.recordings[size].get_or_init(|| Box::new(Recording::new(1 << size, self.numbers)));
        for lane in &recording.lanes[..self.numbers.workers] {
            recording.lane(lane);
        }
        // What earlier writers have left is older.
        recording.started.store(recording.ticks.now(), Relaxed);
        recording.stopped.store(0, Relaxed);
        self.dumps.configure(config);
        *last = Some(size);
        self.mode.fetch_or((size as u32) << SIZE_SHIFT, Release);
        true
    }

    /// Stops it. False if it does not run.
    pub(crate) fn stop(&self) -> bool {
        let last = self.last.lock();
        let was_running = self.mode.fetch_and(OBSERVED, Relaxed) >> SIZE_SHIFT != 0;
        if was_running && let Some(recording) = last.and_then(|size| self.recordings[size].get()) {
            recording.stopped.store(recording.ticks.now(), Relaxed);
        }
        was_running
    }

    pub(crate) fn is_running(&self) -> bool {
        self.current().is_some()
    }

    #[inline]
    fn current(&self) -> Option<&Recording> {
        let size = self.mode.load(Acquire) >> SIZE_SHIFT;
        if size == 0 { None } else { self.recordings[size as usize].get().map(|recording| &**recording) }
    }

    /// Writes a task's event down, if the recorder runs.
    #[inline]
    pub(crate) fn task_event(&self, lane: LaneId, kind: Kind, task: &TaskRef) {
        if let Some(recording) = self.current() {
            recording.with(lane, |lane| lane.task_event(kind, task, recording.ticks, &self.sites));
        }
    }

    /// Writes down what is no task's, if the recorder runs.
    pub(crate) fn other_event(&self, lane: LaneId, kind: Kind, payload: u64) {
        if let Some(recording) = self.current() {
            recording.with(lane, |lane| lane.other_event(kind, payload, recording.ticks));
        }
    }

    /// The next poll on this lane begins at a time of its own.
    pub(crate) fn time_passes(&self, lane: LaneId) {
        if let Some(recording) = self.current() {
            recording.with(lane, Lane::time_passes);
        }
    }

    /// What the rings hold. `None` if it was never started.
    pub(super) fn read(&self) -> Option<Raw> {
        let last = (*self.last.lock())?;
        let recording = self.recordings[last].get()?;
        let stopped = recording.stopped.load(Relaxed);
        let own = recording
            .lanes
            .iter()
            .enumerate()
            .filter_map(|(index, lane)| Some((self.numbers.name(index), lane.get()?)));
        let shared = recording.shared.iter().enumerate();
        let shared = shared.map(|(index, lane)| (format!("other threads {index}"), lane));
        let lanes: Vec<_> = own.chain(shared).map(|(name, lane)| (name, lane.read())).collect();
        // After the records: those are older. Before the sites: each that a record refers to is there.
        let now = recording.ticks.now();
        Some(Raw {
            ticks: recording.ticks,
            started: recording.started.load(Relaxed),
            taken: if stopped == 0 { now } else { stopped },
            lost: recording.shared.lost(),
            lanes,
            sites: self.sites.all(),
        })
    }
}

impl Recording {
    fn new(places: usize, numbers: LaneNumbers) -> Self {
        let lanes = numbers.workers + numbers.block_on_threads + numbers.spares;
        Self {
            ticks: Ticks::new(),
            started: AtomicU64::new(0),
            stopped: AtomicU64::new(0),
            places,
            lanes: std::iter::repeat_with(OnceLock::new).take(lanes).collect(),
            shared: SharedLanes::new(),
        }
    }

    fn lane<'a>(&self, lane: &'a OnceLock<LaneBox>) -> &'a Lane {
        lane.get_or_init(|| self.new_lane())
    }

    fn new_lane(&self) -> LaneBox {
        Box::new(CachePadded::new(Lane::new(self.places)))
    }

    #[inline]
    fn with(&self, lane: LaneId, write: impl FnOnce(&Lane)) {
        match lane {
            LaneId::Core(index) => write(self.lane(&self.lanes[index])),
            LaneId::Shared(token) => self.shared.with(token, || self.new_lane(), |lane| write(lane)),
        }
    }
}

impl LaneNumbers {
    fn name(self, index: usize) -> String {
        match index.checked_sub(self.workers) {
            None => format!("worker {index}"),
            Some(number) if number < self.block_on_threads => format!("block_on {number}"),
            Some(number) => format!("spare worker {}", number - self.block_on_threads),
        }
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").field("is_running", &self.is_running()).finish_non_exhaustive()
    }
}
