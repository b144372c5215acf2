//! Looking out for work a little before going to sleep, as long as that pays.
//!
//! Falling asleep and being woken costs several microseconds on both sides. If work tends to come sooner than that,
//! looking out for it is cheaper; if it does not, it is a waste, so a thread that looked in vain a few times stops
//! doing it, and tries again now and then. With one processor it never pays: nobody can bring work while this thread
//! looks.

use std::cell::Cell;
use std::hint::spin_loop;

/// A thread's inclination to look out for work. See the module.
#[derive(Debug)]
pub(crate) struct Patience {
    /// Rises with each success, falls with each failure.
    confidence: Cell<u32>,
    /// How often the thread has gone to sleep at once since it lost confidence.
    skipped: Cell<u32>,
    alone: bool,
}

impl Patience {
    const FULL: u32 = 4;
    /// After so many sleeps at once it is tried again.
    const RETRY: u32 = 16;
    /// So many looks, with so many glances in between, and so many pauses of the processor after each: some ten
    /// microseconds in all.
    const LOOKS: u32 = 24;
    const GLANCES: u32 = 8;
    const PAUSES: u32 = 3;

    /// `alone`: the process may use one processor only.
    pub(crate) fn new(alone: bool) -> Self {
        Self { confidence: Cell::new(Self::FULL), skipped: Cell::new(0), alone }
    }

    /// Looks until one of the closures sees something. False if it is time to sleep. `glance` is called all the time
    /// and must be cheap and write nothing; `look` is called now and then, last of all, and whenever `glance` saw
    /// something.
    pub(crate) fn look_out(&self, glance: impl Fn() -> bool, mut look: impl FnMut() -> bool) -> bool {
        if !self.is_worth_it() {
            return look();
        }
        for _ in 0..Self::LOOKS {
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
        self.confidence.set(self.confidence.get().saturating_sub(1));
        look()
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
    fn with_one_processor_there_is_one_look() {
        assert_eq!(looks(&Patience::new(true)), 1);
    }
}
