//! Where going on is not possible, and the process ends with a message: each in a process of its own.
//!
//! Mutations that these tests are for: a worker that spins, or sleeps for ever, over a poller that does not work any
//! more; a silent end, and one that waits for stderr, also if there is no thread that could.

use std::fs;
use std::mem;
use std::os::fd::{FromRawFd, OwnedFd};
use std::process::{Command, Output, Stdio};

use rt_test_util::*;

use super::no_threads::Narrow;

const CHILD: &str = "RT_TEST_CHILD";

/// Whether this is the child; else runs it, which is this very test, and returns what became of it.
fn child(test: &str) -> Option<Output> {
    child_with(test, Stdio::piped())
}

/// The same, with a certain stderr.
fn child_with(test: &str, stderr: impl Into<Stdio>) -> Option<Output> {
    if std::env::var_os(CHILD).is_some() {
        return None;
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    Some(command.args([test, "--exact", "--nocapture"]).env(CHILD, "1").stderr(stderr).output().unwrap())
}

/// Closes every poller of this process.
fn close_pollers() {
    for entry in fs::read_dir("/proc/self/fd").unwrap().flatten() {
        let is_poller = fs::read_link(entry.path()).is_ok_and(|to| to.to_string_lossy().contains("[eventpoll]"));
        if is_poller {
            let number = entry.file_name().to_str().unwrap().parse().unwrap();
            // SAFETY: it is open. That it is somebody else's is the point; they are about to find out, and nothing in
            // this process opens another in its place.
            drop(unsafe { OwnedFd::from_raw_fd(number) });
        }
    }
}

/// Leaves no address space for the stack of another thread.
fn have_no_more_threads() {
    mem::forget(Narrow::with_room_for(1 << 20));
    std::thread::Builder::new().spawn(|| ()).unwrap_err();
}

fn lose_the_poller(before: impl FnOnce()) -> ! {
    let runtime = multi(2);
    runtime.block_on(async { rt::spawn(rt::time::sleep(std::time::Duration::from_millis(1))).await.unwrap() });
    before();
    close_pollers();
    // The next look at the poller is the last.
    runtime.block_on(async {
        loop {
            let _ = rt::spawn(rt::time::sleep(std::time::Duration::from_millis(1))).await;
        }
    })
}

fn assert_aborted(output: &Output) {
    assert!(!output.status.success());
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&output.status), Some(6), "aborted");
}

#[test]
fn a_runtime_whose_poller_was_closed_by_others_ends_the_process_and_says_so() {
    let _watchdog = watchdog();
    let name = "system::process::a_runtime_whose_poller_was_closed_by_others_ends_the_process_and_says_so";
    let Some(output) = child(name) else { lose_the_poller(|| ()) };
    assert_aborted(&output);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("the driver panicked, and the runtime cannot go on without it"), "{said}");
    assert!(said.contains("the I/O driver cannot wait for events any more"), "{said}");
}

/// In a process whose stderr is full.
fn ends_without_a_word(name: &str, before: impl FnOnce()) {
    let (full, _never_read) = full_stream();
    let Some(output) = child_with(name, full) else {
        // Not the watchdog, which would abort as well.
        std::thread::spawn(|| {
            std::thread::sleep(std::time::Duration::from_secs(60));
            std::process::exit(3);
        });
        // std's hook would wait for stderr.
        std::panic::set_hook(Box::new(|_| ()));
        lose_the_poller(before)
    };
    assert_aborted(&output);
}

#[test]
fn a_process_that_cannot_go_on_ends_also_if_its_stderr_takes_no_message() {
    ends_without_a_word("system::process::a_process_that_cannot_go_on_ends_also_if_its_stderr_takes_no_message", || ());
}

#[test]
fn a_process_that_cannot_go_on_ends_also_without_a_thread_for_its_message() {
    ends_without_a_word(
        "system::process::a_process_that_cannot_go_on_ends_also_without_a_thread_for_its_message",
        have_no_more_threads,
    );
}
