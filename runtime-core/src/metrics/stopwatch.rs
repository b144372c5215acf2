//! [`Stopwatch`]: for how long a worker has been in a state, all together, to the moment of reading.
//!
//! Used by [`WorkerTimes`](super::WorkerTimes), one for each state. The worker starts and stops it where it knows the
//! time anyway; any thread reads it at any time, and neither waits for the other. What is read never goes backwards.
//!
//! # Protocol
//!
//! All is in one word, so there is nothing that a reader could see half. The worker alone writes it: its lowest bit
//! says whether the watch runs. If it stands, the rest is the time that it shows. If it runs, the rest is its *zero*:
//! the moment at which it would have been started, had it run ever since. To start or to stop it is the same
//! subtraction: the moment less what is in the word.
//!
//! A reader that finds it running shows the present less the zero. It may do so just after the worker has read the
//! clock to stop the watch, and just before the worker has stopped it: then it shows more than the watch stands at
//! afterwards, by the time in between. So the readers note in another word the most that any of them was shown
//! (`fetch_max`), and none is shown less. Nothing else is handed over, so all is relaxed: each word has its own order
//! of changes.

use crate::primitive::atomic::AtomicU64;
use crate::primitive::atomic::Ordering::Relaxed;

/// See the module.
#[derive(Debug)]
pub(super) struct Stopwatch {
    word: AtomicU64,
    /// The most that a reader was shown.
    shown: AtomicU64,
}

const RUNS: u64 = 1;

impl Default for Stopwatch {
    fn default() -> Self {
        Self { word: AtomicU64::new(0), shown: AtomicU64::new(0) }
    }
}

impl Stopwatch {
    /// Runs from `now` on. For the worker, if it stands.
    pub(super) fn start(&self, now: u64) {
        self.turn(now, RUNS);
    }

    /// Stands from `now` on, which is no earlier than its start. For the worker, if it runs.
    pub(super) fn stop(&self, now: u64) {
        self.turn(now, 0);
    }

    fn turn(&self, now: u64, runs: u64) {
        let word = self.word.load(Relaxed);
        debug_assert_ne!(word & RUNS, runs);
        self.word.store(now.saturating_sub(word >> 1) << 1 | runs, Relaxed);
    }

    /// What it shows, if it is `now`. For any thread.
    pub(super) fn read(&self, now: u64) -> u64 {
        let word = self.word.load(Relaxed);
        let shows = if word & RUNS == 0 { word >> 1 } else { now.saturating_sub(word >> 1) };
        shows.max(self.shown.fetch_max(shows, Relaxed))
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn it_shows_the_time_for_which_it_ran() {
        let stopwatch = Stopwatch::default();
        assert_eq!(stopwatch.read(7), 0);
        stopwatch.start(10);
        assert_eq!((stopwatch.read(10), stopwatch.read(13)), (0, 3));
        stopwatch.stop(15);
        assert_eq!((stopwatch.read(15), stopwatch.read(90)), (5, 5));
        stopwatch.start(100);
        assert_eq!(stopwatch.read(102), 7);
        stopwatch.stop(103);
        assert_eq!(stopwatch.read(1_000), 8);
    }

    #[test]
    fn it_does_not_go_backwards_for_a_reader_that_was_ahead() {
        let stopwatch = Stopwatch::default();
        stopwatch.start(0);
        assert_eq!(stopwatch.read(5), 5);
        // The worker had read the clock before.
        stopwatch.stop(3);
        assert_eq!(stopwatch.read(6), 5);
        stopwatch.start(10);
        assert_eq!((stopwatch.read(11), stopwatch.read(20)), (5, 13), "and it catches up");
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use loom::sync::Arc;
    use loom::thread;

    use super::*;

    /// A clock that shows another time each time.
    fn tick(clock: &AtomicU64) -> u64 {
        clock.fetch_add(1, Relaxed)
    }

    /// A reader sees a watch that is stopped, started and stopped again: what it is shown grows, and no further than
    /// the time that has passed.
    #[test]
    fn loom_a_stopwatch_does_not_go_backwards() {
        loom::model(|| {
            let (clock, stopwatch) = (Arc::new(AtomicU64::new(1)), Arc::new(Stopwatch::default()));
            stopwatch.start(tick(&clock));
            let worker = {
                let (clock, stopwatch) = (clock.clone(), stopwatch.clone());
                thread::spawn(move || {
                    stopwatch.stop(tick(&clock));
                    stopwatch.start(tick(&clock));
                })
            };
            let mut before = 0;
            for _ in 0..2 {
                let shown = stopwatch.read(tick(&clock));
                // The watch may have been stopped after the clock was read.
                let now = tick(&clock);
                assert!(before <= shown && shown < now, "{before}, {shown}, at {now}");
                before = shown;
            }
            worker.join().unwrap();
            assert!(before <= stopwatch.read(tick(&clock)));
        });
    }
}
