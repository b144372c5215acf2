//! I4, for tasks from outside, which come by the injector: they wait for few polls, however long these are, and leave
//! the worker's own tasks half of the polls, however many they are. Tasks that wait in the injector together take turns
//! in their order.
//!
//! Mutations that these tests are for: a turn for the injector that is bounded in ticks only; a lone task that yields
//! past it; injected tasks put on the LIFO lane, or behind those that have yielded; a turn at every tick; tasks that
//! have given way and get half of the ticks all the same.

use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rt::runtime::{Builder, Handle, Runtime, RuntimeFlavor};
use rt_test_util::*;

/// Spawns from outside, has nothing run before all of it is spawned, and then drives the runtime until a task is done
/// that was spawned last.
fn spawn_together(runtime: &Runtime, spawn: impl FnOnce()) {
    let (gate, last) = (Gate::new(), Signal::new());
    let is_multi = runtime.handle().runtime_flavor() == RuntimeFlavor::MultiThread;
    if is_multi {
        let held = gate.clone();
        runtime.spawn(async move { held.pass() });
        gate.wait_for(1);
    }
    spawn();
    let done = last.clone();
    runtime.spawn(async move { done.set() });
    gate.open();
    runtime.block_on(last.wait());
}

/// On new runtimes, which have not measured yet how long polls take: on a busy machine any may seem long.
fn each_with_one_thread(test: impl Fn(&Runtime)) {
    test(&current());
    test(&multi(1));
}

#[test]
fn i4_tasks_that_were_spawned_together_from_outside_take_turns_in_their_order() {
    let _watchdog = watchdog();
    for tasks in [2, 3, 10, 30] {
        for rounds in [1, 2, 5] {
            each_with_one_thread(|runtime| {
                let log = Arc::new(Mutex::new(Vec::new()));
                let done = Arc::new(AtomicUsize::new(0));
                spawn_together(runtime, || {
                    for number in 1..=tasks {
                        let (log, done) = (log.clone(), done.clone());
                        runtime.spawn(async move {
                            for _ in 0..rounds {
                                log.lock().push(number);
                                rt::task::yield_now().await;
                            }
                            done.fetch_add(1, SeqCst);
                        });
                    }
                });
                runtime.block_on(async {
                    while done.load(SeqCst) < tasks {
                        yield_by_hand().await;
                    }
                });
                let expected: Vec<_> = (0..rounds).flat_map(|_| 1..=tasks).collect();
                assert_eq!(*log.lock(), expected, "{tasks} tasks");
            });
        }
    }
}

#[test]
fn i4_the_steps_of_two_tasks_from_outside_alternate() {
    let _watchdog = watchdog();
    each_with_one_thread(|runtime| {
        let log = Arc::new(Mutex::new(String::new()));
        spawn_together(runtime, || {
            for steps in ["abc", "xyz"] {
                let log = log.clone();
                runtime.spawn(async move {
                    for step in steps.chars() {
                        log.lock().push(step);
                        yield_by_hand().await;
                    }
                });
            }
        });
        runtime.block_on(async {
            while log.lock().len() < 6 {
                yield_by_hand().await;
            }
        });
        assert_eq!(*log.lock(), "axbycz");
    });
}

#[test]
fn i4_tasks_spawned_before_block_on_run_before_those_of_the_main_future() {
    let _watchdog = watchdog();
    let (runtime, log) = (current(), Arc::new(Mutex::new(Vec::new())));
    let note = |number| {
        let log = log.clone();
        async move { log.lock().push(number) }
    };
    (1..=3).for_each(|number| drop(runtime.spawn(note(number))));
    runtime.block_on(async {
        (4..=6).for_each(|number| drop(rt::spawn(note(number))));
        while log.lock().len() < 6 {
            yield_by_hand().await;
        }
    });
    assert_eq!(*log.lock(), [1, 2, 3, 4, 5, 6]);
}

