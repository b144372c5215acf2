//! [`Ends`]: telling that every task of a runtime has ended, for `Runtime::run`.
//!
//! Called by threads that wait for that, and by workers that have nothing to do. A completion costs nothing more for
//! it: no worker writes what another one writes, and none counts at the end of a task.
//!
//! # How it is known
//!
//! Each worker counts the tasks that it has spawned, and those that it has completed. When it is about to sleep, it
//! *publishes* the latter count ([`EndedTasks`]): by then it is through with these tasks, their handles included. All
//! tasks have ended if the sum of the published counts is that of the spawned tasks ([`are_equal`]).
//!
//! The counts are read one by one, while they grow. The published ones come first, by loads that acquire what the
//! stores have released. So for each task that is counted as ended, its spawn is seen, and all spawns that it has done
//! itself. The sums are equal only if what is seen has ended, whole: then there was a moment, that of the first look at
//! the spawns, at which no task was left.
//!
//! # Why nobody waits for ever
//!
//! A worker does: publish; fence (SeqCst); look whether anybody waits, and if so compare. Who waits does: say so; fence
//! (SeqCst); compare. One of any two fences comes first. So of the workers that end the last tasks, the last one sees
//! what the others have published; and either it sees that somebody waits, or the waiting thread sees all that is
//! published.
//!
//! The worker compares under the lock under which a caller says that it waits. Else a caller could spawn a task and
//! wait, and be told of a moment before.

use std::task::{Context, Poll, Waker};

use crate::metrics::WorkerCounters;
use crate::primitive::Mutex;
use crate::primitive::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use crate::primitive::atomic::{AtomicBool, AtomicU64, fence};

/// How many tasks a worker has ended, as of when it last had nothing to do.
#[derive(Debug)]
pub(super) struct EndedTasks(AtomicU64);

impl EndedTasks {
    pub(super) fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// For the worker, between two polls. A SeqCst fence and a look at [`Ends::is_awaited`] must follow.
    pub(super) fn publish(&self, counters: &WorkerCounters) {
        self.set(counters.completions.get());
    }

    fn set(&self, ended: u64) {
        self.0.store(ended, Release);
    }
}

/// Whether there was a moment, since the call, at which all tasks had ended.
pub(super) fn are_equal<'a>(
    ended: impl IntoIterator<Item = &'a EndedTasks>,
    counters: impl Iterator<Item = &'a WorkerCounters>,
) -> bool {
    compare(ended, || counters.map(|counters| counters.spawns.get()).sum())
}

fn compare<'a>(ended: impl IntoIterator<Item = &'a EndedTasks>, spawned: impl FnOnce() -> u64) -> bool {
    // In this order.
    let ended: u64 = ended.into_iter().map(|ended| ended.0.load(Acquire)).sum();
    ended == spawned()
}

/// Who waits for the end of all tasks.
#[derive(Debug)]
pub(crate) struct Ends {
    /// Whether anybody does. Changed under the lock.
    is_awaited: AtomicBool,
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    /// How often those who waited have been told.
    times: u64,
    wakers: Vec<Waker>,
}

/// One wait of one thread. However it ends, it leaves nothing behind: the thread's waker keeps the runtime, of which
/// [`Ends`] is a part.
#[derive(Debug)]
pub(crate) struct Wait<'a> {
    ends: &'a Ends,
    /// How often others had been told when it began.
    since: Option<u64>,
    waker: Option<Waker>,
}

impl Ends {
    pub(crate) fn new() -> Self {
        Self { is_awaited: AtomicBool::new(false), waiting: Mutex::new(Waiting::default()) }
    }

    #[inline]
    pub(super) fn is_awaited(&self) -> bool {
        self.is_awaited.load(Relaxed)
    }

    /// A wait that is about to begin.
    pub(crate) fn wait(&self) -> Wait<'_> {
        Wait { ends: self, since: None, waker: None }
    }

    /// Tells those who wait, if all tasks have ended. Returns whether any were told. The wakers are those of `run`
    /// alone: nothing of a user's is called.
    #[cold]
    pub(crate) fn tell(&self, have_all_ended: impl Fn() -> bool) -> bool {
        let wakers = {
            let mut waiting = self.waiting.lock();
            if waiting.wakers.is_empty() || !have_all_ended() {
                return false;
            }
            waiting.times += 1;
            self.is_awaited.store(false, Relaxed);
            std::mem::take(&mut waiting.wakers)
        };
        wakers.into_iter().for_each(Waker::wake);
        true
    }
}

