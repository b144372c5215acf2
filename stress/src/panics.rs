//! Panics that are planned, and the hook that tells them from others.
//!
//! A planned panic carries a [`Planned`]. The hook keeps silent about those, and counts all others: a panic in a
//! detached task, or inside the runtime, fails the round even if nobody awaits it.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::atomic::{AtomicU64, Ordering};

/// The payload of a planned panic: the number of the task that it was planned for.
pub(crate) struct Planned(pub(crate) u64);

/// Process-wide, as the hook is.
static OTHERS: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static EXCUSED: Cell<bool> = const { Cell::new(false) };
}

/// Makes planned panics silent, and others counted.
pub(crate) fn install_hook() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if !info.payload().is::<Planned>() && !EXCUSED.get() {
            OTHERS.fetch_add(1, Ordering::Relaxed);
            before(info);
        }
    }));
}

/// Panics as planned.
pub(crate) fn planned(task: u64) -> ! {
    panic_any(Planned(task))
}

/// How many panics there have been that nobody planned, since the last call.
pub(crate) fn take_others() -> u64 {
    OTHERS.swap(0, Ordering::Relaxed)
}

/// Runs what may panic because a runtime has been shut down under it. `None`: it did.
pub(crate) fn excused<R>(f: impl FnOnce() -> R) -> Option<R> {
    // A thread that drives a runtime runs tasks that call this again.
    let before = EXCUSED.replace(true);
    let result = catch_unwind(AssertUnwindSafe(f));
    EXCUSED.set(before);
    result.ok()
}
