//! Names, places, states and counts.

use std::future::poll_fn;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

use rt::runtime::{Builder, TaskState};
use rt::sync::mpsc;

use super::*;

#[test]
fn a_task_is_listed_with_its_name_its_place_and_its_state() {
    for runtime in runtimes() {
        runtime.block_on(async {
            let (task, spawned_in) = (rt::task::Builder::new().name("a name").spawn(never()).unwrap(), line());
            let nameless = rt::spawn(never());
            let seen = until(&task, |task| task.state.is_waiting()).await;
            assert_eq!(
                (seen.name, seen.spawned_at.line(), seen.spawned_at.file()),
                (Some("a name"), spawned_in, file!())
            );
            assert_eq!((seen.polls, seen.wakes, seen.spurious_polls), (1, 0, 0));
            assert_eq!(seen.state.to_string(), "waiting");
            assert!(seen.state.since().is_some() && seen.total_poll_time >= seen.longest_poll);
            assert_eq!(until(&nameless, |task| task.state.is_waiting()).await.name, None);
            task.abort();
            assert!(task.await.is_err());
            nameless.abort();
            assert!(nameless.await.is_err());
            assert!(runtime.handle().tasks().is_empty(), "they are over");
        });
    }
}

#[test]
fn a_task_that_is_over_is_not_listed_though_there_is_a_handle() {
    for runtime in runtimes() {
        let task = runtime.spawn(async { 1 });
        runtime.block_on(async {
            while !task.is_finished() {
                rt::task::yield_now().await;
            }
        });
        assert!(info(runtime.handle(), &task).is_none());
        assert_eq!(runtime.block_on(task).unwrap(), 1);
    }
}

