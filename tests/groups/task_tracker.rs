//! `TaskTracker`: each kind of task counts until its future is gone.

use std::future::pending;

use rt::task::{CancellationToken, LocalSet, TaskTracker, yield_now};
use rt_test_util::*;

#[test]
fn it_waits_for_tasks_of_each_kind_however_they_end() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let drops = Drops::new();
        let tracker = TaskTracker::new();
        let local_set = LocalSet::new();
        local_set.block_on(&runtime, async {
            for _ in 0..100 {
                let token = drops.token();
                tracker.spawn(async move {
                    yield_now().await;
                    drop(token);
                });
            }
            let (first, second) = (drops.token(), drops.token());
            tracker.spawn(async move {
                let _token = first;
                if true {
                    panic!("boom");
                }
            });
            let aborted = tracker.spawn(async move {
                let _token = second;
                pending::<()>().await;
            });
            let (third, fourth, fifth) = (drops.token(), drops.token(), drops.token());
            tracker.spawn_blocking(move || drop(third));
            tracker.spawn_local(async move { drop(fourth) });
            tracker.spawn_on(async move { drop(fifth) }, runtime.handle());
            let sixth = drops.token();
            tracker.spawn_blocking_on(
                move || {
                    let _token = sixth;
                    if true {
                        panic!("boom");
                    }
                },
                runtime.handle(),
            );
            assert!(!tracker.is_empty());
            assert!(tracker.close());
            aborted.abort();
            tracker.wait().await;
            drops.assert_all();
            assert!(tracker.is_empty() && tracker.is_closed());
        });
        tracker.spawn_local_on(async {}, &local_set);
        assert_eq!(tracker.len(), 1);
        runtime.block_on(local_set);
        assert!(tracker.is_empty());
    });
}

#[test]
fn a_runtime_that_is_dropped_leaves_it_empty() {
    let _watchdog = watchdog();
    let tracker = TaskTracker::new();
    let runtime = multi(2);
    for _ in 0..10 {
        tracker.spawn_on(pending::<()>(), runtime.handle());
    }
    drop(runtime);
    assert!(tracker.is_empty());
}

#[test]
fn an_orderly_end_needs_a_token_and_a_tracker() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let (tracker, token, drops) = (TaskTracker::new(), CancellationToken::new(), Drops::new());
            for _ in 0..1000 {
                let (token, guard) = (token.child_token(), drops.token());
                tracker.spawn(async move {
                    token.cancelled().await;
                    drop(guard);
                });
            }
            tracker.close();
            token.cancel();
            tracker.wait().await;
            drops.assert_all();
        });
    });
}
