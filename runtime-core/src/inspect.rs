//! Whether anybody looks into this process.
//!
//! Some of what inspection shows costs on paths that a program pays for whether it is inspected or not: since when a
//! task is queued, when a thread that is no worker's wakes it, who has a lock. Such things are noted only when somebody
//! looks ([`is_watched`]); what they say of the time before is "unknown". What is cheap is always noted.
//!
//! For the whole process and for good: whoever looks once looks again, and a flag that never goes back needs no
//! protocol. A thread that sees it late notes a little less. It must never decide what the runtime does, only what it
//! remembers.
//!
//! Called by [`Handle::tasks`](crate::runtime::Handle::tasks), by the server of the facade's `Builder::inspect`, and by
//! the detection of stalls; read by whatever notes such things, in the sibling crates, too.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use crossbeam_utils::CachePadded;

/// On a line of its own, because every processor has it in its cache, and no neighbour's stores may take it away.
static WATCHED: CachePadded<AtomicBool> = CachePadded::new(AtomicBool::new(false));

/// Whether somebody looks. Once true, always true.
#[doc(hidden)]
#[inline(always)]
pub fn is_watched() -> bool {
    // Models have nobody who looks.
    cfg!(not(loom)) && WATCHED.load(Relaxed)
}

/// Somebody looks, from now on.
#[doc(hidden)]
pub fn watch() {
    // The line stays shared if nothing changes.
    if !WATCHED.load(Relaxed) {
        WATCHED.store(true, Relaxed);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_is_watched_stays_so() {
        watch();
        assert!(is_watched());
        watch();
        assert!(is_watched());
    }
}
