//! How often the monitor looks, and when it may sleep.
//!
//! To wake a thread costs tens of microseconds of processor time, so a program that does next to nothing must not pay
//! for a thousand samples a second. But a poll that is blocked is found one sample late. Hence the time between two
//! samples is
//!
//! - [`FAST_INTERVAL`] when somebody has not moved since the last sample, and may soon be stuck, or when somebody is to
//!   be helped, but for those who block in place;
//! - doubled up to [`NORMAL_INTERVAL`] while all that are awake get on;
//! - doubled up to [`IDLE_INTERVAL`] while nothing can go wrong before somebody wakes up: all sleep, or those that do
//!   not move have nobody waiting for them.
//!
//! A monitor that sleeps (`monitor_park.rs`) makes no samples at all. But the worker that wakes up first has to wake
//! it, which costs about as much as a sample. So it sleeps when nobody has woken up between two samples, a
//! [`IDLE_INTERVAL`] apart, and it sleeps *on* if all workers sleep again when it is woken: whatever they woke up for
//! was short, and nobody was blocked. If the sleep was shorter than an [`IDLE_INTERVAL`], samples are cheaper, and it
//! goes back to them. If somebody is still awake, it makes one more sample an [`IDLE_INTERVAL`] later, and sleeps again
//! if all do by then.
//!
//! So a timer that ticks every 10 ms or more often costs a sample every [`IDLE_INTERVAL`], and one that ticks every 30
//! ms or more seldom wakes the monitor once each time; between these it is somewhat more than either.

use std::time::Duration;

use crate::blocked::DEFAULT_BLOCKED_THRESHOLD;

/// The time between two samples; see the module. At the longest it doubles the time after which a poll is found to be
/// blocked, as long as the threshold is the usual one.
const IDLE_INTERVAL: Duration = DEFAULT_BLOCKED_THRESHOLD;
const NORMAL_INTERVAL: Duration = part_of_idle_interval(3);
pub(super) const FAST_INTERVAL: Duration = part_of_idle_interval(10);

const fn part_of_idle_interval(divisor: u64) -> Duration {
    Duration::from_micros(IDLE_INTERVAL.as_micros() as u64 / divisor)
}

/// What a sample has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cadence {
    Fast,
    Normal,
    Idle,
}

/// The time between the monitor's samples.
#[derive(Debug)]
pub(super) struct SampleInterval {
    interval: Duration,
    /// How often workers had gone to sleep at the last sample, if all slept then.
    parks: Option<u64>,
    /// The last sleep was long, and no sample has been made since but the one when it ended.
    is_brief: bool,
}

impl SampleInterval {
    pub(super) fn new() -> Self {
        Self { interval: FAST_INTERVAL, parks: None, is_brief: false }
    }

    /// The time until the next sample.
    pub(super) fn interval(&self) -> Duration {
        self.interval
    }

    /// Whether the monitor may sleep: `parks` is how often workers have gone to sleep, if all of them sleep.
    pub(super) fn may_sleep(&mut self, parks: Option<u64>) -> bool {
        let is_as_before = parks == std::mem::replace(&mut self.parks, parks) && self.interval == IDLE_INTERVAL;
        let is_brief = std::mem::replace(&mut self.is_brief, false);
        parks.is_some() && (is_as_before || is_brief)
    }

    /// Whether a monitor that has slept for `slept`, and is woken, may go on sleeping if all workers sleep again.
    pub(super) fn may_keep_sleeping(slept: Duration) -> bool {
        slept >= IDLE_INTERVAL
    }

    /// The time until the next sample, if the system lets the monitor have it some time later. What more passes is not
    /// anybody's fault.
    pub(super) fn expected(&self) -> Duration {
        self.interval + self.interval.min(NORMAL_INTERVAL)
    }

    /// After a sample.
    pub(super) fn adapt(&mut self, cadence: Cadence) {
        self.interval = (self.interval * 2).min(Self::limit(cadence));
    }

    /// After a sleep, and the look that follows it.
    pub(super) fn restart(&mut self, slept: Duration, cadence: Cadence) {
        *self = Self { interval: Self::limit(cadence), is_brief: Self::may_keep_sleeping(slept), ..Self::new() };
    }

