//! How a child's end is heard of.

use std::os::unix::process::ExitStatusExt;
use std::pin::pin;
use std::task::{Context, Waker};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use rt::io::{AsyncBufReadExt, BufReader};
use rt::time::timeout;

use super::*;

#[test]
fn a_status_is_the_childs_and_stays_so() {
    in_own_process_by_signal_too(|| {
        on_each_runtime(|runtime| {
            runtime.block_on(async {
                let mut child = shell("exit 7").spawn().unwrap();
                assert!(child.id().unwrap() > 0);
                for _ in 0..3 {
                    assert_eq!(child.wait().await.unwrap().code(), Some(7));
                    assert_eq!(child.try_wait().unwrap().unwrap().code(), Some(7));
                    assert_eq!(child.id(), None);
                }
                child.start_kill().unwrap();
                child.kill().await.unwrap();

                let mut killed = endless().spawn().unwrap();
                killed.kill().await.unwrap();
                assert_eq!(killed.wait().await.unwrap().signal(), Some(9));
                assert_eq!(shell("kill -TERM $$").status().await.unwrap().signal(), Some(15));
            });
        });
    });
}

#[test]
fn to_try_is_not_to_wait() {
    in_own_process_by_signal_too(|| {
        current().block_on(async {
            let mut child = shell("read line; exit 3").stdin(Stdio::piped()).spawn().unwrap();
            assert_eq!(child.try_wait().unwrap(), None);
            assert!(child.stdin.is_some(), "only waiting closes it");
            // The end of its input is what it waits for.
            assert_eq!(child.wait().await.unwrap().code(), Some(3));
            assert!(child.stdin.is_none());
        });
    });
}

/// The wait is cancelled at any point, over and over, and the end is still heard of.
#[test]
fn a_wait_that_is_dropped_loses_nothing() {
    in_own_process_by_signal_too(|| {
        on_each_runtime(|runtime| {
            runtime.block_on(async {
                let mut child = shell("read line; exit 4").stdin(Stdio::piped()).spawn().unwrap();
                let stdin = child.stdin.take();
                for _ in 0..20 {
                    assert!(pin!(child.wait()).poll(&mut Context::from_waker(Waker::noop())).is_pending());
                    timeout(Duration::from_micros(100), child.wait()).await.unwrap_err();
                }
                drop(stdin);
                assert_eq!(child.wait().await.unwrap().code(), Some(4));

                let mut child = endless().spawn().unwrap();
                // Killed by the first poll.
                let _ = pin!(child.kill()).poll(&mut Context::from_waker(Waker::noop()));
                assert_eq!(child.wait().await.unwrap().signal(), Some(9));
            });
        });
    });
}

#[test]
fn a_child_that_has_ended_long_ago_is_waited_for() {
    in_own_process_by_signal_too(|| {
        on_each_runtime(|runtime| {
            runtime.block_on(async {
                let mut child = shell("exit 5").spawn().unwrap();
                let id = child.id().unwrap();
                eventually(|| state(id) == Some('Z'));
                assert_eq!(child.wait().await.unwrap().code(), Some(5));
                assert_eq!(state(id), None);
            });
        });
    });
}

/// Children that nobody looks at while they end cost nothing: no poll of a task, no handler.
#[test]
fn no_handler_is_taken_where_processes_have_descriptors() {
    in_own_process(|| {
        let handlers = || {
            let status = fs::read_to_string("/proc/self/status").unwrap();
            status.lines().find(|line| line.starts_with("SigCgt:")).unwrap().to_owned()
        };
        let before = handlers();
        multi(2).block_on(async {
            let mut children: Vec<_> = (0..10).map(|_| Command::new("true").spawn().unwrap()).collect();
            drop(endless().kill_on_drop(true).spawn().unwrap());
            for child in &mut children {
                assert!(child.wait().await.unwrap().success());
            }
        });
        // Unless the kernel is older than Linux 5.3.
        if before != handlers() {
            assert_eq!(pidfd_error(), Some(nix::libc::ENOSYS));
        }
    });
}

