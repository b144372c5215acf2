//! The hooks and names of threads, their stacks, and the events of tasks.
//!
//! Mutations that these tests are for: a hook that is left out, called twice, or on the wrong thread; a park without an
//! unpark; a stack size or a name that is not passed on; a hook's panic that takes the thread with it; a look at the
//! drivers left out by a thread that comes to no sleep.

use std::collections::HashMap;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::task::Waker;
use std::thread;

use parking_lot::Mutex;
use rt::runtime::{Builder, Handle, TaskEventKind};
use rt_test_util::*;

fn counter() -> (Arc<AtomicUsize>, impl Fn() + Send + Sync + Clone + 'static) {
    let count = Arc::new(AtomicUsize::new(0));
    let add = count.clone();
    (count, move || _ = add.fetch_add(1, SeqCst))
}

#[test]
fn each_worker_and_blocking_thread_starts_and_stops_once() {
    let _watchdog = watchdog();
    let ((starts, start), (stops, stop)) = (counter(), counter());
    let runtime = Builder::new_multi_thread()
        .rescue_blocked(false)
        .worker_threads(3)
        .on_thread_start(start)
        .on_thread_stop(stop)
        .enable_all()
        .build()
        .unwrap();
    eventually(|| starts.load(SeqCst) == 3);
    let gate = Gate::new();
    for _ in 0..2 {
        let gate = gate.clone();
        runtime.spawn_blocking(move || gate.pass());
    }
    gate.wait_for(2);
    assert_eq!((starts.load(SeqCst), stops.load(SeqCst)), (5, 0));
    // The thread in `block_on` is the user's: no hook for it.
    runtime.block_on(async { rt::spawn(async {}).await.unwrap() });
    gate.open();
    drop(runtime);
    assert_eq!((starts.load(SeqCst), stops.load(SeqCst)), (5, 5));
}

#[test]
fn a_current_thread_runtime_has_no_threads_but_blocking_ones() {
    let _watchdog = watchdog();
    let ((starts, start), (stops, stop)) = (counter(), counter());
    let runtime = Builder::new_current_thread().on_thread_start(start).on_thread_stop(stop).build().unwrap();
    runtime.block_on(async { rt::spawn(async {}).await.unwrap() });
    assert_eq!(starts.load(SeqCst), 0);
    runtime.block_on(async { rt::spawn_blocking(|| ()).await.unwrap() });
    drop(runtime);
    assert_eq!((starts.load(SeqCst), stops.load(SeqCst)), (1, 1));
}

#[test]
fn the_first_and_the_last_hook_of_a_worker_may_block() {
    let _watchdog = watchdog();
    let ((starts, start), (stops, stop)) = (counter(), counter());
    let block = || {
        // On a future, and on the end of a runtime.
        Handle::current().block_on(rt::task::yield_now());
        drop(current());
    };
    let on_worker = |hook: &dyn Fn()| {
        if thread::current().name().is_some_and(|name| name.starts_with("rt-worker")) {
            hook();
        }
    };
    let runtime = Builder::new_multi_thread()
        .rescue_blocked(false)
        .worker_threads(2)
        .on_thread_start(move || on_worker(&|| (block(), start()).1))
        .on_thread_stop(move || on_worker(&|| (block(), stop()).1))
        .build()
        .unwrap();
    eventually(|| starts.load(SeqCst) == 2);
    drop(runtime);
    assert_eq!(stops.load(SeqCst), 2);
}

