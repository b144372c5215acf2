//! Which rows there are, in which order, and what they aim at.

use rt_benches::workloads::{
    Arrivals, Blocking, Chain, Connecting, Copying, Detached, Directory, Echo, EchoLatency, Fired, ForkJoin,
    FromOutside, FromThreads, Idle, InBlockOn, Join, LoneTimer, ManyFiles, ManySenders, ManyTimers, MillionTimers,
    PingPong, Reset, SequentialReads, SequentialWrites, SetAndCancel, Sleepers, StuckWorkers, ThereAndBack, Timeout,
    TimerBesideHogs, UdpEcho, WakeLatency, WholeFile, Yielding,
};
#[cfg(unix)]
use rt_benches::workloads::{Programs, UnixEcho};
use rt_benches::{LibraryRow, Measure, PerOperation, Workload};

use crate::apart::{CountedBytes, IdleApart};
use crate::contest::Contestable;
use crate::libraries::Libraries;
use crate::row::Aim::{self, BesideTokio, Figure, OfBestAndOfTokio, Ratio};

/// With how many workers a section is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Extent {
    /// With the main number.
    Once,
    /// And with the other numbers.
    OtherWorkers,
}

/// Rows that belong together.
pub(crate) struct Section {
    pub(crate) title: &'static str,
    /// The names of its files begin with this.
    pub(crate) slug: &'static str,
    pub(crate) about: &'static str,
    pub(crate) extent: Extent,
    pub(crate) items: Vec<Item>,
}

/// A measure, and what the report makes of it.
pub(crate) struct Item {
    pub(crate) measure: Box<dyn Contestable>,
    /// For each of its rows; none are missing at the end.
    pub(crate) aims: Vec<Option<Aim>>,
    /// Which of its rows is shown in the summary.
    pub(crate) telling: Option<usize>,
}

impl Section {
    fn new(title: &'static str, slug: &'static str, extent: Extent, about: &'static str) -> Self {
        Self { title, slug, about, extent, items: Vec::new() }
    }

    fn measure(mut self, measure: impl Measure, aims: impl Into<Vec<Option<Aim>>>) -> Self {
        self.items.push(Item { measure: Box::new(measure), aims: aims.into(), telling: None });
        self
    }

    fn timed(self, workload: impl Workload, aim: impl Into<Option<f64>>) -> Self {
        self.measure(PerOperation(workload), [aim.into().map(Ratio)])
    }

    /// As `timed`, where rt is to be as fast as Tokio, whatever smol does.
    fn beside_tokio(self, workload: impl Workload) -> Self {
        self.measure(PerOperation(workload), [Some(BesideTokio(1.0))])
    }

    fn libraries(mut self, rows: Vec<LibraryRow>, aim: Aim) -> Self {
        let item = |row| Item { measure: Box::new(Libraries(row)), aims: vec![Some(aim)], telling: None };
        self.items.extend(rows.into_iter().map(item));
        self
    }

    /// The summary shows this row of the last item.
    fn telling(mut self, row: usize) -> Self {
        self.items.last_mut().expect("there is an item").telling = Some(row);
        self
    }
}

/// All of them, in the order of the report.
pub(crate) fn all() -> Vec<Section> {
    vec![
        spawning(),
        foreign_threads(),
        yielding_and_messaging(),
        channels_and_locks(),
        channels_and_locks_between_tasks(),
        timers(),
        blocking(),
        sockets(),
        system(),
        files(),
        latency(),
        memory_and_idle(),
    ]
}

fn spawning() -> Section {
    Section::new("Spawning", "spawning", Extent::OtherWorkers, "Time on the clock, for each task or node.")
        .timed(Join, 0.3)
        .telling(0)
        .timed(Detached, 0.45)
        .telling(0)
        .timed(FromOutside::IDLE, 0.3)
        .telling(0)
        .timed(FromOutside::BUSY, None)
        .timed(InBlockOn::SINGLE, 1.0)
        .timed(InBlockOn::BURST, None)
        .timed(Chain, 0.3)
        .timed(ForkJoin, 0.3)
        .telling(0)
}

fn foreign_threads() -> Section {
    let about = "Threads that are not part of the runtime each spawn 1,000 tasks and join them, all at once. \
                 Time on the clock, divided by the tasks of all threads.";
    let section = Section::new("Foreign threads", "foreign-threads", Extent::OtherWorkers, about);
    FromThreads::ALL.into_iter().fold(section, |section, threads| section.timed(threads, None))
}

fn yielding_and_messaging() -> Section {
    Section::new("Yielding and messaging", "messaging", Extent::OtherWorkers, "Time on the clock.")
        .timed(Yielding::MANY, 0.6)
        .telling(0)
        .timed(Yielding::ONE, 0.3)
        .timed(PingPong, 0.45)
        .timed(ThereAndBack::TASKS, 0.8)
        .telling(0)
        .timed(ThereAndBack::IN_BLOCK_ON, 1.0)
        .timed(ThereAndBack::IN_BLOCK_ON_BESIDE_NEIGHBOUR, 1.0)
        .timed(ManySenders, 0.8)
}

fn channels_and_locks() -> Section {
    let about = "`rt::sync` beside `tokio::sync`, on Tokio and on rt, and beside crates that belong to no runtime, \
                 all on rt: async-lock, async-channel and event-listener, which smol's users have, flume, and \
                 futures' oneshot. A task that is alone, and plain threads. Time on the clock. \
                 See [`benches/sync`](benches/sync).";
    Section::new("Channels and locks", "sync", Extent::Once, about)
        .libraries(LibraryRow::alone(), OfBestAndOfTokio(1.0, 0.5))
        .libraries(LibraryRow::on_threads(), Ratio(1.0))
}

