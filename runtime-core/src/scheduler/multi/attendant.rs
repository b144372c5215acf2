//! The attendant: a spare worker that keeps out of what keeps the others busy.
//!
//! A worker that blocks asleep leaves its processor to the spare that replaces it, so there may be hundreds of those. One
//! that *computes* for long does not; more threads would only share the processors with it, and each of them would take
//! the next such task. Beside hundreds of tasks that compute, timers, sockets and all other tasks would wait until the
//! last of those has begun. And beside hundreds that sleep each new spare would take the next of them, and strand what a
//! socket had woken meanwhile until the spare after it comes. So when everybody is stuck the first spare is the attendant:
//!
//! - The monitor notes the *places* where the tasks were spawned that were seen stuck.
//! - The attendant passes over tasks from these places. It puts them on the *held* queue, from which all others take, and
//!   runs everything else: what timers and sockets wake, what is injected, and what it finds on the lanes of those that
//!   are stuck. When nothing is left it sleeps in the drivers.
//! - If it gets stuck itself, with a task from a place that was not known, the monitor notes that place, too, makes it a
//!   spare like any other, and starts another attendant.
//! - When nobody has been stuck for a while, the monitor dismisses the attendant. A place is forgotten when none of its tasks
//!   was seen stuck for a while; then the held tasks from there are *released*: anybody may take them again.
//! - Held tasks have a turn of their own at every worker, every fourth tick. (For so long the bounds in `lanes.rs` are longer
//!   by a third.)
//!
//! Other spares are started beside it as if it were not there (`monitor/policy.rs`): a held task may be the very one that
//! a stuck one waits for.
//!
//! # Who may do what
//!
//! The monitor alone appoints and dismisses, notes and forgets places, and releases. Workers read when they come across a
//! task, relaxed: what they see late costs one wrong turn, which the monitor makes good. (Who goes on to look at the
//! attendant's slot reads with acquire what was stored with release: the slot may be new.)
//!
//! A task must not stay held for a place that is forgotten: everybody else may be stuck for good. The monitor forgets the
//! place, and then looks through what is held, with a fence in between. The attendant pushes, and then looks whether it
//! knows the place still, with a fence in between. So either the monitor sees the task, or the attendant sees that the place
//! is forgotten; then it asks the monitor to look again.
//!
//! Held tasks are surplus, for everybody but the attendant, and the idle protocol (`idle.rs`) sees to it that nobody
//! sleeps over them: after its push the attendant notifies as any pusher, and all others look there, too, when they stop
//! searching and before they sleep. But the one who searches, and is relied on, may be the attendant, who looks for
//! something else. So when it lies down over held tasks it wakes somebody else, if anybody sleeps, no matter who
//! searches. Those who lie down later see the tasks themselves.
//!
//! Whoever is dismissed has to look at the held tasks from then on. The monitor stores that, and then notifies, with the
//! fence in between: either it sees that the former attendant sleeps, or that one, when it looks once more before it
//! sleeps, sees that it is none any more.

use std::panic::Location;
use std::ptr;

use super::idle::Idle;
use super::lanes::take_one;
use super::{Shared, Worker};
use crate::primitive::Injector;
use crate::primitive::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use crate::primitive::atomic::{AtomicBool, AtomicPtr, AtomicUsize, fence};
use crate::runtime::Inner;
use crate::task::Notified;

/// So many places are known at once. With more the attendant gets stuck more often.
pub(super) const PLACES: usize = if cfg!(loom) { 1 } else { 32 };
/// How often held tasks have their turn.
const EVERY: u32 = 4;
/// No slot has this number.
const NOBODY: usize = usize::MAX;

/// See the module.
pub(super) struct Attendance<T = Notified> {
    /// The slot of the attendant.
    attendant: AtomicUsize,
    held: Injector<T>,
    /// Known places come first; they are only compared. (One place in the source can have several `Location`s; then it is
    /// noted several times.)
    places: [AtomicPtr<Location<'static>>; PLACES],
    /// Some of what is held need not be any more.
    is_release_due: AtomicBool,
}

/// A place where tasks are spawned. Only compared.
type Place = *const Location<'static>;

impl<T> Attendance<T> {
    pub(super) fn new() -> Self {
        Self {
            attendant: AtomicUsize::new(NOBODY),
            held: Injector::new(),
            places: std::array::from_fn(|_| AtomicPtr::new(ptr::null_mut())),
            is_release_due: AtomicBool::new(false),
        }
    }

