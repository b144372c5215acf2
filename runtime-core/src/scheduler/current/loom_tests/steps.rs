//! Driving by hand: what comes between two steps, and the wait for the end of all tasks.

use super::*;
use crate::runtime::control;

/// A handle, as the owner of a runtime has it.
fn handle(runtime: &StdArc<Inner>) -> crate::runtime::Handle {
    let _runtime = RuntimeGuard::enter(StdArc::clone(runtime));
    crate::runtime::Handle::current()
}

/// Another thread wakes a task before, in or after a step, or between two: the task is polled again at the latest by
/// the steps that come after the wake.
#[test]
fn loom_a_wake_between_two_steps_is_not_lost() {
    check(3, || {
        let runtime = start();
        let flag = StdArc::new(Flag::default());
        let task = spawn(&runtime, flag.wait());
        let owner = handle(&runtime);
        assert!(control::try_tick(&owner), "its first poll");
        let waking = {
            let flag = flag.clone();
            thread::spawn(move || flag.raise())
        };
        control::try_tick(&owner);
        waking.join().unwrap();
        control::run_until_stalled(&owner);
        assert!(task.is_finished(), "its wake was lost");
        drop(owner);
        drop((task, flag));
        let gone = end(runtime);
        assert_gone(&gone);
    });
}

/// The steps of one thread beside another's wait for the end: whichever has the core, the task is polled, and the one
/// that waits is told.
#[test]
fn loom_steps_beside_a_wait_for_the_end_of_all_tasks() {
    check(2, || {
        let runtime = start();
        let task = spawn(&runtime, async {});
        let owner = handle(&runtime);
        let stepping = {
            let owner = owner.clone();
            thread::spawn(move || {
                control::try_tick(&owner);
            })
        };
        control::run(&owner);
        assert!(task.is_finished(), "it was not waited for");
        stepping.join().unwrap();
        drop((owner, task));
        let gone = end(runtime);
        assert_gone(&gone);
    });
}
