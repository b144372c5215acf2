//! How often the monitor looks, and when it may sleep.
//!
//! To wake a thread costs tens of microseconds of processor time, so a program that does next to nothing must not pay for a
//! thousand looks a second. But a poll that is blocked is found one look late. Hence the time between two looks is
//!
//! - [`ALERT`] when somebody has not moved since the last look, and may soon be stuck, or when somebody is to be helped, but for those
//!   who are aside;
//! - doubled up to [`CALM`] while all that are up get on;
//! - doubled up to [`STILL`] while nothing can go wrong before somebody gets up: all sleep, or those that do not move have
//!   nobody waiting for them.
//!
//! A monitor that sleeps (`doze.rs`) makes no looks at all. But whoever gets up first has to wake it, and pays for that. So it
//! keeps looking until that has cost about as much as a sleep and what follows it: for [`QUIET`], in which nobody has got up
//! even for a moment. If that and the sleep were as long together, the next rest will be, too: then it makes one look when it is
//! woken, one [`STILL`] later, and sleeps again if all do. So a timer that ticks every 20 ms or more often costs a look every
//! [`STILL`], one that ticks every 31 ms or more seldom two looks each time; and between these it is somewhat more than either.

use std::time::Duration;

/// The time between two looks; see the module.
pub(super) const ALERT: Duration = Duration::from_millis(1);
const CALM: Duration = Duration::from_millis(3);
const STILL: Duration = Duration::from_millis(10);
/// For how long nobody must have got up before the monitor sleeps; and a sleep that was worth it.
const QUIET: Duration = Duration::from_millis(20);

/// What a look has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mood {
    Alert,
    Calm,
    Still,
}

/// See the module.
#[derive(Debug)]
pub(super) struct Pace {
    interval: Duration,
    /// How often workers had lain down at the last look, if all slept then.
    parks: Option<u64>,
    quiet: Duration,
    /// The last sleep was long, and no look has been made since but the one when it ended.
    is_brief: bool,
}

impl Pace {
    pub(super) fn new() -> Self {
        Self { interval: ALERT, parks: None, quiet: Duration::ZERO, is_brief: false }
    }

    /// The time until the next look.
    pub(super) fn interval(&self) -> Duration {
        self.interval
    }

    /// Whether the monitor may sleep: `parks` is how often workers have lain down if all of them sleep, and `passed` the time
    /// since the last look.
    pub(super) fn may_sleep(&mut self, parks: Option<u64>, passed: Duration) -> bool {
        let is_as_before = parks.is_some() && parks == self.parks;
        self.quiet = if is_as_before { self.quiet + passed } else { Duration::ZERO };
        self.parks = parks;
        let is_brief = std::mem::replace(&mut self.is_brief, false);
        self.quiet >= QUIET || is_brief && parks.is_some()
    }

    /// The time until the next look, if the system lets the monitor have it some time later. What more passes is not anybody's
    /// fault.
    pub(super) fn expected(&self) -> Duration {
        self.interval + self.interval.min(CALM)
    }

    /// After a look.
    pub(super) fn go_on(&mut self, mood: Mood) {
        self.interval = (self.interval * 2).min(Self::longest(mood));
    }

    /// After a sleep of so long, and the look that follows it.
    pub(super) fn restart(&mut self, slept: Duration, mood: Mood) {
        let is_brief = slept + self.quiet >= QUIET;
        *self = Self { interval: Self::longest(mood), is_brief, ..Self::new() };
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

    /// How many looks the monitor makes in so many milliseconds, and how often it is woken, beside something that gets up
    /// for a moment each so many milliseconds.
    fn looks_and_wakes(period: u64, time: u64) -> (u64, u64) {
        let (mut pace, mut now, mut looks, mut wakes) = (Pace::new(), 0, 0, 0);
        while now < time {
            // Between two beats.
            let passed = pace.interval();
            now += passed.as_millis() as u64;
            looks += 1;
            if pace.may_sleep(Some(now / period), passed) {
                let asleep = now;
                now = (now / period + 1) * period;
                wakes += 1;
                looks += 1;
                pace.restart(ms(now - asleep), Still);
            } else {
                pace.go_on(Still);
            }
        }
        (looks, wakes)
    }

    #[test]
    fn what_ticks_often_costs_a_look_now_and_then_and_nobody_is_woken() {
        let (looks, wakes) = looks_and_wakes(10, 10_000);
        assert_eq!(wakes, 0);
        assert!(looks <= 1_010, "{looks} looks");
    }

    #[test]
    fn what_ticks_seldom_costs_two_looks_each_time() {
        for period in [31, 40, 60, 100, 1_000] {
            let (looks, wakes) = looks_and_wakes(period, 100 * period);
            assert!(wakes.abs_diff(100) <= 1, "{wakes} wakes");
            assert!(looks <= 2 * wakes + 5, "{looks} looks");
        }
    }

    #[test]
    fn it_sleeps_only_when_nobody_has_got_up_for_a_while() {
        let mut pace = Pace::new();
        assert!(!pace.may_sleep(Some(5), ms(100)), "they may have lain down just now");
        assert!(!pace.may_sleep(Some(5), ms(15)));
        assert!(!pace.may_sleep(Some(6), ms(15)), "somebody was up");
        assert!(!pace.may_sleep(Some(6), ms(15)));
        assert!(!pace.may_sleep(None, ms(15)), "somebody is");
        assert!(!pace.may_sleep(Some(6), ms(100)));
        assert!(pace.may_sleep(Some(6), QUIET));
        pace.restart(ms(1), Still);
        assert!(!pace.may_sleep(None, ms(1)), "somebody is still up");
        assert!(!pace.may_sleep(Some(6), ms(1)), "and was, for long");
        pace.restart(QUIET, Still);
        assert!(pace.may_sleep(Some(6), ms(1)));
        pace.restart(ms(1), Still);
        assert!(!pace.may_sleep(Some(6), QUIET), "it slept for a moment only");
        pace.restart(QUIET, Alert);
        assert_eq!(pace.interval(), ALERT);
    }
}
