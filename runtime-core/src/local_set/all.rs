//! All sets of the process, for inspection: a set belongs to no runtime, but to those that drive it.

use std::sync::{Arc, Weak};

use parking_lot::Mutex;

use super::shared::Shared;
use crate::runtime;
use crate::task::Snapshot;

/// Those that are gone, too, until the next one is made.
static SETS: Mutex<Vec<Weak<Shared>>> = Mutex::new(Vec::new());

pub(super) fn add(set: &Arc<Shared>) {
    let mut sets = SETS.lock();
    if sets.len() == sets.capacity() {
        sets.retain(|set| set.strong_count() > 0);
        // Room for as many again: so each set pays for a look at one.
        let room = sets.len() + 1;
        sets.reserve(room);
    }
    sets.push(Arc::downgrade(set));
}

/// Reads every task that is not over of the sets that this runtime has driven last.
pub(crate) fn inspect_tasks(runtime: runtime::Id, into: &mut Vec<Snapshot>) {
    let sets: Vec<_> = SETS.lock().iter().filter_map(Weak::upgrade).collect();
    sets.iter().for_each(|set| set.inspect_tasks(runtime, into));
}
