//! Aborting a task in every state that it can be in.
//!
//! Mutations that these tests are for: an abort that does not queue an idle task (a hang); one that cancels a complete
//! task, or drops its output; a blocking job that is not taken for cancelled, or is cancelled while it runs.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;

use rt::runtime::Builder;
use rt::task::{AbortOnDropHandle, JoinHandle};
use rt_test_util::*;

#[test]
fn aborting_a_queued_task_drops_it_unpolled() {
    let _watchdog = watchdog();
    // On one thread, and on one worker that is held: in both cases the task stands in a queue.
    let polls = Arc::new(AtomicUsize::new(0));
    let counting = |polls: &Arc<AtomicUsize>| {
        let polls = polls.clone();
        async move { drop(polls.fetch_add(1, SeqCst).to_string()) }
    };
    current().block_on(async {
        let task = rt::spawn(counting(&polls));
        task.abort();
        assert!(!task.is_finished(), "the runtime drops it, not the caller");
        assert!(task.await.unwrap_err().is_cancelled());
    });
    let runtime = multi(1);
    let gate = Gate::new();
    let held = gate.clone();
    runtime.spawn(async move { held.pass() });
    gate.wait_for(1);
    let task = runtime.spawn(counting(&polls));
    task.abort();
    gate.open();
    assert!(runtime.block_on(task).unwrap_err().is_cancelled());
    assert_eq!(polls.load(SeqCst), 0);
}

#[test]
fn aborting_a_running_task_lets_that_poll_end_and_no_other_begin() {
    let _watchdog = watchdog();
    for finishes in [false, true] {
        let runtime = multi(1);
        let (gate, polls, drops) = (Gate::new(), Arc::new(AtomicUsize::new(0)), Drops::new());
        let (inside, count, token) = (gate.clone(), polls.clone(), drops.token());
        let task = runtime.spawn(async move {
            let _token = token;
            count.fetch_add(1, SeqCst);
            inside.pass();
            if !finishes {
                yield_by_hand().await;
                count.fetch_add(1, SeqCst);
            }
            "done"
        });
        gate.wait_for(1);
        task.abort();
        assert_eq!(drops.count(), 0, "the future is in use");
        gate.open();
        match runtime.block_on(task) {
            Ok(output) => assert!(finishes && output == "done"),
            Err(error) => assert!(!finishes && error.is_cancelled(), "{error}"),
        }
        assert_eq!((polls.load(SeqCst), drops.count()), (1, 1));
    }
}

#[test]
fn aborting_a_running_task_cancels_it_when_its_poll_ends_without_another_wake() {
    let _watchdog = watchdog();
    // Unlike the task above it is not woken during the poll: only the end of the poll can see that it was aborted.
    let runtime = multi(1);
    let (gate, drops) = (Gate::new(), Drops::new());
    let (inside, token) = (gate.clone(), drops.token());
    let task: JoinHandle<()> = runtime.spawn(async move {
        let _token = token;
        inside.pass();
        pending().await
    });
    gate.wait_for(1);
    task.abort();
    gate.open();
    assert!(runtime.block_on(task).unwrap_err().is_cancelled());
    assert_eq!(drops.count(), 1);

    // And by itself, on one thread.
    let error = current().block_on(async {
        let handle = Channel::<rt::task::AbortHandle>::new();
        let own = handle.clone();
        let task: JoinHandle<()> = rt::spawn(async move {
            own.receive().await.abort();
            pending().await
        });
        handle.send(task.abort_handle());
        task.await.unwrap_err()
    });
    assert!(error.is_cancelled());
}

#[test]
fn aborting_an_idle_task_drops_its_future_on_the_runtime() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        struct Reports(Option<std::sync::mpsc::Sender<bool>>);
        impl Drop for Reports {
            fn drop(&mut self) {
                let inside = rt::runtime::Handle::try_current().is_ok();
                self.0.take().unwrap().send(inside).unwrap();
            }
        }
        let (send, dropped) = std::sync::mpsc::channel();
        let (reports, waits) = (Reports(Some(send)), Signal::new());
        let never = waits.clone();
        let task = runtime.spawn(async move {
            let _reports = reports;
            never.wait().await;
        });
        runtime.block_on(async {
            while waits.waiters() == 0 {
                rt::task::yield_now().await;
            }
            let abort = task.abort_handle();
            std::thread::spawn(move || abort.abort()).join().unwrap();
            assert!(task.await.unwrap_err().is_cancelled());
        });
        assert!(dropped.recv().unwrap(), "not on the aborter's thread, which is in no runtime");
    });
}

#[test]
fn aborting_a_complete_task_changes_nothing() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let task = rt::spawn(async { vec![7] });
            while !task.is_finished() {
                rt::task::yield_now().await;
            }
            task.abort();
            task.abort_handle().abort();
            assert_eq!(task.await.unwrap(), [7]);
        });
    });
}

