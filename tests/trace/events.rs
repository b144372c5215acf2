//! What is recorded, and how it is read.

use std::collections::HashSet;
use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use rt::runtime::trace::{TraceConfig, TraceEvent, TraceEventKind as Kind, TraceSnapshot};
use rt::runtime::{Builder, TaskEvent};
use rt_test_util::*;

use crate::{all, lane, snapshot_after, tasks_begun};

fn count(events: &[TraceEvent], kind: Kind) -> u64 {
    events.iter().filter(|event| event.kind == kind).count() as u64
}

#[test]
fn nothing_is_recorded_until_it_is_asked_for() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let trace = runtime.handle().trace();
        assert!(!trace.is_running() && !trace.stop());
        runtime.block_on(async { rt::spawn(async {}).await.unwrap() });
        assert_eq!(trace.snapshot().lanes().count(), 0);
        assert!(trace.start(TraceConfig::new()));
        assert!(trace.is_running());
        assert!(!trace.start(TraceConfig::new().events(16)), "it runs already, and another's recording is left alone");
        runtime.block_on(async { rt::spawn(async {}).await.unwrap() });
        assert!(trace.stop() && !trace.stop());
        assert!(!trace.is_running());
        let tasks = tasks_begun(&trace.snapshot());
        assert!(!tasks.is_empty() && tasks.iter().all(|&id| id == tasks[0]), "one task: {tasks:?}");
        runtime.block_on(async { rt::spawn(async {}).await.unwrap() });
        assert_eq!(tasks_begun(&trace.snapshot()), tasks, "stopped");
    });
}

#[test]
fn the_steps_of_a_task_are_there_in_their_order_with_its_name_and_place() {
    let _watchdog = watchdog();
    let runtime = Builder::new_current_thread().trace(TraceConfig::new()).build().unwrap();
    let signal = Signal::new();
    let (task, line) = {
        let (_guard, signal) = (runtime.enter(), signal.clone());
        let builder = rt::task::Builder::new().name("the task");
        (builder.spawn(async move { signal.wait().await }).unwrap(), Location::caller().line())
    };
    let id = task.id();
    runtime.block_on(async {
        rt::task::yield_now().await;
        signal.set();
        task.await.unwrap();
    });
    let snapshot = snapshot_after(runtime);
    // The task was spawned outside of the runtime, and the rest happened on the thread that drove it.
    let of_task = |name| lane(&snapshot, name).into_iter().filter(|event| event.task.is_some_and(|task| task.id == id));
    let spawned: Vec<_> = snapshot.lanes().filter(|lane| lane.name().starts_with("other threads")).collect();
    assert_eq!(spawned.iter().flat_map(|lane| lane.events()).filter(|event| event.kind == Kind::Spawned).count(), 1);
    let kinds: Vec<_> = of_task("worker 0").map(|event| event.kind).collect();
    assert_eq!(kinds, [Kind::Polled, Kind::Pending, Kind::Woken, Kind::Polled, Kind::Completed]);
    for task in all(&snapshot).iter().filter_map(|event| event.task).filter(|task| task.id == id) {
        assert_eq!(task.name, Some("the task"));
        let place = task.spawned_at.unwrap();
        assert!(place.file().ends_with("events.rs") && place.line() == line, "{place}");
    }
    for lane in snapshot.lanes() {
        let times: Vec<_> = lane.events().map(|event| event.at).collect();
        assert!(times.is_sorted() && times.iter().all(|&at| at <= snapshot.duration()), "{times:?}");
    }
}

#[test]
fn all_is_recorded_once() {
    let _watchdog = watchdog();
    for workers in [0, 1, 4] {
        let mut builder = match workers {
            0 => Builder::new_current_thread(),
            _ => Builder::new_multi_thread(),
        };
        // The observer is told by the same check.
        let observed: Arc<[AtomicU64; 5]> = Arc::default();
        let counts = Arc::clone(&observed);
        let count_event = move |event: &TaskEvent| {
            counts[event.kind as usize].fetch_add(1, Relaxed);
        };
        let runtime = builder
            .worker_threads(workers.max(1))
            .enable_all()
            .trace(TraceConfig::new())
            .on_task_event(count_event)
            .build()
            .unwrap();
        runtime.block_on(async {
            let tasks: Vec<_> = (0..100)
                .map(|number| {
                    rt::spawn(async move {
                        let inner = rt::spawn(rt::task::yield_now());
                        rt::time::sleep(Duration::from_millis(number % 3)).await;
                        inner.await.unwrap();
                    })
                })
                .collect();
            for task in tasks {
                task.await.unwrap();
            }
        });
        let polls = runtime.handle().metrics();
        let snapshot = snapshot_after(runtime);
        let events = all(&snapshot);
        let kinds = [Kind::Spawned, Kind::Polled, Kind::Pending, Kind::Woken, Kind::Completed];
        let recorded = kinds.map(|kind| count(&events, kind));
        assert_eq!(recorded, observed.each_ref().map(|count| count.load(Relaxed)), "{workers} workers");
        assert_eq!(recorded[0], 200);
        assert_eq!(recorded[4], 200);
        assert_eq!(recorded[1], recorded[2] + recorded[4], "each poll has an end");
        assert_eq!(recorded[1], polls.totals().polls);
        assert_eq!(snapshot.lost(), 0);
    }
}

