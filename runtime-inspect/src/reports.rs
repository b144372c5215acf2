//! [`Reports`]: the last reports of tasks that blocked their worker.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::SystemTime;

use parking_lot::Mutex;
use runtime_core::blocked::{BlockedHook, BlockedTask};

/// The most reports that are kept. A place in the program is reported once, so there are few.
const MAX_REPORTS: usize = 64;

/// A report, and when it was made.
#[derive(Clone, Debug)]
pub(crate) struct Report {
    pub(crate) at: SystemTime,
    pub(crate) blocked: BlockedTask,
}

/// The last reports of a runtime, the oldest first.
#[derive(Default, Debug)]
pub(crate) struct Reports(Mutex<VecDeque<Report>>);

impl Reports {
    fn push(&self, blocked: BlockedTask) {
        let mut reports = self.0.lock();
        let dropped = if reports.len() == MAX_REPORTS { reports.pop_front() } else { None };
        reports.push_back(Report { at: SystemTime::now(), blocked });
        drop(reports);
        drop(dropped);
    }

    pub(crate) fn read(&self) -> Vec<Report> {
        self.0.lock().iter().cloned().collect()
    }

    /// A hook that keeps each report, and then does with it what would have been done anyway.
    pub(crate) fn hook(self: &Arc<Self>, next: Option<BlockedHook>) -> BlockedHook {
        let reports = Arc::clone(self);
        Arc::new(move |blocked| {
            reports.push(blocked.clone());
            match &next {
                Some(next) => next(blocked),
                // Nobody is left to be told that stderr is gone.
                None => drop(writeln!(io::stderr(), "rt: {blocked}")),
            }
        })
    }
}
