//! The responder: a spare worker that keeps free of the kind of task that keeps the others busy.
//!
//! A worker that blocks asleep leaves its processor to the spare that replaces it, so there may be hundreds of those. A
//! worker that *computes* for long does not. More threads would only share the processors with it, and each of them
//! would take the next such task, while timers, sockets and all other tasks wait until the last of those has begun. So
//! when everybody is stuck the first spare is the responder:
//!
//! - The monitor notes the *sites* at which the stuck tasks were spawned (`rescue/sites.rs`).
//! - The responder puts tasks from these sites into *quarantine*. It runs everything else: what timers and sockets
//!   wake, what is injected, and what it finds on the queues of stuck workers. When nothing is left it sleeps in the
//!   drivers.
//! - All other workers take a task out of quarantine whenever they take some from the injector.
//! - If the responder gets stuck itself, with a task from a new site, the monitor notes that site, makes the responder
//!   a spare like any other, and starts another responder.
//! - When there was no standstill for a second the monitor dismisses the responder, and moves what is in quarantine to
//!   the injector.
//!
//! It is not woken for what lies on the queues of a worker that goes on (`notify.rs`). Most of that would go into
//! quarantine, from where the others fetch it: they would have more to do, not less. Should the worker get stuck, the
//! monitor wakes the responder as soon as it has seen that. It is woken for what a worker leaves that blocks in place.
//!
//! Other spares are started beside the responder as if it were not there (`rescue/policy.rs`): a task in quarantine may
//! be the one that a stuck task waits for.
//!
//! # Why by the site
//!
//! A responder that only leaves out the LIFO queues would not do. What remote threads spawn comes by the injector, in
//! its order, and lies on FIFO queues from then on. A task that is spawned after three hundred that compute is behind
//! them there, and nothing but its site tells it from them.
//!
//! # Who may do what
//!
//! The monitor alone appoints and dismisses, and notes and forgets sites. Workers read both when they come across a
//! task, relaxed: what they see late costs one wrong turn, which the monitor makes good. (A reader that goes on to look
//! at the responder's slot reads with acquire what was stored with release: the slot may be new.)
//!
//! # Why no task stays in quarantine
//!
//! Other workers look there before they sleep. Whether one sleeps all the same, because it looked a moment too early,
//! the monitor sees at its next sample, and wakes it. A site may be forgotten later, and a task in quarantine may be
//! aborted, while all others are stuck for good. So at each sample the monitor looks through some of the tasks that are
//! there ([`SCAN_PER_SAMPLE`]), oldest first, and gives to the injector what need not be in quarantine any more.
//! Without a responder that is everything. The monitor never sleeps while there is a responder, or a task in
//! quarantine.

use std::panic::Location;
use std::ptr;
use std::sync::atomic::AtomicPtr;

use super::run_queue::take_one;
use super::{Shared, Worker};
use crate::primitive::Injector;
use crate::primitive::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use crate::primitive::atomic::{AtomicUsize, fence};
use crate::runtime::Inner;
use crate::task::Notified;

/// The most sites that are known at once. With more the responder gets stuck more often.
pub(super) const MAX_SITES: usize = 32;
/// The number of tasks in quarantine that the monitor looks at in a sample, which takes some ten microseconds.
const SCAN_PER_SAMPLE: usize = 128;
/// No slot has this number.
const NOBODY: usize = usize::MAX;

/// Which worker is the responder, and what it does not run.
pub(super) struct Quarantine<T = Notified> {
    /// The slot of the responder.
    responder: AtomicUsize,
    tasks: Injector<T>,
    /// Known sites come first; they are only compared. (One line of the source can have several `Location`s; then it is
    /// noted several times.)
    sites: [AtomicPtr<Location<'static>>; MAX_SITES],
}

/// A spawn site, which is only compared.
type Site = *const Location<'static>;

impl<T> Quarantine<T> {
    pub(super) fn new() -> Self {
        Self {
            responder: AtomicUsize::new(NOBODY),
            tasks: Injector::new(),
            sites: [const { AtomicPtr::new(ptr::null_mut()) }; MAX_SITES],
        }
    }

    /// The slot of the responder. A thread that reads it also sees the slot, which was made before.
    pub(super) fn responder(&self) -> Option<usize> {
        Some(self.responder.load(Acquire)).filter(|&slot| slot != NOBODY)
    }

    fn is_responder(&self, slot: usize) -> bool {
        self.responder.load(Relaxed) == slot
    }

    /// For the monitor. Before the thread gets the core, so that it knows from the start.
    pub(super) fn appoint(&self, slot: usize) {
        self.responder.store(slot, Release);
    }

    /// For the monitor: the responder, if there is one, is a spare like any other from now on.
    pub(super) fn dismiss(&self) {
        self.responder.store(NOBODY, Relaxed);
    }

    /// Whether there are tasks in quarantine that this worker may run.
    fn has_any_for(&self, slot: usize) -> bool {
        !self.tasks.is_empty() && !self.is_responder(slot)
    }

    fn take(&self, slot: usize) -> Option<T> {
        if self.has_any_for(slot) { take_one(&self.tasks) } else { None }
    }

