//! [`TraceSnapshot`]: what the rings held at one moment.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::panic::Location;
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use super::record::{Kind, Record};
use super::recorder::{Reading, Recorder};
use super::sites::SpawnedAt;
use super::timeline::Timeline;
use super::{chrome, perfetto};
use crate::clock::Clock;
use crate::task::Id;

/// By so much may a record seem to be younger than the snapshot: the counters of two processors are not quite the same.
const SLACK_TICKS: u64 = 1 << 40;

/// What a runtime's threads have recorded: from [`Trace::snapshot`](super::Trace::snapshot).
///
/// Each thread's events are whole and without a gap, up to the moment of the snapshot; they begin where its ring does,
/// which is later for a thread that had more of them.
pub struct TraceSnapshot {
    pub(super) started: Instant,
    pub(super) duration: Duration,
    lost: u64,
    pub(super) lanes: Vec<RawLane>,
    /// By their numbers in records, which begin with 1.
    pub(super) sites: Vec<Option<SpawnedAt>>,
}

/// The events of one thread.
pub(super) struct RawLane {
    pub(super) name: String,
    pub(super) events: Vec<Stamped>,
}

impl RawLane {
    /// Adds what the same threads have recorded next, in a larger ring. If that has lost some, what is older goes, too:
    /// there must not be a gap.
    fn go_on(&mut self, events: impl Iterator<Item = Stamped>, has_lost: bool) {
        if has_lost {
            self.events.clear();
        }
        self.events.extend(events);
        // Of threads that share a lane, one may have come to the larger ring before the other.
        self.events.sort_by_key(|event| event.nanos);
    }
}

/// An event with its time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stamped {
    /// Since the start.
    pub(super) nanos: u64,
    pub(super) record: Record,
}

impl TraceSnapshot {
    /// Takes what the last session has, from this moment on, in ticks.
    pub(super) fn take(recorder: &Recorder, from: u64) -> Self {
        let Some(Reading { ticks, session, workers, parts, sites }) = recorder.read() else {
            let (lanes, sites) = (Vec::new(), Vec::new());
            return Self { started: Clock::real(), duration: Duration::ZERO, lost: 0, lanes, sites };
        };
        // After the records were read: they are older.
        let now = ticks.now();
        let (started, taken) = (session.started.max(from), session.stopped.unwrap_or(now));
        let scale = ticks.scale();
        let unpack = |words| Record::unpack(words, now.wrapping_add(SLACK_TICKS));
        let stamp = |record: Record| {
            // A record that is younger than the end of the session is none of it.
            let is_in_time = record.ticks >= started && session.stopped.is_none_or(|stopped| record.ticks <= stopped);
            let nanos = scale.between(started, record.ticks.min(taken)).as_nanos() as u64;
            is_in_time.then_some(Stamped { nanos, record })
        };
        let lost = parts.iter().map(|part| part.lost).sum();
        let mut lanes: Vec<RawLane> = Vec::new();
        for part in parts {
            for (name, words) in part.lanes {
                // A ring that is full, and has nothing from before the recorder came to it, has lost some since.
                let is_full = words.len() + 1 >= part.places;
                let has_lost =
                    is_full && words.first().and_then(|it| unpack(*it)).is_none_or(|it| it.ticks >= part.started);
                let events = words.into_iter().filter_map(unpack).filter_map(stamp);
                match lanes.iter_mut().find(|lane| lane.name == name) {
                    None => lanes.push(RawLane { name, events: events.collect() }),
                    Some(lane) => lane.go_on(events, has_lost),
                }
            }
        }
        // That a worker does nothing is worth seeing. Most of the others never have an event.
        let lanes = lanes.into_iter().enumerate();
        let lanes = lanes.filter(|(index, lane)| *index < workers || !lane.events.is_empty());
        Self {
            started: scale.instant(started),
            duration: scale.between(started, taken),
            lost,
            lanes: lanes.map(|(_, lane)| lane).collect(),
            sites,
        }
    }

