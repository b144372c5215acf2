//! What the monitor has to do with the responder (`../responder.rs`): it notes the spawn sites of stuck tasks, and
//! dismisses a responder that is stuck itself, or not needed any more.

use std::panic::Location;
use std::ptr;
use std::time::Duration;

use super::LONG_BLOCK;
use super::monitor::{MonitorThread, steps};
use super::sample_interval;
use super::sampler::{Progress, Sampler};
use crate::primitive::atomic::Ordering::SeqCst;
use crate::primitive::atomic::fence;
use crate::scheduler::multi::responder::MAX_SITES;
use crate::scheduler::multi::slot::UserCode;

/// A poll that takes this long is not for the responder: one sample may see the end of another poll.
const RESPONDER_POLL_LIMIT: Duration = sample_interval::FAST_INTERVAL.saturating_mul(2);

/// The spawn sites of tasks that were seen stuck, and the time since each was last seen so.
#[derive(Default)]
pub(super) struct BlockingSites(Vec<(&'static Location<'static>, Duration)>);

impl BlockingSites {
    /// Time passes. Whether any site was forgotten.
    fn age(&mut self, elapsed: Duration) -> bool {
        let before = self.0.len();
        self.0.iter_mut().for_each(|(_, age)| *age += elapsed);
        self.0.retain(|&(_, age)| age <= LONG_BLOCK);
        self.0.len() < before
    }

    /// These sites were seen at this sample. Whether any is noted anew. If there are too many, sites that were not seen
    /// at this sample are forgotten, the oldest first.
    fn note(&mut self, sample: &[&'static Location<'static>]) -> bool {
        for (known, age) in &mut self.0 {
            if sample.iter().any(|&site| ptr::eq(*known, site)) {
                *age = Duration::ZERO;
            }
        }
        let mut is_any_new = false;
        for &site in sample {
            if self.0.iter().any(|&(known, _)| ptr::eq(known, site)) {
                continue;
            }
            if self.0.len() == MAX_SITES {
                let oldest = self.0.iter().enumerate().max_by_key(|(_, (_, age))| *age);
                match oldest {
                    Some((at, (_, age))) if !age.is_zero() => drop(self.0.swap_remove(at)),
                    _ => break,
                }
            }
            self.0.push((site, Duration::ZERO));
            is_any_new = true;
        }
        is_any_new
    }

    fn iter(&self) -> impl Iterator<Item = *const Location<'static>> {
        self.0.iter().map(|&(site, _)| ptr::from_ref(site))
    }
}

/// The slots of spares that have been the responder, and have not retired since. (One that has retired and is at work
/// again since the last sample is among them, too.)
#[derive(Default)]
pub(super) struct FormerResponders(Vec<usize>);

impl FormerResponders {
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

impl MonitorThread<'_> {
    /// Makes the responder, if there is one, a spare like any other. It was not woken for what others have queued.
    pub(super) fn dismiss_responder(&mut self) {
        if let Some(responder) = self.shared.quarantine.responder() {
            self.former.add(responder);
        }
        self.shared.quarantine.dismiss();
        self.shared.scan_quarantine(self.runtime);
        // After this fence a pusher sees that there is none, or its work is seen here.
        fence(SeqCst);
        if self.shared.has_surplus() {
            self.shared.notify(self.runtime, || false);
        }
    }

    /// Dismisses the responder when it is stuck itself, or when there has been no trouble for a while. Else it is to be
    /// seen neither as one that is stuck nor as one that moves.
    pub(super) fn supervise_responder(&mut self, progress: &mut [Progress], elapsed: Duration) {
        let shared = self.shared;
        if self.sites.age(elapsed) {
            shared.quarantine.set_sites(self.sites.iter());
        }
        shared.scan_quarantine(self.runtime);
        let Some(responder) = shared.quarantine.responder() else { return };
        if self.standstill_memory.is_zero() || shared.slot(responder).activity.is_blocking_in_place() {
            return self.dismiss_responder();
        }
        let number = self.number_of(responder);
        // If it is too new to have been looked at it is not there yet.
        let Some(how) = progress.get_mut(number) else { return };
        let sampler = &self.samplers[number];
        // To go through thousands of tasks may take it long, and so may anything where it hardly gets a processor. (It
        // may have come to something else since it was looked at; then it is found there at the next sample.)
        let is_in_foreign_code = shared.slot(responder).activity.user_code().is_some();
        if takes_long(*how, sampler) && (is_in_foreign_code || sampler.age() >= LONG_BLOCK) {
            self.note_sites(progress);
            self.dismiss_responder();
        } else {
            *how = Progress::Away;
        }
    }

    pub(super) fn number_of(&self, responder: usize) -> usize {
        responder - (self.shared.slots.len() - self.shared.workers)
    }

    /// Notes the spawn sites of the tasks that take long.
    pub(super) fn note_sites(&mut self, progress: &[Progress]) {
        let mut sample = Vec::new();
        for (number, &how) in progress.iter().enumerate() {
            let sampler = &self.samplers[number];
            if takes_long(how, sampler)
                && let Some(slot) = self.shared.victim(number)
                && let Some(UserCode::Poll(polled)) = slot.activity.user_code()
                // The poll may have ended meanwhile, and the next one is not to blame. (Nothing orders the two looks
                // but the time that they are apart; a site too many is forgotten within a second.)
                && sampler.is_at(steps(slot))
            {
                sample.push(polled.spawned_at);
            }
        }
        if self.sites.note(&sample) {
            self.shared.quarantine.set_sites(self.sites.iter());
        }
    }
}

fn takes_long(how: Progress, sampler: &Sampler) -> bool {
    match how {
        Progress::Stuck => true,
        Progress::Slow | Progress::Preempted => sampler.has_had(RESPONDER_POLL_LIMIT),
        Progress::Moving | Progress::Away => false,
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::LazyLock;

    use super::*;

    #[test]
    fn a_site_is_forgotten_when_it_was_not_seen_for_a_while() {
        let mut sites = BlockingSites::default();
        let (here, there) = (Location::caller(), Location::caller());
        assert!(sites.note(&[here, there]) && !sites.note(&[here]));
        assert!(!sites.age(LONG_BLOCK));
        assert!(!sites.note(&[here]));
        assert!(sites.age(Duration::from_millis(1)));
        assert!(sites.iter().eq([ptr::from_ref(here)]));
    }

    #[test]
    fn a_site_where_tasks_are_stuck_is_not_forgotten_for_another() {
        static MANY: LazyLock<Vec<Location<'static>>> = LazyLock::new(|| vec![*Location::caller(); MAX_SITES + 1]);
        let all: Vec<_> = MANY.iter().collect();
        let (&last, many) = all.split_last().unwrap();
        let mut sites = BlockingSites::default();
        assert!(sites.note(many));
        sites.age(Duration::from_millis(5));
        assert!(!sites.note(&all), "there are enough");
        sites.age(Duration::from_millis(5));
        assert!(sites.note(&all[1..]), "the first is not stuck any more");
        assert!(sites.iter().all(|site| !ptr::eq(site, many[0])) && sites.iter().any(|site| ptr::eq(site, last)));
    }

    #[test]
    fn a_former_responder_counts_once_until_it_has_retired() {
        let mut former = FormerResponders::default();
        [7, 9, 7].into_iter().for_each(|slot| former.add(slot));
        assert_eq!(former.count(|_| false), 2);
        assert_eq!(former.count(|slot| slot == 7), 1);
        assert_eq!(former.count(|_| false), 1);
    }
}
