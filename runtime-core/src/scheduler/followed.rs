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
//! often than reading the clock is worth (`metrics/poll_times.rs`). When it is time again, it is not the next task:
//! tasks are queued in bursts, of which the first waits least, and the time to look comes between two bursts. It is any
//! of as many as the thread has queued between the last looks. (Of tasks from outside of the runtime it is the next
//! one.) Each counts as many times as tasks were queued by its thread since the last one that it followed. So times in
//! which tasks wait for long, and fewer can be followed, have no less weight than others, and the counts add up: to the
//! number of tasks that were queued, but for those that were queued since. What a worker takes over from the drivers
//! counts from when it is queued, after the whole batch was taken.
//!
//! # Protocol
//!
//! A place is *free* (zero) or *taken*. A thread takes it by a compare-exchange from zero to the time, after which only
//! it writes `stands_for`, and queues the task. The queue hands both over, and the number in the task, to the thread
//! that takes the task out; that one alone reads them, and frees the place with a release store, which the next
//! compare-exchange acquires. The number in the task is written by the thread that has the task between its being
//! scheduled and its poll: one thread at a time. A task that is dropped in a queue, at shutdown, keeps its place.

use std::cell::Cell;

use crossbeam_utils::CachePadded;

use crate::clock::Moment;
use crate::metrics::WorkerTimes;
use crate::primitive::atomic::AtomicU64;
use crate::primitive::atomic::Ordering::{Acquire, Relaxed, Release};
use crate::task::Header;

/// After a task that was followed the next one is not, for this number of times that a group of polls is to take. The
/// clock is read once for a group, and twice for a task that is followed: so of the readings a third are for this.
const GROUPS_BETWEEN: u64 = 4;

/// Where the times of the followed tasks of a runtime are.
pub(super) struct Places(Box<[CachePadded<Place>]>);

struct Place {
    /// When the task was queued: a moment. Zero: the place is free.
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

    /// Follows a task that the caller is about to queue, unless the place of this thread is taken.
    pub(super) fn follow(&self, thread: usize, task: &Header, now: Moment, stands_for: impl FnOnce() -> u64) {
        let number = self.number(thread);
        if task.place().load(Relaxed) == 0 && self.take(number, now, stands_for) {
            task.place().store(number, Relaxed);
        }
    }

    /// Takes a place, if it is free.
    fn take(&self, number: u8, now: Moment, stands_for: impl FnOnce() -> u64) -> bool {
        let place = self.place(number);
        if place.queued_at.compare_exchange(0, now.word(), Acquire, Relaxed).is_err() {
            return false;
        }
        place.stands_for.store(stands_for(), Relaxed);
        true
    }

    /// Frees a place that the caller got with a task. Since when it was taken, and what for.
    fn free(&self, number: u8) -> (Option<Moment>, u64) {
        let place = self.place(number);
        let taken = (Moment::from_word(place.queued_at.load(Relaxed)), place.stands_for.load(Relaxed));
        place.queued_at.store(0, Release);
        taken
    }

    fn place(&self, number: u8) -> &Place {
        &self.0[usize::from(number) - 1]
    }

    /// A task that is followed is about to be polled.
    pub(super) fn arrive(&self, task: &Header, now: Moment, times: &WorkerTimes) {
        let number = task.place().load(Relaxed);
        task.place().store(0, Relaxed);
        let (queued_at, stands_for) = self.free(number);
        debug_assert!(queued_at.is_some(), "the place was taken for this task");
        times.wake_to_poll.add(queued_at.map_or(0, |queued_at| now.nanos_since(queued_at)), stands_for);
    }
}

/// Says when its thread follows a task. The thread counts the tasks that it queues.
#[derive(Debug)]
pub(super) struct Follower {
    /// The number of the task that is to be followed, or the next one that can be. `u64::MAX`: none is.
    next: Cell<u64>,
    not_before: Cell<Option<Moment>>,
    /// How many tasks the thread had queued when it was last time to follow one.
    looked_at: Cell<u64>,
    /// How many it had queued when it last followed one.
    followed_at: Cell<u64>,
}

