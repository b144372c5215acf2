//! [`Dumps`]: traces that are written to a file when something goes wrong.
//!
//! The thread that notices that, a worker or the monitor, waits for nothing: it queues a report (`crate::reporter`),
//! whose thread takes the snapshot and writes the file. One report at a time is queued; what goes wrong meanwhile is in
//! the rings. It holds the recorder, not the runtime.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use parking_lot::Mutex;

use super::config::TraceConfig;
use super::recorder::Recorder;
use super::snapshot::TraceSnapshot;
use crate::reporter::Reporter;

/// What has a trace written.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Trouble {
    /// A task panicked.
    Panic,
    /// A task blocked its worker.
    Blocked,
    /// A poll took long.
    SlowPoll,
}

#[derive(Default)]
pub(super) struct Dumps {
    on_panic: AtomicBool,
    on_blocked: AtomicBool,
    on_slow_poll: AtomicBool,
    file: Mutex<Option<PathBuf>>,
    /// Whether a trace was written to the file, or stderr was told that something is there already.
    is_accounted_for: AtomicBool,
    is_queued: AtomicBool,
    reporter: Reporter,
}

impl Dumps {
    /// The recorder is being started.
    pub(super) fn configure(&self, config: &TraceConfig) {
        *self.file.lock() = config.file.clone();
        self.is_accounted_for.store(false, Relaxed);
        self.on_panic.store(config.on_panic, Relaxed);
        self.on_blocked.store(config.on_blocked, Relaxed);
        self.on_slow_poll.store(config.slow_poll.is_some(), Relaxed);
    }

    /// The recorder is being stopped. What went wrong before that still has its file written.
    pub(super) fn disable(&self) {
        [&self.on_panic, &self.on_blocked, &self.on_slow_poll].iter().for_each(|wanted| wanted.store(false, Relaxed));
    }
}

impl Recorder {
    /// Has the trace written to the file, if the recorder was started with one for that.
    #[cold]
    pub(crate) fn note_trouble(self: &Arc<Self>, trouble: Trouble) {
        let dumps = &self.dumps;
        let is_wanted = match trouble {
            Trouble::Panic => &dumps.on_panic,
            Trouble::Blocked => &dumps.on_blocked,
            Trouble::SlowPoll => &dumps.on_slow_poll,
        };
        if !is_wanted.load(Relaxed) || !self.is_running() {
            return;
        }
        if dumps.is_queued.swap(true, Relaxed) {
            // Its thread could not be started, perhaps.
            dumps.reporter.see_to_thread();
            return;
        }
        let recorder = Arc::clone(self);
        dumps.reporter.report(move || {
            recorder.dumps.is_queued.store(false, Relaxed);
            let file = recorder.dumps.file.lock().clone();
            if let Some(path) = file {
                recorder.write_unless_there(&path);
            }
        });
    }

    /// The first trace is kept. Whoever finds an older file, and expects this run's, must know that it is not.
    fn write_unless_there(&self, path: &Path) {
        let is_accounted_for = &self.dumps.is_accounted_for;
        let outcome = if !path.exists() {
            TraceSnapshot::take(self, 0).write_file(path)
        } else if !is_accounted_for.load(Relaxed) {
            Err(io::Error::new(io::ErrorKind::AlreadyExists, "something is there already, and is left as it is"))
        } else {
            return;
        };
        // Nobody is left to be told that stderr is gone.
        drop(match &outcome {
            Ok(()) => writeln!(io::stderr(), "rt: a trace was written to {}", path.display()),
            Err(error) => writeln!(io::stderr(), "rt: no trace was written to {}: {error}", path.display()),
        });
        let is_there = outcome.map_or_else(|error| error.kind() == io::ErrorKind::AlreadyExists, |()| true);
        is_accounted_for.store(is_there, Relaxed);
    }
}