fn channels_and_locks_between_tasks() -> Section {
    let about = "The same libraries. With one worker, all tasks are on it; with more, the scheduler decides where.";
    Section::new("Channels and locks between tasks", "sync-tasks", Extent::OtherWorkers, about)
        .libraries(LibraryRow::between_tasks(), Ratio(1.0))
}

fn timers() -> Section {
    let about =
        "Time on the clock; where it says CPU, processor time of the process. How late timers are is under Latency.";
    Section::new("Timers", "timers", Extent::OtherWorkers, about)
        .timed(SetAndCancel, 0.4)
        .telling(0)
        .timed(Reset, None)
        .timed(Timeout::READY, None)
        .timed(Timeout::WAITS, None)
        .timed(Fired, None)
        .timed(Sleepers, 0.5)
        .telling(0)
        .measure(MillionTimers, [None, None])
}

fn blocking() -> Section {
    Section::new(
        "Blocking",
        "blocking",
        Extent::OtherWorkers,
        "The pool for work that blocks, and work that blocks elsewhere.",
    )
    .timed(Blocking::SINGLE, None)
    .timed(Blocking::BATCH, 0.5)
    .telling(0)
    .measure(StuckWorkers, [Some(Figure(20.0))])
}

fn sockets() -> Section {
    Section::new(
        "Sockets",
        "sockets",
        Extent::OtherWorkers,
        "Loopback; clients and servers are tasks of the same runtime.",
    )
    .timed(Echo::ONE, 1.0)
    .timed(Echo::MANY, 1.0)
    .telling(0)
    .timed(Echo::THOUSAND, None)
    .timed(Echo::LARGE, None)
    .timed(Connecting, None)
}

fn system() -> Section {
    let about = "The same over UDP and Unix sockets; a proxy between two connections; child processes. smol copies by \
                 two times `copy` where the others have `copy_bidirectional`.";
    let section = Section::new("Other sockets, copying, processes", "system", Extent::Once, about)
        .beside_tokio(UdpEcho::ONE)
        .beside_tokio(UdpEcho::MANY)
        .measure(Copying::ONE_WAY, [Some(BesideTokio(1.0))])
        .measure(Copying::BOTH_WAYS, [Some(BesideTokio(1.0))]);
    #[cfg(unix)]
    let section = section
        .beside_tokio(UnixEcho::ONE)
        .beside_tokio(UnixEcho::MANY)
        .beside_tokio(Programs::IN_SEQUENCE)
        .beside_tokio(Programs::AT_ONCE);
    section
}

fn files() -> Section {
    let about = "Files in the cache of the operating system. rt and Tokio make one system call for each read and \
                 write; smol's files have a buffer of 8 MiB.";
    Section::new("Files", "files", Extent::Once, about)
        .beside_tokio(SequentialReads::TINY)
        .beside_tokio(SequentialReads::PAGES)
        .telling(0)
        .beside_tokio(SequentialWrites::TINY)
        .beside_tokio(SequentialWrites::PAGES)
        .beside_tokio(WholeFile::SMALL)
        .beside_tokio(WholeFile::LARGE)
        .beside_tokio(Directory)
        .beside_tokio(ManyFiles)
}

fn latency() -> Section {
    let about = "How long something that is due has to wait. rt's and Tokio's timers tick, rt's every 32nd of a \
                 millisecond and Tokio's every millisecond, and are never early, so up to a tick of their lateness is \
                 that; smol's timers have no tick. A hog is a task that burns 100 us of processor time, lets others \
                 run, and starts anew.";
    Section::new("Latency", "latency", Extent::Once, about)
        .measure(WakeLatency, [None; 3])
        .measure(EchoLatency::AT_64, [None; 3])
        .measure(EchoLatency::AT_1000, [None; 3])
        .telling(1)
        .measure(ManyTimers::BUSY, [None, Some(Ratio(1.0)), None, Some(Ratio(0.7))])
        .measure(ManyTimers::STEADY, [None; 4])
        .measure(LoneTimer, [None, Some(Figure(200.0)), None])
        .telling(1)
        .measure(TimerBesideHogs::YIELD, [None, Some(Ratio(0.6)), None])
        .telling(1)
        .measure(TimerBesideHogs::WAKE_THEMSELVES, [None; 3])
        .measure(TimerBesideHogs::MANY, [None; 3])
        .measure(Arrivals::TASKS, [None; 3])
        .measure(Arrivals::CONNECTIONS, [None; 3])
}

fn memory_and_idle() -> Section {
    let about = "Bytes asked of the allocator for each of 100,000 tasks. The idle runtime has been used, holds a \
                 connection, a timer of an hour and a parked task, and is alone in its process.";
    Section::new("Memory and idling", "memory", Extent::Once, about)
        .measure(CountedBytes, [Some(Figure(128.0)), Some(Figure(224.0))])
        .telling(0)
        .measure(IdleApart(Idle::STILL), [None, None])
        .measure(IdleApart(Idle::TENTHS), [Some(Ratio(1.0)); 2])
        .measure(IdleApart(Idle::HUNDREDTHS), [Some(Ratio(1.0)); 2])
}
