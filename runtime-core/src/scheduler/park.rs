//! Where a thread of a scheduler sleeps, and how it is woken: in the driver, if nobody else is there, else on its own.
//!
//! # Protocol
//!
//! One word for each sleeper says where it is: `AWAKE`, `ON_THREAD` (asleep by itself), `IN_DRIVER`, or `NOTIFIED`
//! (told to wake up, and not yet aware of it). The sleeper moves it from AWAKE to one of the two sleeping states, and
//! back when it wakes up. Anybody else only swaps NOTIFIED in, and then ends the kind of sleep that the swap found. A
//! notification that comes before the sleep makes the sleeper's exchange fail, and it does not sleep at all; so none is
//! lost.
//!
//! A notifier makes the work visible and then swaps; a sleeper looks for work and then makes its exchange. So either
//! the sleeper sees the work, or the swap comes after that look: then it makes the exchange fail, or finds the sleeper
//! asleep.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicBool;

use crossbeam_utils::CachePadded;

use crate::driver::{Driver, Unpark, WakeAtOnce, WakeSink};
use crate::fatal;
use crate::primitive::atomic::AtomicUsize;
use crate::primitive::atomic::Ordering::SeqCst;
use crate::primitive::{Mutex, Parker, Unparker};

const AWAKE: usize = 0;
const ON_THREAD: usize = 1;
const IN_DRIVER: usize = 2;
const NOTIFIED: usize = 3;

/// A runtime's driver, for whichever thread gets hold of it.
pub(crate) struct SharedDriver {
    driver: CachePadded<Mutex<Option<Box<dyn Driver>>>>,
    /// Whether some thread waits in the driver. Only a hint: it says when nobody does, and somebody should.
    attended: AtomicBool,
}

impl SharedDriver {
    pub(crate) fn new(driver: Box<dyn Driver>) -> Self {
        Self { driver: CachePadded::new(Mutex::new(Some(driver))), attended: AtomicBool::new(false) }
    }

    /// Delivers what is ready, unless another thread has the driver: then it returns `None`, and else whether the
    /// driver [has left](Driver::has_left) something.
    pub(crate) fn poll(&self, woken: &mut dyn WakeSink) -> Option<bool> {
        let mut driver = self.driver.try_lock()?;
        let has_left = driver.as_mut().is_some_and(|driver| {
            or_abort(|| driver.poll(woken));
            driver.has_left()
        });
        Some(has_left)
    }

    /// Whether a thread waits in the driver.
    pub(crate) fn is_attended(&self) -> bool {
        self.attended.load(SeqCst)
    }

    /// Closes the driver for good. No task of the runtime is left to be queued, and no other thread needs the driver
    /// any more: all wakers are called at once.
    pub(crate) fn shutdown(&self) {
        let driver = self.driver.lock().take();
        if let Some(mut driver) = driver {
            or_abort(|| driver.shutdown(&mut WakeAtOnce));
        }
    }
}

/// Drivers call no user code. A panic of their own means that nothing can be waited for any more: going on would be to
/// hang, or to spin, in silence. The panic itself has been reported by the hook.
fn or_abort<R>(f: impl FnOnce() -> R) -> R {
    catch_unwind(AssertUnwindSafe(f))
        .unwrap_or_else(|_| fatal::abort("the driver panicked, and the runtime cannot go on without it"))
}

/// Where a thread has slept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slept {
    InDriver {
        /// See [`Driver::has_left`].
        has_left: bool,
    },
    OnThread,
    /// There was a notification already.
    NotAtAll,
}

/// The word of one sleeper, for those who wake it.
#[derive(Debug)]
pub(crate) struct Wakeup {
    state: AtomicUsize,
    unparker: Unparker,
}

impl Wakeup {
    /// The word, and what the sleeper needs beside it.
    pub(crate) fn new() -> (Self, Parker) {
        let parker = Parker::new();
        let (state, unparker) = (AtomicUsize::new(AWAKE), parker.unparker().clone());
        (Self { state, unparker }, parker)
    }

    /// Wakes the sleeper, or keeps it from its next sleep. `before` is called if it sleeps, before it is woken.
    pub(crate) fn unpark(&self, driver: &dyn Unpark, before: impl FnOnce()) {
        match self.state.swap(NOTIFIED, SeqCst) {
            ON_THREAD => {
                before();
                self.unparker.unpark();
            }
            IN_DRIVER => {
                before();
                driver.unpark();
            }
            _ => {}
        }
    }

    /// Sleeps until woken: in the driver if it is free, else on the thread. What the driver wakes goes to `woken`.
    pub(crate) fn park(&self, parker: &Parker, shared: &SharedDriver, woken: &mut dyn WakeSink) -> Slept {
        if let Some(mut driver) = shared.driver.try_lock()
            && let Some(driver) = driver.as_mut()
        {
            if !self.prepare_park(IN_DRIVER) {
                return Slept::NotAtAll;
            }
            shared.attended.store(true, SeqCst);
            or_abort(|| driver.park(None, woken));
            shared.attended.store(false, SeqCst);
            self.state.swap(AWAKE, SeqCst);
            return Slept::InDriver { has_left: driver.has_left() };
        }
        self.park_thread(parker)
    }

    /// Sleeps on the thread until woken.
    pub(crate) fn park_thread(&self, parker: &Parker) -> Slept {
        if !self.prepare_park(ON_THREAD) {
            return Slept::NotAtAll;
        }
        loop {
            parker.park();
            // The parker may return without cause; only the word tells.
            if self.state.compare_exchange(NOTIFIED, AWAKE, SeqCst, SeqCst).is_ok() {
                return Slept::OnThread;
            }
        }
    }

