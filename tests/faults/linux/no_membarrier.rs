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
use crate::common::*;

/// Forbids the call to all threads of the process. False if the system cannot.
fn forbid_membarrier() -> bool {
    let step = |code: u32, jump_if_not: u8, k: u32| libc::sock_filter { code: code as u16, jt: 0, jf: jump_if_not, k };
    let mut filter = [
        // The number of the call comes first.
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0),
        step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 1, libc::SYS_membarrier as u32),
        step(libc::BPF_RET | libc::BPF_K, 0, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32),
        step(libc::BPF_RET | libc::BPF_K, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: the calls take numbers, and a program that outlives them.
    unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && libc::syscall(
                libc::SYS_seccomp,
                libc::SECCOMP_SET_MODE_FILTER,
                libc::SECCOMP_FILTER_FLAG_TSYNC,
                &raw const program,
            ) == 0
    }
}

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
        if !forbid_membarrier() {
            return;
        }
        let limit = Duration::from_millis(300);
        eventually(|| block_on_a_child(&runtime, limit) == (worker, true));
    });
}
