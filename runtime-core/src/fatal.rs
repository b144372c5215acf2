//! The end of the process, where to go on would be to hang or to corrupt memory: [`abort`].
//!
//! The caller holds what others wait for, so the message must not keep it: stderr may be a pipe that is full, or
//! locked by somebody who waits. A thread of its own writes the message, and is waited for a moment only. If no thread
//! can be started the process ends without a word.

use std::io::{self, Write};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// A stderr that has not taken the message by then is not going to.
const STDERR_TIMEOUT: Duration = Duration::from_secs(1);

/// Ends the process. Says why on stderr, if that can be done.
#[cold]
pub(crate) fn abort(why: &'static str) -> ! {
    let (said, is_said) = mpsc::channel::<()>();
    let started = thread::Builder::new().name("rt-last-words".into()).spawn(move || {
        // Not `eprintln!`, which panics if nobody can be told.
        let _ = writeln!(io::stderr(), "rt: {why}");
        drop(said);
    });
    if started.is_ok() {
        let _ = is_said.recv_timeout(STDERR_TIMEOUT);
    }
    std::process::abort();
}
