//! The protocol of `mod.rs`, on every interleaving (loom).

use loom::sync::{Arc, Condvar, Mutex as LoomMutex, Notify};
use loom::thread;

use super::*;
use crate::primitive::atomic::Ordering::{AcqRel, Acquire, Release};
use crate::primitive::atomic::{AtomicBool, AtomicUsize};

/// The protocol around the counting: a queue that is just a number, and workers that sleep on loom's notifiers. If
/// work is overlooked a worker sleeps for ever, which loom reports as a deadlock.
struct Model {
    idle: Idle,
    queue: AtomicUsize,
    left: AtomicUsize,
    beds: Vec<Notify>,
    /// How many tasks were begun. A task ends when this number has.
    begun: LoomMutex<usize>,
    enough: usize,
    enough_begun: Condvar,
}

impl Model {
    /// Tasks that need all workers at once.
    fn new(workers: usize, tasks: usize) -> Arc<Self> {
        Arc::new(Self {
            idle: Idle::new(workers),
            queue: AtomicUsize::new(0),
            left: AtomicUsize::new(tasks),
            beds: (0..workers).map(|_| Notify::new()).collect(),
            begun: LoomMutex::new(0),
            enough: workers,
            enough_begun: Condvar::new(),
        })
    }

    fn push(&self) {
        // Only release, as the real queues give: what makes it work is the fence in `wake_one`.
        self.queue.fetch_add(1, Release);
        self.notify();
    }

    fn notify(&self) {
        if let Some(worker) = self.idle.wake_one(|| None, || false) {
            self.beds[worker].notify();
        }
    }

    fn take(&self) -> bool {
        self.queue.fetch_update(AcqRel, Acquire, |queued| queued.checked_sub(1)).is_ok()
    }

    fn run_task(&self) {
        let mut begun = self.begun.lock().unwrap();
        *begun += 1;
        self.enough_begun.notify_all();
        while *begun < self.enough {
            begun = self.enough_begun.wait(begun).unwrap();
        }
    }

    /// A worker until all tasks are done. The one that does the last wakes the others, as shutdown does.
    fn work(&self, me: usize) {
        let mut searching = false;
        while self.left.load(SeqCst) > 0 {
            if !searching {
                searching = self.idle.start_search();
            }
            if searching && self.take() {
                searching = false;
                if self.idle.stop_search() && self.queue.load(Acquire) > 0 {
                    self.notify();
                }
                self.run_task();
                if self.left.fetch_sub(1, SeqCst) == 1 {
                    self.beds.iter().for_each(Notify::notify);
                }
                continue;
            }
            self.idle.start_sleep(me, std::mem::replace(&mut searching, false));
            if self.queue.load(Acquire) > 0 {
                if !self.idle.end_sleep(me) {
                    self.idle.resume_search();
                }
                searching = true;
                continue;
            }
            self.beds[me].wait();
            searching = self.idle.end_sleep(me);
        }
    }
}

/// Three threads have too many interleavings to go through all; this number of preemptions finds every mutation we
/// tried.
fn bounded(preemptions: usize, model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}

/// Two workers, beside a thread that does something else.
fn work_beside(model: &Arc<Model>, other: impl FnOnce(&Model) + Send + 'static) {
    let worker = {
        let model = model.clone();
        thread::spawn(move || model.work(1))
    };
    let other = {
        let model = model.clone();
        thread::spawn(move || other(&model))
    };
    model.work(0);
    other.join().unwrap();
    worker.join().unwrap();
}

#[test]
fn loom_a_push_beside_a_worker_that_parks_is_not_overlooked() {
    bounded(3, || {
        let model = Model::new(1, 2);
        let pushers: Vec<_> = (0..2)
            .map(|_| {
                let model = model.clone();
                thread::spawn(move || model.push())
            })
            .collect();
        model.work(0);
        pushers.into_iter().for_each(|pusher| pusher.join().unwrap());
    });
}

#[test]
fn loom_two_tasks_get_two_workers() {
    bounded(2, || {
        let model = Model::new(2, 2);
        work_beside(&model, |model| {
            model.push();
            model.push();
        });
    });
}

/// As `wake_all.rs` does it, and the drivers' batch.
#[test]
fn loom_two_tasks_that_are_announced_together_get_two_workers() {
    bounded(2, || {
        let model = Model::new(2, 2);
        work_beside(&model, |model| {
            model.queue.fetch_add(1, Release);
            model.queue.fetch_add(1, Release);
            model.notify();
        });
    });
}

/// A worker that sleeps in the drivers queues a part of what they bring while it has them. Others do not look at the
/// queues of one that rests (`Slot::may_have_work`), so it says that it is awake before.
#[test]
fn loom_what_the_drivers_bring_in_parts_is_seen_by_whoever_is_woken_for_it() {
    bounded(3, || {
        let model = Model::new(2, 1);
        let rests = Arc::new(AtomicBool::new(true));
        model.idle.start_sleep(0, false);
        assert!(model.idle.start_search());
        let other = {
            let (model, rests) = (model.clone(), rests.clone());
            thread::spawn(move || {
                let look = || !rests.load(Relaxed) && model.queue.load(Acquire) > 0;
                while !look() {
                    model.idle.start_sleep(1, true);
                    if look() {
                        break;
                    }
                    model.beds[1].wait();
                    if !model.idle.end_sleep(1) {
                        model.idle.resume_search();
                    }
                }
            })
        };
        rests.store(false, Relaxed);
        model.push();
        other.join().unwrap();
    });
}
