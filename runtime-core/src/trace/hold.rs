//! [`TraceHold`]: has the recorder run for somebody who does not know whether others have it run.

use std::fmt;
use std::sync::Arc;

use super::config::TraceConfig;
use super::recorder::Recorder;
use super::snapshot::TraceSnapshot;

/// Has the recorder run while it lives: from [`Trace::hold`](super::Trace::hold).
#[must_use = "the recorder runs only while it lives"]
pub struct TraceHold {
    recorder: Arc<Recorder>,
    began: u64,
}

impl TraceHold {
    pub(super) fn new(recorder: Arc<Recorder>, config: &TraceConfig) -> Self {
        let began = recorder.hold(config);
        Self { recorder, began }
    }

    /// What the threads have recorded since [`hold`](super::Trace::hold) was called, as far as the rings reach back.
    /// Otherwise as [`Trace::snapshot`](super::Trace::snapshot).
    pub fn snapshot(&self) -> TraceSnapshot {
        TraceSnapshot::take(&self.recorder, self.began)
    }
}

impl Drop for TraceHold {
    fn drop(&mut self) {
        self.recorder.release();
    }
}

impl fmt::Debug for TraceHold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TraceHold").finish_non_exhaustive()
    }
}