    /// Whoever reads it also sees the slot, which was made before.
    pub(super) fn attendant(&self) -> Option<usize> {
        Some(self.attendant.load(Acquire)).filter(|&slot| slot != NOBODY)
    }

    fn is_attendant(&self, slot: usize) -> bool {
        self.attendant.load(Relaxed) == slot
    }

    /// For the monitor. Before the thread gets the core, so that it knows from the start.
    pub(super) fn appoint(&self, slot: usize) {
        self.attendant.store(slot, Release);
    }

    /// For the monitor. The worker to unpark, if any.
    #[must_use]
    fn dismiss(&self, idle: &Idle) -> Option<usize> {
        self.attendant.store(NOBODY, Relaxed);
        // Passes a fence.
        idle.wake_one(|| self.held.is_empty())
    }

    /// The attendant leaves a task from this place to the others. The worker to unpark, if any.
    #[must_use]
    fn hold(&self, task: T, place: Place, idle: &Idle) -> Option<usize> {
        let woken = self.put_back(task, idle);
        // After the fence in `Idle::wake_one`: it may have been forgotten meanwhile.
        if !self.is_known(place) {
            self.is_release_due.store(true, Release);
        }
        woken
    }

    #[must_use]
    fn put_back(&self, task: T, idle: &Idle) -> Option<usize> {
        self.held.push(task);
        idle.wake_one(|| self.held.is_empty())
    }

    /// For the monitor. Whether it is to look through what is held.
    pub(super) fn is_release_due(&self) -> bool {
        self.is_release_due.swap(false, Acquire)
    }

    /// For the monitor, when it has forgotten a place or was asked to: looks through what is held, once.
    fn release(&self, is_still: impl Fn(&T) -> bool, mut release: impl FnMut(T), mut put_back: impl FnMut(T)) {
        // Pairs with the one in `Idle::wake_one`, between a push and the look at the places.
        fence(SeqCst);
        for _ in 0..self.held.len() {
            let Some(task) = take_one(&self.held) else { return };
            if is_still(&task) { put_back(task) } else { release(task) }
        }
    }

    /// Whether there are held tasks that are for this worker, too. On its way to sleep it asks after the fence in
    /// `Idle::start_sleep`.
    fn has_any_for(&self, slot: usize) -> bool {
        !self.held.is_empty() && !self.is_attendant(slot)
    }

    /// The attendant lies down, and has passed that fence. The worker to unpark, if any.
    #[must_use]
    fn hand_on(&self, slot: usize, idle: &Idle) -> Option<usize> {
        if self.held.is_empty() || !self.is_attendant(slot) {
            return None;
        }
        idle.wake_one_of(|other| other != slot)
    }

    fn take(&self, slot: usize) -> Option<T> {
        if self.has_any_for(slot) { take_one(&self.held) } else { None }
    }

    /// How many tasks are held.
    pub(super) fn held(&self) -> usize {
        self.held.len()
    }

    /// Takes out everything, at shutdown.
    pub(super) fn drain(&self) -> impl Iterator<Item = T> {
        std::iter::from_fn(|| take_one(&self.held))
    }

    fn is_known(&self, place: Place) -> bool {
        let places = self.places.iter().map(|known| known.load(Relaxed).cast_const());
        places.take_while(|known| !known.is_null()).any(|known| ptr::eq(known, place))
    }

    /// For the monitor: where tasks are spawned that get stuck. No more than [`PLACES`].
    pub(super) fn set_places(&self, places: impl Iterator<Item = Place>) {
        let places = places.map(<*const _>::cast_mut).chain(std::iter::repeat(ptr::null_mut()));
        self.places.iter().zip(places).for_each(|(known, place)| known.store(place, Relaxed));
    }
}

impl Attendance {
    fn is_for_others(&self, task: &Notified) -> bool {
        let header = task.header();
        // An aborted task is only dropped, and somebody may wait for that.
        self.is_known(header.site().location()) && !header.state.is_cancelled()
    }
}

impl Worker {
    pub(super) fn is_attendant(&self) -> bool {
        self.shared().attendance.is_attendant(self.core.index)
    }

