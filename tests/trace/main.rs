//! The flight recorder: what is recorded, that nothing is left out, how it is read while threads go on or are stuck,
//! the files, and their formats.
//!
//! Mutations that these tests are for: an event that is not recorded, or twice; a worker's event in another's lane; a
//! snapshot that waits for a worker; old records after a new start; an arrow from a later wake; a file that is
//! overwritten.

mod events;
mod files;
mod formats;
mod perfetto;

use rt::runtime::Runtime;
use rt::runtime::trace::{TraceEvent, TraceSnapshot};

/// The events of a lane; none if there is no such lane.
fn lane(snapshot: &TraceSnapshot, name: &str) -> Vec<TraceEvent> {
    snapshot.lanes().filter(|lane| lane.name() == name).flat_map(|lane| lane.events()).collect()
}

/// The events of all lanes, one lane after the other.
fn all(snapshot: &TraceSnapshot) -> Vec<TraceEvent> {
    snapshot.lanes().flat_map(|lane| lane.events()).collect()
}

/// Ends the runtime, so that all its threads have recorded all that they will, and takes the snapshot.
fn snapshot_after(runtime: Runtime) -> TraceSnapshot {
    let trace = runtime.handle().trace();
    drop(runtime);
    trace.snapshot()
}
