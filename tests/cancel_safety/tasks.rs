//! Handles of tasks and sets of them, and what gives other tasks a turn.

use std::future::pending;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc;

use rt::task::{
    AbortOnDropHandle, CancellationToken, JoinSet, LocalSet, TaskTracker, coop, scope, spawn_blocking, yield_now,
};
use rt_test_util::{Signal, current, watchdog};

use super::{give_up, on_each, poll_once};

#[test]
fn a_join_handle_by_reference_can_be_awaited_again() {
    on_each(async || {
        let go = Signal::new();
        let wait = go.clone();
        let mut handle = rt::spawn(async move {
            wait.wait().await;
            "the output"
        });
        give_up(&mut handle).await;
        go.set();
        assert_eq!(handle.await.unwrap(), "the output");
    });
}

#[test]
fn a_task_goes_on_without_its_handle() {
    on_each(async || {
        let (go, done) = (Signal::new(), Signal::new());
        let (wait, end) = (go.clone(), done.clone());
        give_up(rt::spawn(async move {
            wait.wait().await;
            end.set();
        }))
        .await;
        go.set();
        done.wait().await;
    });
}

#[test]
fn a_task_ends_with_the_handle_that_aborts_it() {
    on_each(async || {
        let (held, dropped) = rt::sync::oneshot::channel::<()>();
        give_up(AbortOnDropHandle::new(rt::spawn(async {
            let _held = held;
            pending::<()>().await
        })))
        .await;
        assert!(dropped.await.is_err());
    });
}

#[test]
fn a_blocking_job_goes_on_without_its_handle() {
    on_each(async || {
        let (go, wait) = mpsc::channel();
        let done = Signal::new();
        let end = done.clone();
        give_up(spawn_blocking(move || {
            let _: () = wait.recv().unwrap();
            end.set();
        }))
        .await;
        go.send(()).unwrap();
        done.wait().await;
    });
}

#[test]
fn a_set_loses_no_output() {
    on_each(async || {
        let go = Signal::new();
        let mut set = JoinSet::new();
        for n in 0..3 {
            let go = go.clone();
            set.spawn(async move {
                go.wait().await;
                n
            });
        }
        give_up(set.join_next()).await;
        give_up(set.join_next_with_id()).await;
        go.set();
        let mut outputs = [set.join_next().await, set.join_next().await, set.join_next().await]
            .map(|output| output.unwrap().unwrap());
        outputs.sort();
        assert_eq!(outputs, [0, 1, 2]);
    });
}

/// Not cancel safe, as documented: the future owns the set.
#[test]
fn to_join_all_is_to_give_the_tasks_away() {
    on_each(async || {
        let alive = Arc::new(());
        let mut set = JoinSet::new();
        let held = Arc::clone(&alive);
        let task = set.spawn(async move {
            pending::<()>().await;
            drop(held);
        });
        give_up(set.join_all()).await;
        while !task.is_finished() {
            yield_now().await;
        }
        assert_eq!(Arc::strong_count(&alive), 1);
    });
}

#[test]
fn the_shutdown_of_a_set_can_be_waited_for_again() {
    let _watchdog = watchdog();
    // On one thread no task can end between the abort and the look at it.
    current().block_on(async {
        let mut set = JoinSet::new();
        set.spawn(pending::<()>());
        give_up(set.shutdown()).await;
        set.shutdown().await;
        assert!(set.is_empty());
    });
}

#[test]
fn the_tasks_of_a_local_set_stay_in_it() {
    let _watchdog = watchdog();
    current().block_on(async {
        let set = LocalSet::new();
        let shared = Rc::new(());
        let task = set.spawn_local({
            let shared = Rc::clone(&shared);
            async move {
                yield_now().await;
                Rc::strong_count(&shared)
            }
        });
        give_up(set.run_until(pending::<()>())).await;
        assert_eq!(set.run_until(task).await.unwrap(), 2);
    });
}

#[test]
fn waiting_for_a_token_changes_nothing() {
    on_each(async || {
        let token = CancellationToken::new();
        give_up(token.cancelled()).await;
        // This one owns the token, of which there is another.
        give_up(token.clone().cancelled_owned()).await;
        assert!(!token.is_cancelled());
        token.cancel();
        token.cancelled().await;
    });
}

/// As safe as the future: `run_until_cancelled` drops it, and nothing else.
#[test]
fn what_runs_until_a_token_is_cancelled_is_dropped_and_the_token_stays() {
    on_each(async || {
        let (token, alive) = (CancellationToken::new(), Arc::new(()));
        let held = Arc::clone(&alive);
        give_up(token.run_until_cancelled(async move {
            pending::<()>().await;
            drop(held);
        }))
        .await;
        assert_eq!(Arc::strong_count(&alive), 1);
        assert_eq!(token.run_until_cancelled(async { 7 }).await, Some(7));
    });
}

#[test]
fn a_tracker_can_be_waited_for_again() {
    on_each(async || {
        let (tracker, go) = (TaskTracker::new(), Signal::new());
        let wait = go.clone();
        let task = tracker.spawn(async move { wait.wait().await });
        give_up(tracker.wait()).await;
        tracker.close();
        give_up(tracker.wait()).await;
        assert_eq!(tracker.len(), 1);
        go.set();
        tracker.wait().await;
        task.await.unwrap();
    });
}

/// Not cancel safe, as documented: the children are aborted, and what they have made is lost.
#[test]
fn a_scope_takes_its_children_along() {
    on_each(async || {
        let alive = Arc::new(());
        let held = Arc::clone(&alive);
        let begun = Signal::new();
        let begins = begun.clone();
        {
            let mut scoped = pin!(scope(async move |s| -> Result<(), ()> {
                s.spawn(async move {
                    begins.set();
                    pending::<()>().await;
                    drop(held);
                    Ok(())
                });
                pending().await
            }));
            assert!(poll_once(scoped.as_mut()).await.is_pending());
            begun.wait().await;
        }
        while Arc::strong_count(&alive) > 1 {
            yield_now().await;
        }
    });
}

#[test]
fn to_give_way_loses_nothing() {
    on_each(async || {
        give_up(yield_now()).await;
        yield_now().await;
        rt::spawn(async {
            while coop::has_budget_remaining() {
                coop::consume_budget().await;
            }
            give_up(coop::consume_budget()).await;
            coop::consume_budget().await;
        })
        .await
        .unwrap();
    });
}
