//! Many that are woken at once reach their schedulers as one push. Each of them is polled all the same.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};
use std::thread;

use rt::runtime::Runtime;
use rt::sync::Notify;
use rt::task::{JoinHandle, LocalSet, spawn_local, yield_now};
use rt_test_util::{Gate, catch, current, eventually, multi, watchdog};

/// Tasks that wait, in the order in which they were spawned.
fn waiting(runtime: &Runtime, notify: &Arc<Notify>, tasks: usize) -> Vec<JoinHandle<()>> {
    (0..tasks)
        .map(|_| {
            // Made, and so notified by `notify_waiters` from now on; and in line when its task says so.
            let mut notified = Box::pin(notify.clone().notified_owned());
            let in_line = Gate::new();
            let task = runtime.spawn({
                let in_line = in_line.clone();
                async move {
                    notified.as_mut().enable();
                    in_line.open();
                    notified.await;
                }
            });
            in_line.pass();
            task
        })
        .collect()
}

/// More than a batch of wakers, of two runtimes, in turns.
#[test]
fn all_that_wait_go_on_wherever_they_are_notified() {
    let _watchdog = watchdog();
    let (first, second) = (multi(2), multi(1));
    let notify = Arc::new(Notify::new());
    let notified_by = |notifier: &dyn Fn(Arc<Notify>)| {
        for tasks in [1, 2, 3, 100] {
            let mut waiting_tasks = Vec::new();
            for _ in 0..2 {
                waiting_tasks.extend(waiting(&first, &notify, tasks));
                waiting_tasks.extend(waiting(&second, &notify, tasks));
            }
            notifier(notify.clone());
            waiting_tasks.iter().for_each(|task| eventually(|| task.is_finished()));
        }
    };
    notified_by(&|notify| notify.notify_waiters());
    notified_by(&|notify| first.block_on(async { notify.notify_waiters() }));
    notified_by(&|notify| drop(first.spawn(async move { notify.notify_waiters() })));
    notified_by(&|notify| drop(second.spawn(async move { notify.notify_waiters() })));
    notified_by(&|notify| drop(second.spawn_blocking(move || notify.notify_waiters())));
    notified_by(&|notify| drop(first.spawn(async { rt::task::block_in_place(move || notify.notify_waiters()) })));
    notified_by(&|notify| current().block_on(async move { notify.notify_waiters() }));
}

/// What holds the tasks of a set is not a runtime.
#[test]
fn tasks_of_local_sets_go_on_among_those_of_runtimes() {
    let _watchdog = watchdog();
    let runtime = multi(1);
    let notify = Arc::new(Notify::new());
    let notified_by = |notifier: &dyn Fn(Arc<Notify>)| {
        let drivers = [multi(2), current()];
        for driver in &drivers {
            let set = LocalSet::new();
            set.block_on(driver, async {
                let mut tasks = waiting(&runtime, &notify, 2);
                for _ in 0..40 {
                    tasks.push(spawn_local(notify.clone().notified_owned()));
                }
                tasks.extend(waiting(&runtime, &notify, 2));
                // Now those of the set are in line, too.
                yield_now().await;
                notifier(notify.clone());
                for task in tasks {
                    task.await.unwrap();
                }
            });
        }
    };
    notified_by(&|notify| notify.notify_waiters());
    notified_by(&|notify| drop(runtime.spawn(async move { notify.notify_waiters() })));
    notified_by(&|notify| thread::spawn(move || notify.notify_waiters()).join().unwrap());
}

/// Blocks in its wake until the gate is open.
struct Blocks(Gate);

impl Wake for Blocks {
    fn wake(self: Arc<Self>) {
        self.0.pass();
    }
}

/// Tasks in front of a waker that blocks until one of them runs. Nothing but their being announced gets them there: all
/// workers sleep, but for that which notifies.
#[test]
fn a_waker_that_blocks_holds_up_none_of_those_before_it() {
    let _watchdog = watchdog();
    let runtime = multi(2);
    let notified_by = |notifier: &dyn Fn(Arc<Notify>)| {
        let notify = Arc::new(Notify::new());
        let gate = Gate::new();
        // Several: the first that its own worker wakes is for that worker alone.
        let mut tasks = Vec::new();
        for _ in 0..3 {
            let in_line = Gate::new();
            tasks.push(runtime.spawn({
                let (notify, gate, in_line) = (notify.clone(), gate.clone(), in_line.clone());
                async move {
                    let mut notified = pin!(notify.notified());
                    notified.as_mut().enable();
                    in_line.open();
                    notified.await;
                    gate.open();
                }
            }));
            in_line.pass();
        }
        let mut foreign = Box::pin(notify.notified());
        let waker = Waker::from(Arc::new(Blocks(gate)));
        assert!(foreign.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        notifier(notify.clone());
        tasks.iter().for_each(|task| eventually(|| task.is_finished()));
        drop(foreign);
    };
    for _ in 0..20 {
        notified_by(&|notify| notify.notify_waiters());
        notified_by(&|notify| runtime.block_on(async { notify.notify_waiters() }));
        notified_by(&|notify| drop(runtime.spawn(async move { notify.notify_waiters() })));
    }
}

/// The tasks of the others are woken though a waker panics, and the panic is passed on.
#[test]
fn a_waker_that_panics_holds_up_nobody() {
    struct Panics;
    impl Wake for Panics {
        fn wake(self: Arc<Self>) {
            panic!("a waker");
        }
    }
    let _watchdog = watchdog();
    let runtime = multi(1);
    let notify = Arc::new(Notify::new());
    let before = waiting(&runtime, &notify, 2);
    let mut foreign = Box::pin(notify.notified());
    let waker = Waker::from(Arc::new(Panics));
    assert!(foreign.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    let after = waiting(&runtime, &notify, 2);
    assert_eq!(catch(|| notify.notify_waiters()).message, "a waker");
    before.iter().chain(&after).for_each(|task| eventually(|| task.is_finished()));
}
