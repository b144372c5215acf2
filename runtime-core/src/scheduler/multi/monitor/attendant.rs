//! What the monitor has to do with the attendant (`../attendant.rs`).

use std::time::Duration;

use super::Rounds;
use super::watch::Progress;
use crate::scheduler::multi::slot::Doing;

/// What takes so long is not for the attendant.
const PATIENCE: Duration = Duration::from_millis(3);

impl Rounds<'_> {
    /// Dismisses the attendant when it is stuck itself, or when there has been no trouble for a while. Else it is to be
    /// seen neither as one that is stuck nor as one that moves.
    pub(super) fn watch_attendant(&mut self, progress: &mut [Progress]) {
        let shared = self.shared;
        let Some(attendant) = shared.attendance.attendant() else { return };
        if self.trouble.is_zero() {
            shared.dismiss_attendant(self.runtime);
            shared.attendance.forget_places();
            return;
        }
        if shared.slot(attendant).current.is_aside() {
            return shared.dismiss_attendant(self.runtime);
        }
        let number = attendant - (shared.slots.len() - shared.workers);
        // If it is too new to have been looked at it is not there yet.
        let Some(how) = progress.get_mut(number) else { return };
        if Self::takes_long(*how, self.watches[number].age()) {
            self.note_places(progress);
            shared.dismiss_attendant(self.runtime);
        } else {
            *how = Progress::Away;
        }
    }

    /// Notes where the tasks were spawned that take long.
    pub(super) fn note_places(&self, progress: &[Progress]) {
        for (number, &how) in progress.iter().enumerate() {
            if Self::takes_long(how, self.watches[number].age())
                && let Some(slot) = self.shared.victim(number)
                && let Some(Doing::Poll(polled)) = slot.current.doing()
            {
                self.shared.attendance.note_place(polled.spawned_at);
            }
        }
    }

    fn takes_long(how: Progress, age: Duration) -> bool {
        how == Progress::Stuck || how == Progress::Slow && age >= PATIENCE
    }
}