#[test]
fn a_ring_keeps_the_last_events() {
    let _watchdog = watchdog();
    let runtime = Builder::new_current_thread().trace(TraceConfig::new().events(16)).build().unwrap();
    let mut last = None;
    for _ in 0..100 {
        last = Some(runtime.block_on(async {
            let task = rt::spawn(async {});
            let id = task.id();
            task.await.unwrap();
            id
        }));
    }
    let snapshot = snapshot_after(runtime);
    let kept = lane(&snapshot, "worker 0");
    assert!((1..=16).contains(&kept.len()), "{}", kept.len());
    let of_tasks: Vec<_> = kept.iter().filter_map(|event| Some((event.task?.id, event.kind))).collect();
    assert_eq!(of_tasks.last(), Some(&(last.unwrap(), Kind::Completed)));
}

#[test]
fn a_worker_that_is_stuck_is_seen_in_its_poll() {
    let _watchdog = watchdog();
    // Without spare workers: nobody moves.
    let runtime = multi(2);
    let trace = runtime.handle().trace();
    trace.start(TraceConfig::new());
    let gate = Gate::new();
    let blocks: Vec<_> = (0..2)
        .map(|_| {
            let gate = gate.clone();
            runtime.spawn(async move { gate.pass() })
        })
        .collect();
    gate.wait_for(2);
    let snapshot = trace.snapshot();
    let mut stuck = [0, 1].map(|number| {
        let events = lane(&snapshot, &format!("worker {number}"));
        let last = events.iter().rfind(|event| event.task.is_some()).unwrap();
        assert_eq!(last.kind, Kind::Polled);
        last.task.unwrap().id
    });
    stuck.sort();
    let mut expected: Vec<_> = blocks.iter().map(|block| block.id()).collect();
    expected.sort();
    assert_eq!(stuck, *expected);
    gate.open();
    blocks.into_iter().for_each(|block| runtime.block_on(block).unwrap());
}

#[test]
fn what_other_threads_do_is_in_lanes_of_their_own() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let trace = runtime.handle().trace();
        trace.start(TraceConfig::new());
        let signal = Signal::new();
        let task = runtime.spawn({
            let signal = signal.clone();
            async move { signal.wait().await }
        });
        let id = task.id();
        scope(|scope| {
            scope.spawn(|| {
                eventually(|| signal.waiters() == 1);
                signal.set();
            });
            runtime.block_on(task).unwrap();
        });
        let snapshot = snapshot_after(runtime);
        let is_worker = |name: &str| name.starts_with("worker") || name.starts_with("spare worker");
        assert!(snapshot.lanes().all(|lane| is_worker(lane.name()) || lane.events().count() > 0), "{snapshot:?}");
        let woken_in: Vec<_> = snapshot
            .lanes()
            .filter(|lane| lane.events().any(|event| event.task.is_some_and(|task| task.id == id)))
            .filter(|lane| lane.events().any(|event| matches!(event.kind, Kind::Woken | Kind::Spawned)))
            .collect();
        assert!(!woken_in.is_empty());
        assert!(woken_in.iter().all(|lane| lane.name().starts_with("other threads")), "{woken_in:?}");
        let polled = snapshot.lanes().filter(|lane| lane.events().any(|event| event.kind == Kind::Polled));
        assert!({ polled }.all(|lane| is_worker(lane.name())), "{snapshot:?}");
    });
}

#[test]
fn a_new_start_forgets_what_was_before() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let trace = runtime.handle().trace();
        // The same rings, then others, then the first ones again.
        for events in [64, 64, 1 << 10, 64] {
            trace.start(TraceConfig::new().events(events));
            let id = runtime.block_on(async {
                let task = rt::spawn(async {});
                let id = task.id();
                task.await.unwrap();
                id
            });
            trace.stop();
            let snapshot = trace.snapshot();
            let tasks = tasks_begun(&snapshot);
            assert!(!tasks.is_empty() && tasks.iter().all(|&task| task == id), "{id} {tasks:?}");
            let recorded = all(&snapshot).len();
            assert!(all(&snapshot.last(Duration::ZERO)).len() < recorded);
        }
    });
}