impl Follower {
    /// For a thread that has queued this number of tasks before.
    pub(super) fn new(queued: u64) -> Self {
        let (looked_at, followed_at) = (Cell::new(queued), Cell::new(queued));
        Self { next: Cell::new(u64::MAX), not_before: Cell::default(), looked_at, followed_at }
    }

    /// Whether the thread is to follow a task that it queues: the last of `queued` in all.
    #[inline]
    pub(super) fn wants(&self, queued: u64) -> bool {
        queued >= self.next.get()
    }

    /// It is `now`, a group of polls is to take `group` nanoseconds, if polls are measured, and the thread has queued
    /// `queued` tasks. Whether it is time again to follow one.
    pub(super) fn look(&self, now: Moment, group: Option<u64>, queued: u64) -> bool {
        let Some(group) = group else { return false };
        let not_before = self.not_before.get().unwrap_or(now);
        if now < not_before {
            return false;
        }
        self.not_before.set(Some(now.plus_nanos(group * GROUPS_BETWEEN)));
        let since = queued.wrapping_sub(self.looked_at.replace(queued));
        if since > 0 || self.next.get() == u64::MAX {
            // By how much it is late is as good as a random number.
            let random = now.nanos_since(not_before).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
            self.next.set(queued + 1 + random % since.max(1));
        }
        true
    }

    /// A task is followed, or cannot be.
    pub(super) fn has_looked(&self) {
        self.next.set(u64::MAX);
    }

    /// How many tasks the followed one counts for, if the thread has queued `queued` in all, that one included.
    pub(super) fn stands_for(&self, queued: u64) -> u64 {
        queued.wrapping_sub(self.followed_at.replace(queued))
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const GROUP: Option<u64> = Some(4_000);

    #[test]
    fn a_thread_follows_one_task_in_a_while() {
        let (follower, now) = (Follower::new(10), Moment::now());
        assert!(!follower.look(now, None, 10) && !follower.wants(11), "nothing is measured");
        assert!(follower.look(now, GROUP, 10) && !follower.wants(10) && follower.wants(11));
        follower.has_looked();
        let later = |groups| now.plus_nanos(GROUP.unwrap() * groups);
        assert!(!follower.look(later(GROUPS_BETWEEN - 1), GROUP, 11) && !follower.wants(12));
        assert!(follower.look(later(GROUPS_BETWEEN), GROUP, 11) && follower.wants(12));
        assert_eq!((follower.stands_for(13), follower.stands_for(14)), (3, 1));
    }

    /// Tasks are queued in bursts of eight, and between them there is much time to look.
    #[test]
    fn of_a_burst_any_may_be_followed() {
        let (follower, mut now, mut queued) = (Follower::new(0), Moment::now(), 0_u64);
        let mut followed = [0; 8];
        for round in 0..8_000_u64 {
            for task in &mut followed {
                queued += 1;
                if follower.wants(queued) {
                    *task += follower.stands_for(queued);
                    follower.has_looked();
                }
            }
            for _ in 0..10 {
                now = now.plus_nanos(GROUP.unwrap() * GROUPS_BETWEEN + round * round % 1_009);
                follower.look(now, GROUP, queued);
            }
        }
        let all: u64 = followed.iter().sum();
        assert!(queued - all < 100, "all but the last are counted: {all} of {queued}");
        assert!(followed.iter().all(|&times| times > all / 16 && times < all / 4), "{followed:?}");
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
        if places.take(1, Moment::from_word(now).unwrap(), || 10 * now) {
            queue.lock().unwrap().push(now);
        }
    }

    /// Polls a task, if there is one.
    fn poll(places: &Places, queue: &Mutex<Vec<u64>>) {
        let next = queue.lock().unwrap().pop();
        if let Some(now) = next {
            assert_eq!(places.free(1), (Moment::from_word(now), 10 * now), "what was noted of this very task");
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
            assert!(places.take(1, Moment::now(), || 1), "it is free in the end");
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