#[test]
fn parks_and_unparks_alternate_on_each_thread() {
    let _watchdog = watchdog();
    let down = Arc::new(Mutex::new(HashMap::<thread::ThreadId, bool>::new()));
    let (parks, wrong) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let change = |to: bool| {
        let (down, parks, wrong) = (down.clone(), parks.clone(), wrong.clone());
        move || {
            let before = down.lock().insert(thread::current().id(), to).unwrap_or(false);
            if before == to {
                wrong.fetch_add(1, SeqCst);
            }
            parks.fetch_add(to as usize, SeqCst);
        }
    };
    let runtime = Builder::new_multi_thread()
        .rescue_blocked(false)
        .worker_threads(2)
        .on_thread_park(change(true))
        .on_thread_unpark(change(false))
        .enable_all()
        .build()
        .unwrap();
    let metrics = runtime.handle().metrics();
    for _ in 0..50 {
        runtime.block_on(async {
            rt::spawn(rt::time::sleep(std::time::Duration::from_micros(100))).await.unwrap();
        });
    }
    drop(runtime);
    assert_eq!(wrong.load(SeqCst), 0);
    assert_eq!(parks.load(SeqCst) as u64, metrics.totals().parks);
    assert!(down.lock().values().all(|&down| !down), "whoever lay down got up");
}

#[test]
fn a_task_spawned_by_the_park_hook_is_run_before_the_worker_sleeps() {
    let _watchdog = watchdog();
    for runtime in
        [Builder::new_multi_thread().rescue_blocked(false).worker_threads(1), &mut Builder::new_current_thread()]
    {
        let (ran, left) = (Signal::new(), Arc::new(AtomicUsize::new(10)));
        let tell = ran.clone();
        let runtime = runtime
            .on_thread_park(move || {
                if left.load(SeqCst) > 0 && left.fetch_sub(1, SeqCst) == 1 {
                    let tell = tell.clone();
                    rt::spawn(async move { tell.set() });
                }
            })
            .build()
            .unwrap();
        // Each round is a reason to park once more, if the thread has time to: so the next begins when one has ended.
        scope(|scope| {
            scope.spawn(|| {
                while !ran.is_set() {
                    let round = runtime.spawn(async {});
                    eventually(|| round.is_finished() || ran.is_set());
                }
            });
            runtime.block_on(ran.wait());
        });
    }
}

#[test]
fn a_thread_that_is_woken_whenever_it_wants_to_sleep_looks_after_its_timers() {
    let _watchdog = watchdog();
    let waker = Arc::new(Mutex::new(None::<Waker>));
    let wake = waker.clone();
    let runtime = Builder::new_current_thread()
        .on_thread_park(move || {
            let waker = wake.lock().take();
            waker.into_iter().for_each(Waker::wake);
        })
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let mut sleep = pin!(rt::time::sleep(std::time::Duration::from_millis(1)));
        poll_fn(|cx| {
            *waker.lock() = Some(cx.waker().clone());
            sleep.as_mut().poll(cx)
        })
        .await;
    });
    // It belongs to the runtime, which has the hook, which has it.
    waker.lock().take();
}

#[test]
fn panicking_hooks_hurt_nobody() {
    let _watchdog = watchdog();
    let bad = || panic!("a bad hook");
    let runtime = Builder::new_multi_thread()
        .rescue_blocked(false)
        .worker_threads(2)
        .on_thread_start(bad)
        .on_thread_stop(bad)
        .on_thread_park(bad)
        .on_thread_unpark(bad)
        .on_task_event(move |_| bad())
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        for n in 0..20 {
            assert_eq!(rt::spawn(async move { n }).await.unwrap(), n);
            assert_eq!(rt::spawn_blocking(move || n).await.unwrap(), n);
        }
    });
    drop(runtime);
}

#[test]
fn threads_have_the_names_that_they_were_given() {
    let _watchdog = watchdog();
    let name_of = |runtime: &rt::runtime::Runtime| {
        let names = Channel::new();
        let tell = names.clone();
        runtime.spawn(async move { tell.send(thread::current().name().map(str::to_owned)) });
        runtime.block_on(names.receive()).unwrap()
    };
    let runtime =
        Builder::new_multi_thread().rescue_blocked(false).worker_threads(1).thread_name("my-app").build().unwrap();
    assert_eq!(name_of(&runtime), "my-app");
    let number = AtomicUsize::new(0);
    let runtime = Builder::new_multi_thread()
        .rescue_blocked(false)
        .worker_threads(1)
        .thread_name_fn(move || format!("thread {}", number.fetch_add(1, SeqCst)))
        .build()
        .unwrap();
    assert_eq!(name_of(&runtime), "thread 0");
    let blocking = runtime.spawn_blocking(|| thread::current().name().map(str::to_owned));
    assert_eq!(runtime.block_on(blocking).unwrap().as_deref(), Some("thread 1"));
}

