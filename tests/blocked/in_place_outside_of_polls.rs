//! `block_in_place` outside of a task's own code. On a worker that polls nothing it blocks the worker, and takes
//! nothing away from it; in the hooks of a poll it is as in the poll.
//!
//! Mutation that these tests are for: the worker gives its core away although it has something in its hands, because
//! what a hook drops, or drives by itself, is a task.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, mpsc};
use std::task::{Context, Waker};
use std::time::Duration;

use rt::runtime::{Builder, TaskEvent, TaskEventKind};
use rt::task::{JoinHandle, LocalSet, block_in_place};
use rt::time::{MissedTickBehavior, interval_at};
use rt_test_util::*;

/// Blocks in place when it is dropped, until the other side of the second channel is gone.
struct Blocks(mpsc::Sender<()>, mpsc::Receiver<()>);

impl Drop for Blocks {
    fn drop(&mut self) {
        block_in_place(|| {
            self.0.send(()).unwrap();
            self.1.recv().unwrap_err();
        });
    }
}

/// Drops a task that does so when its future is dropped.
fn drop_future(blocks: Blocks) {
    let set = LocalSet::new();
    set.spawn_local(async move {
        let _blocks = blocks;
        std::future::pending::<()>().await;
    });
}

/// Drops a join handle of a task whose output does so.
fn drop_output(blocks: Blocks) {
    let mut set = LocalSet::new();
    let task: JoinHandle<Blocks> = set.spawn_local(async move { blocks });
    // By hand: a hook may not wait for it.
    while Pin::new(&mut set).poll(&mut Context::from_waker(Waker::noop())).is_pending() {}
    assert!(task.is_finished());
    drop(task);
}

/// A timer wakes several tasks at once. Their worker has them in its hands while it tells the observer of the first.
fn an_observer_hears_of_a_wake(meddle: fn(Blocks)) {
    let (drops, is_first) = (Drops::new(), Arc::new(AtomicBool::new(true)));
    let (began, has_begun) = mpsc::channel();
    let (go_on, goes_on) = mpsc::channel();
    let blocks = parking_lot::Mutex::new(Some(Blocks(began, goes_on)));
    let kept = drops.token();
    let is_awaited = is_first.clone();
    let meddled = Arc::new(AtomicBool::new(false));
    let has_meddled = meddled.clone();
    let observe = move |event: &TaskEvent| {
        let _ = &kept;
        if event.kind == TaskEventKind::Woken && rt::task::try_id().is_none() && is_first.swap(false, SeqCst) {
            let blocks = blocks.lock().take().unwrap();
            meddle(blocks);
            has_meddled.store(true, SeqCst);
        }
    };
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().on_task_event(observe).build().unwrap();
    let when = rt::time::Instant::now() + Duration::from_millis(5);
    for _ in 0..3 {
        let (token, is_awaited) = (drops.token(), is_awaited.clone());
        runtime.spawn(async move {
            // If the machine was so slow that it was time already, there was no wake: then all wait for the next tick.
            let mut ticks = interval_at(when, Duration::from_millis(5));
            ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
            while is_awaited.load(SeqCst) {
                ticks.tick().await;
            }
            drop(token);
        });
    }
    has_begun.recv().unwrap();
    // The shutdown begins, and does not wait for the worker.
    runtime.shutdown_timeout(Duration::ZERO);
    drop(go_on);
    // What the observer has is dropped with the runtime, which nothing keeps.
    eventually(|| drops.count() == 4);
    assert!(meddled.load(SeqCst), "the hook panicked");
}

#[test]
fn what_a_hook_drops_may_block_in_place_and_nothing_is_lost() {
    let _watchdog = watchdog();
    for meddle in [drop_future, drop_output] {
        an_observer_hears_of_a_wake(meddle);
    }
}

/// Which hook of a task blocks in place, and sets it.
type SetHook = fn(&mut Builder, Box<dyn Fn() + Send + Sync>);

#[test]
fn hooks_around_tasks_may_block_in_place_and_nothing_is_lost() {
    let _watchdog = watchdog();
    let set_hooks: [SetHook; 4] = [
        |builder, hook| _ = builder.on_task_spawn(move |_| hook()),
        |builder, hook| _ = builder.on_before_task_poll(move |_| hook()),
        |builder, hook| _ = builder.on_after_task_poll(move |_| hook()),
        |builder, hook| _ = builder.on_task_terminate(move |_| hook()),
    ];
    for set_hook in set_hooks {
        for yields in [0, 1] {
            let (drops, is_first) = (Drops::new(), AtomicBool::new(true));
            let (began, has_begun) = mpsc::channel();
            let (go_on, goes_on) = mpsc::channel();
            let blocks = parking_lot::Mutex::new(Some(Blocks(began, goes_on)));
            let kept = drops.token();
            let mut builder = Builder::new_multi_thread();
            let hook = move || {
                let _ = &kept;
                // On the worker.
                if rt::runtime::worker_index().is_some() && is_first.swap(false, SeqCst) {
                    drop(blocks.lock().take());
                }
            };
            set_hook(&mut builder, Box::new(hook));
            let runtime = builder.worker_threads(1).enable_all().build().unwrap();
            drop(builder);
            for _ in 0..3 {
                let (token, others) = (drops.token(), drops.token());
                runtime.spawn(async move {
                    rt::spawn(async move { drop(others) });
                    for _ in 0..yields {
                        rt::task::yield_now().await;
                    }
                    drop(token);
                });
            }
            has_begun.recv().unwrap();
            runtime.shutdown_timeout(Duration::ZERO);
            drop(go_on);
            eventually(|| drops.count() == 7);
        }
    }
}
