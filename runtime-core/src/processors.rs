//! How many processors the process may use.
//!
//! Asked when a runtime is built. The system need not answer: a sandbox may refuse the calls and the files that it
//! takes. So nobody may rely on more than one processor.

use std::num::NonZero;
use std::thread;

/// How many processors the calling thread may use: by its affinity, and by the quotas of its control groups and of
/// those above them. One if the system does not tell.
///
/// This reads files: it is for once in the life of a runtime, which keeps the number (`Config::processors`).
pub fn available() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}
