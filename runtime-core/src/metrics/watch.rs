//! [`Watch`]: for how long a poll has taken at least, as another thread has seen it.
//!
//! Where polls are short their worker does not read the clock between them ([`PollTimes`](super::PollTimes)), so of a
//! single long poll among them it does not know when it began. But the monitor looks at each worker every few
//! milliseconds (`scheduler/multi/rescue/`), and says here which poll it has found, and when. At its end a poll that
//! was found is charged with the time since then: with a little less than it took, and never with anything that came
//! before.
//!
//! # Protocol
//!
//! Polls are numbered by the worker's own count, which it raises before each. The monitor reads the count, then the
//! clock, and stores that time and then, released, the number. The worker, at the end of a poll, acquires the number.
//! If it is that of this very poll, the time that it reads next is the one that was stored with it: the next is not
//! stored before the monitor has seen the count of another poll, which has not begun yet. And since the clock was read
//! after the count, the poll had begun by then.

use crate::clock::Moment;
use crate::primitive::atomic::AtomicU64;
use crate::primitive::atomic::Ordering::{Acquire, Relaxed, Release};

/// See the module.
#[derive(Debug)]
pub(crate) struct Watch {
    /// The number of the poll that the worker was found in, or had begun last.
    poll: AtomicU64,
    /// When that was: a moment.
    found: AtomicU64,
}

impl Default for Watch {
    fn default() -> Self {
        Self { poll: AtomicU64::new(0), found: AtomicU64::new(0) }
    }
}

impl Watch {
    /// The worker has begun this poll, and perhaps ended it. The closure gives the present time. For the monitor.
    pub(crate) fn find(&self, poll: u64, now: impl FnOnce() -> Moment) {
        if self.poll.load(Relaxed) != poll {
            self.found.store(now().word(), Relaxed);
            self.poll.store(poll, Release);
        }
    }

    /// Whether the worker was found in this poll, which it is about to end. For its thread.
    #[inline]
    pub(crate) fn has_found(&self, poll: u64) -> bool {
        self.poll.load(Acquire) == poll
    }

    /// When it was found there, if it was. For its thread.
    pub(crate) fn found(&self, poll: u64) -> Option<Moment> {
        if self.has_found(poll) { Moment::from_word(self.found.load(Relaxed)) } else { None }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_poll_counts_from_when_it_was_first_found() {
        let watch = Watch::default();
        assert_eq!(watch.found(1), None);
        let [first, second, third] = [100, 200, 300].map(|word| Moment::from_word(word).unwrap());
        watch.find(1, || first);
        watch.find(1, || second);
        assert_eq!((watch.found(1), watch.found(2)), (Some(first), None));
        watch.find(5, || third);
        assert_eq!((watch.found(1), watch.found(5)), (None, Some(third)));
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use loom::sync::Arc;
    use loom::thread;

    use super::*;

    /// A worker polls twice, and the monitor looks twice: whatever poll it finds, the time that it says is not from
    /// before that poll.
    #[test]
    fn loom_a_poll_is_not_charged_with_what_came_before_it() {
        loom::model(|| {
            let shared = Arc::new((Watch::default(), AtomicU64::new(0), AtomicU64::new(1)));
            let tick = |clock: &AtomicU64| Moment::from_word(clock.fetch_add(1, Relaxed)).unwrap();
            let monitor = {
                let shared = shared.clone();
                thread::spawn(move || {
                    let (watch, polls, clock) = &*shared;
                    for _ in 0..2 {
                        watch.find(polls.load(Relaxed), || tick(clock));
                    }
                })
            };
            let (watch, polls, clock) = &*shared;
            for poll in 1..=2 {
                let before = tick(clock);
                polls.store(poll, Relaxed);
                if let Some(found) = watch.found(poll) {
                    assert!(found > before, "poll {poll} was found at {found:?}, and began after {before:?}");
                }
            }
            monitor.join().unwrap();
        });
    }
}
