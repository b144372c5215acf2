//! Filters by which the system refuses calls, as in a sandbox.

use nix::libc;

/// Has the system refuse these calls to all threads of the process from now on, with that error, for good. False if
/// the system has no filters.
pub(crate) fn refuse(calls: &[libc::c_long], error: libc::c_int) -> bool {
    let step = |code: u32, jump: u8, k: u32| libc::sock_filter { code: code as u16, jt: jump, jf: 0, k };
    // The number of the call comes first.
    let mut filter = vec![step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0)];
    for (before, &call) in calls.iter().enumerate() {
        // Over those that follow, and over the step that allows.
        let to_refusal = u8::try_from(calls.len() - before).unwrap();
        filter.push(step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, to_refusal, call as u32));
    }
    filter.push(step(libc::BPF_RET | libc::BPF_K, 0, libc::SECCOMP_RET_ALLOW));
    filter.push(step(libc::BPF_RET | libc::BPF_K, 0, libc::SECCOMP_RET_ERRNO | error as u32));
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
