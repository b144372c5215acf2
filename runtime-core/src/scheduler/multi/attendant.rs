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
//!   spare like any other, and starts another attendant. (Not if it takes long over the runtime's own business: to look through
//!   thousands of tasks on a machine that is too busy.)
//! - When for a while there was no standstill with something waiting, the monitor dismisses the attendant. A place is
//!   forgotten when none of its tasks was seen stuck for a while.
//! - Held tasks have a turn of their own at every worker, every fourth tick. (For so long the bounds in `lanes.rs` are longer
//!   by a third.)
//!
//! Other spares are started beside it as if it were not there (`monitor/policy.rs`): a held task may be the very one that
//! a stuck one waits for.
//!
//! # Who may do what
//!
//! The monitor alone appoints and dismisses, and notes and forgets places. Workers read both when they come across a task,
//! relaxed: what they see late costs one wrong turn, which the monitor makes good. (Who goes on to look at the attendant's
//! slot reads with acquire what was stored with release: the slot may be new.)
//!
//! Whether a task is to be held is seen once, when the attendant comes across it. Later its place may be forgotten, or it
//! may be aborted; and everybody else may be stuck for good. So ten times a second the monitor looks through what is held
//! and gives back what need not be. That also mends it if the attendant saw too late that a place is forgotten.
//!
//! Held tasks are surplus, for everybody but the attendant, and the idle protocol (`idle/`) sees to it that nobody
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
use std::sync::atomic::AtomicPtr;

use super::idle::Idle;
use super::lanes::take_one;
use super::{Shared, Worker};
use crate::primitive::Injector;
use crate::primitive::atomic::AtomicUsize;
use crate::primitive::atomic::Ordering::{Acquire, Relaxed, Release};
use crate::runtime::Inner;
use crate::task::Notified;

/// So many places are known at once. With more the attendant gets stuck more often.
pub(super) const PLACES: usize = 32;
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
}

/// A place where tasks are spawned. Only compared.
type Place = *const Location<'static>;

impl<T> Attendance<T> {
    pub(super) fn new() -> Self {
        Self {
            attendant: AtomicUsize::new(NOBODY),
            held: Injector::new(),
            places: [const { AtomicPtr::new(ptr::null_mut()) }; PLACES],
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

    /// The attendant leaves a task to the others, or the monitor puts one back. The worker to unpark, if any.
    #[must_use]
    fn hold(&self, task: T, idle: &Idle) -> Option<usize> {
        self.held.push(task);
        idle.wake_one(|| self.held.is_empty())
    }

    /// For the monitor: looks at so many of the oldest. In a whole round they keep their order.
    fn look_through(
        &self,
        tasks: usize,
        is_for_others: impl Fn(&T) -> bool,
        mut give_back: impl FnMut(T),
        mut put_back: impl FnMut(T),
    ) {
        for task in std::iter::from_fn(|| take_one(&self.held)).take(tasks) {
            if is_for_others(&task) { put_back(task) } else { give_back(task) }
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
        shared.unpark_if(self.runtime(), shared.attendance.hold(task, &shared.idle));
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

    /// Gives back what need not be held any more.
    pub(super) fn look_through_held(&self, runtime: &Inner, tasks: usize) {
        let attendance = &self.attendance;
        let put_back = |task| self.unpark_if(runtime, attendance.hold(task, &self.idle));
        attendance.look_through(
            tasks,
            |task| attendance.is_for_others(task),
            |task| self.inject(runtime, task),
            put_back,
        );
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
        assert_eq!(attendance.hold("task", &idle), None, "nobody sleeps");
        assert!(attendance.has_any_for(0) && !attendance.has_any_for(7));
        assert_eq!(attendance.take(7), None);
        assert_eq!(attendance.take(0), Some("task"));
        assert_eq!(attendance.hold("another", &idle), None);
        assert_eq!(attendance.dismiss(&idle), None);
        assert_eq!(attendance.take(7), Some("another"));
    }

    #[test]
    fn what_need_not_be_held_any_more_is_given_back() {
        let (attendance, idle) = (Attendance::new(), Idle::new(2));
        for task in 1..=7 {
            assert_eq!(attendance.hold(task, &idle), None);
        }
        let mut given_back = Vec::new();
        let put_back = |task| assert_eq!(attendance.hold(task, &idle), None);
        attendance.look_through(4, |task| task % 2 == 0, |task| given_back.push(task), put_back);
        attendance.look_through(3, |task| task % 2 == 0, |task| given_back.push(task), put_back);
        assert_eq!(given_back, [1, 3, 5, 7]);
        assert!(attendance.drain().eq([2, 4, 6]), "in their order");
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
            let woken = model.attendance.hold((), &model.idle);
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
            assert_eq!(model.attendance.hold((), &model.idle), None);
            let attendant = {
                let model = model.clone();
                thread::spawn(move || model.lie_down(ATTENDANT, false))
            };
            let woken = model.attendance.dismiss(&model.idle);
            let has_taken = attendant.join().unwrap();
            assert!(has_taken || woken == Some(ATTENDANT), "the task is stranded");
        });
    }
}
