//! [`WakeLatency`]: how long it takes to wake a thread, as that thread has seen it of late.
//!
//! It decides how long a thread spins before it goes to sleep (`spin.rs`), and nothing else depends on it. So it is
//! kept with relaxed operations only: a call that comes just now, or is seen late, makes for one figure less, or for
//! one that is wrong.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use crate::clock::Moment;
use crate::spin;

/// A wake has this part of the average: the last few wakes count.
const AVERAGED_WAKES: u64 = 4;

/// The time from a call to a sleeping thread until it is awake, averaged. There is one for each worker's slot, and one
/// for the blocking pool, where one thread at a time is called.
#[derive(Debug, Default)]
pub(crate) struct WakeLatency {
    /// When the sleeper was last called: a moment. Zero if it has taken note of that.
    called_at: AtomicU64,
    /// In nanoseconds.
    average: AtomicU64,
}

impl WakeLatency {
    /// The average, roughly; zero while threads lack processors.
    pub(crate) fn average(&self) -> Duration {
        Duration::from_nanos(self.average.load(Relaxed))
    }

    /// Called by the thread that wakes the sleeper, before it does.
    pub(crate) fn note_call(&self, now: Moment) {
        self.called_at.store(now.word(), Relaxed);
    }

    /// Called by the sleeper when it is awake. Returns when it was called, if it was; else the clock is not read.
    pub(crate) fn note_awake(&self, now: impl FnOnce() -> Moment) -> Option<Moment> {
        let called_at = Moment::from_word(self.called_at.load(Relaxed))?;
        self.called_at.store(0, Relaxed);
        let took = now().nanos_since(called_at);
        // A thread that takes longer had no processor. To spin would take one from others.
        let took = if u128::from(took) <= spin::MAX_SPIN.as_nanos() { took } else { 0 };
        let rest = (AVERAGED_WAKES - 1) * self.average.load(Relaxed);
        self.average.store((rest + took) / AVERAGED_WAKES, Relaxed);
        Some(called_at)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const MICRO: Duration = Duration::from_micros(1);

    fn woken(latency: &WakeLatency, took: Duration) {
        let now = Moment::now();
        latency.note_call(now);
        assert_eq!(latency.note_awake(|| now + took), Some(now));
    }

    #[test]
    fn it_follows_what_wakes_take() {
        let latency = WakeLatency::default();
        assert_eq!(latency.average(), Duration::ZERO);
        woken(&latency, 40 * MICRO);
        assert_eq!(latency.average(), 10 * MICRO, "one alone says little");
        (0..50).for_each(|_| woken(&latency, 40 * MICRO));
        assert!((39 * MICRO..=40 * MICRO).contains(&latency.average()), "{latency:?}");
        (0..50).for_each(|_| woken(&latency, 3 * MICRO / 2));
        assert!((MICRO..2 * MICRO).contains(&latency.average()), "{latency:?}");
    }

    #[test]
    fn whoever_gets_up_uncalled_says_nothing() {
        let latency = WakeLatency::default();
        (0..50).for_each(|_| woken(&latency, 40 * MICRO));
        let before = latency.average();
        assert_eq!(latency.note_awake(|| panic!("the clock is read for nothing")), None);
        assert_eq!(latency.average(), before);
    }

    #[test]
    fn a_thread_without_a_processor_does_not_count_as_slow_to_wake() {
        let latency = WakeLatency::default();
        (0..50).for_each(|_| woken(&latency, 40 * MICRO));
        (0..50).for_each(|_| woken(&latency, 2 * spin::MAX_SPIN));
        assert!(latency.average() < MICRO, "{latency:?}");
    }
}