    /// Whether this is the attendant, and does not run such tasks.
    pub(super) fn passes_over(&self, task: &Notified) -> bool {
        self.is_attendant() && self.shared().attendance.is_for_others(task)
    }

    /// Leaves a task to the others.
    pub(super) fn hold(&self, task: Notified) {
        let shared = self.shared();
        // Else, with tasks to hold coming in all the time, nobody would be woken for them.
        self.stop_searching();
        let place = task.header().site().location();
        shared.unpark_if(self.runtime(), shared.attendance.hold(task, place, &shared.idle));
    }

    /// Takes a task that the attendant has left to the others.
    #[inline]
    pub(super) fn take_held(&self) -> Option<Notified> {
        self.shared().attendance.take(self.core.index)
    }

    /// Counts a tick. Whether the next task is to be a held one: every fourth, and in the place of a lone task that
    /// has yielded.
    #[cold]
    pub(super) fn is_helds_turn(&self) -> bool {
        if !self.has_held() {
            return false;
        }
        let left = self.helds_turn_in.get();
        let is_turn = left == 0 || !self.has_queued();
        self.helds_turn_in.set(if is_turn { EVERY - 1 } else { left - 1 });
        is_turn
    }

    /// Whether it should stay up for such.
    pub(super) fn has_held(&self) -> bool {
        self.shared().attendance.has_any_for(self.core.index)
    }

    /// It lies down. If it is the attendant, others see to what it holds.
    pub(super) fn hand_on_held(&self) {
        let shared = self.shared();
        shared.unpark_if(self.runtime(), shared.attendance.hand_on(self.core.index, &shared.idle));
    }
}

impl Shared {
    /// Makes the attendant, if there is one, a spare like any other.
    pub(super) fn dismiss_attendant(&self, runtime: &Inner) {
        self.unpark_if(runtime, self.attendance.dismiss(&self.idle));
    }

    /// Tasks from places that are not known any more are for everybody again.
    pub(super) fn release_held(&self, runtime: &Inner) {
        let attendance = &self.attendance;
        let put_back = |task| self.unpark_if(runtime, attendance.put_back(task, &self.idle));
        attendance.release(|task| attendance.is_for_others(task), |task| self.inject(runtime, task), put_back);
        // After the fences of each push: unlike the attendant, the monitor may be overtaken by the end.
        self.queues.after_push(|| self.empty_queues());
    }