#[test]
fn snapshots_are_whole_while_the_runtime_goes_on() {
    let _watchdog = watchdog();
    let runtime = multi(2);
    let trace = runtime.handle().trace();
    trace.start(TraceConfig::new().events(64));
    let stop = Signal::new();
    let spinning: Vec<_> = (0..4)
        .map(|_| {
            let stop = stop.clone();
            runtime.spawn(async move {
                while !stop.is_set() {
                    rt::spawn(rt::task::yield_now()).await.unwrap();
                }
            })
        })
        .collect();
    for _ in 0..200 {
        for lane in trace.snapshot().lanes() {
            let events: Vec<_> = lane.events().collect();
            assert!(events.iter().map(|event| event.at).is_sorted(), "{events:?}");
            // A poll ends before the next one begins, and it is the same task's.
            let mut open = None;
            for event in events.iter().filter(|event| lane.name().starts_with("worker") && event.task.is_some()) {
                let id = event.task.unwrap().id;
                match event.kind {
                    Kind::Polled => assert_eq!(open.replace(id), None, "{events:?}"),
                    Kind::Pending | Kind::Completed => assert!(open.take().is_none_or(|open| open == id), "{events:?}"),
                    _ => {}
                }
            }
        }
    }
    stop.set();
    spinning.into_iter().for_each(|task| runtime.block_on(task).unwrap());
}

#[test]
fn a_snapshot_counts_no_more_than_its_time() {
    let _watchdog = watchdog();
    let runtime = current();
    let trace = runtime.handle().trace();
    let before = std::time::Instant::now();
    trace.start(TraceConfig::default());
    let snapshot = trace.snapshot();
    let after = std::time::Instant::now();
    // The clocks are compared to within microseconds; a millisecond is beyond doubt.
    let slack = Duration::from_millis(1);
    assert!(before <= snapshot.started() + slack && snapshot.started() <= after + slack);
    assert!(snapshot.duration() <= after - before + slack);
    trace.stop();
    let (one, other) = (trace.snapshot().duration(), trace.snapshot().duration());
    assert!(one.abs_diff(other) <= slack, "it has ended");
}

#[test]
fn whoever_holds_it_sees_that_span_of_time_and_leaves_it_as_it_was() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let trace = runtime.handle().trace();
        let run_a_task = || {
            runtime.block_on(async {
                let task = rt::spawn(async {});
                let id = task.id();
                task.await.unwrap();
                id
            })
        };
        let tasks = |snapshot: &TraceSnapshot| tasks_begun(snapshot).into_iter().collect::<HashSet<_>>();
        // Off before, and off afterwards; two at once do not disturb each other.
        run_a_task();
        let first = trace.hold(TraceConfig::new());
        let in_first = run_a_task();
        let second = trace.hold(TraceConfig::new().events(16));
        assert!(tasks(&second.snapshot()).is_empty());
        let in_both = run_a_task();
        assert_eq!(tasks(&second.snapshot()), HashSet::from([in_both]));
        drop(second);
        assert!(trace.is_running());
        let in_first_too = run_a_task();
        assert_eq!(tasks(&first.snapshot()), HashSet::from([in_first, in_both, in_first_too]));
        drop(first);
        assert!(!trace.is_running());
        run_a_task();
        // On before, and on afterwards.
        assert!(trace.start(TraceConfig::new()));
        let before = run_a_task();
        let hold = trace.hold(TraceConfig::new());
        let meanwhile = run_a_task();
        assert_eq!(tasks(&hold.snapshot()), HashSet::from([meanwhile]));
        drop(hold);
        assert!(trace.is_running());
        assert_eq!(tasks(&trace.snapshot()), HashSet::from([before, meanwhile]));
        assert!(trace.stop());
    });
}

/// How long the longest poll of a task took.
fn longest_poll(snapshot: &TraceSnapshot) -> Duration {
    let mut longest = Duration::ZERO;
    for lane in snapshot.lanes() {
        let mut begun = None;
        for event in lane.events() {
            match event.kind {
                Kind::Polled => begun = Some(event.at),
                Kind::Pending | Kind::Completed => {
                    longest = longest.max(begun.take().map_or(Duration::ZERO, |begun| event.at - begun));
                }
                _ => {}
            }
        }
    }
    longest
}

/// Longer than any poll of the tasks below takes.
const LONG: Duration = Duration::from_millis(50);

