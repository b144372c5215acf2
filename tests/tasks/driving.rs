//! `run`, `try_tick` and `run_until_stalled`: driving a runtime without a future of one's own.
//!
//! Mutations that these tests are for: a `run` that returns before a task of a task has ended, or does not hear of the
//! last end; a step that polls two tasks, waits, or does not look at the drivers; a wake between two steps that is
//! lost.

use std::cell::RefCell;
use std::future::{pending, poll_fn};
use std::io::Write;
use std::panic::Location;
use std::pin::pin;
use std::rc::Rc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Barrier};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;
use rt::io::AsyncReadExt;
use rt::runtime::{Builder, LocalRuntime, Runtime};
use rt::time::{self, Instant};
use rt_test_util::*;

/// Spawns a tree of tasks, each of which ends before its children do, and counts them.
fn grow(depth: usize, count: Arc<AtomicUsize>) {
    for _ in 0..2 {
        let count = count.clone();
        rt::spawn(async move {
            rt::task::yield_now().await;
            if depth > 0 {
                grow(depth - 1, count.clone());
            }
            count.fetch_add(1, SeqCst);
        });
    }
}

#[test]
fn run_waits_for_the_tasks_of_tasks() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.run();
        for round in 1..=20 {
            let count = Arc::new(AtomicUsize::new(0));
            let root = runtime.spawn({
                let count = count.clone();
                async move { grow(6, count) }
            });
            runtime.run();
            assert_eq!(count.load(SeqCst), 254, "in round {round}");
            assert!(root.is_finished());
            runtime.block_on(async { grow(0, count.clone()) });
            runtime.run();
            assert_eq!(count.load(SeqCst), 256, "in round {round}");
            assert_eq!(runtime.metrics().num_alive_tasks(), 0);
        }
        runtime.run();
        assert_unhurt(&runtime);
    });
}

#[test]
fn run_ends_after_timers_panics_aborts_and_jobs_that_tasks_wait_for() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let gate = Arc::new(Gate::new());
        let (opened, closed) = (Signal::new(), gate.clone());
        let handles = [
            runtime.spawn(async { time::sleep(Duration::from_millis(3)).await }),
            runtime.spawn(async { panic!("in a task") }),
            runtime.spawn(pending()),
            runtime.spawn({
                let opened = opened.clone();
                async move { opened.wait().await }
            }),
        ];
        handles[2].abort();
        let job = runtime.spawn(runtime.spawn_blocking(move || {
            closed.pass();
            opened.set();
        }));
        let opener = thread::spawn(move || gate.open());
        runtime.run();
        assert!(handles.iter().all(|handle| handle.is_finished()) && job.is_finished());
        opener.join().unwrap();
        let [slept, panicked, aborted, waited] = handles.map(|handle| runtime.block_on(handle));
        slept.unwrap();
        assert!(panicked.unwrap_err().is_panic());
        assert!(aborted.unwrap_err().is_cancelled());
        waited.unwrap();
        runtime.block_on(job).unwrap().unwrap();
    });
}

/// Tasks that end on spare workers, which come and go, and in the hands of workers that have blocked in place.
#[test]
fn run_hears_of_what_ends_on_spare_workers() {
    let _watchdog = watchdog();
    let runtime = rescuing(2).build().unwrap();
    for _ in 0..10 {
        // None of them goes on before all are there.
        let barrier = Arc::new(Barrier::new(6));
        let tasks: Vec<_> = (0..6)
            .map(|n| {
                let barrier = barrier.clone();
                runtime.spawn(async move {
                    rt::task::yield_now().await;
                    let leads = if n % 2 == 0 {
                        barrier.wait().is_leader()
                    } else {
                        rt::task::block_in_place(|| barrier.wait().is_leader())
                    };
                    rt::task::yield_now().await;
                    leads
                })
            })
            .collect();
        runtime.run();
        assert!(tasks.iter().all(|task| task.is_finished()));
    }
}

/// A job by itself is not waited for: it begins after `run` has come back.
#[test]
fn run_does_not_wait_for_a_job_alone() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let gate = Arc::new(Gate::new());
        let closed = gate.clone();
        let job = runtime.spawn_blocking(move || closed.pass());
        runtime.run();
        assert!(!job.is_finished());
        gate.open();
        runtime.block_on(job).unwrap();
    });
}

