//! Looking out for work a little before going to sleep, as long as that pays.
//!
//! Falling asleep and being woken costs several microseconds on both sides. If work tends to come sooner than that,
//! looking out for it is cheaper; if it does not, it is a waste, so a thread that looked in vain a few times stops
//! doing it, and tries again now and then.
//!
//! How long is a little? As long as it takes to be woken, by which no more than a constant factor is lost whenever the work comes
//! (Karlin, Li, Manasse and Owicki, "Empirical studies of competitive spinning for a shared-memory multiprocessor", SOSP
//! 1991), and as long again, because whoever brings it may have to be woken first. That is some microseconds mostly, but
//! forty and more in a virtual machine if the sleeper's processor has fallen asleep, too. There, two threads that bring each
//! other work, and look out for less than that, fall asleep in turn for ever. So it is measured (`wake_latency.rs`).
//!
//! Such a long look-out in vain costs a multiple of the processor time that a sleep does, so it has to succeed nearly always to
//! be worth it. But after many that did succeed one in vain changes little: those two threads are taken off their processors now and
//! then, and should not go back to sleeping in turn each time.
//!
//! Whoever is to bring the work may be waiting for this very processor: the operating system likes to put a thread where the one
//! is that woke it, and may leave both there though another processor is idle. So a thread on which nobody relies yields between
//! its looks, after the first few. If somebody else has the processor then who keeps it, it is gone for milliseconds; that is
//! noticed, and not tried again for long. A worker that searches must not do so at all, for nobody else is woken meanwhile. (A thread of
//! the blocking pool may: if it has been away for some time, the next job has another summoned.)

use std::cell::Cell;
use std::hint::spin_loop;
use std::time::{Duration, Instant};

/// A thread's inclination to look out for work. See the module.
#[derive(Debug)]
pub(crate) struct Patience {
    /// Rises with each success, falls with each failure.
    confidence: Cell<u32>,
    /// How often the thread has gone to sleep at once since it lost confidence.
    skipped: Cell<u32>,
    /// For so many look-outs more the processor is not yielded.
    crowded: Cell<u32>,
}

impl Patience {
    const FULL: u32 = 16;
    /// What a short look-out changes: it is worth it if half of them succeed.
    const SHORT: u32 = 4;
    /// And a long one: if eight of nine do.
    const LONG_SUCCESS: u32 = 1;
    const LONG_FAILURE: u32 = 8;
    /// After so many sleeps at once it is tried again.
    const RETRY: u32 = 16;
    const SHORTEST: Duration = Duration::from_micros(10);
    const LONGEST: Duration = Duration::from_micros(100);
    /// So many glances between two looks, and so many pauses of the processor after each: half a microsecond, or more where a
    /// pause is longer. Beside that, to read the clock is little.
    const GLANCES: u32 = 8;
    const PAUSES: u32 = 3;
    /// After so many looks the thread also yields before each.
    const UNYIELDING: u32 = 3;
    /// If that took so long, somebody else has the processor and keeps it.
    const CROWDED: Duration = Duration::from_micros(50);
    /// Then it is tried again after so many look-outs.
    const RETRY_YIELD: u32 = 256;

    /// For how long it is worth waiting for work, or letting work wait, rather than sleep, or wake a sleeper, who takes `wake`
    /// to be up.
    pub(crate) fn length(wake: Duration) -> Duration {
        (2 * wake).clamp(Self::SHORTEST, Self::LONGEST)
    }

    /// Looks until one of the closures sees something. False if it is time to sleep, from which it takes `wake` to be up
    /// again. `glance` is called all the time and must be cheap and write nothing; `look` is called now and then, last of
    /// all, and whenever `glance` saw something. `yields` lets others have the processor, if this thread may.
    pub(crate) fn look_out(
        &self,
        wake: Duration,
        clock: impl Fn() -> Instant,
        yields: Option<&dyn Fn()>,
        glance: impl Fn() -> bool,
        mut look: impl FnMut() -> bool,
    ) -> bool {
        if !self.is_worth_it() {
            return look();
        }
        let length = Self::length(wake);
        let is_long = length > 2 * Self::SHORTEST;
        let (won, lost) = if is_long { (Self::LONG_SUCCESS, Self::LONG_FAILURE) } else { (Self::SHORT, Self::SHORT) };
        let yields = yields.filter(|_| !self.is_crowded());
        let began = clock();
        let mut before = began;
        for looks in 1.. {
            if look() {
                self.confidence.set((self.confidence.get() + won).min(Self::FULL));
                return true;
            }
            let has_glanced_it = (0..Self::GLANCES).any(|_| {
                let is_there = glance();
                if !is_there {
                    (0..Self::PAUSES).for_each(|_| spin_loop());
                }
                is_there
            });
            let yields = yields.filter(|_| !has_glanced_it && looks >= Self::UNYIELDING);
            yields.inspect(|yields| yields());
            let now = clock();
            if yields.is_some() && now.saturating_duration_since(before) >= Self::CROWDED {
                self.crowded.set(Self::RETRY_YIELD);
                break;
            }
            if now.saturating_duration_since(began) >= length {
                break;
            }
            before = now;
        }
        self.confidence.set(self.confidence.get().saturating_sub(lost));
        look()
    }