    /// When the recorder was started, or held by the caller that took the snapshot: the events' times count from there.
    pub fn started(&self) -> Instant {
        self.started
    }

    /// How long after that the snapshot was taken, or the recorder was stopped if it was.
    pub fn duration(&self) -> Duration {
        self.duration
    }

    /// How many events were lost since this number of events was first recorded with: those of threads that are no
    /// workers, when too many such threads had one at the same time.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// The threads, each with its events. Those of workers come first, in the order of their numbers. Threads of other
    /// kinds are left out if they had no event.
    pub fn lanes(&self) -> impl Iterator<Item = TraceLane<'_>> {
        self.lanes.iter().map(|lane| TraceLane { snapshot: self, lane })
    }

    /// Leaves only what happened in the last `duration` before the snapshot.
    ///
    /// # Example
    ///
    /// ```
    /// use std::time::Duration;
    /// # let runtime = rt::runtime::Builder::new_current_thread().build().unwrap();
    /// let last_second = runtime.handle().trace().snapshot().last(Duration::from_secs(1));
    /// # drop(last_second);
    /// ```
    #[must_use]
    pub fn last(mut self, duration: Duration) -> Self {
        let from = self.duration.saturating_sub(duration).as_nanos() as u64;
        self.lanes.iter_mut().for_each(|lane| lane.events.retain(|event| event.nanos >= from));
        self
    }

    /// Writes it as a Perfetto trace (TrackEvent protobuf), for <https://ui.perfetto.dev>: a thread track for each
    /// lane, a slice for each poll, named by the task's name or by where it was spawned, arrows from wakes and spawns
    /// to polls, and counters of the tasks that wait.
    ///
    /// # Errors
    ///
    /// Those of the writer.
    ///
    /// # Example
    ///
    /// ```no_run
    /// # let runtime = rt::runtime::Builder::new_current_thread().build().unwrap();
    /// let file = std::fs::File::create("my-app.pftrace")?;
    /// runtime.handle().trace().snapshot().write_perfetto(file)?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn write_perfetto(&self, to: impl Write) -> io::Result<()> {
        perfetto::write(self, &Timeline::new(self), to)
    }

    /// Writes the same as Chrome's JSON (an object with `traceEvents`), for `chrome://tracing`, Perfetto's page and
    /// other programs.
    ///
    /// # Errors
    ///
    /// Those of the writer.
    pub fn write_chrome_json(&self, to: impl Write) -> io::Result<()> {
        chrome::write(self, &Timeline::new(self), to)
    }

    /// Writes it to a file, in place of one that is there: as Chrome's JSON if the path ends in `.json`, else as
    /// Perfetto's trace. The file is there when all of it is written, which is done under another name beside it;
    /// of several that are written at the same time, the one that ends last stays.
    ///
    /// # Errors
    ///
    /// Those of the file system.
    ///
    /// # Example
    ///
    /// ```
    /// # let runtime = rt::runtime::Builder::new_current_thread().build().unwrap();
    /// let path = std::env::temp_dir().join("a-snapshot.json");
    /// runtime.handle().trace().snapshot().write_file(&path)?;
    /// # std::fs::remove_file(path)?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn write_file(&self, path: impl AsRef<Path>) -> io::Result<()> {
        /// Numbers the unfinished files: several runtimes of a process may have the same path.
        static BEGUN: AtomicU64 = AtomicU64::new(0);
        let path = path.as_ref();
        let mut unfinished = path.as_os_str().to_owned();
        unfinished.push(format!(".{}.{}", std::process::id(), BEGUN.fetch_add(1, Relaxed)));
        let written = self.write_in_format_of(path, unfinished.as_ref()).and_then(|()| fs::rename(&unfinished, path));
        if written.is_err() {
            // What is left of it is of no use, and the first error is the one to tell.
            drop(fs::remove_file(&unfinished));
        }
        written
    }

    fn write_in_format_of(&self, path: &Path, unfinished: &Path) -> io::Result<()> {
        let mut options = File::options();
        options.write(true).create(true).truncate(true);
        // Its name can be guessed. In a folder that others may write to, it must not be a link to something of ours.
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NOFOLLOW);
        let file = BufWriter::new(options.open(unfinished)?);
        if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json")) {
            self.write_chrome_json(file)
        } else {
            self.write_perfetto(file)
        }
    }

    pub(super) fn site(&self, record: Record) -> Option<SpawnedAt> {
        *self.sites.get(usize::from(record.site()).checked_sub(1)?)?
    }
}

