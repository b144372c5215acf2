//! The waker of the future in a `block_on`: a flag, and whatever gets the calling thread to look at it.

use std::sync::Arc;
use std::task::Wake;

use crate::primitive::Unparker;
use crate::primitive::atomic::AtomicBool;
use crate::primitive::atomic::Ordering::{AcqRel, Acquire};

/// The waker of a future that a thread in `block_on` polls. `W` wakes the caller where the scheduler has it asleep, if
/// it has.
pub(super) struct MainWaker<W> {
    woken: AtomicBool,
    wake_at_scheduler: W,
    /// For a caller that just waits.
    unparker: Unparker,
}

impl<W> MainWaker<W> {
    /// Woken from the start: the future wants its first poll.
    pub(super) fn new(unparker: Unparker, wake_at_scheduler: W) -> Arc<Self> {
        Arc::new(Self { woken: AtomicBool::new(true), wake_at_scheduler, unparker })
    }

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

impl<W: Fn() + Send + Sync> Wake for MainWaker<W> {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.woken.swap(true, AcqRel) {
            // Both: the caller may be on its way from the one place to the other.
            (self.wake_at_scheduler)();
            self.unparker.unpark();
        }
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use loom::thread;

    use super::*;
    use crate::primitive::Parker;
    use crate::primitive::atomic::AtomicUsize;
    use crate::primitive::atomic::Ordering::Relaxed;

    /// The future waits for two things, each told by a wake of its own: the poll after a wake sees what was told, and a
    /// wake during a poll leads to another.
    #[test]
    fn loom_every_wake_leads_to_a_poll_that_sees_what_came_before_it() {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(3);
        builder.check(|| {
            let parker = Parker::new();
            let main = MainWaker::new(parker.unparker().clone(), || ());
            let told = Arc::new(AtomicUsize::new(0));
            let tellers = [(); 2].map(|()| {
                let (main, told) = (main.clone(), told.clone());
                thread::spawn(move || {
                    // Relaxed: the wake has to make it visible.
                    told.fetch_add(1, Relaxed);
                    main.wake();
                })
            });
            // As `block_on` does.
            loop {
                if main.take() {
                    if told.load(Relaxed) == 2 {
                        break;
                    }
                } else {
                    parker.park();
                }
            }
            tellers.into_iter().for_each(|teller| teller.join().unwrap());
        });
    }
}
