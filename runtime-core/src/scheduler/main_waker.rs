//! What a thread in `block_on` has for its call: the waker of its future, which is a flag and whatever gets the thread
//! to look at it ([`MainWaker`]), and a place to sleep ([`Caller`]).
//!
//! # Where the caller sleeps
//!
//! In its parker; or, from some time on, where the scheduler says, too ([`Caller::settle`]), which may be after the
//! first poll. A waker sets the flag by an exchange, and if it was not set looks after that where the caller may be.
//! The caller says where it may be, and looks after that at the flag, by an exchange of its own. One of the two
//! exchanges comes first. If the waker's does, the caller sees the flag set, and polls. Else the waker's exchange reads
//! what the caller's has published, and the waker sees the place. In the parker it is called in either case. (A waker
//! that finds the flag set calls nobody: the one that set it does.)
//!
//! # What a thread keeps
//!
//! Both take memory, and a program that bridges from synchronous code calls `block_on` for each read. So a thread keeps
//! them for its next call, of whatever runtime. It keeps them only if nobody else has a clone of the waker any more: a
//! clone that is used late would wake the future of a later call.

use std::cell::Cell;
use std::sync::Arc;
use std::task::Wake;

use super::Scheduler;
use crate::primitive::atomic::AtomicBool;
use crate::primitive::atomic::Ordering::{AcqRel, Acquire};
use crate::primitive::{OnceLock, Parker, Unparker, thread_local};
use crate::runtime::Inner;

/// The waker of a future that a thread in `block_on` polls.
pub(super) struct MainWaker {
    woken: AtomicBool,
    /// Where the scheduler may have the caller asleep, if it may.
    place: OnceLock<Place>,
    /// For a caller that just waits.
    unparker: Unparker,
}

/// The slot of a scheduler whose core the caller may have. (There is only one in the single-threaded scheduler.)
struct Place {
    runtime: Arc<Inner>,
    slot: usize,
}

impl MainWaker {
    /// Whether the future was woken, and not polled since.
    pub(super) fn is_woken(&self) -> bool {
        self.woken.load(Acquire)
    }

    /// Takes the wake, if there is one: before the poll, so that a wake during the poll leads to another.
    pub(super) fn take(&self) -> bool {
        // A plain look first: the exchange is for when there is something to take.
        self.is_woken() && self.woken.swap(false, AcqRel)
    }
}

impl Wake for MainWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.woken.swap(true, AcqRel) {
            // Both: the caller may be on its way from the one place to the other.
            if let Some(Place { runtime, slot }) = self.place.get() {
                match &runtime.scheduler {
                    Scheduler::Multi(shared) => shared.wake_block_on(runtime, *slot),
                    Scheduler::Current(shared) => shared.unpark(runtime),
                }
            }
            self.unparker.unpark();
        }
    }
}

/// A thread in `block_on`, for the length of the call. It is to be dropped after the call's own clones of the waker.
pub(super) struct Caller {
    /// Taken only by drop.
    kit: Option<Kit>,
}

struct Kit {
    parker: Parker,
    main: Arc<MainWaker>,
}

thread_local! {
    /// What the thread keeps between two calls. It belongs to no runtime then.
    static KEPT: Cell<Option<Kit>> = Cell::new(None);
}

impl Caller {
    /// One that sleeps in its parker.
    pub(super) fn new() -> Self {
        // There may be none: in the first call, or if it is inside of another one, or after one whose waker others had.
        let kept = KEPT.try_with(Cell::take).ok().flatten();
        Self { kit: Some(kept.unwrap_or_else(Kit::new)) }
    }

    /// It may have the core of a slot, and sleep at the scheduler, from now on. Once in a call.
    pub(super) fn settle(&self, runtime: &Arc<Inner>, slot: usize) {
        let main = self.main();
        main.place.get_or_init(|| Place { runtime: Arc::clone(runtime), slot });
        // Changes nothing: it is for the order, as the module says.
        main.woken.fetch_or(false, AcqRel);
    }

    fn kit(&self) -> &Kit {
        self.kit.as_ref().expect("taken only by drop")
    }

    pub(super) fn parker(&self) -> &Parker {
        &self.kit().parker
    }

