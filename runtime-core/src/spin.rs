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
//! Workers spin for threads outside of the runtime and in `block_on` only, which need a worker, and wait for it. They
//! do not spin for each other, nor for sockets and timers: in a server all work comes from these, and a worker that
//! spins takes a processor from the client or from a neighbour, while the worker that calls it could do the work by
//! itself.
//!
//! A thread that spins writes nothing that others read, and makes no system call but for the clock, where that takes
//! one.

use std::hint::spin_loop;
use std::time::Duration;

use crate::clock::Moment;

/// The shortest spin: to fall asleep and wake up costs about that, even if the thread is awake at once.
const MIN_SPIN: Duration = Duration::from_micros(MAX_SPIN.as_micros() as u64 / 10);
/// The longest spin, and the longest wake that counts as one.
pub(crate) const MAX_SPIN: Duration = Duration::from_micros(100);
/// Pauses of the processor between two looks: a hundred nanoseconds or two, in which others have the memory that is
/// looked at.
const PAUSES_PER_LOOK: u32 = 3;

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

/// Calls `look` until it sees something, or until it is time to sleep.
///
/// `last_wait` is the length of the thread's last wait, spinning and asleep, until another thread ended it for which
/// the thread spins; `None` if something else did. `wake` is how long it takes to be awake after such a call.
pub(crate) fn spin(
    last_wait: Option<Duration>,
    wake: Duration,
    clock: impl Fn() -> Moment,
    look: impl Fn() -> bool,
) -> Spun {
    let Some(waited) = last_wait else { return Spun::NotAtAll };
    let length = (2 * wake).clamp(MIN_SPIN, MAX_SPIN);
    if waited > length {
        return Spun::NotAtAll;
    }
    let began = clock();
    loop {
        if look() {
            return Spun::Found;
        }
        if clock().since(began) >= length {
            return Spun::InVain;
        }
        (0..PAUSES_PER_LOOK).for_each(|_| spin_loop());
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    const MICRO: Duration = Duration::from_micros(1);

    /// A clock that moves by a microsecond whenever it is read.
    fn clock() -> impl Fn() -> Moment {
        let now = Cell::new(Moment::now());
        move || now.replace(now.get() + MICRO)
    }

    /// How many looks it takes to give up.
    fn looks(last_wait: Option<Duration>, wake: Duration) -> u128 {
        let looks = Cell::new(0);
        let spun = spin(last_wait, wake, clock(), || {
            looks.set(looks.get() + 1);
            false
        });
        assert_eq!(spun, if looks.get() > 0 { Spun::InVain } else { Spun::NotAtAll });
        looks.get()
    }

    #[test]
    fn a_thread_spins_after_a_wait_that_spinning_would_have_caught() {
        assert_eq!(looks(Some(20 * MICRO), 10 * MICRO), 20);
        assert_eq!(looks(Some(21 * MICRO), 10 * MICRO), 0);
        assert_eq!(looks(None, 10 * MICRO), 0, "a socket woke it, or nobody has yet");
    }

    #[test]
    fn a_spin_ends_when_it_sees_something() {
        let left = Cell::new(5);
        assert_eq!(spin(Some(MICRO), 10 * MICRO, clock(), || left.replace(left.get() - 1) == 1), Spun::Found);
        assert_eq!(spin(Some(MICRO), 10 * MICRO, clock(), || true), Spun::Found);
    }

    #[test]
    fn a_spin_has_an_end() {
        assert_eq!(looks(Some(MICRO), Duration::from_secs(1)), MAX_SPIN.as_micros());
        assert_eq!(looks(Some(MICRO), Duration::ZERO), MIN_SPIN.as_micros());
    }
}
