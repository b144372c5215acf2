//! The flight recorder: what the threads of a runtime did in the last moments.
//!
//! Each runtime has one, which is off until it is asked for: by [`Handle::trace`](super::Handle::trace) at any time, by
//! [`Builder::trace`](super::Builder::trace) or the environment variable `RT_TRACE` from the start. Then each thread
//! writes down what happens to tasks, 16 bytes an event, in a ring that keeps the last of them. A snapshot of the rings
//! can be taken at any time, also when all workers are stuck, and opened at <https://ui.perfetto.dev> or in a browser's
//! tracing page.
//!
//! ```
//! use rt::runtime::trace::TraceConfig;
//!
//! # let path = std::env::temp_dir().join("rt-trace-example.pftrace");
//! # let runtime = rt::runtime::Runtime::new().unwrap();
//! let trace = runtime.handle().trace();
//! trace.start(TraceConfig::new());
//! runtime.block_on(async { rt::spawn(async { "what is to be looked at" }).await.unwrap() });
//! trace.stop();
//! trace.snapshot().write_file(&path)?;
//! # std::fs::remove_file(path)?;
//! # std::io::Result::Ok(())
//! ```

use std::io::{self, Write};
use std::path::Path;

#[cfg(all(unix, feature = "signal"))]
mod on_signal;

#[cfg(all(unix, feature = "signal"))]
pub use self::on_signal::{SnapshotOnSignal, snapshot_on_signal};
pub use runtime_core::trace::{
    Trace, TraceConfig, TraceEvent, TraceEventKind, TraceHold, TraceLane, TraceSnapshot, TraceTask,
};

/// The path of a file. See [`Builder::trace`](super::Builder::trace).
const VARIABLE: &str = "RT_TRACE";

/// What runtimes do whose builder was told nothing of the recorder. If no trace will be written stderr is told now, and
/// not only when there is one.
pub(super) fn asked_for_by_environment() -> Option<TraceConfig> {
    let path = std::env::var_os(VARIABLE).filter(|path| !path.is_empty())?;
    if let Some(trouble) = trouble_with(path.as_ref()) {
        // Nobody is left to be told that stderr is gone.
        drop(writeln!(io::stderr(), "rt: {VARIABLE} is {path:?}: {trouble}"));
    }
    Some(TraceConfig::new().file(path).on_panic(true).on_blocked(true))
}

/// What keeps a trace from being written there.
fn trouble_with(path: &Path) -> Option<&'static str> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if path.is_dir() {
        Some("a trace is written to a file, and this is a directory")
    } else if path.exists() {
        Some("the file is there already, and no trace is written until it is taken away")
    } else if !folder.is_dir() {
        Some("its directory is not there, and no trace is written until it is")
    } else {
        None
    }
}