/// What one thread has recorded, or threads that share a lane because they are no workers.
#[derive(Clone, Copy)]
pub struct TraceLane<'a> {
    snapshot: &'a TraceSnapshot,
    lane: &'a RawLane,
}

impl<'a> TraceLane<'a> {
    /// `worker 0`, `spare worker 0`, `block_on 0` or `other threads 0`.
    pub fn name(&self) -> &'a str {
        &self.lane.name
    }

    /// Its events, the oldest first.
    pub fn events(&self) -> impl Iterator<Item = TraceEvent> + use<'a> {
        let snapshot = self.snapshot;
        self.lane.events.iter().map(move |event| TraceEvent {
            at: Duration::from_nanos(event.nanos),
            kind: TraceEventKind::of(event.record),
            task: event.record.kind.has_task().then(|| TraceTask::of(snapshot, event.record)),
        })
    }
}

/// Something that was recorded.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct TraceEvent {
    /// When, counted from the recorder's start.
    pub at: Duration,
    /// What happened.
    pub kind: TraceEventKind,
    /// To which task, if it is about one.
    pub task: Option<TraceTask>,
}

/// The task that a [`TraceEvent`] is about.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct TraceTask {
    /// Which task. (Of the number the lowest 48 bits were recorded.)
    pub id: Id,
    /// What it was called, if it was given a name.
    pub name: Option<&'static str>,
    /// Where it was spawned. `None`, and no name, if the recorder has seen more than some ten thousand pairs of a place
    /// and a name, which takes a program that makes up names as it runs.
    pub spawned_at: Option<&'static Location<'static>>,
}

impl TraceTask {
    fn of(snapshot: &TraceSnapshot, record: Record) -> Self {
        let site = snapshot.site(record);
        Self {
            id: Id(record.task()),
            name: site.and_then(|site| site.name),
            spawned_at: site.map(|site| site.location),
        }
    }
}

/// The kinds of [`TraceEvent`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TraceEventKind {
    /// A task was spawned.
    Spawned,
    /// A poll of a task began. It begins when the one before it ended, if the worker had nothing else to do meanwhile.
    Polled,
    /// The poll returned `Pending`.
    Pending,
    /// The task gave its output, panicked, or was cancelled.
    Completed,
    /// The poll panicked. The task completes just after.
    Panicked,
    /// The task was woken while it waited, and queued: by this thread.
    Woken,
    /// The worker went to sleep.
    Parked,
    /// It came back from there.
    Unparked,
    /// This number of tasks waited on the worker's own queues.
    QueueDepth(u64),
    /// This number of tasks waited in the queue that belongs to no worker.
    InjectorDepth(u64),
}

impl TraceEventKind {
    fn of(record: Record) -> Self {
        match record.kind {
            Kind::Spawned => Self::Spawned,
            Kind::Polled => Self::Polled,
            Kind::Pending => Self::Pending,
            Kind::Completed => Self::Completed,
            Kind::Panicked => Self::Panicked,
            Kind::Woken => Self::Woken,
            Kind::Parked => Self::Parked,
            Kind::Unparked => Self::Unparked,
            Kind::QueueDepth => Self::QueueDepth(record.payload),
            Kind::InjectorDepth => Self::InjectorDepth(record.payload),
        }
    }
}

impl fmt::Debug for TraceSnapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TraceSnapshot")
            .field("duration", &self.duration)
            .field("lost", &self.lost)
            .field("lanes", &self.lanes().collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for TraceLane<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TraceLane").field("name", &self.lane.name).field("events", &self.lane.events.len()).finish()
    }
}
