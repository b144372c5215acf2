//! [`Recording`]: the rings of all threads of a runtime, of one size. What their records refer to is [`Common`] to the
//! recordings of a runtime: the clock, and the table of spawn sites.
//!
//! All that a thread needs to write a record is made before it has an event: the lanes of workers, of threads in
//! `block_on` and of threads that have no core when the recording is made, those of spare workers when their threads
//! take up their cores ([`Recorder::prepare_lane`](super::Recorder)). So nothing is allocated here in the middle of the
//! scheduler, and nobody waits. If a lane is missing all the same, the record is lost, and counted.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use crossbeam_utils::CachePadded;

use super::lane::{Lane, SharedLanes};
use super::record::Kind;
use super::ring::Words;
use super::sites::Sites;
use crate::clock::Ticks;
use crate::primitive::OnceLock;
use crate::task::TaskRef;

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

/// What the recordings of a runtime have in common, so that their records can be shown together.
#[derive(Clone)]
pub(super) struct Common {
    pub(super) ticks: Ticks,
    pub(super) sites: Arc<Sites>,
}

impl Common {
    pub(super) fn new() -> Self {
        Self { ticks: Ticks::new(), sites: Arc::new(Sites::new()) }
    }
}

/// See the module.
pub(super) struct Recording {
    pub(super) ticks: Ticks,
    /// When the recorder last began to write to it.
    pub(super) started: AtomicU64,
    /// A poll of more ticks may be slow. `u64::MAX` if nobody wants to know.
    slow_ticks: AtomicU64,
    slow_nanos: AtomicU64,
    places: usize,
    lanes: Box<[OnceLock<LaneBox>]>,
    shared: SharedLanes<LaneBox>,
    sites: Arc<Sites>,
    /// Records for which there was no lane.
    lost: AtomicU64,
}

/// Few of the lanes that there can be are ever used.
type LaneBox = Box<CachePadded<Lane>>;

/// What was recorded, as it lies in the rings of one recording.
pub(super) struct Raw {
    pub(super) lost: u64,
    /// When the recorder last began to write there.
    pub(super) started: u64,
    /// How many records a ring may have.
    pub(super) places: usize,
    /// Those of workers are the first.
    pub(super) lanes: Vec<(String, Vec<Words>)>,
}

impl Recording {
    pub(super) fn new(places: usize, numbers: LaneNumbers, common: Common) -> Self {
        let lanes = numbers.workers + numbers.block_on_threads + numbers.spares;
        let this = Self {
            ticks: common.ticks,
            started: AtomicU64::new(0),
            slow_ticks: AtomicU64::new(u64::MAX),
            slow_nanos: AtomicU64::new(u64::MAX),
            places,
            lanes: std::iter::repeat_with(OnceLock::new).take(lanes).collect(),
            shared: SharedLanes::new(|| new_lane(places, false)),
            sites: common.sites,
            lost: AtomicU64::new(0),
        };
        (0..numbers.workers).for_each(|index| this.add_lane(index, true));
        (0..numbers.block_on_threads).for_each(|index| this.add_lane(numbers.workers + index, false));
        this
    }

    /// Makes the lane of a core, unless it is there.
    pub(super) fn add_lane(&self, index: usize, is_used: bool) {
        self.lanes[index].get_or_init(|| new_lane(self.places, is_used));
    }

    /// Has polls of at least this time looked out for.
    pub(super) fn look_out_for(&self, slow: Option<Duration>) {
        let nanos = slow.map_or(u64::MAX, |slow| u64::try_from(slow.as_nanos()).unwrap_or(u64::MAX));
        self.slow_nanos.store(nanos, Relaxed);
        // How long a tick is will be known when there has been a poll that may be slow. It is no longer than this: a
        // nanosecond of the clock, or a cycle of a processor, none of which is so slow.
        const MAX_NANOS_PER_TICK: u64 = 4;
        self.slow_ticks.store(if slow.is_some() { nanos / MAX_NANOS_PER_TICK } else { u64::MAX }, Relaxed);
    }

    /// Writes a task's event down. Returns true if it ended a poll that was slow.
    #[inline]
    pub(super) fn task_event(&self, lane: LaneId, kind: Kind, task: &TaskRef) -> bool {
        let took = match lane {
            LaneId::Core(index) => match self.lanes[index].get() {
                Some(lane) => self.write_task_event(lane, kind, task),
                None => self.lose(),
            },
            LaneId::Shared(token) => self.task_event_in_shared(token, kind, task),
        };
        took > self.slow_ticks.load(Relaxed) && self.is_slow(took)
    }

