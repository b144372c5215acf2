//! What the monitor has to do with the attendant (`../attendant.rs`).

use std::panic::Location;
use std::ptr;
use std::time::Duration;

use super::watch::{Progress, Watch};
use super::{Rounds, TROUBLE, steps};
use crate::scheduler::multi::attendant::PLACES;
use crate::scheduler::multi::slot::Doing;

/// What takes so long is not for the attendant.
const PATIENCE: Duration = Duration::from_millis(2);
/// And if the attendant takes so long over something that is none of the user's, another one takes its place all the same.
const PATIENCE_WITH_ITSELF: Duration = Duration::from_secs(1);
/// A place that was not seen for so long may be forgotten for another one. One where a task is stuck is seen at every sample.
const UNSEEN: Duration = Duration::from_millis(50);
/// By no more does a place age at a sample. (By the clock all the same: where the monitor itself hardly gets a processor, what is
/// held must not wait for many times a second.)
const LEAP: Duration = Duration::from_millis(125);
/// How often what is held is looked through, and how many tasks of it at a sample.
const ROUND: Duration = Duration::from_millis(100);
const AT_ONCE: usize = 1024;

/// Where tasks were spawned that were seen stuck, and for how long it has not been seen again.
#[derive(Default)]
pub(super) struct Places(Vec<(&'static Location<'static>, Duration)>);

impl Places {
    /// Time passes. Whether any was forgotten.
    fn age(&mut self, passed: Duration) -> bool {
        let before = self.0.len();
        let passed = passed.min(LEAP);
        self.0.iter_mut().for_each(|(_, age)| *age += passed);
        self.0.retain(|&(_, age)| age <= TROUBLE);
        self.0.len() < before
    }

    /// One was seen. Whether it is noted anew: not if there are enough of which no other can be forgotten.
    fn note(&mut self, place: &'static Location<'static>) -> bool {
        if let Some((_, age)) = self.0.iter_mut().find(|(known, _)| ptr::eq(*known, place)) {
            *age = Duration::ZERO;
            return false;
        }
        if self.0.len() == PLACES {
            let oldest = self.0.iter().enumerate().max_by_key(|(_, (_, age))| *age);
            match oldest {
                Some((at, &(_, age))) if age >= UNSEEN => drop(self.0.swap_remove(at)),
                _ => return false,
            }
        }
        self.0.push((place, Duration::ZERO));
        true
    }

    fn iter(&self) -> impl Iterator<Item = *const Location<'static>> {
        self.0.iter().map(|&(place, _)| ptr::from_ref(place))
    }
}

/// How far what is held has been looked through.
#[derive(Default)]
pub(super) struct Patrol {
    since: Duration,
    done: usize,
    left: usize,
}

impl Patrol {
    /// How many tasks to look at now, of so many.
    fn next(&mut self, held: usize, passed: Duration) -> usize {
        self.since += passed;
        if self.left == 0 && self.since >= ROUND {
            *self = Self { left: held, ..Self::default() };
        }
        // Others have taken some, and those that were put back have had their look.
        self.left = self.left.min(held.saturating_sub(self.done));
        let now = self.left.min(AT_ONCE);
        self.done += now;
        self.left -= now;
        now
    }
}

/// The slots of spares that have been the attendant, and still work. (One that has retired and is at work again since the
/// last sample is among them, too.)
#[derive(Default)]
pub(super) struct Former(Vec<usize>);

impl Former {
    fn add(&mut self, slot: usize) {
        if !self.0.contains(&slot) {
            self.0.push(slot);
        }
    }

    /// How many there are.
    pub(super) fn count(&mut self, has_retired: impl Fn(usize) -> bool) -> usize {
        self.0.retain(|&slot| !has_retired(slot));
        self.0.len()
    }
}

