//! What is reported.

use rt::runtime::{LockKind, StalledTask, WaitsFor};
use rt::sync::{Barrier, Notify, RwLock, oneshot};
#[cfg(unix)]
use rt_test_util::in_own_process_with;

use super::*;

/// The tasks of the one ring that is reported, and how many wait behind.
fn ring(mut reports: Vec<Stall>) -> (Vec<StalledTask>, usize) {
    assert_eq!(reports.len(), 1, "{reports:?}");
    match reports.pop() {
        Some(Stall::Ring { tasks, behind, .. }) => (tasks, behind),
        other => panic!("{other:?}"),
    }
}

fn ids(tasks: &[StalledTask]) -> Vec<Id> {
    let mut ids: Vec<Id> = tasks.iter().map(|task| task.id).collect();
    ids.sort();
    ids
}

#[test]
fn two_tasks_that_lock_in_another_order() {
    let _watchdog = watchdog();
    let watched = watched();
    let locks = [Arc::new(Mutex::new(0)), Arc::new(Mutex::new(0))];
    let (both_have_one, go_on) = (Arc::new(Barrier::new(3)), Arc::new(Notify::new()));
    let mut handles = Vec::new();
    for first in 0..2 {
        let (one, other) = (locks[first].clone(), locks[1 - first].clone());
        let (both_have_one, go_on) = (both_have_one.clone(), go_on.clone());
        handles.push(watched.runtime.spawn(async move {
            let _one = one.lock().await;
            let told = go_on.notified();
            both_have_one.wait().await;
            told.await;
            let _other = other.lock().await;
        }));
    }
    watched.runtime.block_on(both_have_one.wait());
    // A third one, which waits for one of these locks, and a fourth one, which waits for the third.
    let lock = locks[0].clone();
    let third = watched.runtime.spawn(async move { drop(lock.lock().await) });
    let third_id = third.id();
    let fourth = watched.runtime.spawn(async move { third.await.unwrap() });
    let waits = |id: Id| watched.runtime.handle().tasks().iter().any(|task| task.id == id && task.state.is_waiting());
    while !waits(third_id) || !waits(fourth.id()) {
        std::thread::yield_now();
    }
    assert_eq!(watched.reported().len(), 0, "they only wait");
    go_on.notify_waiters();

    let both: Vec<Id> = handles.iter().map(JoinHandle::id).collect();
    let (tasks, behind) = ring(watched.reported());
    assert_eq!((ids(&tasks), behind), (both, 2));
    for (task, next) in tasks.iter().zip(tasks.iter().cycle().skip(1)) {
        let WaitsFor::Lock { kind: LockKind::Mutex, holder: Some(holder), .. } = task.waits_for else {
            panic!("{task:?}")
        };
        assert_eq!(holder, next.id);
    }
    assert_eq!(watched.reported().len(), 0, "it is reported once");
    // What breaks the ring makes all go on.
    handles[0].abort();
    watched.runtime.block_on(fourth).unwrap();
}

#[test]
fn a_task_that_locks_twice() {
    let _watchdog = watchdog();
    let watched = watched();
    let lock = RwLock::new(());
    let task = watched.runtime.spawn(async move {
        let _once = lock.write().await;
        let _twice = lock.read().await;
    });
    let (tasks, behind) = ring(watched.reported());
    assert_eq!((ids(&tasks), behind), (vec![task.id()], 0));
    assert!(matches!(tasks[0].waits_for, WaitsFor::Lock { kind: LockKind::RwLockRead, .. }), "{tasks:?}");
}