    /// Returns for how many ticks the poll took that it ended, or zero.
    #[inline(always)] // Else what it takes from its arguments goes by way of the stack.
    fn write_task_event(&self, lane: &Lane, kind: Kind, task: &TaskRef) -> u64 {
        self.write_task_event_of(lane, kind, task, || self.ticks.now())
    }

    #[inline(always)] // As above.
    fn write_task_event_of(&self, lane: &Lane, kind: Kind, task: &TaskRef, now: impl FnOnce() -> u64) -> u64 {
        let header = task.header();
        let site = self.sites.number(header.site().as_ptr());
        lane.task_event(kind, header.id().0, site, self.started.load(Relaxed), now)
    }

    /// Apart, for most records are of cores: they need none of this.
    #[inline(never)]
    fn task_event_in_shared(&self, token: usize, kind: Kind, task: &TaskRef) -> u64 {
        self.shared.with(token, |lane| self.write_task_event(lane, kind, task)).unwrap_or_else(|| self.lose())
    }

    #[cold]
    fn lose(&self) -> u64 {
        self.lost.fetch_add(1, Relaxed);
        0
    }

    /// Whether a poll was slow for which that is possible. Finds out how long a tick is.
    #[cold]
    fn is_slow(&self, took: u64) -> bool {
        let limit = self.slow_nanos.load(Relaxed);
        let scale = self.ticks.scale();
        // The poll has begun after the clock was made, so that time was long enough to be measured. If the limit
        // is changed meanwhile it does not matter which one this poll is compared with.
        self.slow_ticks.store(scale.ticks_below(limit), Relaxed);
        scale.between(0, took).as_nanos() >= u128::from(limit)
    }

    /// Writes down that tasks were woken, all at the present moment.
    pub(super) fn wakes<'a>(&self, lane: LaneId, tasks: impl Iterator<Item = &'a TaskRef> + Clone) {
        let now = self.ticks.now();
        self.with(lane, |lane| {
            tasks.clone().for_each(|task| _ = self.write_task_event_of(lane, Kind::Woken, task, || now));
        });
    }

    /// Writes down what is no task's: events of one moment.
    pub(super) fn other_events(&self, lane: LaneId, events: &[(Kind, u64)]) {
        self.with(lane, |lane| {
            let now = self.ticks.now();
            events.iter().for_each(|&(kind, payload)| lane.other_event(kind, payload, now));
        });
    }

    /// The next poll on this lane begins at a time of its own.
    #[inline]
    pub(super) fn time_passes(&self, lane: LaneId) {
        self.with(lane, Lane::time_passes);
    }

    #[inline]
    fn with(&self, lane: LaneId, write: impl Fn(&Lane)) {
        let written = match lane {
            LaneId::Core(index) => self.lanes[index].get().map(|lane| write(lane)),
            LaneId::Shared(token) => self.shared.with(token, |lane| write(lane)),
        };
        if written.is_none() {
            self.lose();
        }
    }

    /// All that is there. Each site that a record refers to is in the table then.
    pub(super) fn read(&self, numbers: LaneNumbers) -> Raw {
        let own = self.lanes.iter().enumerate();
        let own = own.filter_map(|(index, lane)| Some((numbers.name(index), lane.get()?)));
        let shared = self.shared.iter().enumerate();
        let shared = shared.map(|(index, lane)| (format!("other threads {index}"), lane));
        let lanes = own.chain(shared).map(|(name, lane)| (name, lane.read())).collect();
        Raw { lost: self.lost.load(Relaxed), started: self.started.load(Relaxed), places: self.places, lanes }
    }
}

fn new_lane(places: usize, is_used: bool) -> LaneBox {
    Box::new(CachePadded::new(Lane::new(places, is_used)))
}

impl LaneNumbers {
    /// Which of the spare workers has this core, if one does.
    pub(super) fn spare(self, index: usize) -> Option<usize> {
        index.checked_sub(self.workers + self.block_on_threads)
    }

    fn name(self, index: usize) -> String {
        match index.checked_sub(self.workers) {
            None => format!("worker {index}"),
            Some(number) if number < self.block_on_threads => format!("block_on {number}"),
            Some(number) => format!("spare worker {}", number - self.block_on_threads),
        }
    }
}