#[test]
fn large_aligned_and_many_tasks_are_listed() {
    #[repr(align(128))]
    struct Aligned(#[allow(dead_code)] u8);
    for runtime in runtimes() {
        runtime.block_on(async {
            let large = rt::spawn(async {
                let array = [1_u8; 3000];
                never().await;
                std::hint::black_box(&array);
            });
            let aligned = rt::spawn(async {
                let aligned = Aligned(1);
                never().await;
                std::hint::black_box(&aligned);
            });
            let many: Vec<_> = (0..2_000).map(|_| rt::spawn(never())).collect();
            for task in [&large, &aligned].into_iter().chain(&many) {
                until(task, |task| task.state.is_waiting()).await;
            }
            assert_eq!(rt::runtime::Handle::current().tasks().len(), 2_002);
        });
    }
}

#[test]
fn tasks_from_outside_and_of_a_local_set_are_listed() {
    let runtime = Builder::new_current_thread().record_tasks().build().unwrap();
    let from_outside = rt_test_util::scope(|scope| scope.spawn(|| runtime.spawn(never())).join().unwrap());
    assert!(info(runtime.handle(), &from_outside).unwrap().state.is_queued());
    assert_eq!(info(runtime.handle(), &from_outside).unwrap().polls, 0);
    let set = rt::task::LocalSet::new();
    let local = set.spawn_local(never());
    runtime.block_on(set.run_until(async {
        until(&local, |task| task.state.is_waiting()).await;
        until(&from_outside, |task| task.state.is_waiting()).await;
    }));
    let other = Builder::new_current_thread().record_tasks().build().unwrap();
    assert!(info(other.handle(), &local).is_none());
    drop(set);
    assert!(info(runtime.handle(), &local).is_none());
}

#[test]
fn workers_that_are_all_blocked_do_not_hinder_it() {
    let runtime = Builder::new_multi_thread().worker_threads(2).max_spare_workers(0).record_tasks().build().unwrap();
    let gate = Gate::default();
    let blocked: Vec<_> = (0..2)
        .map(|_| {
            runtime.spawn({
                let gate = gate.clone();
                async move { gate.block() }
            })
        })
        .collect();
    gate.wait_for(2);
    let queued = runtime.spawn(async {});
    for task in &blocked {
        let seen = info(runtime.handle(), task).unwrap();
        assert!(matches!(seen.state, TaskState::Running { since: Some(_), .. }), "{seen:?}");
        assert_eq!((seen.polls, seen.wakes), (1, 0));
        assert!(seen.waits_for.is_none());
    }
    assert!(info(runtime.handle(), &queued).unwrap().state.is_queued());
    gate.open();
    runtime.block_on(async {
        for task in blocked.into_iter().chain([queued]) {
            task.await.unwrap();
        }
    });
}

#[test]
fn the_task_that_asks_runs() {
    for runtime in runtimes() {
        let asked = runtime.spawn(async { rt::runtime::Handle::current().tasks() });
        let seen = runtime.block_on(asked).unwrap();
        assert_eq!(seen.len(), 1);
        assert!(seen[0].state.is_running() && seen[0].state.since().is_some());
    }
}

/// A hook at the end of a task takes its time in the middle of many short polls: the next one has not begun before it.
#[test]
fn a_task_is_said_to_run_since_no_earlier_than_the_hook_before_it() {
    for polls_are_heard in [false, true] {
        let (ended, is_slow) = (Arc::new(Mutex::new(None)), Arc::new(AtomicBool::new(false)));
        let (by_hook, slow) = (Arc::clone(&ended), Arc::clone(&is_slow));
        let mut builder = Builder::new_current_thread();
        builder.record_tasks().on_task_terminate(move |_| {
            if slow.swap(false, Relaxed) {
                std::thread::sleep(Duration::from_millis(1));
                *by_hook.lock() = Some(Instant::now());
            }
        });
        if polls_are_heard {
            builder.on_before_task_poll(|_| ());
        }
        let runtime = builder.build().unwrap();
        runtime.block_on(async {
            // Until the polls are measured by the group.
            for _ in 0..1000 {
                rt::spawn(rt::task::yield_now());
                rt::task::yield_now().await;
            }
            let over = rt::spawn(async move { is_slow.store(true, Relaxed) });
            let runs = rt::spawn(async move {
                let seen = Handle::current().tasks();
                let since_hook = ended.lock().unwrap().elapsed();
                let running: Vec<_> = seen.iter().filter(|task| task.state.is_running()).collect();
                assert_eq!(running.len(), 1);
                assert!(running[0].state.since().unwrap() <= since_hook, "{running:?}, {since_hook:?}");
            });
            over.await.unwrap();
            runs.await.unwrap();
        });
    }
}

#[test]
fn polls_wakes_and_yields_are_counted() {
    let runtime = Builder::new_current_thread().record_tasks().build().unwrap();
    runtime.block_on(async {
        let (send, mut receive) = mpsc::channel(1);
        let task = rt::spawn(async move {
            while receive.recv().await.is_some() {}
            for _ in 0..3 {
                rt::task::yield_now().await;
            }
            never().await;
        });
        until(&task, |task| task.polls == 1).await;
        send.send(()).await.unwrap();
        let seen = until(&task, |task| task.state.is_waiting() && task.polls == 2).await;
        assert_eq!((seen.wakes, seen.spurious_polls), (1, 0));
        drop(send);
        let seen = until(&task, |task| task.state.is_waiting() && task.polls > 2).await;
        assert_eq!((seen.polls, seen.wakes), (6, 5), "one for the end of the channel, and three yields");
    });
}

#[test]
fn a_woken_task_is_queued() {
    let runtime = Builder::new_current_thread().record_tasks().build().unwrap();
    let (send, receive) = std::sync::mpsc::channel::<Waker>();
    let task = runtime.spawn(poll_fn(move |cx| {
        send.send(cx.waker().clone()).unwrap();
        Poll::<()>::Pending
    }));
    runtime.block_on(async { until(&task, |task| task.state.is_waiting()).await });
    receive.recv().unwrap().wake();
    // Nobody drives the runtime.
    let seen = info(runtime.handle(), &task).unwrap();
    assert!(matches!(seen.state, TaskState::Queued { since: Some(_), .. }), "{seen:?}");
    assert_eq!((seen.polls, seen.wakes), (1, 1));
    assert!(seen.waits_for.is_none(), "it does not wait any more");
}

#[test]
fn long_polls_are_measured() {
    const LONG: Duration = Duration::from_millis(2);
    for runtime in runtimes() {
        runtime.block_on(async {
            let task = rt::spawn(async {
                loop {
                    std::thread::sleep(LONG);
                    rt::task::yield_now().await;
                }
            });
            // One of the first may go by before the worker knows how long they are.
            let seen = until(&task, |task| task.longest_poll >= LONG).await;
            assert!(seen.total_poll_time >= seen.longest_poll - Duration::from_micros(1), "{seen:?}");
            task.abort();
        });
    }
}