#[test]
fn i4_tasks_that_give_way_have_a_turn_for_each_batch_from_outside_and_not_for_each_task() {
    const TASKS: usize = 3000;
    let _watchdog = watchdog();
    each_with_one_thread(|runtime| {
        let (turns, end) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let counts = Arc::new(Mutex::new(Vec::new()));
        spawn_together(runtime, || {
            for _ in 0..2 {
                let (turns, end) = (turns.clone(), end.clone());
                runtime.spawn(async move {
                    while !end.load(SeqCst) {
                        turns.fetch_add(1, SeqCst);
                        rt::task::yield_now().await;
                    }
                });
            }
            for _ in 0..TASKS {
                let (counts, turns) = (counts.clone(), turns.clone());
                runtime.spawn(async move { counts.lock().push(turns.load(SeqCst)) });
            }
        });
        end.store(true, SeqCst);
        let counts = counts.lock();
        assert_eq!(counts.len(), TASKS);
        let turns = counts[TASKS - 1] - counts[0];
        assert!(turns <= TASKS / 4, "{turns} turns");
        // They are not starved, either. (A current-thread runtime has queued all of it before it begins.)
        if runtime.handle().runtime_flavor() != RuntimeFlavor::CurrentThread {
            assert!(turns >= TASKS / 100, "{turns} turns");
        }
    });
}

/// Tasks that compute for 100 us at each poll, and count the polls.
#[derive(Clone, Default)]
struct Burners {
    polls: Arc<AtomicUsize>,
    end: Arc<AtomicBool>,
}

impl Burners {
    async fn burn(self, by_hand: bool) {
        while !self.end.load(SeqCst) {
            self.polls.fetch_add(1, SeqCst);
            let start = Instant::now();
            while start.elapsed() < Duration::from_micros(100) {
                std::hint::spin_loop();
            }
            if by_hand { yield_by_hand().await } else { rt::task::yield_now().await }
        }
    }

    fn polls(&self) -> usize {
        self.polls.load(SeqCst)
    }
}

/// Beside `tasks` tasks that compute: the most polls of theirs that a task spawned from outside waits for, and that a
/// task woken from outside waits for.
fn longest_waits(handle: &Handle, tasks: usize, by_hand: bool) -> (usize, usize) {
    let burners = Burners::default();
    for _ in 0..tasks {
        handle.spawn(burners.clone().burn(by_hand));
    }
    // Enough for the longest interval to have ended, and another one.
    eventually(|| burners.polls() > 130);

    // The count after the task is queued: before that, any number may pass while this thread waits for a processor.
    let mut spawned = 0;
    for _ in 0..20 {
        let polled_at = Arc::new(AtomicUsize::new(0));
        let (polls, at) = (burners.clone(), polled_at.clone());
        let task = handle.spawn(async move { at.store(polls.polls(), SeqCst) });
        let queued_at = burners.polls();
        eventually(|| task.is_finished());
        spawned = spawned.max(polled_at.load(SeqCst).saturating_sub(queued_at));
    }

    let (messages, answered) = (Channel::<()>::new(), Arc::new(AtomicUsize::new(0)));
    let polled_at = Arc::new(AtomicUsize::new(0));
    handle.spawn({
        let (messages, answered, polls, at) = (messages.clone(), answered.clone(), burners.clone(), polled_at.clone());
        async move {
            loop {
                messages.receive().await;
                at.store(polls.polls(), SeqCst);
                answered.fetch_add(1, SeqCst);
            }
        }
    });
    let mut woken = 0;
    for message in 1..=20 {
        // On its one thread the task's poll is over when another one begins. (A task that is woken in its poll does not
        // come from outside.)
        let before = burners.polls();
        eventually(|| burners.polls() > before);
        messages.send(());
        let queued_at = burners.polls();
        eventually(|| answered.load(SeqCst) == message);
        woken = woken.max(polled_at.load(SeqCst).saturating_sub(queued_at));
    }
    burners.end.store(true, SeqCst);
    (spawned, woken)
}