/// Needs about a kilobyte of stack a level (more in debug).
fn dive(depth: usize) -> usize {
    let ballast = [depth as u8; 1024];
    let depth_below = if depth == 0 { 0 } else { dive(depth - 1) + 1 };
    // Still in use here, so that the call above is not a jump.
    std::hint::black_box(&ballast);
    depth_below
}

#[test]
fn a_larger_stack_makes_room_for_a_deep_recursion() {
    let _watchdog = watchdog();
    // 12,000 levels of a kilobyte do not fit into the 2 MiB that a thread has otherwise.
    let runtime = Builder::new_multi_thread()
        .rescue_blocked(false)
        .worker_threads(1)
        .thread_stack_size(64 << 20)
        .build()
        .unwrap();
    let task = runtime.spawn(async { dive(12_000) });
    eventually(|| task.is_finished());
    assert_eq!(runtime.block_on(task).unwrap(), 12_000);
    assert_eq!(runtime.block_on(runtime.spawn_blocking(|| dive(12_000))).unwrap(), 12_000);
}

#[test]
fn task_events_tell_each_tasks_life_in_order() {
    let _watchdog = watchdog();
    for builder in
        [&mut Builder::new_current_thread(), Builder::new_multi_thread().rescue_blocked(false).worker_threads(2)]
    {
        let log = Arc::new(Mutex::new(HashMap::<String, Vec<TaskEventKind>>::new()));
        let lines = Arc::new(Mutex::new(Vec::new()));
        let (tell, places) = (log.clone(), lines.clone());
        let runtime = builder
            .on_task_event(move |event| {
                tell.lock().entry(event.id.to_string()).or_default().push(event.kind);
                if event.kind == TaskEventKind::Spawned {
                    places.lock().push((event.spawned_at.line(), event.name));
                }
            })
            .build()
            .unwrap();
        let (id, line) = runtime.block_on(async {
            let wakes: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(yield_by_hand());
            let (task, line) = (rt::task::Builder::new().name("observed").spawn(wakes).unwrap(), line!());
            let id = task.id();
            task.await.unwrap();
            (id, line)
        });
        use TaskEventKind::{Completed, Pending, Polled, Spawned};
        let mut life = log.lock()[&id.to_string()].clone();
        // A wake during the poll changes the state and queues the task later; whether it is told is not promised.
        life.retain(|kind| *kind != TaskEventKind::Woken);
        assert_eq!(life, [Spawned, Polled, Pending, Polled, Completed]);
        assert_eq!(*lines.lock(), [(line, Some("observed"))]);
    }
}

#[test]
fn every_task_that_an_observer_saw_spawned_it_sees_completed() {
    let _watchdog = watchdog();
    for builder in
        [&mut Builder::new_current_thread(), Builder::new_multi_thread().rescue_blocked(false).worker_threads(3)]
    {
        let counts = Arc::new(Mutex::new(HashMap::<TaskEventKind, usize>::new()));
        let count = counts.clone();
        let runtime = builder
            .on_task_event(move |event| *count.lock().entry(event.kind).or_default() += 1)
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            for n in 0..100 {
                let task = rt::spawn(async move {
                    rt::task::yield_now().await;
                    assert!(n % 10 > 0, "a tenth of them panic");
                });
                if n % 3 == 0 {
                    task.abort();
                }
                if n % 2 == 0 {
                    let _ = task.await;
                }
            }
            (0..20).for_each(|_| drop(rt::spawn(std::future::pending::<()>())));
        });
        drop(runtime);
        let counts = counts.lock();
        assert_eq!((counts[&TaskEventKind::Spawned], counts[&TaskEventKind::Completed]), (120, 120));
    }
}
