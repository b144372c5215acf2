//! Where going on is not possible, and the process ends with a message: each in a process of its own.
//!
//! Mutations that these tests are for: a worker that spins, or sleeps for ever, over a poller that does not work any
//! more; a silent end.

use std::os::fd::{FromRawFd, OwnedFd};
use std::process::{Command, Output};

use crate::common::*;

const CHILD: &str = "RT_TEST_CHILD";

/// Whether this is the child; else runs it, which is this very test, and returns what became of it.
fn child(test: &str) -> Option<Output> {
    if std::env::var_os(CHILD).is_some() {
        return None;
    }
    let program = std::env::current_exe().unwrap();
    Some(Command::new(program).args([test, "--exact", "--nocapture"]).env(CHILD, "1").output().unwrap())
}

/// Closes every poller of this process.
fn close_pollers() {
    for entry in std::fs::read_dir("/proc/self/fd").unwrap().flatten() {
        let is_poller = std::fs::read_link(entry.path()).is_ok_and(|to| to.to_string_lossy().contains("[eventpoll]"));
        if is_poller {
            let number = entry.file_name().to_str().unwrap().parse().unwrap();
            // SAFETY: it is open. That it is somebody else's is the point; they are about to find out, and nothing in
            // this process opens another in its place.
            drop(unsafe { OwnedFd::from_raw_fd(number) });
        }
    }
}

#[test]
fn a_runtime_whose_poller_was_closed_behind_its_back_ends_the_process_and_says_so() {
    let _watchdog = watchdog();
    let name = "process::a_runtime_whose_poller_was_closed_behind_its_back_ends_the_process_and_says_so";
    let Some(output) = child(name) else {
        let runtime = multi(2);
        runtime.block_on(async { rt::spawn(rt::time::sleep(std::time::Duration::from_millis(1))).await.unwrap() });
        close_pollers();
        // The next look at the poller is the last.
        runtime.block_on(async {
            loop {
                let _ = rt::spawn(rt::time::sleep(std::time::Duration::from_millis(1))).await;
            }
        });
        unreachable!("nothing can be waited for");
    };
    assert!(!output.status.success());
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&output.status), Some(6), "aborted");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("the driver panicked, and the runtime cannot go on without it"), "{said}");
    assert!(said.contains("the I/O driver cannot wait for events any more"), "{said}");
}
