//! How long tasks wait in the queues: some are *followed* from when they are queued until they are polled.
//!
//! A thread that queues a task reads the clock if it wants to follow one, notes the time in one of its runtime's
//! [places](Places), and the number of the place in the task. Whichever worker polls the task, by whatever way it came
//! there, finds the number, reads the clock, and counts the time in its histogram.
//!
//! # What the histogram says
//!
//! From a task's being queued, for a wake, a spawn, or a yield, to its poll. (A task that yields while nothing else is
//! queued is polled again without being queued, and is not followed.) A thread follows one task at a time, and not more
//! often than reading the clock is worth (`metrics/poll_times.rs`). Each counts as many times as tasks were queued by its thread
//! since the last one that it followed. So times in which tasks wait for long, and fewer can be followed, have no less
//! weight than others, and the counts add up: to the number of tasks that were queued, but for those that were queued
//! since. What a worker takes over from the drivers counts from when it is queued, after the whole batch was taken.
//!
//! # Protocol
//!
//! A place is *free* (zero) or *taken*. A thread takes it by a compare-exchange from zero to the time, after which only
//! it writes `stands_for`, and queues the task. The queue hands both over, and the number in the task, to the thread
//! that takes the task out; that one alone reads them, and frees the place with a release store, which the next
//! compare-exchange acquires. The number in the task is written by whoever has the task between its being scheduled and
//! its poll: one thread at a time. A task that is dropped in a queue, at shutdown, keeps its place.

use std::cell::Cell;
use std::time::{Duration, Instant};

use crossbeam_utils::CachePadded;

use crate::metrics::WorkerTimes;
use crate::primitive::atomic::AtomicU64;
use crate::primitive::atomic::Ordering::{Acquire, Relaxed, Release};
use crate::task::Header;

/// After a task that was followed the next one is not, for this number of times that a group of polls is to take.
const GROUPS_BETWEEN: u32 = 4;

/// Where the times of the followed tasks of a runtime are.
pub(super) struct Places(Box<[CachePadded<Place>]>);

struct Place {
    /// When the task was queued, in nanoseconds since the runtime's start, and one more. Zero: the place is free.
    queued_at: AtomicU64,
    /// How many tasks this one counts for.
    stands_for: AtomicU64,
}

impl Place {
    fn free() -> Self {
        Self { queued_at: AtomicU64::new(0), stands_for: AtomicU64::new(0) }
    }
}

impl Places {
    /// For this number of threads that queue tasks. If there are many, some share a place.
    pub(super) fn new(threads: usize) -> Self {
        Self((0..threads.clamp(1, u8::MAX.into())).map(|_| CachePadded::new(Place::free())).collect())
    }

    /// The number of the place for a thread.
    fn number(&self, thread: usize) -> u8 {
        (thread % self.0.len() + 1) as u8
    }

    /// Follows a task that the caller is about to queue, unless the place of this thread is taken. Whether it does.
    pub(super) fn follow(&self, thread: usize, task: &Header, now: u64, stands_for: impl FnOnce() -> u64) -> bool {
        let number = self.number(thread);
        let follows = task.place().load(Relaxed) == 0 && self.take(number, now, stands_for);
        if follows {
            task.place().store(number, Relaxed);
        }
        follows
    }

    /// Takes a place, if it is free.
    fn take(&self, number: u8, now: u64, stands_for: impl FnOnce() -> u64) -> bool {
        let place = self.place(number);
        if place.queued_at.compare_exchange(0, now + 1, Acquire, Relaxed).is_err() {
            return false;
        }
        place.stands_for.store(stands_for(), Relaxed);
        true
    }

    /// Frees a place that the caller got with a task. Since when it was taken, and what for.
    fn free(&self, number: u8) -> (u64, u64) {
        let place = self.place(number);
        let taken = (place.queued_at.load(Relaxed) - 1, place.stands_for.load(Relaxed));
        place.queued_at.store(0, Release);
        taken
    }

    fn place(&self, number: u8) -> &Place {
        &self.0[usize::from(number) - 1]
    }

    /// A task that is followed is about to be polled.
    pub(super) fn arrive(&self, task: &Header, now: u64, times: &WorkerTimes) {
        let number = task.place().load(Relaxed);
        task.place().store(0, Relaxed);
        let (queued_at, stands_for) = self.free(number);
        times.wake_to_poll.add(now.saturating_sub(queued_at), stands_for);
    }
}

