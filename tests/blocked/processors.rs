//! More workers than processors: all of them work when the others are held up, even for a moment.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;

use rt::runtime::Runtime;
use rt::task::{JoinHandle, yield_now};
use rt_test_util::*;

use crate::{builder, runtime};

/// How many more workers than processors there are.
const EXCESS: usize = 6;

fn join_all(runtime: &Runtime, tasks: Vec<JoinHandle<()>>) {
    runtime.block_on(async {
        for task in tasks {
            task.await.unwrap();
        }
    });
}

/// Has `tasks` tasks sleep for a moment and yield, again and again, until `wanted` have slept at once. Each sleep is
/// far too short for its worker to count as blocked.
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
fn most_workers_are_up_when_tasks_block_for_a_moment() {
    let _watchdog = watchdog();
    let workers = processors() + EXCESS;
    sleep_until_at_once(&runtime(workers), 2 * workers, workers - EXCESS / 2);
}

/// Each worker has one task at hand and one at most that waits, which is no surplus.
#[test]
fn one_more_is_up_when_one_task_waits_behind_others_that_block_for_a_moment() {
    let _watchdog = watchdog();
    let processors = processors();
    sleep_until_at_once(&runtime(processors + EXCESS), processors + 1, processors + 1);
}

/// Each task goes on until as many have begun as there are workers. There are more tasks than that, because the last
/// one on the lanes of a worker in a long poll is left to the help for blocked workers, which there is none of here.
fn all_come_while_tasks(pause: fn()) {
    let workers = processors() + EXCESS;
    let runtime = builder(workers).0.blocked_threshold(Duration::from_secs(3600)).build().unwrap();
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
    let _watchdog = watchdog();
    all_come_while_tasks(|| thread::sleep(Duration::from_millis(10)));
}

#[test]
fn all_are_up_when_their_tasks_compute_until_others_have_run() {
    let _watchdog = watchdog();
    all_come_while_tasks(std::hint::spin_loop);
}