impl Wait<'_> {
    /// Ready when all tasks have ended, at some moment since the first call. It is always the same waker.
    pub(crate) fn poll(&mut self, cx: &Context<'_>, have_all_ended: impl Fn() -> bool) -> Poll<()> {
        let mut waiting = self.ends.waiting.lock();
        match self.since {
            Some(since) if since != waiting.times => return Poll::Ready(()),
            Some(_) => {}
            None => {
                self.since = Some(waiting.times);
                self.waker = Some(cx.waker().clone());
                waiting.wakers.push(cx.waker().clone());
                self.ends.is_awaited.store(true, Relaxed);
            }
        }
        // Pairs with the workers' fences.
        fence(SeqCst);
        if have_all_ended() { Poll::Ready(()) } else { Poll::Pending }
    }
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        if let Some(own) = self.waker.take() {
            let mut waiting = self.ends.waiting.lock();
            // It is `run`'s, and none of a user's. Unless it was told, it is still there.
            waiting.wakers.retain(|waker| !waker.will_wake(&own));
            self.ends.is_awaited.store(!waiting.wakers.is_empty(), Relaxed);
        }
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use loom::sync::Arc;
    use loom::thread;

    use super::*;
    use crate::scheduler::main_waker::Caller;

    /// Two workers' counts.
    struct Model {
        ends: Ends,
        spawned: [AtomicU64; 2],
        ended: [EndedTasks; 2],
        /// What the tasks of each worker have done.
        done: [AtomicU64; 2],
    }

    impl Model {
        fn new() -> Arc<Self> {
            Arc::new(Self {
                ends: Ends::new(),
                spawned: [0, 0].map(AtomicU64::new),
                ended: [(); 2].map(|()| EndedTasks::new()),
                done: [0, 0].map(AtomicU64::new),
            })
        }

        fn spawn(&self, worker: usize) {
            self.spawned[worker].store(self.spawned[worker].load(Relaxed) + 1, Relaxed);
        }

        fn have_all_ended(&self) -> bool {
            compare(&self.ended, || self.spawned.iter().map(|spawned| spawned.load(Relaxed)).sum())
        }

        /// The worker has ended as many tasks, and goes to sleep.
        fn end(&self, worker: usize, tasks: u64) {
            self.done[worker].store(tasks, Relaxed);
            self.ended[worker].set(tasks);
            fence(SeqCst);
            if self.ends.is_awaited() {
                self.ends.tell(|| self.have_all_ended());
            }
        }

        /// As `block_on` does.
        fn wait(&self) {
            let caller = Caller::new();
            let waker = Waker::from(caller.main().clone());
            let mut wait = self.ends.wait();
            loop {
                if !caller.main().take() {
                    caller.parker().park();
                } else if wait.poll(&Context::from_waker(&waker), || self.have_all_ended()).is_ready() {
                    return;
                }
            }
        }

        fn assert_done(&self, tasks: [u64; 2]) {
            assert_eq!([0, 1].map(|worker| self.done[worker].load(Relaxed)), tasks, "a task has not ended");
        }
    }

    fn check(model: impl Fn() + Send + Sync + 'static) {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(3);
        builder.check(model);
    }

    /// A task spawns another one, which goes to another worker, and ends before or after it.
    #[test]
    fn loom_the_end_of_all_tasks_is_told_and_not_before() {
        check(|| {
            let model = Model::new();
            model.spawn(0);
            let first = {
                let model = model.clone();
                thread::spawn(move || {
                    model.spawn(0);
                    let second = {
                        let model = model.clone();
                        thread::spawn(move || model.end(1, 1))
                    };
                    model.end(0, 1);
                    second.join().unwrap();
                })
            };
            model.wait();
            model.assert_done([1, 1]);
            first.join().unwrap();
        });
    }

    /// While one caller waits for the end of a first task, another spawns a second one, and waits for it: it is not
    /// told of the end of the first.
    #[test]
    fn loom_a_task_is_waited_for_that_was_spawned_before_the_wait() {
        check(|| {
            let model = Model::new();
            model.spawn(0);
            let worker = {
                let model = model.clone();
                thread::spawn(move || model.end(0, 1))
            };
            model.wait();
            // By a thread of its own, which is not known to have seen the end of the first.
            model.spawn(1);
            let other = {
                let model = model.clone();
                thread::spawn(move || model.end(1, 1))
            };
            model.wait();
            model.assert_done([1, 1]);
            worker.join().unwrap();
            other.join().unwrap();
        });
    }
}
