//! The end of tests that hang.

use std::io::Write as _;
use std::panic::Location;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// How long a whole test may take. Far more than any needs on a loaded machine: it only ends tests that hang.
const LIMIT: Duration = Duration::from_secs(100);

/// Aborts the process with a message if the test does not end. Keep the result in the test's first variable, which is
/// dropped last.
#[track_caller]
#[must_use = "the watch ends when this is dropped"]
pub fn watchdog() -> Watchdog {
    let test = thread::current().name().unwrap_or("a test").to_owned();
    let at = Location::caller();
    let (alive, dropped) = mpsc::channel();
    thread::Builder::new()
        .name("watchdog".into())
        .spawn(move || {
            if dropped.recv_timeout(LIMIT) == Err(mpsc::RecvTimeoutError::Timeout) {
                // Another thread writes the message, and has a second for it: what hangs may be stderr. (Not
                // `eprintln!`, whose output the test harness would capture.)
                let (said, is_said) = mpsc::channel::<()>();
                thread::spawn(move || {
                    let _ = writeln!(std::io::stderr(), "HANG: {test} ({at}) has not ended after {LIMIT:?}");
                    drop(said);
                });
                let _ = is_said.recv_timeout(Duration::from_secs(1));
                std::process::abort();
            }
        })
        .unwrap();
    Watchdog { _alive: alive }
}

/// See [`watchdog`].
#[derive(Debug)]
pub struct Watchdog {
    _alive: mpsc::Sender<()>,
}
