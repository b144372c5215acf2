//! Sockets that are presumed to be empty, so that the read which would have been refused is not made.
//!
//! Edges oblige who reads to go on until a read is refused, or runs short: only then is it certain that the next data comes
//! with an event. Where messages fill their buffers that is one system call in four of a conversation, and it hardly ever
//! finds anything. So a registration which has that habit (`readiness/habit.rs`) takes a read that filled its buffer for
//! the last one, as if it had run short: its readiness is cleared, and the task waits.
//!
//! # Why nothing is lost
//!
//! If the presumption is right, the next data comes with an event. If it is wrong, data lies in the socket and no event need
//! come for it. So any event, also one for another direction, ends the presumption, and has the read made. And each one is *noted*,
//! with the worker on which it was made, before the readiness is cleared; and a presumption that is *given up* puts the
//! readiness back, as an event would, unless there was an event meanwhile
//! ([`ScheduledIo::reopen`](crate::readiness::ScheduledIo::reopen)). Then the read is made after all. Given up are
//!
//! - all that a worker has, before it sleeps, when it steps aside, and when the monitor sees that it does not come by;
//! - when it comes by the drivers, those that have stood for [`SHORTEST`] and a few times as long as what was queued with it took, but
//!   no longer than [`LONGEST`]. In a conversation on a busy runtime the answer comes about two such lines later.
//!
//! A worker that is up comes by, sleeps, steps aside or gets stuck: so each presumption comes to its end, and one that was wrong
//! costs that delay. It does not happen often: a registration that it happens to gives up the habit, for twice as many messages
//! each time.
//!
//! Who waits on a presumption is a task, and nobody else: for other wakers, which are foreign code, it ends at once. So whoever gives it
//! up just queues tasks, on whatever thread.
//!
//! Only a worker in the poll of a task may presume: nobody else is sure to come by. If it is stopped between the note and the
//! clearing, and the monitor gives the presumption up meanwhile, that counts as an event, and nothing is cleared.

use std::collections::VecDeque;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use runtime_core::clock::Clock;
use runtime_core::primitive::Mutex;

use super::token::Address;

/// How long a presumption stands at least, unless its worker goes to sleep.
const SHORTEST: Duration = Duration::from_millis(4);
/// How many times what is queued with its worker may be worked off meanwhile.
const LINES: u32 = 4;
/// And at most.
const LONGEST: Duration = Duration::from_millis(50);
/// A worker has no more at a time, which bounds the memory, to 200 KiB. Further reads are tried.
const MOST: usize = 4096;

/// A registration that is presumed to be empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Presumption {
    pub(super) of: Address,
    /// The count of events that the reader had seen.
    pub(super) tick: usize,
}

/// The presumptions of all workers.
#[derive(Debug)]
pub(super) struct Presumed {
    workers: Box<[Worker]>,
}

/// On lines of its own: what is here is touched by its worker only, but for a monitor that stands in.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Worker {
    noted: Mutex<Noted>,
    /// Written under the lock.
    made: AtomicU64,
    given_up: AtomicU64,
}

/// Oldest first, with the time at which they are given up, as the first visit that finds them sets it.
#[derive(Debug, Default)]
struct Noted(VecDeque<(Presumption, Option<Instant>)>);

impl Presumed {
    /// For workers with these numbers, from zero, that come by the drivers.
    pub(super) fn new(workers: usize) -> Self {
        Self { workers: (0..workers).map(|_| Worker::default()).collect() }
    }

    /// Notes a presumption, if that worker may have one more.
    pub(super) fn note(&self, worker: usize, presumption: Presumption) -> bool {
        let Some(worker) = self.workers.get(worker) else { return false };
        let mut noted = worker.noted.lock();
        if noted.0.len() >= MOST {
            return false;
        }
        noted.0.push_back((presumption, None));
        worker.made.store(worker.made.load(Relaxed) + 1, Relaxed);
        true
    }