impl Rounds<'_> {
    /// Makes the attendant, if there is one, a spare like any other.
    pub(super) fn dismiss_attendant(&mut self) {
        if let Some(attendant) = self.shared.attendance.attendant() {
            self.former.add(attendant);
        }
        self.shared.dismiss_attendant(self.runtime);
    }

    /// Dismisses the attendant when it is stuck itself, or when there has been no trouble for a while. Else it is to be
    /// seen neither as one that is stuck nor as one that moves.
    pub(super) fn watch_attendant(&mut self, progress: &mut [Progress], passed: Duration) {
        let shared = self.shared;
        if self.places.age(passed) {
            shared.attendance.set_places(self.places.iter());
        }
        let Some(attendant) = shared.attendance.attendant() else {
            return shared.signal.set_held(shared.attendance.held() > 0);
        };
        shared.signal.set_held(true);
        let to_look_at = self.patrol.next(shared.attendance.held(), passed);
        if to_look_at > 0 {
            shared.look_through_held(self.runtime, to_look_at);
        }
        if self.trouble.is_zero() || shared.slot(attendant).current.is_aside() {
            return self.dismiss_attendant();
        }
        let number = self.number_of(attendant);
        // If it is too new to have been looked at it is not there yet.
        let Some(how) = progress.get_mut(number) else { return };
        let watch = &self.watches[number];
        // To look through thousands of tasks may take it long, and so may anything where it hardly gets a processor. (It may
        // have come to something else since it was looked at; then it is found there at the next sample.)
        let is_at_users = shared.slot(attendant).current.doing().is_some();
        if takes_long(*how, watch) && (is_at_users || watch.age() >= PATIENCE_WITH_ITSELF) {
            self.note_places(progress);
            self.dismiss_attendant();
        } else {
            *how = Progress::Away;
        }
    }

    pub(super) fn number_of(&self, attendant: usize) -> usize {
        attendant - (self.shared.slots.len() - self.shared.workers)
    }

    /// Notes where the tasks were spawned that take long.
    pub(super) fn note_places(&mut self, progress: &[Progress]) {
        let mut is_any_new = false;
        for (number, &how) in progress.iter().enumerate() {
            let watch = &self.watches[number];
            if takes_long(how, watch)
                && let Some(slot) = self.shared.victim(number)
                && let Some(Doing::Poll(polled)) = slot.current.doing()
                // The poll may have ended meanwhile, and the next one is not to blame. (Nothing orders the two looks but
                // the time that they are apart; a place too many is forgotten within a second.)
                && watch.is_at(steps(slot))
            {
                is_any_new |= self.places.note(polled.spawned_at);
            }
        }
        if is_any_new {
            self.shared.attendance.set_places(self.places.iter());
        }
    }
}

fn takes_long(how: Progress, watch: &Watch) -> bool {
    match how {
        Progress::Stuck => true,
        Progress::Slow | Progress::Excused => watch.has_had(PATIENCE),
        Progress::Moving | Progress::Away => false,
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::LazyLock;

    use super::*;

    #[test]
    fn a_place_is_forgotten_when_it_was_not_seen_for_a_while() {
        let mut places = Places::default();
        let (here, there) = (Location::caller(), Location::caller());
        assert!(places.note(here) && places.note(there) && !places.note(here));
        assert!(!places.age(10 * TROUBLE), "it was not looked for meanwhile");
        assert!((1..8).all(|_| !places.age(TROUBLE)));
        assert!(!places.note(here));
        assert!(places.age(Duration::from_millis(1)));
        assert!(places.iter().eq([ptr::from_ref(here)]));
    }

    #[test]
    fn a_place_where_tasks_are_stuck_is_not_forgotten_for_another() {
        static MANY: LazyLock<Vec<Location<'static>>> = LazyLock::new(|| vec![*Location::caller(); PLACES + 1]);
        let (last, many) = MANY.split_last().unwrap();
        let mut places = Places::default();
        for sample in 0..2 {
            assert!(many.iter().all(|place| places.note(place) == (sample == 0)));
            assert!(!places.note(last), "there are enough");
            places.age(Duration::from_millis(5));
        }
        assert!(many[1..].iter().all(|place| !places.note(place)));
        places.age(UNSEEN);
        assert!(many[1..].iter().all(|place| !places.note(place)));
        assert!(places.note(last) && !places.iter().any(|place| ptr::eq(place, &many[0])));
    }

    #[test]
    fn a_former_attendant_counts_once_until_it_has_retired() {
        let mut former = Former::default();
        [7, 9, 7].into_iter().for_each(|slot| former.add(slot));
        assert_eq!(former.count(|_| false), 2);
        assert_eq!(former.count(|slot| slot == 7), 1);
        assert_eq!(former.count(|_| false), 1);
    }

    #[test]
    fn what_is_held_is_looked_through_bit_by_bit() {
        let mut patrol = Patrol::default();
        let held = 2 * AT_ONCE + 1;
        assert_eq!(patrol.next(held, ROUND / 2), 0);
        let looks = [(); 4].map(|()| patrol.next(held, ROUND / 2));
        assert_eq!(looks, [AT_ONCE, AT_ONCE, 1, AT_ONCE], "and again, as time has passed");
        assert_eq!(patrol.next(held - AT_ONCE + 1, ROUND), 2, "others have taken the rest");
    }
}