    fn limit(cadence: Cadence) -> Duration {
        match cadence {
            Cadence::Fast => FAST_INTERVAL,
            Cadence::Normal => NORMAL_INTERVAL,
            Cadence::Idle => IDLE_INTERVAL,
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use Cadence::{Fast, Idle, Normal};

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    /// The intervals in milliseconds that follow one another.
    fn intervals(interval: &mut SampleInterval, cadences: &[Cadence]) -> Vec<u128> {
        let next = |&cadence| {
            interval.adapt(cadence);
            interval.interval().as_millis()
        };
        cadences.iter().map(next).collect()
    }

    #[test]
    fn samples_are_as_rare_as_what_they_find_allows() {
        let mut interval = SampleInterval::new();
        assert_eq!(intervals(&mut interval, &[Normal, Normal, Normal, Idle, Idle, Idle]), [2, 3, 3, 6, 10, 10]);
        assert_eq!(intervals(&mut interval, &[Normal, Fast, Fast, Idle, Normal]), [3, 1, 1, 2, 3]);
    }

    /// How many samples the monitor makes in a time, and how often it is woken, beside something that wakes up for a
    /// moment once a period (both in milliseconds). `is_slow`: for so long that the monitor finds it awake when it is
    /// woken.
    fn samples_and_wakes(period: u64, time: u64, is_slow: bool) -> (u64, u64) {
        let (mut interval, mut now, mut samples, mut wakes) = (SampleInterval::new(), 0, 0, 0);
        while now < time {
            // Between two beats.
            now += interval.interval().as_millis() as u64;
            samples += 1;
            if !interval.may_sleep(Some(now / period)) {
                interval.adapt(Idle);
                continue;
            }
            loop {
                let asleep = now;
                now = (now / period + 1) * period;
                wakes += 1;
                let slept = ms(now - asleep);
                if is_slow || !SampleInterval::may_keep_sleeping(slept) || now >= time {
                    samples += 1;
                    interval.restart(slept, Idle);
                    break;
                }
            }
        }
        (samples, wakes)
    }

    #[test]
    fn what_ticks_often_costs_a_look_now_and_then_and_nobody_is_woken() {
        let (samples, wakes) = samples_and_wakes(10, 10_000, false);
        assert_eq!(wakes, 0);
        assert!(samples <= 1_010, "{samples} looks");
    }

    #[test]
    fn what_ticks_seldom_wakes_the_monitor_once_each_time() {
        for period in [31, 40, 60, 100, 1_000] {
            let (samples, wakes) = samples_and_wakes(period, 100 * period, false);
            assert!(wakes.abs_diff(100) <= 2, "{wakes} wakes");
            assert!(samples <= 10, "{samples} looks");
        }
    }

    #[test]
    fn what_ticks_seldom_and_takes_long_costs_two_looks_each_time() {
        for period in [31, 40, 60, 100, 1_000] {
            let (samples, wakes) = samples_and_wakes(period, 100 * period, true);
            assert!(wakes.abs_diff(100) <= 2, "{wakes} wakes");
            assert!(samples <= 2 * wakes + 8, "{samples} looks");
        }
    }

    #[test]
    fn it_sleeps_only_when_nobody_has_got_up_between_two_looks() {
        let mut interval = SampleInterval::new();
        assert!(!interval.may_sleep(Some(5)), "they may have gone to sleep just now");
        assert!(!interval.may_sleep(Some(5)), "that was a short time");
        (0..4).for_each(|_| interval.adapt(Idle));
        assert!(!interval.may_sleep(Some(6)), "somebody was awake");
        assert!(!interval.may_sleep(None), "somebody is");
        assert!(!interval.may_sleep(Some(6)));
        assert!(interval.may_sleep(Some(6)));
        interval.restart(ms(1), Idle);
        assert!(!interval.may_sleep(Some(7)), "it slept for a moment only");
        interval.restart(IDLE_INTERVAL, Idle);
        assert!(!interval.may_sleep(None), "somebody is still awake");
        assert!(!interval.may_sleep(Some(8)), "and was, for long");
        interval.restart(IDLE_INTERVAL, Idle);
        assert!(interval.may_sleep(Some(9)));
        interval.restart(IDLE_INTERVAL, Fast);
        assert_eq!(interval.interval(), FAST_INTERVAL);
    }
}