/// Several threads wait, while others spawn and one drives.
#[test]
fn many_may_run_at_once() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let count = Arc::new(AtomicUsize::new(0));
        scope(|scope| {
            for _ in 0..4 {
                let (runtime, count) = (&runtime, count.clone());
                scope.spawn(move || {
                    for _ in 0..50 {
                        let own = runtime.spawn({
                            let count = count.clone();
                            async move {
                                rt::task::yield_now().await;
                                grow(0, count);
                            }
                        });
                        runtime.run();
                        assert!(own.is_finished(), "it was spawned before the call");
                    }
                });
            }
        });
        runtime.run();
        assert_eq!(count.load(SeqCst), 400);
    });
}

/// A future in `block_on` that keeps the one thread busy for ever does not keep the end of all tasks secret.
#[test]
fn run_hears_of_the_end_beside_a_main_future_that_yields_for_ever() {
    let _watchdog = watchdog();
    let runtime = current();
    let (driving, heard) = (Signal::new(), Signal::new());
    scope(|scope| {
        let driver = scope.spawn({
            let (runtime, driving, heard) = (&runtime, driving.clone(), heard.clone());
            move || {
                runtime.block_on(async {
                    rt::spawn(async move { driving.wait().await });
                    while !heard.is_set() {
                        rt::task::yield_now().await;
                    }
                });
            }
        });
        eventually(|| driving.waiters() == 1);
        let waiting = scope.spawn(|| runtime.run());
        driving.set();
        waiting.join().unwrap();
        heard.set();
        driver.join().unwrap();
    });
}