    fn unpark_if(&self, runtime: &Inner, worker: Option<usize>) {
        if let Some(worker) = worker {
            self.unpark(runtime, worker);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn places_are_known_while_they_are_set() {
        let attendance = Attendance::<u32>::new();
        let many = vec![*Location::caller(); PLACES];
        let places = |count: usize| many[..count].iter().map(ptr::from_ref);
        assert!(!attendance.is_known(&many[0]));
        attendance.set_places(places(PLACES));
        assert!(many.iter().all(|place| attendance.is_known(place)));
        attendance.set_places(places(2));
        assert!(attendance.is_known(&many[1]) && !attendance.is_known(&many[2]));
        attendance.set_places(places(0));
        assert!(!attendance.is_known(&many[0]));
    }

    #[test]
    fn held_tasks_are_for_all_but_the_attendant() {
        let (attendance, idle) = (Attendance::new(), Idle::new(2));
        attendance.appoint(7);
        let here = ptr::from_ref(Location::caller());
        attendance.set_places([here].into_iter());
        assert_eq!(attendance.hold("task", here, &idle), None, "nobody sleeps");
        assert!(attendance.has_any_for(0) && !attendance.has_any_for(7));
        assert_eq!(attendance.take(7), None);
        assert_eq!(attendance.take(0), Some("task"));
        assert_eq!(attendance.hold("another", here, &idle), None);
        assert_eq!(attendance.dismiss(&idle), None);
        assert_eq!(attendance.take(7), Some("another"));
        assert!(!attendance.is_release_due());
    }

    #[test]
    fn what_is_held_for_a_place_that_is_forgotten_is_released() {
        let (attendance, idle) = (Attendance::new(), Idle::new(2));
        let (here, there) = (ptr::from_ref(Location::caller()), ptr::from_ref(Location::caller()));
        attendance.set_places([here, there].into_iter());
        for (task, place) in [(1, here), (2, there), (3, here), (4, there)] {
            assert_eq!(attendance.hold(task, place, &idle), None);
        }
        attendance.set_places([there].into_iter());
        assert!(!attendance.is_release_due());
        let (mut released, mut kept) = (Vec::new(), Vec::new());
        attendance.release(|task| task % 2 == 0, |task| released.push(task), |task| kept.push(task));
        assert_eq!((released, kept), (vec![1, 3], vec![2, 4]));
        assert_eq!(attendance.hold(5, here, &idle), None);
        assert!(attendance.is_release_due() && !attendance.is_release_due(), "it was too late, and says so");
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use loom::sync::Arc;
    use loom::thread;

    use super::*;

    const WORKER: usize = 0;
    const ATTENDANT: usize = 1;

    struct Model {
        attendance: Attendance<()>,
        idle: Idle,
    }

    impl Model {
        fn new() -> Arc<Self> {
            let model = Self { attendance: Attendance::new(), idle: Idle::new(1) };
            model.attendance.appoint(ATTENDANT);
            Arc::new(model)
        }

        /// A worker without work lies down, and looks once more. True if it takes a held task instead.
        fn lie_down(&self, me: usize, searching: bool) -> bool {
            self.idle.start_sleep(me, searching);
            if !self.attendance.has_any_for(me) {
                return false;
            }
            if !self.idle.end_sleep(me) {
                self.idle.resume_search();
            }
            self.attendance.take(me).is_some()
        }
    }

    /// The attendant, searching, holds a task and lies down, while the worker lies down too.
    #[test]
    fn loom_nobody_sleeps_over_what_the_attendant_holds() {
        loom::model(|| {
            let model = Model::new();
            assert!(model.idle.start_search());
            let worker = {
                let model = model.clone();
                thread::spawn(move || model.lie_down(WORKER, false))
            };
            let woken = model.attendance.put_back((), &model.idle);
            assert!(!model.lie_down(ATTENDANT, woken.is_none()), "it is not for the attendant");
            let woken = woken.or(model.attendance.hand_on(ATTENDANT, &model.idle));
            let has_taken = worker.join().unwrap();
            assert!(has_taken || woken == Some(WORKER), "the task is stranded");
        });
    }

    /// The attendant is dismissed while it lies down over a task, and nobody else is there.
    #[test]
    fn loom_one_that_is_dismissed_does_not_sleep_over_what_it_held() {
        loom::model(|| {
            let model = Model::new();
            assert_eq!(model.attendance.put_back((), &model.idle), None);
            let attendant = {
                let model = model.clone();
                thread::spawn(move || model.lie_down(ATTENDANT, false))
            };
            let woken = model.attendance.dismiss(&model.idle);
            let has_taken = attendant.join().unwrap();
            assert!(has_taken || woken == Some(ATTENDANT), "the task is stranded");
        });
    }

    /// A place is forgotten while the attendant leaves a task from there to the others, who never come.
    #[test]
    fn loom_nothing_stays_held_for_a_place_that_is_forgotten() {
        loom::model(|| {
            let model = Model::new();
            let here = ptr::from_ref(Location::caller());
            model.attendance.set_places([here].into_iter());
            let attendant = {
                let model = model.clone();
                // As an address: raw pointers are not for other threads.
                let here = here.addr();
                thread::spawn(move || {
                    let here = ptr::without_provenance(here);
                    let is_held = model.attendance.is_known(here);
                    if is_held {
                        assert_eq!(model.attendance.hold((), here, &model.idle), None);
                    }
                    is_held
                })
            };
            model.attendance.set_places(std::iter::empty());
            let mut released = 0;
            let mut look = || model.attendance.release(|()| false, |()| released += 1, |()| unreachable!());
            look();
            let is_held = attendant.join().unwrap();
            if model.attendance.is_release_due() {
                look();
            }
            assert_eq!(released, usize::from(is_held), "the task is held for ever");
        });
    }
}
