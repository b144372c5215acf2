//! The system refuses `membarrier`, which it had granted: thieves get no fence any more. A task that lies alone on a
//! worker's lanes may have to wait for its worker; those that are queued there later do not.
//!
//! Mutation that this test is for: a worker that goes on to put tasks where thieves cannot take them.

use std::sync::mpsc;
use std::thread::{self, ThreadId};
use std::time::Duration;

use nix::libc;
use rt::runtime::{Builder, Runtime};

use super::own_process::in_own_process;
use super::seccomp::refuse;
use crate::common::*;

/// A task blocks its worker until one that it has spawned has run, or for so long. On which thread, and whether the other
/// has run.
fn block_on_a_child(runtime: &Runtime, limit: Duration) -> (ThreadId, bool) {
    let parent = runtime.spawn(async move {
        let (done, is_done) = mpsc::channel();
        rt::spawn(async move { done.send(()) });
        (thread::current().id(), is_done.recv_timeout(limit).is_ok())
    });
    runtime.block_on(parent).unwrap()
}

#[test]
fn tasks_are_rescued_though_thieves_get_no_fence() {
    in_own_process(|| {
        // One worker: what spares there are come later, and know from the start that they get no such fence.
        let runtime = Builder::new_multi_thread().worker_threads(1).build().unwrap();
        let worker = runtime.block_on(runtime.spawn(async { thread::current().id() })).unwrap();
        if !refuse(&[libc::SYS_membarrier], libc::EPERM) {
            return;
        }
        let limit = Duration::from_millis(300);
        eventually(|| block_on_a_child(&runtime, limit) == (worker, true));
    });
}
