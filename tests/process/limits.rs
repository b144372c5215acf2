//! No descriptor, no process left: a clear error, and nothing left behind.

use std::io::ErrorKind;

use nix::libc;
use nix::sys::resource::{Resource, getrlimit, setrlimit};

use super::*;

/// No program of that name: an error, no child, no descriptor.
#[test]
fn a_program_that_is_not_there_leaves_nothing_behind() {
    in_own_process_by_signal_too(|| {
        current().block_on(async {
            let before = descriptor_count();
            for _ in 0..20 {
                let mut command = Command::new("/no/such/program");
                command.stdin(Stdio::piped());
                assert_eq!(command.spawn().unwrap_err().kind(), ErrorKind::NotFound);
                assert_eq!(command.status().await.unwrap_err().kind(), ErrorKind::NotFound);
                assert_eq!(command.output().await.unwrap_err().kind(), ErrorKind::NotFound);
            }
            assert_eq!(descriptor_count(), before);
            assert!(children().is_empty());
        });
    });
}

/// With any number of descriptors left, a child is either started and waited for, or there is none and an error says
/// why; and when there are descriptors again, all works.
#[test]
fn without_descriptors_there_is_an_error_and_no_child() {
    in_own_process_by_signal_too(|| {
        let runtime = current();
        runtime.block_on(async {
            assert!(Command::new("true").status().await.unwrap().success());
            let before = descriptor_count();
            let mut refused = 0;
            for left in 0..24 {
                let files = take_all_but(left);
                let outcome = endless().stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
                match outcome {
                    Ok(mut child) => {
                        child.start_kill().unwrap();
                        assert!(!child.wait().await.unwrap().success(), "with {left} left");
                    }
                    Err(error) => {
                        refused += 1;
                        assert_eq!(error.raw_os_error(), Some(libc::EMFILE), "with {left} left: {error}");
                    }
                }
                drop(files);
                eventually(|| {
                    // Orphans that there was no reaper for are seen to when the next child is started. One at a time:
                    // on a busy machine those that have not ended would take all descriptors.
                    let next = Command::new("true").spawn().unwrap();
                    let id = next.id().unwrap();
                    drop(next);
                    eventually(|| state(id).is_none());
                    children().is_empty()
                });
            }
            assert!(refused > 0 && refused < 24, "{refused}");
            eventually(|| reapers() == 0);
            let kept = if goes_by_signal() { 0 } else { 2 };
            assert!(descriptor_count() <= before + kept, "at most the two that tell of signals");
        });
    });
}

/// Opens files until `left` descriptors are left to this process.
fn take_all_but(left: usize) -> Vec<fs::File> {
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
    setrlimit(Resource::RLIMIT_NOFILE, 256.min(hard), hard).unwrap();
    let mut files: Vec<_> = std::iter::from_fn(|| fs::File::open("/dev/null").ok()).collect();
    files.truncate(files.len().saturating_sub(left));
    files
}

/// A child is dropped when there is neither a descriptor nor a thread for the reaper: later there is.
#[test]
fn an_orphan_without_a_reaper_gets_one_later() {
    in_own_process_by_signal_too(|| {
        current().block_on(async {
            let child = shell("exec sleep 0.05").spawn().unwrap();
            let id = child.id().unwrap();
            let files = take_all_but(0);
            drop(child);
            drop(files);
            eventually(|| state(id) == Some('Z'));
            assert_eq!(reapers(), 0);
            // Nobody waits for it until the next child comes or goes.
            assert!(Command::new("true").status().await.unwrap().success());
            eventually(|| state(id).is_none());
        });
    });
}

/// The system has no process left for this user (`EAGAIN`). The superuser is not limited, so the test becomes another.
#[test]
fn without_processes_there_is_an_error_and_no_child() {
    in_own_process_by_signal_too(|| {
        if nix::unistd::getuid().is_root() {
            let nobody = nix::unistd::Uid::from_raw(65_432);
            nix::unistd::setresuid(nobody, nobody, nobody).unwrap();
        }
        let runtime = current();
        runtime.block_on(async {
            let before = descriptor_count();
            let (_, hard) = getrlimit(Resource::RLIMIT_NPROC).unwrap();
            setrlimit(Resource::RLIMIT_NPROC, 1, hard).unwrap();
            for _ in 0..20 {
                let error = endless().stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap_err();
                assert_eq!(error.raw_os_error(), Some(libc::EAGAIN));
                assert_eq!(error.kind(), ErrorKind::WouldBlock);
            }
            assert_eq!(descriptor_count(), before);
            setrlimit(Resource::RLIMIT_NPROC, hard, hard).unwrap();
            assert!(Command::new("true").status().await.unwrap().success());
        });
    });
}

/// Whatever the reason for which the system refuses descriptors of processes, children are waited for.
#[test]
fn children_are_waited_for_whatever_the_refusal() {
    for error in [libc::EPERM, libc::EACCES, libc::EINVAL, libc::ENODEV] {
        in_own_process_with(Some(error), || {
            on_each_runtime(|runtime| {
                runtime.block_on(async {
                    assert_eq!(shell("exit 9").status().await.unwrap().code(), Some(9));
                });
            });
        });
    }
}

/// The system begins to refuse them while some children have one and are waited for.
#[test]
fn descriptors_of_processes_may_be_refused_from_any_moment_on() {
    in_own_process(|| {
        multi(2).block_on(async {
            let mut before = shell("read line; exit 1").stdin(Stdio::piped()).spawn().unwrap();
            let stdin = before.stdin.take();
            let waiting = rt::spawn(async move { before.wait().await });
            rt::task::yield_now().await;
            if !refusal::refuse(&[libc::SYS_pidfd_open], libc::ENOSYS) {
                return;
            }
            assert_eq!(shell("exit 2").status().await.unwrap().code(), Some(2));
            drop(stdin);
            assert_eq!(waiting.await.unwrap().unwrap().code(), Some(1));
        });
    });
}
