//! Children whose handle was dropped: they go on or are killed, and leave no zombie.

use rt::time::timeout;

use rt_test_util::in_fork;

use super::*;

#[test]
fn a_dropped_child_goes_on_and_leaves_no_zombie() {
    in_own_process_by_signal_too(|| {
        on_each_runtime(|runtime| {
            let (id, stdin) = runtime.block_on(async {
                let mut child = shell("read line; exit 1").stdin(Stdio::piped()).spawn().unwrap();
                (child.id().unwrap(), child.stdin.take())
            });
            assert!(state(id).is_some_and(|state| state != 'Z'));
            eventually(|| reapers() == 1);
            runtime.block_on(async { drop(stdin) });
            eventually(|| state(id).is_none());
            eventually(|| reapers() == 0);
        });
        assert!(children().is_empty());
    });
}

/// The runtime is gone before the child ends, and there never is another one.
#[test]
fn an_orphan_leaves_no_zombie_though_the_runtime_is_gone() {
    in_own_process_by_signal_too(|| {
        let mut ids = Vec::new();
        for runtime in [current(), multi(2)] {
            runtime.block_on(async {
                ids.push(Command::new("sleep").arg("0.2").spawn().unwrap().id().unwrap());
                // One in a task, which the shutdown drops.
                let mut child = Command::new("sleep").arg("0.2").spawn().unwrap();
                ids.push(child.id().unwrap());
                rt::spawn(async move { child.wait().await });
                rt::task::yield_now().await;
            });
        }
        assert_eq!(children().len(), ids.len());
        eventually(|| children().is_empty());
        assert!(ids.into_iter().all(|id| state(id).is_none()));
        eventually(|| reapers() == 0);
    });
}

/// The thread that waits for the parent's is not there. (Mutation: who asks for it finds that one, and starts none.)
#[test]
fn a_fork_leaves_no_zombie_either() {
    in_own_process(|| {
        let stdin =
            current().block_on(async { shell("read line").stdin(Stdio::piped()).spawn().unwrap().stdin.take() });
        eventually(|| reapers() == 1 && children().len() == 1);
        in_fork(|| {
            assert_eq!(reapers(), 0);
            for runtime in [current(), multi(2)] {
                runtime.block_on(async { drop(shell("exit 1").spawn().unwrap()) });
                eventually(|| children().is_empty());
            }
        });
        drop(stdin);
        eventually(|| children().is_empty());
    });
}

/// Dropped outside of any runtime, in a plain thread.
#[test]
fn a_child_may_be_dropped_anywhere() {
    in_own_process_by_signal_too(|| {
        let runtime = multi(1);
        let children = runtime.block_on(async { [(); 5].map(|()| endless().kill_on_drop(true).spawn().unwrap()) });
        drop(runtime);
        thread::spawn(move || drop(children)).join().unwrap();
        eventually(|| super::children().is_empty());
    });
}

#[test]
fn a_child_is_killed_on_drop_if_the_command_says_so() {
    in_own_process_by_signal_too(|| {
        on_each_runtime(|runtime| {
            runtime.block_on(async {
                let mut command = endless();
                assert!(!command.get_kill_on_drop());
                command.kill_on_drop(true);
                assert!(command.get_kill_on_drop());
                let dropped = command.spawn().unwrap();
                timeout(Duration::from_millis(5), command.status()).await.unwrap_err();
                timeout(Duration::from_millis(5), command.output()).await.unwrap_err();
                let waiting = rt::spawn({
                    let mut child = command.spawn().unwrap();
                    async move { child.wait().await }
                });
                rt::task::yield_now().await;
                waiting.abort();
                assert!(waiting.await.unwrap_err().is_cancelled());
                drop(dropped);
            });
            drop(runtime);
            eventually(|| children().is_empty());
        });
    });
}

#[test]
fn the_shutdown_of_a_runtime_kills_what_its_tasks_would_have_killed() {
    in_own_process_by_signal_too(|| {
        on_each_runtime(|runtime| {
            runtime.block_on(async {
                for _ in 0..5 {
                    let mut child = endless().kill_on_drop(true).spawn().unwrap();
                    rt::spawn(async move { child.wait().await });
                }
                rt::task::yield_now().await;
            });
            assert_eq!(children().len(), 5);
            drop(runtime);
            eventually(|| children().is_empty());
        });
    });
}

/// Many children are dropped, running and ended, while the reaper comes and goes.
#[test]
fn crowds_of_orphans_leave_no_zombie_and_no_descriptor() {
    in_own_process_by_signal_too(|| {
        let runtime = multi(4);
        runtime.block_on(async { drop(Command::new("true").spawn().unwrap()) });
        eventually(|| reapers() == 0 && children().is_empty());
        let before = descriptor_count();
        runtime.block_on(async {
            let tasks: Vec<_> = (0..8)
                .map(|n| {
                    rt::spawn(async move {
                        for round in 0..20 {
                            match (n + round) % 4 {
                                0 => drop(Command::new("true").spawn().unwrap()),
                                1 => drop(endless().kill_on_drop(true).spawn().unwrap()),
                                2 => drop(Command::new("sleep").arg("0.01").spawn().unwrap()),
                                _ => assert!(Command::new("true").status().await.unwrap().success()),
                            }
                        }
                    })
                })
                .collect();
            for task in tasks {
                task.await.unwrap();
            }
        });
        eventually(|| children().is_empty() && reapers() == 0);
        assert_eq!(descriptor_count(), before);
    });
}
