//! How the reads of one registration have turned out: whether one that filled its buffer tends to have been the last.
//!
//! A protocol that knows how much it wants (a header, then a body; a message of fixed size) reads without running short, so
//! the hint of a short read never comes, and each message ends with one more read, which is refused. Where that has been so
//! often enough, the registration presumes that it will be so again, and waits without asking (`driver/presumed.rs`).
//!
//! Nothing here is relied on. It is a guess, kept without care for races: two readers of one socket may lose some of what
//! they note.

use runtime_core::primitive::atomic::AtomicU32;
use runtime_core::primitive::atomic::Ordering::Relaxed;

/// So many refused reads in a row, with nothing that speaks against it, make a habit.
const REFUSALS: u32 = 4;
/// That doubles with each presumption that was given up, so many times at most.
const DOUBLINGS: u32 = 9;
/// So many presumptions halve it again.
const HALVED_AFTER: u32 = 32;

/// What the reads of one registration have been like. One word:
///
/// | bits | meaning |
/// |---|---|
/// | 0-7 | the tick at the last read that filled its buffer |
/// | 8 | whether there was one |
/// | 9-12 | how often what makes a habit has doubled |
/// | 13-18 | presumptions since that changed |
/// | 19-31 | refused reads in a row |
#[derive(Debug)]
pub(super) struct Habit(AtomicU32);

const TICK_MASK: u32 = 0xff;
const HAS_FILLED: u32 = 1 << 8;
const DOUBLED: Field = Field { shift: 9, bits: 4 };
const PRESUMED: Field = Field { shift: 13, bits: 6 };
const REFUSED: Field = Field { shift: 19, bits: 13 };

const _: () = assert!(DOUBLINGS <= DOUBLED.max() && HALVED_AFTER <= PRESUMED.max());
const _: () = assert!(REFUSALS << DOUBLINGS <= REFUSED.max());

struct Field {
    shift: u32,
    bits: u32,
}

impl Field {
    const fn max(&self) -> u32 {
        (1 << self.bits) - 1
    }

    fn of(&self, state: u32) -> u32 {
        (state >> self.shift) & self.max()
    }

    fn set(&self, state: u32, value: u32) -> u32 {
        (state & !(self.max() << self.shift)) | (value << self.shift)
    }
}

impl Habit {
    pub(super) fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    /// Another registration begins.
    pub(super) fn forget(&self) {
        self.0.store(0, Relaxed);
    }

    /// A read was refused, after so many events. It counts if the one before it filled its buffer.
    #[inline]
    pub(super) fn refused(&self, tick: usize) {
        let state = self.0.load(Relaxed);
        let refused = REFUSED.of(state);
        if state & (HAS_FILLED | TICK_MASK) == HAS_FILLED | (tick as u32 & TICK_MASK) && refused < needed(state) {
            self.0.store(REFUSED.set(state, refused + 1), Relaxed);
        }
    }

    /// A read has filled its buffer, after so many events. Whether to presume that this was all.
    #[inline]
    pub(super) fn filled(&self, tick: usize) -> bool {
        let tick = tick as u32 & TICK_MASK;
        let before = self.0.load(Relaxed);
        let mut state = (before & !TICK_MASK) | HAS_FILLED | tick;
        if before & (HAS_FILLED | TICK_MASK) == HAS_FILLED | tick {
            // The read before has filled its buffer as well, and there was more, with no event in between. (Or just as many as
            // the tick has room for.)
            state = REFUSED.set(state, 0);
        }
        if state != before {
            self.0.store(state, Relaxed);
        }
        REFUSED.of(state) >= needed(state)
    }

    /// What was presumed is acted upon.
    #[inline]
    pub(super) fn presumed(&self) {
        let state = self.0.load(Relaxed);
        let (doubled, presumed) = (DOUBLED.of(state), PRESUMED.of(state) + 1);
        if doubled > 0 {
            let state = if presumed < HALVED_AFTER {
                PRESUMED.set(state, presumed)
            } else {
                DOUBLED.set(PRESUMED.set(state, 0), doubled - 1)
            };
            self.0.store(state, Relaxed);
        }
    }

    /// What was presumed was wrong, or may have been: no event came in time.
    pub(super) fn contradicted(&self) {
        let state = self.0.load(Relaxed);
        let doubled = (DOUBLED.of(state) + 1).min(DOUBLINGS);
        self.0.store(DOUBLED.set(state & (HAS_FILLED | TICK_MASK), doubled), Relaxed);
    }
}

/// How many refusals make a habit now.
fn needed(state: u32) -> u32 {
    REFUSALS << DOUBLED.of(state)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// Messages that fill their buffers, each with an event and a refused read at its end, until the refused read is spared.
    fn messages_to_learn(habit: &Habit, tick: &mut usize) -> u32 {
        let mut messages = 0;
        while !habit.filled(*tick) {
            habit.refused(*tick);
            messages += 1;
            *tick += 1;
        }
        messages
    }

    #[test]
    fn it_takes_a_few_messages_that_end_with_a_refused_read() {
        let (habit, mut tick) = (Habit::new(), 0);
        assert_eq!(messages_to_learn(&habit, &mut tick), REFUSALS);
        for _ in 0..1000 {
            habit.presumed();
            tick += 1;
            assert!(habit.filled(tick), "and lasts while events come");
        }
    }

    #[test]
    fn a_message_in_several_reads_is_no_habit() {
        let habit = Habit::new();
        for tick in 0..1000 {
            assert!(!habit.filled(tick), "the header");
            assert!(!habit.filled(tick), "the body");
            habit.refused(tick);
        }
    }

    #[test]
    fn refused_reads_by_themselves_are_no_habit() {
        let habit = Habit::new();
        (0..1000).for_each(|tick| habit.refused(tick));
        assert!(!habit.filled(1000));
    }

    #[test]
    fn more_without_an_event_ends_it() {
        let (habit, mut tick) = (Habit::new(), 0);
        messages_to_learn(&habit, &mut tick);
        assert!(!habit.filled(tick));
        tick += 1;
        assert_eq!(messages_to_learn(&habit, &mut tick), REFUSALS);
    }

    #[test]
    fn a_presumption_that_was_given_up_makes_the_next_one_twice_as_hard() {
        let (habit, mut tick) = (Habit::new(), 0);
        messages_to_learn(&habit, &mut tick);
        for doubled in 1..DOUBLINGS + 5 {
            habit.contradicted();
            tick += 1;
            assert_eq!(messages_to_learn(&habit, &mut tick), REFUSALS << doubled.min(DOUBLINGS));
        }
        // And many that were not make it easier.
        for doubled in (0..DOUBLINGS).rev() {
            (0..HALVED_AFTER).for_each(|_| habit.presumed());
            assert_eq!(needed(habit.0.load(Relaxed)), REFUSALS << doubled);
        }
        (0..HALVED_AFTER).for_each(|_| habit.presumed());
        assert_eq!(needed(habit.0.load(Relaxed)), REFUSALS);
    }

    #[test]
    fn the_next_registration_begins_anew() {
        let (habit, mut tick) = (Habit::new(), 0);
        messages_to_learn(&habit, &mut tick);
        habit.contradicted();
        habit.forget();
        assert_eq!(messages_to_learn(&habit, &mut tick), REFUSALS);
    }
}
