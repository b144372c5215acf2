//! Whether anybody looks into this process.
//!
//! What a task does and waits for is recorded at the end of each of its polls, since when it is queued at a wake, who
//! has a lock when that is acquired. All of these are paths that a program pays for whether it is inspected or not: so
//! nothing is recorded until somebody looks ([`is_watched`]), and of the time before it is not known. A task that was
//! polled for the last time before has an identifier, a name, a place and a state. (What workers and drivers count and
//! measure is always on.)
//!
//! For the whole process and for good: a user that looks once looks again. It must never decide what the runtime does,
//! only what it remembers. A thread may see the flag late; but one that polls a task after a thread that saw it sees it
//! too, since the task's state orders the two, and what was read once cannot be read as older afterwards. So no poll is
//! missing from a record that was begun.
//!
//! Set by [`Handle::tasks`](crate::runtime::Handle::tasks), by the facade's `Builder::record_tasks`, by its server
//! (`Builder::inspect`), and by the detection of stalls; read by whatever records, in the sibling crates, too.

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
