//! The hooks around tasks, on both kinds of runtime: how often, in which order, of which task, and for how long a task
//! had waited.
//!
//! Mutations that these tests are for: a hook that is left out, called twice, or for another task; an end that counts
//! as a poll's although there was none; a poll within another one's that takes that one's end; a time that counts from
//! the task's birth, or is none; a hook's panic that ends the poll.

use std::future::{pending, poll_fn};
use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::task::Poll;
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;
use rt::runtime::{Builder, Runtime, TaskMeta};
use rt::task::Id;
use rt_test_util::*;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Call {
    Spawn,
    Before,
    After,
    Terminate,
}
use Call::*;

/// What the hooks were told, in the order of the calls.
#[derive(Clone, Default)]
struct Calls(Arc<Mutex<Vec<Told>>>);

#[derive(Clone, Copy)]
struct Told {
    call: Call,
    task: Id,
    spawned_at: &'static Location<'static>,
    latency: Option<Duration>,
}

impl Calls {
    fn hook(&self, call: Call) -> impl Fn(&TaskMeta<'_>) + Send + Sync + 'static {
        let Self(calls) = self.clone();
        move |task| {
            let (spawned_at, latency) = (task.spawned_at(), task.schedule_latency());
            calls.lock().push(Told { call, task: task.id(), spawned_at, latency });
        }
    }

    fn of(&self, task: Id) -> Vec<Call> {
        self.0.lock().iter().filter(|told| told.task == task).map(|told| told.call).collect()
    }

    fn latencies(&self, task: Id, of: Call) -> Vec<Option<Duration>> {
        let calls = self.0.lock();
        calls.iter().filter(|told| (told.call, told.task) == (of, task)).map(|told| told.latency).collect()
    }
}

/// Both kinds of runtime, with all hooks.
fn with_hooks(configure: impl Fn(&mut Builder)) -> [(Runtime, Calls); 2] {
    [Builder::new_current_thread(), Builder::new_multi_thread()].map(|mut builder| {
        let calls = Calls::default();
        builder
            .worker_threads(2)
            .on_task_spawn(calls.hook(Spawn))
            .on_before_task_poll(calls.hook(Before))
            .on_after_task_poll(calls.hook(After))
            .on_task_terminate(calls.hook(Terminate));
        configure(&mut builder);
        (builder.enable_all().build().unwrap(), calls)
    })
}

#[test]
fn each_hook_is_called_for_each_poll_and_the_end() {
    let _watchdog = watchdog();
    for (runtime, calls) in with_hooks(|_| ()) {
        let here = Location::caller().file();
        let task = || async {
            rt::task::yield_now().await;
            rt::time::sleep(Duration::from_millis(1)).await;
        };
        let from_outside = runtime.spawn(task());
        let mut ids = vec![from_outside.id()];
        runtime.block_on(async {
            from_outside.await.unwrap();
            let from_within = rt::spawn(task());
            ids.push(from_within.id());
            from_within.await.unwrap();
        });
        for id in ids {
            assert_eq!(calls.of(id), [Spawn, Before, After, Before, After, Before, Terminate, After]);
        }
        let calls = calls.0.lock();
        assert!(calls.iter().all(|told| told.spawned_at.file() == here && told.latency.is_none()));
    }
}

#[test]
fn a_task_that_panics_has_the_end_of_its_poll_and_one_that_is_dropped_has_none() {
    let _watchdog = watchdog();
    for (runtime, calls) in with_hooks(|_| ()) {
        let panics = runtime.spawn(async { panic!("on purpose") });
        let panicking = panics.id();
        assert!(runtime.block_on(panics).unwrap_err().is_panic());
        let (waits, aborted) = (runtime.spawn(pending::<()>()), runtime.spawn(pending::<()>()));
        let ids = [waits.id(), aborted.id()];
        let have_begun = || ids.iter().all(|&id| calls.of(id) == [Spawn, Before, After]);
        runtime.block_on(async {
            while !have_begun() {
                rt::task::yield_now().await;
            }
        });
        aborted.abort();
        assert!(runtime.block_on(aborted).unwrap_err().is_cancelled());
        drop(runtime);
        assert_eq!(calls.of(panicking), [Spawn, Before, Terminate, After]);
        for id in ids {
            assert_eq!(calls.of(id), [Spawn, Before, After, Terminate]);
        }
    }
}

#[test]
fn a_poll_within_a_poll_has_an_end_of_its_own() {
    let _watchdog = watchdog();
    let [(inner, inner_calls), (outer, outer_calls)] = with_hooks(|_| ());
    let task = outer.spawn(async move {
        // On the same thread: that of the outer runtime's worker.
        rt::task::block_in_place(move || {
            let dropped = inner.spawn(pending::<()>()).id();
            let polled = inner.block_on(inner.spawn(async { rt::task::id() })).unwrap();
            // The task that is dropped now is in no poll, though the thread is.
            drop(inner);
            (polled, dropped)
        })
    });
    let id = task.id();
    let (polled, dropped) = outer.block_on(task).unwrap();
    drop(outer);
    assert_eq!(inner_calls.of(polled), [Spawn, Before, Terminate, After]);
    assert_eq!(inner_calls.of(dropped), [Spawn, Before, After, Terminate]);
    assert_eq!(outer_calls.of(id), [Spawn, Before, Terminate, After]);
}

#[test]
fn the_hooks_of_a_poll_are_told_how_long_the_task_was_queued() {
    let _watchdog = watchdog();
    const WAIT: Duration = Duration::from_millis(30);
    for (runtime, calls) in with_hooks(|builder| {
        // Nobody is to come for what waits.
        builder.worker_threads(1).rescue_blocked(false).track_task_schedule_latency();
    }) {
        let id = runtime.block_on(async {
            let begun = Signal::new();
            let tell = begun.clone();
            // Once after its spawn, and once after a yield, it waits for the thread, which another task has.
            let task = rt::spawn(async move {
                let hog = rt::spawn(async { thread::sleep(WAIT) });
                rt::task::yield_now().await;
                hog.await.unwrap();
                tell.set();
            });
            begun.wait().await;
            let id = task.id();
            task.await.unwrap();
            id
        });
        let (before, after) = (calls.latencies(id, Before), calls.latencies(id, After));
        assert_eq!(before, after);
        assert!(before.iter().all(Option::is_some));
        assert!(before.iter().flatten().any(|latency| *latency >= WAIT), "{before:?}");
        assert!(before.iter().flatten().any(|latency| *latency < WAIT), "{before:?}");
        for call in [Spawn, Terminate] {
            assert_eq!(calls.latencies(id, call), [None]);
        }
    }
}

#[test]
fn a_wake_during_a_poll_counts_from_the_end_of_that_poll() {
    let _watchdog = watchdog();
    const LONG: Duration = Duration::from_millis(200);
    for (runtime, calls) in with_hooks(|builder| {
        builder.track_task_schedule_latency();
    }) {
        let id = runtime.block_on(async {
            let task = rt::spawn(async {
                let mut is_first = true;
                poll_fn(|cx| {
                    if !std::mem::take(&mut is_first) {
                        return Poll::Ready(());
                    }
                    cx.waker().wake_by_ref();
                    thread::sleep(LONG);
                    Poll::Pending
                })
                .await;
            });
            let id = task.id();
            task.await.unwrap();
            id
        });
        let latencies = calls.latencies(id, Before);
        assert_eq!(latencies.len(), 2);
        assert!(latencies[1].unwrap() < LONG, "{latencies:?}");
    }
}

#[test]
fn a_hook_may_spawn() {
    let _watchdog = watchdog();
    for mut builder in [Builder::new_current_thread(), Builder::new_multi_thread()] {
        let (once, ran) = (AtomicBool::new(true), Signal::new());
        let tell = ran.clone();
        let runtime = builder
            .on_task_spawn(move |_| {
                if once.swap(false, SeqCst) {
                    let tell = tell.clone();
                    rt::spawn(async move { tell.set() });
                }
            })
            .build()
            .unwrap();
        runtime.block_on(async {
            rt::spawn(async {}).await.unwrap();
            ran.wait().await;
        });
    }
}

#[test]
fn a_panic_of_a_hook_stays_there() {
    let _watchdog = watchdog();
    for mut builder in [Builder::new_current_thread(), Builder::new_multi_thread()] {
        let runtime = builder
            .on_task_spawn(|_| panic!("on purpose"))
            .on_before_task_poll(|_| panic!("on purpose"))
            .on_after_task_poll(|_| panic!("on purpose"))
            .on_task_terminate(|_| panic!("on purpose"))
            .build()
            .unwrap();
        assert_eq!(runtime.block_on(async { rt::spawn(async { 7 }).await.unwrap() }), 7);
    }
}