    /// The worker comes by, with so much queued: gives up what has stood for long enough. `reopen` says whether that was one
    /// that no event had come for.
    pub(super) fn give_up_old(&self, worker: usize, line: Duration, reopen: impl FnMut(Presumption) -> bool) {
        self.give_up(worker, reopen, |noted| if noted.0.is_empty() { 0 } else { noted.old(Clock::real(), line) });
    }

    /// The worker will not come by for a while: gives up all that it has.
    pub(super) fn give_up_all(&self, worker: usize, reopen: impl FnMut(Presumption) -> bool) {
        self.give_up(worker, reopen, |noted| noted.0.len());
    }

    fn give_up(
        &self,
        worker: usize,
        mut reopen: impl FnMut(Presumption) -> bool,
        how_many: impl FnOnce(&mut Noted) -> usize,
    ) {
        let Some(worker) = self.workers.get(worker) else { return };
        let mut noted = worker.noted.lock();
        let oldest = how_many(&mut noted);
        let reopened = noted.0.drain(..oldest).filter(|&(presumption, _)| reopen(presumption)).count() as u64;
        if reopened > 0 {
            worker.given_up.store(worker.given_up.load(Relaxed) + reopened, Relaxed);
        }
    }

    /// How many presumptions there have been, and how many of them were given up.
    pub(super) fn counts(&self) -> (u64, u64) {
        let sum =
            |count: fn(&Worker) -> &AtomicU64| self.workers.iter().map(|worker| count(worker).load(Relaxed)).sum();
        (sum(|worker| &worker.made), sum(|worker| &worker.given_up))
    }
}

impl Noted {
    /// How many of the oldest have stood for long enough.
    fn old(&mut self, now: Instant, line: Duration) -> usize {
        let until = now + SHORTEST.saturating_add(line.saturating_mul(LINES)).min(LONGEST);
        self.0.iter_mut().rev().map_while(|(_, end)| end.is_none().then_some(end)).for_each(|end| *end = Some(until));
        self.0.iter().take_while(|&&(_, end)| end.is_some_and(|end| end <= now)).count()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn presumption(tick: usize) -> Presumption {
        Presumption { of: Address { generation: 0, shard: 0, slot: 0 }, tick }
    }

    #[test]
    fn they_stand_for_a_few_lines_within_bounds_from_the_first_visit_on() {
        let ms = Duration::from_millis;
        for (line, stands) in [(ms(0), SHORTEST), (ms(3), SHORTEST + 4 * ms(3)), (Duration::MAX, LONGEST)] {
            let (mut noted, start) = (Noted::default(), Clock::real());
            noted.0.push_back((presumption(0), None));
            assert_eq!(noted.old(start, line), 0);
            noted.0.push_back((presumption(1), None));
            assert_eq!(noted.old(start + ms(1), line), 0);
            assert_eq!(noted.old(start + stands - ms(1), Duration::MAX), 0);
            assert_eq!(noted.old(start + stands, Duration::MAX), 1, "whatever the line is by then");
            assert_eq!(noted.old(start + stands + ms(1), Duration::ZERO), 2);
        }
    }

    #[test]
    fn they_are_given_up_once_in_their_order_and_counted() {
        let presumed = Presumed::new(2);
        assert!((0..3).all(|tick| presumed.note(1, presumption(tick))));
        let mut seen = Vec::new();
        presumed.give_up_all(0, |_| panic!("another worker's"));
        presumed.give_up_all(1, |presumption| {
            seen.push(presumption.tick);
            presumption.tick != 1
        });
        presumed.give_up_all(1, |_| panic!("once"));
        assert_eq!((seen, presumed.counts()), (vec![0, 1, 2], (3, 2)));
    }

    #[test]
    fn there_is_room_for_so_many_and_none_for_strangers() {
        let presumed = Presumed::new(1);
        assert!((0..MOST).all(|tick| presumed.note(0, presumption(tick))));
        assert!(!presumed.note(0, presumption(0)));
        presumed.give_up_all(0, |_| false);
        assert!(presumed.note(0, presumption(0)));
        assert!(!presumed.note(1, presumption(0)));
    }
}