/// What the system says to the call, if it refuses it.
fn pidfd_error() -> Option<i32> {
    // SAFETY: it takes numbers.
    let number = unsafe { nix::libc::syscall(nix::libc::SYS_pidfd_open, std::process::id(), 0) };
    if number >= 0 { None } else { std::io::Error::last_os_error().raw_os_error() }
}

#[test]
fn a_thousand_children_at_once() {
    in_own_process_by_signal_too(|| {
        let runtime = multi(4);
        let before = descriptor_count();
        runtime.block_on(async {
            let children: Vec<_> = (0..1000)
                .map(|n| {
                    let mut child = shell("read line; exit $1");
                    child.args(["sh", &(n % 200).to_string()]).stdin(Stdio::piped());
                    child.spawn().unwrap()
                })
                .collect();
            assert_eq!(super::children().len(), 1000);
            let tasks: Vec<_> =
                children.into_iter().map(|mut child| rt::spawn(async move { child.wait().await })).collect();
            for (n, task) in tasks.into_iter().enumerate() {
                assert_eq!(task.await.unwrap().unwrap().code(), Some(n as i32 % 200));
            }
        });
        assert_eq!(super::children().len(), 0);
        let teller = if goes_by_signal() { 2 } else { 0 };
        assert_eq!(descriptor_count(), before + teller);
    });
}

#[test]
fn children_started_in_crowds_all_end() {
    in_own_process_by_signal_too(|| {
        on_each_runtime(|runtime| {
            runtime.block_on(async {
                let crowds: Vec<_> = (0..10)
                    .map(|_| {
                        rt::spawn(async {
                            let children: Vec<_> = (0..10).map(|_| Command::new("true").status()).collect();
                            for child in children {
                                assert!(child.await.unwrap().success());
                            }
                        })
                    })
                    .collect();
                for crowd in crowds {
                    crowd.await.unwrap();
                }
            });
        });
    });
}

/// The runtime in which the child was started is gone; another one is there.
#[test]
fn a_child_is_waited_for_in_another_runtime() {
    in_own_process_by_signal_too(|| {
        let mut children = multi(2)
            .block_on(async { [(); 2].map(|()| shell("read line; exit 6").stdin(Stdio::piped()).spawn().unwrap()) });
        current().block_on(async {
            assert_eq!(children[0].wait().await.unwrap().code(), Some(6));
        });
        // A waiting task is moved over, too: its runtime ends while the child runs.
        let mut stdin = None;
        {
            let ended = current();
            ended.block_on(async {
                stdin = children[1].stdin.take();
                let wait = pin!(children[1].wait()).poll(&mut Context::from_waker(Waker::noop()));
                assert!(wait.is_pending());
            });
        }
        multi(1).block_on(async {
            assert!(timeout(Duration::from_millis(5), children[1].wait()).await.is_err());
            drop(stdin);
            assert_eq!(children[1].wait().await.unwrap().code(), Some(6));
        });
    });
}

/// Other code of the process has children as well: they are left to it, whatever ends.
#[test]
fn children_of_others_are_left_to_them() {
    in_own_process_by_signal_too(|| {
        let mut others: Vec<_> = (0..10).map(|_| std::process::Command::new("true").spawn().unwrap()).collect();
        multi(2).block_on(async {
            for _ in 0..20 {
                assert!(Command::new("true").status().await.unwrap().success());
                drop(Command::new("true").spawn().unwrap());
            }
        });
        eventually(|| reapers() == 0);
        for other in &mut others {
            assert!(other.wait().unwrap().success());
        }
    });
}