#[test]
fn tasks_that_wait_for_each_others_end() {
    let _watchdog = watchdog();
    let watched = watched();
    let (mut give, mut tasks) = (Vec::new(), Vec::new());
    for _ in 0..3 {
        let (send, receive) = oneshot::channel::<JoinHandle<()>>();
        give.push(send);
        tasks.push(watched.runtime.spawn(async move { drop(receive.await.unwrap().await) }));
    }
    let all: Vec<Id> = tasks.iter().map(JoinHandle::id).collect();
    // Each gets the next one's handle, and the last one the first one's.
    tasks.rotate_left(1);
    for (send, task) in give.into_iter().zip(tasks) {
        send.send(task).unwrap();
    }
    let (tasks, behind) = ring(watched.reported());
    assert_eq!((ids(&tasks), behind), (all, 0));
    assert!(tasks.iter().all(|task| matches!(task.waits_for, WaitsFor::Join { .. })), "{tasks:?}");
}

#[test]
fn tasks_that_nobody_can_wake() {
    let _watchdog = watchdog();
    let watched = watched();
    let lose = |count: usize| -> (u32, Vec<Stall>) {
        let mut at = 0;
        for _ in 0..count {
            (at, _) = (line(), watched.runtime.spawn(never()));
        }
        (at, watched.reported())
    };
    let (at, reports) = lose(1);
    let [Stall::Lost { task, count, .. }] = &reports[..] else { panic!("{reports:?}") };
    assert_eq!((*count, task.spawned_at.line(), task.spawned_at.file()), (1, at, file!()));
    // Of three, all at once or one after the other: two is twice as many, or three.
    let (_, reports) = lose(2);
    assert_eq!(reports.len(), 1, "{reports:?}");
    let (_, reports) = lose(1);
    assert!(reports.len() <= 1, "{reports:?}");
}

#[test]
fn that_no_task_can_go_on() {
    let _watchdog = watchdog();
    let (report, reports) = channel();
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(1).report_stalls(Duration::from_millis(2));
    let runtime = builder.on_stall(move |stall| drop(report.send(stall.clone()))).build().unwrap();
    let task = runtime.spawn(wait_for_itself());
    assert!(matches!(reports.recv().unwrap(), Stall::Ring { .. }));
    let all = reports.recv().unwrap();
    assert!(matches!(all, Stall::AllTasks { count: 1, .. }), "{all:?}");
    drop(task);
}

/// Also on a runtime of one thread that does something else.
#[test]
fn while_nobody_drives_the_runtime() {
    let _watchdog = watchdog();
    let (report, reports) = channel();
    let mut builder = Builder::new_current_thread();
    builder.report_stalls(Duration::from_millis(2)).on_stall(move |stall| drop(report.send(stall.clone())));
    let runtime = builder.build().unwrap();
    let task = runtime.spawn(wait_for_itself());
    runtime.run_until_stalled();
    let Stall::Ring { tasks, .. } = reports.recv().unwrap() else { panic!() };
    assert_eq!(tasks[0].id, task.id());
}

#[cfg(unix)]
#[test]
fn the_environment_asks_for_it_and_stderr_tells() {
    use std::io::{BufRead, BufReader};

    in_own_process_with(
        |command| _ = command.env("RT_STALL", "0.002"),
        || {
            let (stderr, writer) = nix::unistd::pipe().unwrap();
            nix::unistd::dup2_stderr(writer).unwrap();
            let runtime = Builder::new_multi_thread().worker_threads(1).build().unwrap();
            drop(runtime.spawn(wait_for_itself()));
            let mut lines = BufReader::new(std::fs::File::from(stderr)).lines();
            assert!(lines.any(|line| line.unwrap().contains("rt: a task waits for itself: task ")));
        },
    );
}

/// However long the next look is off.
#[test]
fn the_end_of_the_runtime_does_not_wait_for_the_next_look() {
    let _watchdog = watchdog();
    let mut builder = Builder::new_multi_thread();
    let runtime = builder.worker_threads(1).report_stalls(Duration::from_secs(100_000)).build().unwrap();
    drop(runtime.spawn(wait_for_itself()));
    let weak = runtime.handle().downgrade();
    drop(runtime);
    assert!(weak.upgrade().is_none(), "the thread that looks keeps the runtime");
}
