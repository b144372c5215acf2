//! [`snapshot_on_signal`]: a trace for the one who sends the process a signal.
//!
//! The runtime that is traced may be stuck, so it is not asked: a small runtime of its own waits for the signal, takes
//! the snapshot, and writes the file.

use std::fmt;
use std::io::{self, Write};
use std::path::PathBuf;

use super::Trace;
use crate::runtime::{Builder, Runtime};
use crate::signal::unix::{SignalKind, signal};

/// Has a snapshot written to a file, in place of the last one, each time that the process receives a signal, until what
/// this returns is dropped. [`TraceSnapshot::write_file`](super::TraceSnapshot::write_file) says in which format. If a
/// file cannot be written, a line on stderr says why.
///
/// It works while all workers of the runtime are blocked: a thread beside it waits for the signal. From the first call
/// on the signal does not do what it does by default, ever: see [`signal`](crate::signal::unix::signal()).
///
/// # Errors
///
/// If the system refuses a thread or a descriptor, or if a program cannot handle this signal.
///
/// # Example
///
/// ```
/// use rt::runtime::trace::{TraceConfig, snapshot_on_signal};
/// use rt::signal::unix::SignalKind;
///
/// let runtime = rt::runtime::Builder::new_multi_thread().trace(TraceConfig::new()).build()?;
/// // `kill -USR2` has the last events of all threads written.
/// let path = std::env::temp_dir().join("my-app.pftrace");
/// let _writing = snapshot_on_signal(runtime.handle().trace(), SignalKind::user_defined2(), path)?;
/// # std::io::Result::Ok(())
/// ```
pub fn snapshot_on_signal(trace: Trace, kind: SignalKind, path: impl Into<PathBuf>) -> io::Result<SnapshotOnSignal> {
    let path = path.into();
    let runtime = Builder::new_multi_thread().worker_threads(1).thread_name("rt-trace").enable_io().build()?;
    let mut signals = {
        let _guard = runtime.enter();
        signal(kind)?
    };
    runtime.spawn(async move {
        while signals.recv().await.is_some() {
            if let Err(error) = trace.snapshot().write_file(&path) {
                // Nobody is left to be told that stderr is gone.
                drop(writeln!(io::stderr(), "rt: no trace was written to {}: {error}", path.display()));
            }
        }
    });
    Ok(SnapshotOnSignal { runtime: Some(runtime) })
}

/// Has snapshots written while it lives. See [`snapshot_on_signal`].
#[must_use = "snapshots are written only while it lives"]
pub struct SnapshotOnSignal {
    /// Taken by the drop.
    runtime: Option<Runtime>,
}

impl Drop for SnapshotOnSignal {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // It may be dropped in async code, where nothing may wait. A file that is being written is finished.
            runtime.shutdown_background();
        }
    }
}

impl fmt::Debug for SnapshotOnSignal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SnapshotOnSignal").finish_non_exhaustive()
    }
}