/// Somebody else has waited for our child, which is not to be done: an error, and nobody hangs.
#[test]
fn a_child_that_others_have_waited_for_is_an_error() {
    in_own_process_by_signal_too(|| {
        current().block_on(async {
            let mut child = Command::new("true").spawn().unwrap();
            nix::sys::wait::waitpid(Pid::from_raw(child.id().unwrap() as i32), None).unwrap();
            let error = child.wait().await.unwrap_err();
            assert_eq!(error.raw_os_error(), Some(nix::libc::ECHILD));
        });
    });
}

/// A child that is stopped and continued has not ended.
#[test]
fn a_child_that_is_stopped_has_not_ended() {
    in_own_process_by_signal_too(|| {
        multi(2).block_on(async {
            let mut child = endless().spawn().unwrap();
            let id = Pid::from_raw(child.id().unwrap() as i32);
            for signal in [Signal::SIGSTOP, Signal::SIGCONT, Signal::SIGSTOP] {
                kill(id, signal).unwrap();
                assert!(timeout(Duration::from_millis(10), child.wait()).await.is_err());
                assert_eq!(child.try_wait().unwrap(), None);
            }
            child.kill().await.unwrap();
        });
    });
}

/// `wait` on a child that has ended is ready each time: only the budget ends the loop.
#[test]
fn a_loop_over_an_ended_child_lets_others_run() {
    multi(1).block_on(async {
        let task = rt::spawn(async {
            let mut child = Command::new("true").spawn().unwrap();
            child.wait().await.unwrap();
            let endless = async {
                loop {
                    child.wait().await.unwrap();
                }
            };
            timeout(Duration::from_millis(20), endless).await.unwrap_err()
        });
        task.await.unwrap();
    });
}

/// A child that is traced has not ended for its parent before its tracer has seen the end. The system tells of it
/// twice; nobody goes round and round in between.
#[test]
fn a_traced_child_is_waited_for_when_its_tracer_has_seen_the_end() {
    /// Tells the process that is to be the tracer whom to trace.
    const TRACEE: &str = "RT_TEST_PROCESS_TRACEE";

    in_own_process(|| {
        if let Ok(tracee) = env::var(TRACEE) {
            return trace(tracee.parse().unwrap());
        }
        multi(2).block_on(async {
            let mut child = endless().spawn().unwrap();
            let name = env::var(VARIABLE).unwrap();
            let mut tracer = Command::new(env::current_exe().unwrap());
            tracer.args([&name, "--exact", "--nocapture"]).env(TRACEE, child.id().unwrap().to_string());
            let mut tracer = tracer.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
            let mut lines = BufReader::new(tracer.stdout.take().unwrap()).lines();
            let is_traced = loop {
                match lines.next_line().await.unwrap().as_deref() {
                    Some("traced") => break true,
                    Some("refused") => break false,
                    Some(_) => {}
                    None => panic!("the tracer says nothing"),
                }
            };
            child.start_kill().unwrap();
            if is_traced {
                let looks = || rt::runtime::Handle::current().metrics().totals().driver_polls;
                let before = looks();
                timeout(Duration::from_millis(30), child.wait()).await.unwrap_err();
                assert!(looks() - before < 100, "looked into the drivers {} times", looks() - before);
            }
            drop(tracer.stdin.take());
            assert_eq!(child.wait().await.unwrap().signal(), Some(9));
            assert!(tracer.wait().await.unwrap().success());
        });
    });
}

/// Traces a process of another's until standard input ends, and then sees its end.
fn trace(tracee: i32) {
    use nix::libc;

    // SAFETY: this request has no arguments that point anywhere.
    let outcome = unsafe { libc::ptrace(libc::PTRACE_SEIZE, tracee, 0, 0) };
    // Some systems let no process trace its siblings.
    println!("\n{}", if outcome == 0 { "traced" } else { "refused" });
    std::io::copy(&mut std::io::stdin(), &mut std::io::sink()).unwrap();
    if outcome == 0 {
        let flags = nix::sys::wait::WaitPidFlag::__WALL;
        nix::sys::wait::waitpid(Pid::from_raw(tracee), Some(flags)).unwrap();
    }
}
