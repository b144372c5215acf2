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
use rt::runtime::trace::{Trace, TraceEvent, TraceEventKind, TraceSnapshot};
use rt::task::Id;
use rt_test_util::eventually;

/// The events of a lane; none if there is no such lane.
fn lane(snapshot: &TraceSnapshot, name: &str) -> Vec<TraceEvent> {
    snapshot.lanes().filter(|lane| lane.name() == name).flat_map(|lane| lane.events()).collect()
}

/// The events of all lanes, one lane after the other.
fn all(snapshot: &TraceSnapshot) -> Vec<TraceEvent> {
    snapshot.lanes().flat_map(|lane| lane.events()).collect()
}

/// The tasks that were spawned, woken or polled, as often as they were. A worker hands over a task's result before it
/// records the end of the poll, so the end of a task that has been joined may belong to a later span of time.
fn tasks_begun(snapshot: &TraceSnapshot) -> Vec<Id> {
    let begun = |event: &TraceEvent| event.kind != TraceEventKind::Completed;
    all(snapshot).into_iter().filter(begun).filter_map(|event| event.task).map(|task| task.id).collect()
}

/// Waits until each poll that was begun has been recorded to its end. In vain if a task ended without a last poll.
fn wait_for_the_ends_of_polls(trace: &Trace) {
    eventually(|| {
        let events = all(&trace.snapshot());
        let count = |kind| events.iter().filter(|event| event.kind == kind).count();
        count(TraceEventKind::Polled) == count(TraceEventKind::Pending) + count(TraceEventKind::Completed)
    });
}

/// Ends the runtime, so that all its threads have recorded all that they will, and takes the snapshot.
fn snapshot_after(runtime: Runtime) -> TraceSnapshot {
    let trace = runtime.handle().trace();
    drop(runtime);
    trace.snapshot()
}
