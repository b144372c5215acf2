//! The flight recorder: what the threads of a runtime did in the last moments, to be looked at when something was slow.
//!
//! Each thread writes events down, 16 bytes each (`record.rs`), in a ring of its own (`ring.rs`, `lane.rs`,
//! `recording.rs`), while the recorder runs (`recorder.rs`, `switch.rs`). Anybody takes a [`TraceSnapshot`] of the
//! rings at any time, without a word to those threads, which may be stuck; and writes it as Perfetto's protobuf or as
//! Chrome's JSON (`perfetto.rs`, `chrome.rs`).
//!
//! The events are those of tasks that an observer would hear of, and when workers sleep and how many tasks wait. The
//! schedulers call it through `events.rs`. To have an event it runs no code of a user's, waits for nobody, takes no
//! lock and allocates nothing, so it may be called anywhere in a scheduler, also while a thread has the drivers.
//!
//! Here are no decisions about what is slow, and no sampling: while it runs, all is recorded.

mod chrome;
mod config;
mod dump;
mod hold;
mod lane;
mod perfetto;
mod proto;
mod record;
mod recorder;
mod recording;
mod ring;
mod sites;
mod snapshot;
mod switch;
mod timeline;

use std::sync::Arc;

pub use self::config::TraceConfig;
pub(crate) use self::dump::Trouble;
pub use self::hold::TraceHold;
pub(crate) use self::record::Kind;
pub(crate) use self::recorder::Recorder;
pub(crate) use self::recording::{LaneId, LaneNumbers};
pub use self::snapshot::{TraceEvent, TraceEventKind, TraceLane, TraceSnapshot, TraceTask};

/// A runtime's flight recorder, from `Handle::trace`. Cheap to clone.
///
/// It writes down what happens to tasks and workers: each thread in a ring that keeps its last events. (Tasks of a
/// `LocalSet` are not among them: what they do is part of the poll, or of the `block_on`, that drives the set.) While
/// it does not run, which is so unless it is asked for, each event costs one predictable branch. While it runs, an
/// event costs a few stores and a look at the clock, or one look for the end of a poll and the beginning of the next:
/// that shows where polls take less than a microsecond.
///
/// # Example
///
/// ```
/// use rt::runtime::trace::{TraceConfig, TraceEventKind};
/// let runtime = rt::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
/// let trace = runtime.handle().trace();
/// assert!(trace.start(TraceConfig::new()));
/// runtime.block_on(async { rt::spawn(async {}).await.unwrap() });
/// trace.stop();
///
/// let snapshot = trace.snapshot();
/// assert!(snapshot.lanes().any(|lane| lane.events().any(|event| event.kind == TraceEventKind::Polled)));
/// let mut file = std::io::sink(); // or a file, to be opened at https://ui.perfetto.dev
/// snapshot.write_perfetto(&mut file).unwrap();
/// ```
#[derive(Clone, Debug)]
pub struct Trace {
    recorder: Arc<Recorder>,
}

impl Trace {
    pub(crate) fn new(recorder: Arc<Recorder>) -> Self {
        Self { recorder }
    }

    /// Starts to record. Returns false, and leaves all as it is, if the recorder was started already: somebody else
    /// wants it then, and is the one to stop it. If it runs only because somebody [holds](Self::hold) it, what it has
    /// recorded stays, and it goes on with their number of [events](TraceConfig::events) or with this one, whichever is
    /// larger.
    ///
    /// What was recorded before an earlier [`stop`](Self::stop) is forgotten. Allocates memory: see
    /// [`TraceConfig::events`].
    pub fn start(&self, config: TraceConfig) -> bool {
        self.recorder.start(&config)
    }

    /// Stops to record; while somebody [holds](Self::hold) it the recorder goes on until they let go. What was recorded
    /// is kept for a [`snapshot`](Self::snapshot), until the next start. Returns false if the recorder was not started.
    pub fn stop(&self) -> bool {
        self.recorder.stop()
    }

    /// Has the recorder run until what this returns is dropped, whatever others do: for those who want to look at a
    /// span of time, and do not know whether it runs already. If it does, it goes on as it is when they let go. If it
    /// does not, it is started with this number of [events](TraceConfig::events). (What else the configuration says is
    /// for [`start`](Self::start) only.)
    ///
    /// It does not keep the runtime alive.
    ///
    /// # Example
    ///
    /// ```
    /// use rt::runtime::trace::TraceConfig;
    /// let runtime = rt::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
    /// let trace = runtime.handle().trace();
    /// let hold = trace.hold(TraceConfig::new());
    /// runtime.block_on(async { rt::spawn(async {}).await.unwrap() }); // or wait for some seconds, on any thread
    /// let snapshot = hold.snapshot();
    /// drop(hold);
    /// assert!(!trace.is_running());
    /// assert!(snapshot.lanes().any(|lane| lane.events().count() > 0));
    /// ```
    pub fn hold(&self, config: TraceConfig) -> TraceHold {
        TraceHold::new(Arc::clone(&self.recorder), &config)
    }

    /// Whether it records.
    pub fn is_running(&self) -> bool {
        self.recorder.is_running()
    }

    /// What the threads have recorded up to now. Does not disturb them, does not wait for them, and works after the
    /// runtime's end. Empty if the recorder was never started.
    ///
    /// It copies all that there is, which takes some milliseconds for some megabytes: in async code call it by
    /// [`spawn_blocking`](crate::spawn_blocking).
    pub fn snapshot(&self) -> TraceSnapshot {
        TraceSnapshot::take(&self.recorder, 0)
    }
}