    /// For the monitor: looks at a number of the oldest tasks in quarantine.
    fn scan(&self, tasks: usize, must_stay: impl Fn(&T) -> bool, mut release: impl FnMut(T)) {
        for task in std::iter::from_fn(|| take_one(&self.tasks)).take(tasks) {
            if must_stay(&task) { self.tasks.push(task) } else { release(task) }
        }
    }

    /// The number of tasks in quarantine.
    pub(super) fn quarantined(&self) -> usize {
        self.tasks.len()
    }

    /// Takes out everything, at shutdown.
    pub(super) fn drain(&self) -> impl Iterator<Item = T> {
        std::iter::from_fn(|| take_one(&self.tasks))
    }

    fn is_known(&self, site: Site) -> bool {
        let sites = self.sites.iter().map(|known| known.load(Relaxed).cast_const());
        sites.take_while(|known| !known.is_null()).any(|known| ptr::eq(known, site))
    }

    /// For the monitor: the spawn sites of tasks that get stuck. At most [`MAX_SITES`].
    pub(super) fn set_sites(&self, sites: impl Iterator<Item = Site>) {
        let sites = sites.map(<*const _>::cast_mut).chain(std::iter::repeat(ptr::null_mut()));
        self.sites.iter().zip(sites).for_each(|(known, site)| known.store(site, Relaxed));
    }
}

impl Quarantine {
    /// Whether the responder must not run this task.
    fn may_block(&self, task: &Notified) -> bool {
        let header = task.header();
        // An aborted task is only dropped, and somebody may wait for that.
        self.is_known(header.site().location()) && !header.state.is_cancelled()
    }
}

impl Worker {
    pub(super) fn is_responder(&self) -> bool {
        self.shared().quarantine.is_responder(self.core.index)
    }

    /// Whether this worker is the responder, and leaves the task to others.
    pub(super) fn leaves_to_others(&self, task: &Notified) -> bool {
        self.is_responder() && self.shared().quarantine.may_block(task)
    }

    /// Leaves a task to the others.
    pub(super) fn quarantine(&self, task: Notified) {
        let shared = self.shared();
        // It looks for something else: nobody must rely on it to find this.
        self.stop_searching();
        shared.quarantine.tasks.push(task);
        shared.notify(self.runtime(), || shared.quarantine.tasks.is_empty());
    }

    /// Takes a task that the responder has left to the others.
    #[inline]
    pub(super) fn take_quarantined(&self) -> Option<Notified> {
        self.shared().quarantine.take(self.core.index)
    }

    /// Whether there are such tasks.
    pub(super) fn has_quarantined(&self) -> bool {
        self.shared().quarantine.has_any_for(self.core.index)
    }
}

impl Shared {
    /// For the monitor, at each sample: sees to it that no task stays in quarantine.
    pub(super) fn scan_quarantine(&self, runtime: &Inner) {
        let quarantine = &self.quarantine;
        let quarantined = quarantine.quarantined();
        if quarantined == 0 {
            return;
        }
        let has_responder = quarantine.responder().is_some();
        let tasks = if has_responder { SCAN_PER_SAMPLE.min(quarantined) } else { quarantined };
        let must_stay = |task: &Notified| has_responder && quarantine.may_block(task);
        quarantine.scan(tasks, must_stay, |task| self.inject(runtime, task));
        // Unlike the responder, the monitor may be overtaken by the end, which empties the queues.
        fence(SeqCst);
        self.queues.after_push(|| self.empty_queues());
        if quarantine.quarantined() > 0 && self.has_sleepers() {
            self.wake_somebody(runtime);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn sites_are_known_while_they_are_set() {
        let quarantine = Quarantine::<u32>::new();
        let many = vec![*Location::caller(); MAX_SITES];
        let sites = |count: usize| many[..count].iter().map(ptr::from_ref);
        assert!(!quarantine.is_known(&many[0]));
        quarantine.set_sites(sites(MAX_SITES));
        assert!(many.iter().all(|site| quarantine.is_known(site)));
        quarantine.set_sites(sites(2));
        assert!(quarantine.is_known(&many[1]) && !quarantine.is_known(&many[2]));
        quarantine.set_sites(sites(0));
        assert!(!quarantine.is_known(&many[0]));
    }

    #[test]
    fn tasks_in_quarantine_are_for_all_but_the_responder() {
        let quarantine = Quarantine::new();
        quarantine.appoint(7);
        quarantine.tasks.push("task");
        assert!(quarantine.has_any_for(0) && !quarantine.has_any_for(7));
        assert_eq!(quarantine.take(7), None);
        assert_eq!(quarantine.take(0), Some("task"));
        quarantine.tasks.push("another");
        quarantine.dismiss();
        assert_eq!(quarantine.take(7), Some("another"));
    }

    #[test]
    fn a_scan_releases_what_need_not_stay_and_goes_round() {
        let quarantine = Quarantine::new();
        (1..=7).for_each(|task| quarantine.tasks.push(task));
        let mut released = Vec::new();
        quarantine.scan(4, |task| task % 2 == 0, |task| released.push(task));
        quarantine.scan(3, |task| task % 2 == 0, |task| released.push(task));
        assert_eq!(released, [1, 3, 5, 7]);
        assert!(quarantine.drain().eq([2, 4, 6]), "in their order");
    }
}
