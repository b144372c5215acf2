//! How often the monitor looks, and when it may sleep.
//!
//! To wake a thread costs tens of microseconds of processor time, so a program that does next to nothing must not pay
//! for a thousand looks a second. But a poll that is blocked is found one look late. Hence the time between two looks
//! is
//!
//! - [`ALERT`] when somebody has not moved since the last look, and may soon be stuck, or when somebody is to be
//!   helped, but for those who are aside;
//! - doubled up to [`CALM`] while all that are up get on;
//! - doubled up to [`STILL`] while nothing can go wrong before somebody gets up: all sleep, or those that do not move
//!   have nobody waiting for them.
//!
//! A monitor that sleeps (`doze.rs`) makes no looks at all. But the worker that gets up first has to wake it, which
//! costs about as much as a look. So it sleeps when nobody has got up between two looks, a [`STILL`] apart, and it
//! sleeps *on* if all workers sleep again when it is woken: whatever they got up for was short, and nobody was blocked.
//! If the sleep was shorter than a [`STILL`], looks are cheaper, and it goes back to them. If somebody is still up, it
//! makes one more look a [`STILL`] later, and sleeps again if all do by then.
//!
//! So a timer that ticks every 10 ms or more often costs a look every [`STILL`], and one that ticks every 30 ms or more
//! seldom wakes the monitor once each time; between these it is somewhat more than either.

use std::time::Duration;

/// The time between two looks; see the module.
pub(super) const ALERT: Duration = Duration::from_millis(1);
const CALM: Duration = Duration::from_millis(3);
const STILL: Duration = Duration::from_millis(10);

/// What a look has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mood {
    Alert,
    Calm,
    Still,
}

/// The time between the monitor's looks.
#[derive(Debug)]
pub(super) struct Pace {
    interval: Duration,
    /// How often workers had lain down at the last look, if all slept then.
    parks: Option<u64>,
    /// The last sleep was long, and no look has been made since but the one when it ended.
    is_brief: bool,
}

impl Pace {
    pub(super) fn new() -> Self {
        Self { interval: ALERT, parks: None, is_brief: false }
    }

    /// The time until the next look.
    pub(super) fn interval(&self) -> Duration {
        self.interval
    }

    /// Whether the monitor may sleep: `parks` is how often workers have lain down, if all of them sleep.
    pub(super) fn may_sleep(&mut self, parks: Option<u64>) -> bool {
        let is_as_before = parks == std::mem::replace(&mut self.parks, parks) && self.interval == STILL;
        let is_brief = std::mem::replace(&mut self.is_brief, false);
        parks.is_some() && (is_as_before || is_brief)
    }

    /// Whether a monitor that has slept for so long, and is woken, may sleep on if all sleep again.
    pub(super) fn may_sleep_on(slept: Duration) -> bool {
        slept >= STILL
    }

    /// The time until the next look, if the system lets the monitor have it some time later. What more passes is not
    /// anybody's fault.
    pub(super) fn expected(&self) -> Duration {
        self.interval + self.interval.min(CALM)
    }

    /// After a look.
    pub(super) fn go_on(&mut self, mood: Mood) {
        self.interval = (self.interval * 2).min(Self::longest(mood));
    }

    /// After a sleep, and the look that follows it.
    pub(super) fn restart(&mut self, slept: Duration, mood: Mood) {
        *self = Self { interval: Self::longest(mood), is_brief: Self::may_sleep_on(slept), ..Self::new() };
    }

    fn longest(mood: Mood) -> Duration {
        match mood {
            Mood::Alert => ALERT,
            Mood::Calm => CALM,
            Mood::Still => STILL,
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use Mood::{Alert, Calm, Still};

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    /// The intervals in milliseconds that follow one another.
    fn intervals(pace: &mut Pace, moods: &[Mood]) -> Vec<u128> {
        let next = |&mood| {
            pace.go_on(mood);
            pace.interval().as_millis()
        };
        moods.iter().map(next).collect()
    }

    #[test]
    fn looks_are_as_rare_as_what_they_find_allows() {
        let mut pace = Pace::new();
        assert_eq!(intervals(&mut pace, &[Calm, Calm, Calm, Still, Still, Still]), [2, 3, 3, 6, 10, 10]);
        assert_eq!(intervals(&mut pace, &[Calm, Alert, Alert, Still, Calm]), [3, 1, 1, 2, 3]);
    }

    /// How many looks the monitor makes in a time, and how often it is woken, beside something that gets up for a
    /// moment once a period (both in milliseconds). `is_slow`: for so long that the monitor finds it up when it is
    /// woken.
    fn looks_and_wakes(period: u64, time: u64, is_slow: bool) -> (u64, u64) {
        let (mut pace, mut now, mut looks, mut wakes) = (Pace::new(), 0, 0, 0);
        while now < time {
            // Between two beats.
            now += pace.interval().as_millis() as u64;
            looks += 1;
            if !pace.may_sleep(Some(now / period)) {
                pace.go_on(Still);
                continue;
            }
            loop {
                let asleep = now;
                now = (now / period + 1) * period;
                wakes += 1;
                let slept = ms(now - asleep);
                if is_slow || !Pace::may_sleep_on(slept) || now >= time {
                    looks += 1;
                    pace.restart(slept, Still);
                    break;
                }
            }
        }
        (looks, wakes)
    }

    #[test]
    fn what_ticks_often_costs_a_look_now_and_then_and_nobody_is_woken() {
        let (looks, wakes) = looks_and_wakes(10, 10_000, false);
        assert_eq!(wakes, 0);
        assert!(looks <= 1_010, "{looks} looks");
    }

    #[test]
    fn what_ticks_seldom_wakes_the_monitor_once_each_time() {
        for period in [31, 40, 60, 100, 1_000] {
            let (looks, wakes) = looks_and_wakes(period, 100 * period, false);
            assert!(wakes.abs_diff(100) <= 2, "{wakes} wakes");
            assert!(looks <= 10, "{looks} looks");
        }
    }

    #[test]
    fn what_ticks_seldom_and_takes_long_costs_two_looks_each_time() {
        for period in [31, 40, 60, 100, 1_000] {
            let (looks, wakes) = looks_and_wakes(period, 100 * period, true);
            assert!(wakes.abs_diff(100) <= 2, "{wakes} wakes");
            assert!(looks <= 2 * wakes + 8, "{looks} looks");
        }
    }

    #[test]
    fn it_sleeps_only_when_nobody_has_got_up_between_two_looks() {
        let mut pace = Pace::new();
        assert!(!pace.may_sleep(Some(5)), "they may have lain down just now");
        assert!(!pace.may_sleep(Some(5)), "that was a short time");
        (0..4).for_each(|_| pace.go_on(Still));
        assert!(!pace.may_sleep(Some(6)), "somebody was up");
        assert!(!pace.may_sleep(None), "somebody is");
        assert!(!pace.may_sleep(Some(6)));
        assert!(pace.may_sleep(Some(6)));
        pace.restart(ms(1), Still);
        assert!(!pace.may_sleep(Some(7)), "it slept for a moment only");
        pace.restart(STILL, Still);
        assert!(!pace.may_sleep(None), "somebody is still up");
        assert!(!pace.may_sleep(Some(8)), "and was, for long");
        pace.restart(STILL, Still);
        assert!(pace.may_sleep(Some(9)));
        pace.restart(STILL, Alert);
        assert_eq!(pace.interval(), ALERT);
    }
}