/// Takes long, the first times.
fn long() -> impl Fn() + Send + Sync + 'static {
    let calls = AtomicU64::new(0);
    move || {
        if calls.fetch_add(1, Relaxed) < 3 {
            std::thread::sleep(LONG);
        }
    }
}

/// Checks that no poll of a task was long. On a machine that is busy one may be: then once more.
#[track_caller]
fn no_poll_is_long(prepare: impl Fn(&mut Builder), run: impl AsyncFn()) {
    let _watchdog = watchdog();
    for make in [Builder::new_current_thread, Builder::new_multi_thread] {
        eventually(|| {
            let mut builder = make();
            // What takes long holds its worker up, and nobody comes to its aid.
            builder.worker_threads(1).max_spare_workers(0).on_blocked(|_| ());
            prepare(builder.enable_all().trace(TraceConfig::new()));
            let runtime = builder.build().unwrap();
            runtime.block_on(run());
            longest_poll(&snapshot_after(runtime)) < LONG
        });
    }
}

async fn sleep_in_tasks() {
    for _ in 0..5 {
        rt::spawn(rt::time::sleep(Duration::from_millis(1))).await.unwrap();
    }
}

#[test]
fn a_hook_that_is_called_after_a_sleep_is_no_part_of_the_next_poll() {
    let prepare = |builder: &mut Builder| {
        builder.on_thread_unpark(long());
    };
    no_poll_is_long(prepare, sleep_in_tasks);
}

#[test]
fn a_hook_that_is_called_after_a_poll_is_no_part_of_the_next_one() {
    let prepare = |builder: &mut Builder| {
        let hook = long();
        builder.on_after_task_poll(move |_| hook());
    };
    no_poll_is_long(prepare, async || {
        let tasks = [(); 3].map(|()| rt::spawn(sleep_in_tasks()));
        for task in tasks {
            task.await.unwrap();
        }
    });
}

#[test]
fn a_waker_that_the_drivers_call_is_no_part_of_the_next_poll() {
    /// Calls it when it is woken.
    struct Calls<F>(F);
    impl<F: Fn() + Send + Sync> Wake for Calls<F> {
        fn wake(self: Arc<Self>) {
            (self.0)();
        }
    }
    let prepare = |_: &mut Builder| ();
    // With a task that gives way the drivers are polled between polls, and else when the thread sleeps.
    for is_busy in [false, true] {
        no_poll_is_long(prepare, async || {
            let waker = Waker::from(Arc::new(Calls(long())));
            let sleep_between_others = async move {
                for _ in 0..5 {
                    let at = rt::time::Instant::now() + Duration::from_millis(1);
                    let mut sleeps = [(); 3].map(|()| Box::pin(rt::time::sleep_until(at)));
                    let [before, own, after] = &mut sleeps;
                    _ = before.as_mut().poll(&mut Context::from_waker(&waker));
                    // Ready, if more than 1 ms went by: then nothing calls the waker, and the next round does.
                    _ = poll_once(own.as_mut()).await;
                    _ = after.as_mut().poll(&mut Context::from_waker(&waker));
                    own.await;
                }
            };
            let busy = is_busy.then(|| {
                rt::spawn(async {
                    loop {
                        rt::task::yield_now().await;
                    }
                })
            });
            rt::spawn(sleep_between_others).await.unwrap();
            busy.inspect(|task: &rt::task::JoinHandle<()>| task.abort());
        });
    }
}

#[test]
fn a_hook_that_is_called_before_a_sleep_that_comes_to_nothing_is_no_part_of_the_next_poll() {
    let prepare = |builder: &mut Builder| {
        // It has something to run, and does not sleep.
        builder.on_thread_park(|| drop(rt::spawn(async {})));
        builder.on_thread_unpark(long());
    };
    no_poll_is_long(prepare, sleep_in_tasks);
}

#[test]
fn a_snapshot_goes_to_other_threads() {
    fn goes<T: Send + Sync + 'static>() {}
    goes::<TraceSnapshot>();
    goes::<rt::runtime::trace::Trace>();
    goes::<rt::runtime::trace::TraceHold>();
}

#[test]
fn to_hold_it_does_not_hold_the_runtime() {
    let _watchdog = watchdog();
    let runtime = multi(1);
    let hold = runtime.handle().trace().hold(TraceConfig::new());
    let weight = Arc::new(());
    let kept = weight.clone();
    runtime.spawn(async move {
        let _kept = kept;
        std::future::pending::<()>().await;
    });
    drop(runtime);
    assert_eq!(Arc::strong_count(&weight), 1);
    assert!(all(&hold.snapshot()).iter().any(|event| event.kind == Kind::Completed));
}