/// Says when its thread follows a task.
#[derive(Debug, Default)]
pub(super) struct Follower {
    wants: Cell<bool>,
    not_before: Cell<Option<Instant>>,
    /// How many tasks the thread had queued when it last followed one.
    queued: Cell<u64>,
}

impl Follower {
    /// For a thread that has queued so many tasks before.
    pub(super) fn new(queued: u64) -> Self {
        Self { queued: Cell::new(queued), ..Self::default() }
    }

    /// Whether the next task that the thread queues is to be followed.
    #[inline]
    pub(super) fn wants(&self) -> bool {
        self.wants.get()
    }

    /// It is as late as that, and a group of polls is to take `group`, if polls are measured. Whether it is time again to
    /// follow a task.
    pub(super) fn look(&self, now: Instant, group: Option<Duration>) -> bool {
        let Some(group) = group else { return false };
        if self.not_before.get().is_some_and(|not_before| now < not_before) {
            return false;
        }
        self.not_before.set(now.checked_add(group * GROUPS_BETWEEN));
        self.wants.set(true);
        true
    }

    /// A task is followed, or cannot be.
    pub(super) fn has_looked(&self) {
        self.wants.set(false);
    }

    /// How many tasks the followed one counts for, if the thread has queued so many in all, that one included.
    pub(super) fn stands_for(&self, queued: u64) -> u64 {
        queued.wrapping_sub(self.queued.replace(queued))
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::clock::Clock;

    #[test]
    fn a_thread_follows_one_task_in_a_while() {
        let (follower, now, group) = (Follower::new(10), Clock::real(), Duration::from_micros(4));
        assert!(!follower.look(now, None) && !follower.wants(), "nothing is measured");
        assert!(follower.look(now, Some(group)) && follower.wants());
        follower.has_looked();
        assert!(!follower.look(now + group * (GROUPS_BETWEEN - 1), Some(group)) && !follower.wants());
        assert!(follower.look(now + group * GROUPS_BETWEEN, Some(group)) && follower.wants());
        assert_eq!((follower.stands_for(13), follower.stands_for(14)), (3, 1));
    }

    #[test]
    fn threads_have_places_in_turn() {
        let places = Places::new(3);
        assert_eq!([0, 1, 2, 3, 300].map(|thread| places.number(thread)), [1, 2, 3, 1, 1]);
        assert_eq!(Places::new(70_000).number(254), 255);
        assert_eq!(Places::new(70_000).number(255), 1);
        assert_eq!(Places::new(0).number(7), 1);
    }
}

/// The queue by which a task goes from thread to thread is a lock's here.
#[cfg(all(test, loom))]
mod loom_tests {
    use loom::sync::{Arc, Mutex};
    use loom::thread;

    use super::*;

    /// Queues a task that is followed since `now`, and counts for ten times that, if the place is free.
    fn queue(places: &Places, queue: &Mutex<Vec<u64>>, now: u64) {
        if places.take(1, now, || 10 * now) {
            queue.lock().unwrap().push(now);
        }
    }

    /// Polls a task, if there is one.
    fn poll(places: &Places, queue: &Mutex<Vec<u64>>) {
        let next = queue.lock().unwrap().pop();
        if let Some(now) = next {
            assert_eq!(places.free(1), (now, 10 * now), "what was noted of this very task");
        }
    }

    #[test]
    fn loom_a_place_is_taken_again_when_its_task_is_polled() {
        loom::model(|| {
            let (places, tasks) = (Arc::new(Places::new(1)), Arc::new(Mutex::new(Vec::new())));
            let (here, theirs) = (places.clone(), tasks.clone());
            let queues = thread::spawn(move || (1..=2).for_each(|now| queue(&here, &theirs, now)));
            (0..2).for_each(|_| poll(&places, &tasks));
            queues.join().unwrap();
            (0..2).for_each(|_| poll(&places, &tasks));
            assert!(places.take(1, 5, || 1), "it is free in the end");
        });
    }

    #[test]
    fn loom_two_threads_want_a_place() {
        loom::model(|| {
            let (places, tasks) = (Arc::new(Places::new(1)), Arc::new(Mutex::new(Vec::new())));
            let (here, theirs) = (places.clone(), tasks.clone());
            let other = thread::spawn(move || queue(&here, &theirs, 1));
            queue(&places, &tasks, 2);
            other.join().unwrap();
            assert_eq!(tasks.lock().unwrap().len(), 1, "one has it");
            poll(&places, &tasks);
        });
    }
}
