//! Spinning: a thread without work looks for some a little longer before it goes to sleep, as long as that pays.
//!
//! To fall asleep and be woken costs some microseconds on both sides, and in a virtual machine, where the sleeper's
//! processor has fallen asleep, too, forty and more. Two threads that bring each other work would pay that at every
//! turn.
//!
//! # How long
//!
//! Twice as long as it takes to wake the thread, which is measured ([`WakeLatency`](crate::wake_latency::WakeLatency)).
//! As long as the wake, because then no more than a constant factor is lost whenever the work comes (Karlin, Li,
//! Manasse and Owicki, "Empirical studies of competitive spinning for a shared-memory multiprocessor", SOSP 1991); and
//! as long again, because the thread that brings the work may have to be woken first. But no shorter than [`MIN_SPIN`],
//! and no longer than [`MAX_SPIN`]: a thread that takes longer than that to be awake had no processor, and then a
//! thread that spins would keep it waiting.
//!
//! # Whether
//!
//! The next wait is taken to be like the last one (the last-value predictor of the same paper). A thread spins if its
//! last wait was ended by another thread, and so soon that spinning would have caught it.
//!
//! It would have, that is, if both threads had a processor. On a busy machine the other one may be waiting for that of
//! the thread that spins: each sleep is a short one then, and each spin in vain. So after a spin in vain the thread
//! sleeps the next time at once, and after several in a row twice as often each time (the exponential backoff of
//! Metcalfe and Boggs, "Ethernet", CACM 1976, with [`MOST_SKIPPED`] as its bound). A spin that finds something ends
//! that.
//!
//! Workers spin for threads outside of the runtime and in `block_on` only, which need a worker, and wait for it. They
//! do not spin for each other, nor for sockets and timers: in a server all work comes from these, and a worker that
//! spins takes a processor from the client or from a neighbour, while the worker that calls it could do the work by
//! itself.
//!
//! A thread that spins writes nothing that others read, and makes no system call but for the clock, where that takes
//! one.

use std::cell::Cell;
use std::hint::spin_loop;
use std::time::Duration;

use crate::clock::Moment;

/// The shortest spin: to fall asleep and wake up costs about that, even if the thread is awake at once.
const MIN_SPIN: Duration = Duration::from_micros(MAX_SPIN.as_micros() as u64 / 10);
/// The longest spin, and the longest wake that counts as one.
pub(crate) const MAX_SPIN: Duration = Duration::from_micros(100);
/// After spins in vain this many waits go by without one, at most: the price of a last try is spread over as many. With
/// that try they are a prime number, so that whatever comes round in fewer waits is not met at the same place each
/// time.
const MOST_SKIPPED: u32 = 60;

/// What came of spinning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spun {
    /// It did not look: that would not pay.
    NotAtAll,
    /// There was nothing in all the time.
    InVain,
    /// There is something.
    Found,
}

/// What is known of a thread's waits, to see whether it should spin in the next one. A thread with a core has that of
/// the core, and goes by what others have seen that had it before.
#[derive(Debug, Default)]
pub(crate) struct Spinner {
    /// How long its last wait took, spinning and asleep, until another thread ended it for which the thread spins;
    /// `None` if something else did.
    last_wait: Cell<Option<Duration>>,
    /// How many waits were to go by without a spin after the last one, if that was in vain.
    skips: Cell<u32>,
    /// How many are still to go by.
    left: Cell<u32>,
}

impl Spinner {
    /// The thread has waited, and not just spun.
    pub(crate) fn note_wait(&self, waited: Option<Duration>) {
        self.last_wait.set(waited);
    }

    /// Calls `look` until it sees something, or until it is time to sleep.
    ///
    /// `wake` is how long it takes to be awake after a call.
    pub(crate) fn spin(&self, wake: Duration, clock: impl Fn() -> Moment, look: impl Fn() -> bool) -> Spun {
        let length = (2 * wake).clamp(MIN_SPIN, MAX_SPIN);
        if self.last_wait.get().is_none_or(|waited| waited > length) {
            return Spun::NotAtAll;
        }
        if self.left.get() > 0 {
            self.left.set(self.left.get() - 1);
            return Spun::NotAtAll;
        }
        let began = clock();
        loop {
            if look() {
                self.skips.set(0);
                return Spun::Found;
            }
            if clock().since(began) >= length {
                let skips = (2 * self.skips.get()).clamp(1, MOST_SKIPPED);
                self.skips.set(skips);
                self.left.set(skips);
                return Spun::InVain;
            }
            spin_loop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MICRO: Duration = Duration::from_micros(1);

    /// A clock that moves by a microsecond whenever it is read.
    fn clock() -> impl Fn() -> Moment {
        let now = Cell::new(Moment::now());
        move || now.replace(now.get() + MICRO)
    }

    fn after(last_wait: Option<Duration>) -> Spinner {
        let spinner = Spinner::default();
        spinner.note_wait(last_wait);
        spinner
    }

    /// How many looks it takes to give up.
    fn looks(spinner: &Spinner, wake: Duration) -> u128 {
        let looks = Cell::new(0);
        let spun = spinner.spin(wake, clock(), || {
            looks.set(looks.get() + 1);
            false
        });
        assert_eq!(spun, if looks.get() > 0 { Spun::InVain } else { Spun::NotAtAll });
        looks.get()
    }

    #[test]
    fn a_thread_spins_after_a_wait_that_spinning_would_have_caught() {
        assert_eq!(looks(&after(Some(20 * MICRO)), 10 * MICRO), 20);
        assert_eq!(looks(&after(Some(21 * MICRO)), 10 * MICRO), 0);
        assert_eq!(looks(&after(None), 10 * MICRO), 0, "a socket woke it, or nobody has yet");
    }

    #[test]
    fn a_spin_ends_when_it_sees_something() {
        let left = Cell::new(5);
        let spinner = after(Some(MICRO));
        assert_eq!(spinner.spin(10 * MICRO, clock(), || left.replace(left.get() - 1) == 1), Spun::Found);
        assert_eq!(spinner.spin(10 * MICRO, clock(), || true), Spun::Found);
    }

    #[test]
    fn a_spin_has_an_end() {
        assert_eq!(looks(&after(Some(MICRO)), Duration::from_secs(1)), MAX_SPIN.as_micros());
        assert_eq!(looks(&after(Some(MICRO)), Duration::ZERO), MIN_SPIN.as_micros());
    }

    #[test]
    fn spins_in_vain_become_rare_until_one_is_not() {
        let spinner = after(Some(MICRO));
        let skipped = || (0..).take_while(|_| looks(&spinner, MICRO) == 0).count();
        assert_eq!((0..9).map(|_| skipped()).collect::<Vec<_>>(), [0, 1, 2, 4, 8, 16, 32, 60, 60]);
        (0..MOST_SKIPPED).for_each(|_| assert_eq!(looks(&spinner, MICRO), 0));
        assert_eq!(spinner.spin(MICRO, clock(), || true), Spun::Found);
        assert_eq!([(); 4].map(|()| skipped()), [0, 1, 2, 4]);
        // A wait that is too long for a spin is none that goes by.
        spinner.note_wait(None);
        assert_eq!(looks(&spinner, MICRO), 0);
        spinner.note_wait(Some(MICRO));
        assert_eq!(skipped(), 8);
    }
}