    /// False if there was a notification, which is thereby used up.
    fn prepare_park(&self, how: usize) -> bool {
        if self.state.compare_exchange(AWAKE, how, SeqCst, SeqCst).is_ok() {
            return true;
        }
        self.state.swap(AWAKE, SeqCst);
        false
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use std::sync::Arc as StdArc;
    use std::time::Duration;

    use loom::sync::Arc;
    use loom::thread;

    use super::*;

    /// A driver that only sleeps: the real one's unpark token, without events.
    struct Fake(Parker);

    impl Driver for Fake {
        fn park(&mut self, _: Option<Duration>, _: &mut dyn WakeSink) -> bool {
            self.0.park();
            false
        }
        fn poll(&mut self, _: &mut dyn WakeSink) -> bool {
            false
        }
        fn shutdown(&mut self, _: &mut dyn WakeSink) {}
    }

    struct FakeUnpark(Unparker);

    impl Unpark for FakeUnpark {
        fn unpark(&self) {
            self.0.unpark();
        }
    }

    /// Sleeps until the work is there. A notification that gets lost leaves it asleep, which loom reports as a
    /// deadlock.
    fn sleep_until_work(work: &AtomicUsize, wakeup: &Wakeup, parker: &Parker, driver: &SharedDriver) {
        while work.load(SeqCst) == 0 {
            wakeup.park(parker, driver, &mut WakeAtOnce);
        }
    }

    #[test]
    fn loom_a_sleeper_in_the_driver_is_woken() {
        loom::model(|| {
            let inner = Parker::new();
            let unpark = StdArc::new(FakeUnpark(inner.unparker().clone()));
            let (wakeup, parker) = Wakeup::new();
            let shared = Arc::new((AtomicUsize::new(0), wakeup, SharedDriver::new(Box::new(Fake(inner)))));
            let notifier = {
                let shared = shared.clone();
                thread::spawn(move || {
                    shared.0.store(1, SeqCst);
                    shared.1.unpark(&*unpark, || ());
                })
            };
            sleep_until_work(&shared.0, &shared.1, &parker, &shared.2);
            notifier.join().unwrap();
        });
    }

    #[test]
    fn loom_a_sleeper_on_its_thread_is_woken_while_another_has_the_driver() {
        loom::model(|| {
            let inner = Parker::new();
            let unpark = StdArc::new(FakeUnpark(inner.unparker().clone()));
            let (wakeup, parker) = Wakeup::new();
            let shared = Arc::new((AtomicUsize::new(0), wakeup, SharedDriver::new(Box::new(Fake(inner)))));
            let taken = shared.2.driver.try_lock();
            let notifier = {
                let shared = shared.clone();
                thread::spawn(move || {
                    shared.0.store(1, SeqCst);
                    shared.1.unpark(&*unpark, || ());
                })
            };
            sleep_until_work(&shared.0, &shared.1, &parker, &shared.2);
            drop(taken);
            notifier.join().unwrap();
        });
    }

    /// Two workers, each with a task to come, share a driver: the one that finds it taken sleeps on its thread, and the
    /// other's leaving it does not lose anybody's wake.
    #[test]
    fn loom_each_of_two_sleepers_is_woken_where_it_sleeps() {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(3);
        builder.check(|| {
            let inner = Parker::new();
            let unpark = StdArc::new(FakeUnpark(inner.unparker().clone()));
            let driver = Arc::new(SharedDriver::new(Box::new(Fake(inner))));
            let sleepers = [(); 2].map(|()| {
                let (wakeup, parker) = Wakeup::new();
                let shared = Arc::new((AtomicUsize::new(0), wakeup));
                let (theirs, driver) = (shared.clone(), driver.clone());
                let thread = thread::spawn(move || sleep_until_work(&theirs.0, &theirs.1, &parker, &driver));
                (shared, thread)
            });
            for (shared, _) in &sleepers {
                shared.0.store(1, SeqCst);
                shared.1.unpark(&*unpark, || ());
            }
            sleepers.into_iter().for_each(|(_, thread)| thread.join().unwrap());
        });
    }

    /// Another worker polls the driver while one is about to sleep in it: the sleeper goes to sleep elsewhere, or gets
    /// the driver when the poll is over, and is woken either way. The end of the driver waits until both have left it.
    #[test]
    fn loom_a_poll_and_the_end_of_the_driver_beside_a_sleeper() {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(3);
        builder.check(|| {
            let inner = Parker::new();
            let unpark = StdArc::new(FakeUnpark(inner.unparker().clone()));
            let (wakeup, parker) = Wakeup::new();
            let shared = Arc::new((AtomicUsize::new(0), wakeup, SharedDriver::new(Box::new(Fake(inner)))));
            let polling = {
                let shared = shared.clone();
                thread::spawn(move || shared.2.poll(&mut WakeAtOnce))
            };
            let sleeping = {
                let shared = shared.clone();
                thread::spawn(move || sleep_until_work(&shared.0, &shared.1, &parker, &shared.2))
            };
            shared.0.store(1, SeqCst);
            shared.1.unpark(&*unpark, || ());
            shared.2.shutdown();
            polling.join().unwrap();
            sleeping.join().unwrap();
            assert!(shared.2.driver.try_lock().expect("both have left").is_none(), "it is closed");
        });
    }
}