#[test]
fn i4_what_comes_from_outside_waits_for_few_polls_if_these_are_long() {
    let _watchdog = watchdog();
    for (tasks, by_hand) in [(1, false), (2, true), (20, false)] {
        let runtime = multi(1);
        let waits = longest_waits(runtime.handle(), tasks, by_hand);
        assert!(waits.0 <= 2 && waits.1 <= 2, "{waits:?} polls of {tasks} tasks on a worker");

        let runtime = current();
        let (handle, end) = (runtime.handle().clone(), Signal::new());
        let waits = scope(|scope| {
            let outside = scope.spawn({
                let end = end.clone();
                move || {
                    let waits = longest_waits(&handle, tasks, by_hand);
                    end.set();
                    waits
                }
            });
            runtime.block_on(end.wait());
            outside.join().unwrap()
        });
        assert!(waits.0 <= 2 && waits.1 <= 2, "{waits:?} polls of {tasks} tasks on a current-thread runtime");
    }
}

fn with_interval(mut builder: Builder, interval: u32) -> Runtime {
    builder.worker_threads(1).global_queue_interval(interval).rescue_blocked(false).enable_all().build().unwrap()
}

fn each_with_interval(interval: u32, test: impl Fn(Runtime)) {
    test(with_interval(Builder::new_current_thread(), interval));
    test(with_interval(Builder::new_multi_thread(), interval));
}

/// Spawns tasks from another thread.
fn spawn_elsewhere(tasks: usize, ran: &Arc<AtomicUsize>) {
    let (handle, ran) = (Handle::current(), ran.clone());
    let spawner = std::thread::spawn(move || {
        for _ in 0..tasks {
            let ran = ran.clone();
            handle.spawn(async move { _ = ran.fetch_add(1, SeqCst) });
        }
    });
    spawner.join().unwrap();
}

#[test]
fn i4_tasks_of_the_worker_have_half_of_the_polls_whatever_the_injectors_interval() {
    let _watchdog = watchdog();
    for interval in [1, 2, 3, 61, u32::MAX] {
        each_with_interval(interval, |runtime| {
            const ROUNDS: usize = 500;
            let ran = Arc::new(AtomicUsize::new(0));
            let others = ran.clone();
            // In its first poll the injector is filled, so that it does not run dry meanwhile.
            let task = async move {
                spawn_elsewhere(10 * ROUNDS, &others);
                (0..2).for_each(|_| drop(rt::spawn(async {})));
                for _ in 0..ROUNDS {
                    yield_by_hand().await;
                }
                others.load(SeqCst)
            };
            let before = runtime.block_on(async { rt::spawn(task).await.unwrap() });
            // Those that are polled while this one is alone are a batch at most.
            assert!(before <= ROUNDS + 64, "{before} others, interval {interval}");
            runtime.block_on(async {
                while ran.load(SeqCst) < 10 * ROUNDS {
                    yield_by_hand().await;
                }
            });
        });
    }
}

#[test]
fn i4_what_comes_from_outside_has_its_turn_whatever_the_injectors_interval() {
    let _watchdog = watchdog();
    for interval in [1, 61, u32::MAX] {
        each_with_interval(interval, |runtime| {
            for tasks in [1, 2] {
                let ran = Arc::new(AtomicUsize::new(0));
                let yielders: Vec<_> = (0..tasks)
                    .map(|_| {
                        let ran = ran.clone();
                        async move {
                            while ran.load(SeqCst) == 0 {
                                yield_by_hand().await;
                            }
                        }
                    })
                    .collect();
                runtime.block_on(async {
                    let yielders: Vec<_> = yielders.into_iter().map(rt::spawn).collect();
                    // Let them begin, so that no worker is without a task when the other one comes.
                    yield_by_hand().await;
                    spawn_elsewhere(1, &ran);
                    for yielder in yielders {
                        yielder.await.unwrap();
                    }
                });
            }
        });
    }
}
