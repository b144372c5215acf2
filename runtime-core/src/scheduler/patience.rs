//! Looking out for work a little before going to sleep, as long as that pays.
//!
//! Falling asleep and being woken costs several microseconds on both sides. If work tends to come sooner than that,
//! looking out for it is cheaper; if it does not, it is a waste, so a thread that looked in vain a few times stops
//! doing it, and tries again now and then. With one processor it never pays: nobody can bring work while this thread
//! looks.
//!
//! How long is a little? As long as it takes to be woken, by which no more than a constant factor is lost whenever the work comes
//! (Karlin, Li, Manasse and Owicki, "Empirical studies of competitive spinning for a shared-memory multiprocessor", SOSP
//! 1991), and as long again, because whoever brings it may have to be woken first. That is some microseconds mostly, but
//! forty and more in a virtual machine whose host takes its time. There, two threads that bring each other work, and look out for
//! less than that, fall asleep in turn for ever. So the thread measures it.

use std::cell::Cell;
use std::hint::spin_loop;
use std::time::Duration;

/// A thread's inclination to look out for work. See the module.
#[derive(Debug)]
pub(crate) struct Patience {
    /// Rises with each success, falls with each failure.
    confidence: Cell<u32>,
    /// How often the thread has gone to sleep at once since it lost confidence.
    skipped: Cell<u32>,
    /// How many microseconds it takes to be woken, about.
    wake: Cell<u32>,
    alone: bool,
}

impl Patience {
    const FULL: u32 = 4;
    /// After so many sleeps at once it is tried again.
    const RETRY: u32 = 16;
    /// So many looks at least, with so many glances in between, and so many pauses of the processor after each: some ten
    /// microseconds in all, or up to thirty where a pause is longer.
    const LOOKS: u32 = 24;
    /// And so many times as many at most.
    const LONGEST: u32 = 10;
    /// So many microseconds from being woken to being up, for that: half of what these looks take.
    const WAKE: u32 = 5;
    /// A thread that was not up by then had no processor, and looking out would take one from others.
    const OVERLOAD: Duration = Duration::from_micros(200);
    const GLANCES: u32 = 8;
    const PAUSES: u32 = 3;

    /// `alone`: the process may use one processor only.
    pub(crate) fn new(alone: bool) -> Self {
        Self { confidence: Cell::new(Self::FULL), skipped: Cell::new(0), wake: Cell::new(0), alone }
    }

    /// Looks until one of the closures sees something. False if it is time to sleep. `glance` is called all the time
    /// and must be cheap and write nothing; `look` is called now and then, last of all, and whenever `glance` saw
    /// something.
    pub(crate) fn look_out(&self, glance: impl Fn() -> bool, mut look: impl FnMut() -> bool) -> bool {
        if !self.is_worth_it() {
            return look();
        }
        for _ in 0..self.looks() {
            if look() {
                self.confidence.set((self.confidence.get() + 1).min(Self::FULL));
                return true;
            }
            for _ in 0..Self::GLANCES {
                if glance() {
                    break;
                }
                (0..Self::PAUSES).for_each(|_| spin_loop());
            }
        }
        // A long one in vain costs as much as all the short ones until it is given up.
        let lost = if self.looks() > Self::LOOKS { Self::FULL } else { 1 };
        self.confidence.set(self.confidence.get().saturating_sub(lost));
        look()
    }

    /// The thread was woken, and it took so long until it was up.
    pub(crate) fn note_wake(&self, took: Duration) {
        let took = if took < Self::OVERLOAD { took.as_micros() as u32 } else { 0 };
        self.wake.set((3 * self.wake.get() + took) / 4);
    }

    fn looks(&self) -> u32 {
        Self::LOOKS * (self.wake.get() / Self::WAKE).clamp(1, Self::LONGEST)
    }

    fn is_worth_it(&self) -> bool {
        if self.alone {
            return false;
        }
        if self.confidence.get() > 0 {
            return true;
        }
        let skipped = self.skipped.get() + 1;
        self.skipped.set(skipped % Self::RETRY);
        skipped == Self::RETRY
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn looks(patience: &Patience) -> u32 {
        let mut looks = 0;
        let look = || {
            looks += 1;
            false
        };
        assert!(!patience.look_out(|| false, look));
        looks
    }

    #[test]
    fn it_ends_when_it_does_not_pay_and_comes_back_for_a_try() {
        let patience = Patience::new(false);
        for _ in 0..Patience::FULL {
            assert_eq!(looks(&patience), Patience::LOOKS + 1);
        }
        for _ in 1..Patience::RETRY {
            assert_eq!(looks(&patience), 1);
        }
        assert_eq!(looks(&patience), Patience::LOOKS + 1);
        assert!(patience.look_out(|| false, || true));
    }

    #[test]
    fn a_success_on_a_try_restores_confidence() {
        let patience = Patience::new(false);
        (0..Patience::FULL).for_each(|_| _ = looks(&patience));
        (1..Patience::RETRY).for_each(|_| _ = looks(&patience));
        let mut left = 3;
        let look = || {
            left -= 1;
            left == 0
        };
        assert!(patience.look_out(|| false, look));
        assert_eq!(looks(&patience), Patience::LOOKS + 1);
    }

    #[test]
    fn it_is_as_long_as_wakes_take() {
        let patience = Patience::new(false);
        let woken = |micros| (0..20).for_each(|_| patience.note_wake(Duration::from_micros(micros)));
        woken(3);
        assert_eq!(patience.looks(), Patience::LOOKS);
        woken(43);
        assert_eq!(patience.looks(), Patience::LOOKS * 8);
        assert!(!patience.look_out(|| false, || false));
        assert_eq!(looks(&patience), 1, "in vain once is enough");
        woken(150);
        assert_eq!(patience.looks(), Patience::LOOKS * Patience::LONGEST);
        woken(10_000);
        assert_eq!(patience.looks(), Patience::LOOKS, "there is no processor for it");
    }

    #[test]
    fn with_one_processor_there_is_one_look() {
        assert_eq!(looks(&Patience::new(true)), 1);
    }
}
