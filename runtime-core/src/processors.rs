//! Processors: how many the process may use, and on which one a thread runs.
//!
//! Asked by whoever builds a runtime, and by workers. The system need not answer: a sandbox may refuse the calls and the
//! files that it takes. So nobody may rely on more than one processor, or on being told where they are.

use std::num::NonZero;
use std::thread;

/// How many processors the calling thread may use: by its affinity, and by the quotas of its control groups and of those
/// above them. One if the system does not tell.
///
/// This reads files: it is for once in the life of a runtime, which keeps the number (`Config::processors`).
pub fn available() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

/// On which processor the calling thread is. It may be on another one at any time. None if the system does not tell.
#[cfg(target_os = "linux")]
#[inline]
pub fn current() -> Option<usize> {
    // Not rustix's, which takes for granted that the system answers.
    // SAFETY: takes nothing, and gives a number.
    let processor = unsafe { libc::sched_getcpu() };
    // Minus one is a refusal.
    usize::try_from(processor).ok()
}