    /// The waker of its future, which has been woken: the future wants its first poll.
    pub(super) fn main(&self) -> &Arc<MainWaker> {
        &self.kit().main
    }
}

impl Drop for Caller {
    fn drop(&mut self) {
        let kit = self.kit.take().and_then(Kit::renew);
        if kit.is_some() {
            // At the end of the thread it is just dropped.
            let _ = KEPT.try_with(|kept| kept.set(kit));
        }
    }
}

impl Kit {
    fn new() -> Self {
        let parker = Parker::new();
        let (woken, unparker) = (AtomicBool::new(true), parker.unparker().clone());
        Self { parker, main: Arc::new(MainWaker { woken, place: OnceLock::new(), unparker }) }
    }

    /// The same for the next call, if nobody else has the waker. (A notification may be left in the parker: the next
    /// sleep in it ends at once, and the caller looks again.)
    fn renew(mut self) -> Option<Self> {
        let main = Arc::get_mut(&mut self.main)?;
        (main.woken, main.place) = (AtomicBool::new(true), OnceLock::new());
        Some(self)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::task::Waker;

    use super::*;

    fn parts() -> (Caller, *const MainWaker) {
        let caller = Caller::new();
        let main = Arc::as_ptr(caller.main());
        (caller, main)
    }

    #[test]
    fn a_thread_keeps_what_it_has_made_and_finds_it_as_new() {
        let (first, its_main) = parts();
        assert!(first.main().take() && !first.main().is_woken());
        drop(first);
        let (second, main) = parts();
        assert_eq!(main, its_main);
        assert!(second.main().is_woken());
    }

    #[test]
    fn a_waker_of_one_call_does_not_wake_the_future_of_the_next() {
        let (first, its_main) = parts();
        let late = Waker::from(Arc::clone(first.main()));
        drop(first);
        let (second, main) = parts();
        assert_ne!(main, its_main);
        assert!(second.main().take());
        late.wake();
        assert!(!second.main().is_woken());
    }

    #[test]
    fn a_call_inside_of_another_has_its_own() {
        let (outer, its_main) = parts();
        let (inner, main) = parts();
        assert_ne!(main, its_main);
        drop(inner);
        assert_eq!(parts().1, main);
        drop(outer);
        assert_eq!(parts().1, its_main);
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use loom::thread;

    use super::*;
    use crate::primitive::atomic::AtomicUsize;
    use crate::primitive::atomic::Ordering::Relaxed;

    /// The future waits for two things, each told by a wake of its own: the poll after a wake sees what was told, and a
    /// wake during a poll leads to another.
    #[test]
    fn loom_every_wake_leads_to_a_poll_that_sees_what_came_before_it() {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(3);
        builder.check(|| {
            let caller = Caller::new();
            let told = Arc::new(AtomicUsize::new(0));
            let tellers = [(); 2].map(|()| {
                let (main, told) = (caller.main().clone(), told.clone());
                thread::spawn(move || {
                    // Relaxed: the wake has to make it visible.
                    told.fetch_add(1, Relaxed);
                    main.wake();
                })
            });
            // As `block_on` does.
            loop {
                if caller.main().take() {
                    if told.load(Relaxed) == 2 {
                        break;
                    }
                } else {
                    caller.parker().park();
                }
            }
            tellers.into_iter().for_each(|teller| teller.join().unwrap());
        });
    }

    /// A thread wakes the future of one call twice, and drops the waker, while that call ends and the next one begins.
    /// This is polled once, and then only if it is woken itself. It has the waker of the first if nobody else has.
    #[test]
    fn loom_a_waker_that_is_used_late_leaves_the_next_call_alone() {
        loom::model(|| {
            let caller = Caller::new();
            assert!(caller.main().take());
            let waker = caller.main().clone();
            let teller = thread::spawn(move || {
                waker.wake_by_ref();
                waker.wake();
            });
            while !caller.main().take() {
                caller.parker().park();
            }
            drop(caller);
            let next = Caller::new();
            assert!(next.main().take());
            teller.join().unwrap();
            assert!(!next.main().is_woken());
        });
    }
}
