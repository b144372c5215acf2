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

/// Where tasks were spawned that were seen stuck, and for how long it has not been seen again.
#[derive(Default)]
pub(super) struct Places(Vec<(&'static Location<'static>, Duration)>);

/// What has become of the places.
#[derive(Debug, Default, PartialEq, Eq)]
struct Change {
    is_any_new: bool,
    is_any_forgotten: bool,
}

impl Places {
    /// Time passes.
    fn age(&mut self, passed: Duration, change: &mut Change) {
        let before = self.0.len();
        self.0.iter_mut().for_each(|(_, age)| *age += passed);
        self.0.retain(|&(_, age)| age <= TROUBLE);
        change.is_any_forgotten |= self.0.len() < before;
    }

    /// One was seen.
    fn note(&mut self, place: &'static Location<'static>, change: &mut Change) {
        if let Some((_, age)) = self.0.iter_mut().find(|(known, _)| ptr::eq(*known, place)) {
            *age = Duration::ZERO;
            return;
        }
        if self.0.len() == PLACES {
            let oldest = self.0.iter().enumerate().max_by_key(|(_, (_, age))| *age).map(|(at, _)| at);
            self.0.swap_remove(oldest.expect("there are some"));
            change.is_any_forgotten = true;
        }
        self.0.push((place, Duration::ZERO));
        change.is_any_new = true;
    }

    fn iter(&self) -> impl Iterator<Item = *const Location<'static>> {
        self.0.iter().map(|&(place, _)| ptr::from_ref(place))
    }
}

impl Rounds<'_> {
    /// Dismisses the attendant when it is stuck itself, or when there has been no trouble for a while. Else it is to be
    /// seen neither as one that is stuck nor as one that moves.
    pub(super) fn watch_attendant(&mut self, progress: &mut [Progress], passed: Duration) {
        let shared = self.shared;
        let mut change = Change { is_any_forgotten: shared.attendance.is_release_due(), is_any_new: false };
        self.places.age(passed, &mut change);
        self.publish_places(&change);
        let Some(attendant) = shared.attendance.attendant() else {
            return shared.signal.set_held(shared.attendance.held() > 0);
        };
        shared.signal.set_held(true);
        if self.trouble.is_zero() || shared.slot(attendant).current.is_aside() {
            return shared.dismiss_attendant(self.runtime);
        }
        let number = attendant - (shared.slots.len() - shared.workers);
        // If it is too new to have been looked at it is not there yet.
        let Some(how) = progress.get_mut(number) else { return };
        if takes_long(*how, &self.watches[number]) {
            self.note_places(progress);
            shared.dismiss_attendant(self.runtime);
        } else {
            *how = Progress::Away;
        }
    }

    /// Notes where the tasks were spawned that take long.
    pub(super) fn note_places(&mut self, progress: &[Progress]) {
        let mut change = Change::default();
        for (number, &how) in progress.iter().enumerate() {
            let watch = &self.watches[number];
            if takes_long(how, watch)
                && let Some(slot) = self.shared.victim(number)
                && let Some(Doing::Poll(polled)) = slot.current.doing()
                // The poll may have ended meanwhile, and the next one is not to blame. (Nothing orders the two looks but
                // the time that they are apart; a place too many is forgotten within a second.)
                && watch.is_at(steps(slot))
            {
                self.places.note(polled.spawned_at, &mut change);
            }
        }
        self.publish_places(&change);
    }

    fn publish_places(&self, change: &Change) {
        if change.is_any_new || change.is_any_forgotten {
            self.shared.attendance.set_places(self.places.iter());
        }
        if change.is_any_forgotten {
            self.shared.release_held(self.runtime);
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
        let mut change = Change::default();
        let (here, there) = (Location::caller(), Location::caller());
        for (place, is_any_new) in [(here, true), (there, true), (here, false)] {
            change = Change::default();
            places.note(place, &mut change);
            assert_eq!(change, Change { is_any_new, is_any_forgotten: false });
        }
        places.age(TROUBLE, &mut change);
        places.note(here, &mut change);
        assert_eq!(change, Change::default());
        places.age(Duration::from_millis(1), &mut change);
        assert_eq!(change, Change { is_any_new: false, is_any_forgotten: true });
        assert!(places.iter().eq([ptr::from_ref(here)]));
    }

    #[test]
    fn the_oldest_place_is_forgotten_for_one_too_many() {
        static MANY: LazyLock<Vec<Location<'static>>> = LazyLock::new(|| vec![*Location::caller(); PLACES + 1]);
        let many = &*MANY;
        let mut places = Places::default();
        for place in &many[..PLACES] {
            places.age(Duration::from_millis(1), &mut Change::default());
            places.note(place, &mut Change::default());
        }
        let mut change = Change::default();
        places.note(&many[PLACES], &mut change);
        assert_eq!(change, Change { is_any_new: true, is_any_forgotten: true });
        assert!(places.iter().all(|place| !ptr::eq(place, &many[0])));
    }
}
