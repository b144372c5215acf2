//! Workers beyond the processors: they stay asleep while the others get on with the work, and get up when the others do not.

use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;
use rt::runtime::Runtime;
use rt::task::{JoinHandle, block_in_place, yield_now};

use crate::common::*;
use crate::{builder, runtime};

/// So many workers more than processors.
const EXCESS: usize = 6;

fn polls(runtime: &Runtime) -> Vec<u64> {
    let metrics = runtime.metrics();
    (0..metrics.num_workers()).map(|worker| metrics.worker(worker).unwrap().polls).collect()
}

fn join_all(runtime: &Runtime, tasks: Vec<JoinHandle<()>>) {
    runtime.block_on(async {
        for task in tasks {
            task.await.unwrap();
        }
    });
}

/// Has so many tasks yield again and again, and tells how many workers poll them.
fn workers_at_work(runtime: &Runtime, tasks: usize, at_least_polls: u64) -> usize {
    let end = Arc::new(AtomicBool::new(false));
    let before = polls(runtime);
    let tasks = (0..tasks).map(|_| {
        let end = Arc::clone(&end);
        runtime.spawn(async move {
            while !end.load(Relaxed) {
                yield_now().await;
            }
        })
    });
    let tasks = tasks.collect();
    let enough = before.iter().sum::<u64>() + at_least_polls;
    eventually(|| polls(runtime).iter().sum::<u64>() >= enough);
    let at_work = polls(runtime).iter().zip(before).filter(|&(&after, before)| after > before).count();
    end.store(true, Relaxed);
    join_all(runtime, tasks);
    at_work
}

/// For each of these tests, before its time begins to run: to all others it is something else that the machine has to do, and two
/// of them can keep each other from ever seeing a quiet one.
static ALONE: Mutex<()> = Mutex::new(());

/// On a machine that has something else to do, more may be called up than are needed, until that is over. Where the system does
/// not tell what its threads do, all are.
fn eventually_no_more_than_processors_are_up(runtime: &Runtime) {
    if !Path::new("/proc/self/schedstat").exists() {
        return;
    }
    let processors = processors();
    eventually(|| workers_at_work(runtime, 4 * (processors + EXCESS), 100_000) <= processors);
}

/// Has so many tasks sleep for a moment and yield, again and again, until so many have slept at once: long before a worker is
/// taken to be blocked.
fn sleep_until_at_once(runtime: &Runtime, tasks: usize, wanted: usize) {
    let (at_once, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let tasks = (0..tasks).map(|_| {
        let (at_once, most) = (Arc::clone(&at_once), Arc::clone(&most));
        runtime.spawn(async move {
            while most.load(Relaxed) < wanted {
                most.fetch_max(at_once.fetch_add(1, Relaxed) + 1, Relaxed);
                thread::sleep(Duration::from_micros(300));
                at_once.fetch_sub(1, Relaxed);
                yield_now().await;
            }
        })
    });
    let tasks = tasks.collect();
    join_all(runtime, tasks);
}

#[test]
fn no_more_are_up_than_there_are_processors_until_tasks_block_for_a_moment() {
    let _alone = ALONE.lock();
    let _watchdog = watchdog();
    let workers = processors() + EXCESS;
    let runtime = runtime(workers);
    // When they start all are up.
    eventually_no_more_than_processors_are_up(&runtime);
    sleep_until_at_once(&runtime, 2 * workers, workers - EXCESS / 2);
}

/// Each worker has one task at hand and one at most that waits, which is no surplus.
#[test]
fn one_more_is_up_when_one_task_waits_behind_others_that_block_for_a_moment() {
    let _alone = ALONE.lock();
    let _watchdog = watchdog();
    let processors = processors();
    let runtime = runtime(processors + EXCESS);
    eventually_no_more_than_processors_are_up(&runtime);
    sleep_until_at_once(&runtime, processors + 1, processors + 1);
}

/// Each task goes on until as many have begun as there are workers. There are more tasks than that, because the last one on
/// the lanes of a worker in a long poll is left to the help for blocked workers, which there is none of here.
fn all_come_while_tasks(pause: fn()) {
    let workers = processors() + EXCESS;
    let runtime = builder(workers).0.blocked_threshold(Duration::from_secs(3600)).build().unwrap();
    eventually_no_more_than_processors_are_up(&runtime);
    let begun = Arc::new(AtomicUsize::new(0));
    let tasks = (0..8 * workers).map(|_| {
        let begun = Arc::clone(&begun);
        runtime.spawn(async move {
            begun.fetch_add(1, Relaxed);
            while begun.load(Relaxed) < workers {
                pause();
            }
        })
    });
    let tasks = tasks.collect();
    join_all(&runtime, tasks);
}

#[test]
fn all_are_up_when_their_tasks_wait_for_each_other() {
    let _alone = ALONE.lock();
    let _watchdog = watchdog();
    all_come_while_tasks(|| thread::sleep(Duration::from_millis(10)));
}

#[test]
fn all_are_up_when_their_tasks_compute_until_others_have_run() {
    let _alone = ALONE.lock();
    let _watchdog = watchdog();
    all_come_while_tasks(std::hint::spin_loop);
}

#[test]
fn who_steps_aside_leaves_his_processor_to_another_and_takes_it_back() {
    let _alone = ALONE.lock();
    let _watchdog = watchdog();
    let processors = processors();
    let runtime = runtime(processors + EXCESS);
    // Others than those that block let them go on: more than once, so that none may be forgotten.
    for _ in 0..4 * (processors + EXCESS) {
        let tasks = (0..processors).map(|_| {
            let (go, gone) = mpsc::channel();
            let blocked = runtime.spawn(async move { block_in_place(|| gone.recv().unwrap()) });
            let release = runtime.spawn(async move { go.send(()).unwrap() });
            [blocked, release]
        });
        let tasks = tasks.flatten().collect();
        join_all(&runtime, tasks);
    }
    eventually_no_more_than_processors_are_up(&runtime);
}