/// Notes each of its polls.
fn noting(log: &Arc<Mutex<Vec<(char, usize)>>>, name: char, polls: usize) -> impl Future<Output = ()> + use<> {
    let (log, mut done) = (log.clone(), 0);
    poll_fn(move |cx| {
        log.lock().push((name, done));
        done += 1;
        if done == polls {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
}

#[test]
fn a_step_polls_one_task_in_the_order_of_block_on() {
    let _watchdog = watchdog();
    let (runtime, log) = (current(), Arc::new(Mutex::new(Vec::new())));
    runtime.spawn(noting(&log, 'a', 3));
    runtime.spawn(noting(&log, 'b', 1));
    let panics = runtime.spawn(async { panic!("a poll like any other") });
    let expected = [('a', 0), ('b', 0), ('a', 1), ('a', 2)];
    assert!(runtime.try_tick());
    assert_eq!(*log.lock(), expected[..1]);
    assert!(runtime.try_tick() && runtime.try_tick());
    assert_eq!(*log.lock(), expected[..2]);
    assert!(panics.is_finished());
    assert_eq!(runtime.run_until_stalled(), 2);
    assert_eq!(*log.lock(), expected);
    assert!(!runtime.try_tick());
    assert_eq!(runtime.run_until_stalled(), 0);
    assert_eq!(runtime.metrics().totals().polls, 5);
}

#[test]
fn what_other_threads_wake_and_spawn_between_steps_is_there_at_the_next() {
    let _watchdog = watchdog();
    for runtime in [current()] {
        for _ in 0..200 {
            let signal = Signal::new();
            let waits = runtime.spawn({
                let signal = signal.clone();
                async move { signal.wait().await }
            });
            assert_eq!(runtime.run_until_stalled(), 1);
            let handle = runtime.handle().clone();
            let waking = thread::spawn(move || {
                signal.set();
                handle.spawn(async {})
            });
            // Beside the wake, which may come at any moment.
            let beside = runtime.run_until_stalled();
            let spawned = waking.join().unwrap();
            assert_eq!(beside + runtime.run_until_stalled(), 2);
            assert!(waits.is_finished() && spawned.is_finished());
        }
    }
}

#[test]
fn what_sockets_and_timers_have_ready_counts_at_once() {
    let _watchdog = watchdog();
    let runtime = current();
    let (mut ours, theirs) = runtime.block_on(tcp_pair());
    let mut theirs = theirs.into_std().unwrap();
    let reads = runtime.spawn(async move { ours.read_u8().await.unwrap() });
    assert_eq!(runtime.run_until_stalled(), 1);
    theirs.write_all(&[7]).unwrap();
    // The system may take a moment to bring it; the runtime none to hand it on.
    eventually(|| runtime.try_tick());
    assert!(reads.is_finished());
    assert_eq!(runtime.block_on(reads).unwrap(), 7);

    let paused = Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    let start = {
        let _guard = paused.enter();
        Instant::now()
    };
    let ticks = Arc::new(AtomicUsize::new(0));
    paused.spawn({
        let ticks = ticks.clone();
        async move {
            loop {
                time::sleep(Duration::from_secs(1)).await;
                ticks.fetch_add(1, SeqCst);
            }
        }
    });
    assert_eq!(paused.run_until_stalled(), 1);
    for second in 1..=5 {
        // One poll moves the clock, and lets nothing run: the task goes its step when it is told to.
        {
            let _guard = paused.enter();
            let advance = pin!(time::advance(Duration::from_secs(1)));
            assert!(advance.poll(&mut Context::from_waker(Waker::noop())).is_pending());
            assert_eq!(start.elapsed(), Duration::from_secs(second as u64));
        }
        assert_eq!(ticks.load(SeqCst), second - 1);
        assert!(paused.try_tick());
        assert_eq!(ticks.load(SeqCst), second);
        assert!(!paused.try_tick(), "time passes by itself");
    }
}

#[test]
fn a_local_runtime_is_driven_by_hand_too() {
    let _watchdog = watchdog();
    let runtime = LocalRuntime::new().unwrap();
    let log = Rc::new(RefCell::new(Vec::new()));
    let spawn = |name: &'static str| {
        let log = log.clone();
        runtime.spawn_local(async move {
            log.borrow_mut().push(name);
            rt::task::yield_now().await;
            let inner = log.clone();
            rt::spawn_local(async move { inner.borrow_mut().push("inner") });
        });
    };
    spawn("first");
    assert!(runtime.try_tick());
    assert_eq!(*log.borrow(), ["first"]);
    spawn("second");
    assert_eq!(runtime.run_until_stalled(), 5);
    assert_eq!(*log.borrow(), ["first", "second", "inner", "inner"]);
    spawn("third");
    runtime.run();
    assert_eq!(log.borrow().len(), 6);
    assert_eq!(runtime.metrics().num_alive_tasks(), 0);
}

/// Another thread has the core: there is nothing to do here, and nothing to wait for.
#[test]
fn single_steps_leave_a_task_that_gives_way_its_turn_in_each_round() {
    let _watchdog = watchdog();
    let runtime = current();
    let turns = Arc::new(AtomicUsize::new(0));
    let pair = [(); 2].map(|()| Arc::new(rt::sync::Notify::new()));
    for n in 0..2 {
        let (mine, other) = (pair[n].clone(), pair[1 - n].clone());
        runtime.spawn(rt::task::unconstrained(async move {
            loop {
                mine.notified().await;
                other.notify_one();
            }
        }));
    }
    pair[0].notify_one();
    let theirs = turns.clone();
    runtime.spawn(async move {
        loop {
            theirs.fetch_add(1, SeqCst);
            rt::task::yield_now().await;
        }
    });
    (0..61 * 100).for_each(|_| assert!(runtime.try_tick()));
    assert!((99..=101).contains(&turns.load(SeqCst)), "{turns:?}");
}

#[test]
fn steps_do_nothing_while_another_thread_drives() {
    let _watchdog = watchdog();
    let runtime = current();
    let (inside, leave) = (Signal::new(), Signal::new());
    scope(|scope| {
        let driver = scope.spawn({
            let (runtime, inside, leave) = (&runtime, inside.clone(), leave.clone());
            move || {
                runtime.block_on(async {
                    inside.set();
                    leave.wait().await;
                });
            }
        });
        eventually(|| inside.is_set());
        assert!(!runtime.try_tick());
        assert_eq!(runtime.run_until_stalled(), 0);
        leave.set();
        driver.join().unwrap();
    });
    runtime.spawn(async {});
    assert!(runtime.try_tick());
}

#[test]
fn misuse_says_what_to_do_and_where() {
    let _watchdog = watchdog();
    let workers = multi(1);
    let calls: [fn(&Runtime); 3] = [|it| it.run(), |it| _ = it.try_tick(), |it| _ = it.run_until_stalled()];
    for (name, call) in ["run", "try_tick", "run_until_stalled"].into_iter().zip(calls) {
        if name != "run" {
            let caught = catch(|| call(&workers));
            assert!(caught.message.starts_with(&format!("`{name}` needs a current-thread runtime")), "{caught:?}");
            assert_eq!(caught.file, Location::caller().file());
        }
        let runtime = current();
        let caught = catch(|| runtime.block_on(async { call(&runtime) }));
        assert!(caught.message.starts_with(&format!("`{name}` was called inside a runtime")), "{caught:?}");
        // There is no future of which it could say that it is to be awaited.
        assert!(caught.message.ends_with("code that is not async, or in `spawn_blocking`"), "{caught:?}");
        assert_eq!(caught.file, Location::caller().file());
        assert_unhurt(&runtime);
    }
    assert_unhurt(&workers);
}