#[test]
fn aborting_twice_and_from_many_threads_cancels_once() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let drops = Drops::new();
        for _ in 0..30 {
            let token = drops.token();
            let task: JoinHandle<()> = runtime.spawn(async move {
                let _token = token;
                pending().await
            });
            scope(|scope| {
                for _ in 0..4 {
                    let abort = task.abort_handle();
                    scope.spawn(move || abort.abort());
                }
                assert!(runtime.block_on(task).unwrap_err().is_cancelled());
            });
        }
        drops.assert_all();
    });
}

#[test]
fn a_task_can_abort_itself() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let task = runtime.block_on(async {
            let handle = Channel::<rt::task::AbortHandle>::new();
            let own = handle.clone();
            let task = rt::spawn(async move {
                own.receive().await.abort();
                // This poll goes on; the next one never comes.
                yield_by_hand().await;
                unreachable!("polled after its abort");
            });
            handle.send(task.abort_handle());
            task.await
        });
        let error: rt::task::JoinError = task.map(|(): ()| ()).unwrap_err();
        assert!(error.is_cancelled());
    });
}

#[test]
fn an_abort_that_races_with_the_end_gives_the_output_or_a_cancellation() {
    let _watchdog = watchdog();
    let runtime = multi(2);
    let (outputs, mut finished, mut cancelled) = (Drops::new(), 0, 0);
    for round in 0..2000 {
        let made = outputs.clone();
        let task = runtime.spawn(async move {
            yield_by_hand().await;
            made.token()
        });
        for _ in 0..round % 300 {
            std::hint::spin_loop();
        }
        task.abort();
        match runtime.block_on(task) {
            Ok(_) => finished += 1,
            Err(error) => {
                assert!(error.is_cancelled());
                cancelled += 1;
            }
        }
    }
    assert_eq!(finished + cancelled, 2000);
    drop(runtime);
    // An output that was made in a poll which an abort overtook may have been dropped with its task; none is left.
    outputs.assert_all();
    assert!(outputs.count() >= finished);
}

#[test]
fn aborting_a_queued_blocking_job_cancels_it_and_a_running_one_goes_on() {
    let _watchdog = watchdog();
    let runtime = Builder::new_multi_thread().worker_threads(1).max_blocking_threads(1).build().unwrap();
    let (gate, ran) = (Gate::new(), Arc::new(AtomicUsize::new(0)));
    let (held, count) = (gate.clone(), ran.clone());
    let running = runtime.spawn_blocking(move || {
        held.pass();
        count.fetch_add(1, SeqCst)
    });
    gate.wait_for(1);
    let count = ran.clone();
    let queued = runtime.spawn_blocking(move || count.fetch_add(10, SeqCst));
    queued.abort();
    running.abort();
    gate.open();
    assert_eq!(runtime.block_on(running).unwrap(), 0);
    assert!(runtime.block_on(queued).unwrap_err().is_cancelled());
    assert_eq!(ran.load(SeqCst), 1);
}

#[test]
fn an_abort_handle_knows_the_task_but_keeps_nothing_of_it() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let drops = Drops::new();
        let token = drops.token();
        let task = runtime.spawn(async move {
            yield_by_hand().await;
            token
        });
        let (abort, id) = (task.abort_handle(), task.id());
        assert_eq!(abort.id(), id);
        drop(runtime.block_on(task).unwrap());
        assert_eq!(drops.count(), 1);
        assert!(abort.is_finished());
        drop(runtime);
        abort.abort();
        assert_eq!((abort.clone().id(), abort.is_finished()), (id, true));
    });
}

#[test]
fn a_handle_that_aborts_when_dropped_does_so_unless_it_is_detached() {
    let _watchdog = watchdog();
    current().block_on(async {
        let drops = Drops::new();
        let waiting = || {
            let token = drops.token();
            AbortOnDropHandle::new(rt::spawn(async move {
                let _token = token;
                pending::<()>().await
            }))
        };
        let task = waiting();
        let abort = task.abort_handle();
        drop(task);
        rt::task::yield_now().await;
        assert!(abort.is_finished());
        assert_eq!(drops.count(), 1);

        let task = waiting();
        let id = task.id();
        let handle = task.detach();
        rt::task::yield_now().await;
        assert_eq!((handle.id(), handle.is_finished(), drops.count()), (id, false, 1));
        handle.abort();
        assert!(handle.await.unwrap_err().is_cancelled());

        // Awaiting it is awaiting the handle, and what has ended by then is not touched by the drop.
        let mut task = AbortOnDropHandle::from(rt::spawn(async { 6 * 7 }));
        assert_eq!((&mut task).await.unwrap(), 42);
        drop(task);
    });
}