    fn is_crowded(&self) -> bool {
        let left = self.crowded.get();
        self.crowded.set(left.saturating_sub(1));
        left > 0
    }

    fn is_worth_it(&self) -> bool {
        if self.confidence.get() > 0 {
            return true;
        }
        let skipped = self.skipped.get() + 1;
        self.skipped.set(skipped % Self::RETRY);
        skipped == Self::RETRY
    }
}

impl Default for Patience {
    fn default() -> Self {
        Self { confidence: Cell::new(Self::FULL), skipped: Cell::new(0), crowded: Cell::new(0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MICRO: Duration = Duration::from_micros(1);
    /// By a clock that moves by a microsecond whenever it is read.
    const SHORT: u128 = Patience::SHORTEST.as_micros() + 1;

    /// How many looks it takes to give up.
    fn looks(patience: &Patience, wake: Duration) -> u128 {
        let mut looks = 0;
        assert!(!look_out(patience, wake, || {
            looks += 1;
            false
        }));
        looks
    }

    fn look_out(patience: &Patience, wake: Duration, look: impl FnMut() -> bool) -> bool {
        let now = Cell::new(Instant::now());
        let clock = || {
            now.set(now.get() + MICRO);
            now.get()
        };
        patience.look_out(wake, clock, None, || false, look)
    }

    /// How often it yields in a long look-out in vain, if that takes so long.
    fn yields(patience: &Patience, takes: Duration) -> u32 {
        let (now, count) = (Cell::new(Instant::now()), Cell::new(0));
        let clock = || {
            now.set(now.get() + MICRO);
            now.get()
        };
        let yields = || {
            now.set(now.get() + takes);
            count.set(count.get() + 1);
        };
        patience.confidence.set(Patience::FULL);
        assert!(!patience.look_out(40 * MICRO, clock, Some(&yields), || false, || false));
        count.get()
    }

    #[test]
    fn the_processor_is_yielded_unless_somebody_keeps_it() {
        let patience = Patience::default();
        assert_eq!(yields(&patience, Duration::ZERO), 80 - Patience::UNYIELDING + 1);
        assert_eq!(yields(&patience, 3000 * MICRO), 1);
        (0..Patience::RETRY_YIELD).for_each(|_| assert_eq!(yields(&patience, Duration::ZERO), 0));
        assert_eq!(yields(&patience, 3000 * MICRO), 1, "another try");
        assert_eq!(yields(&patience, Duration::ZERO), 0);
    }

    #[test]
    fn it_ends_when_it_does_not_pay_and_comes_back_for_a_try() {
        let patience = Patience::default();
        for _ in 0..Patience::FULL / Patience::SHORT {
            assert_eq!(looks(&patience, MICRO), SHORT);
        }
        for _ in 1..Patience::RETRY {
            assert_eq!(looks(&patience, MICRO), 1);
        }
        assert_eq!(looks(&patience, MICRO), SHORT);
        assert!(look_out(&patience, MICRO, || true));
    }

    #[test]
    fn a_success_on_a_try_restores_confidence() {
        let patience = Patience::default();
        (0..Patience::FULL / Patience::SHORT).for_each(|_| _ = looks(&patience, MICRO));
        (1..Patience::RETRY).for_each(|_| _ = looks(&patience, MICRO));
        let mut left = 3;
        assert!(look_out(&patience, MICRO, || {
            left -= 1;
            left == 0
        }));
        assert_eq!(looks(&patience, MICRO), SHORT);
    }

    #[test]
    fn it_is_twice_as_long_as_a_wake_takes_within_bounds() {
        let looks = |wake| looks(&Patience::default(), wake);
        assert_eq!(looks(Duration::ZERO), SHORT);
        assert_eq!(looks(40 * MICRO), 81);
        assert_eq!(looks(150 * MICRO), Patience::LONGEST.as_micros() + 1);
    }

    #[test]
    fn a_long_one_must_succeed_nearly_always() {
        let patience = Patience::default();
        let look_out = |succeeds| look_out(&patience, 40 * MICRO, || succeeds);
        (0..100).for_each(|_| assert!(look_out(true)));
        for _ in 0..100 {
            assert!(!look_out(false), "one in vain changes little");
            (0..Patience::LONG_FAILURE).for_each(|_| assert!(look_out(true)));
            assert_eq!(patience.confidence.get(), Patience::FULL);
        }
        assert_eq!(looks(&patience, 40 * MICRO), 81);
        assert_eq!(looks(&patience, 40 * MICRO), 81);
        assert_eq!(looks(&patience, 40 * MICRO), 1);
    }
}
