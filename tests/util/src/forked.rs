//! Tests of what a process finds that was forked, and never calls `exec`.

use std::panic::{AssertUnwindSafe, catch_unwind};

use nix::libc;
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{ForkResult, alarm, fork};

/// Runs part of a test in a fork of this process, which then ends at once, and passes if that does. No other thread of
/// this process may hold a lock at that moment.
#[track_caller]
pub fn in_fork(test: impl FnOnce()) {
    // SAFETY: the child may not rely on what other threads were about. The caller sees to it that there are none, or
    // that they wait.
    match unsafe { fork() }.unwrap() {
        ForkResult::Child => {
            // The watchdog is a thread, and has stayed behind.
            alarm::set(60);
            let outcome = catch_unwind(AssertUnwindSafe(test));
            // SAFETY: it ends the process, with nothing run that the parent will run.
            unsafe { libc::_exit(i32::from(outcome.is_err())) }
        }
        ForkResult::Parent { child } => assert_eq!(waitpid(child, None), Ok(WaitStatus::Exited(child, 0))),
    }
}
