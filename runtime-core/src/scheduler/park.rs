//! Where a thread of a scheduler sleeps, and how it is woken: in the driver, if nobody else is there, else on its own.
//!
//! # Protocol
//!
//! One word for each sleeper says where it is: `AWAKE`, `ON_THREAD` (asleep by itself), `IN_DRIVER`, or `NOTIFIED` (told to
//! get up, and not yet aware of it). The sleeper moves it from AWAKE to one of the two sleeping states, and back when it
//! gets up. Anybody else only swaps NOTIFIED in, and then ends the kind of sleep that the swap found. A notification
//! that comes before the sleep makes the sleeper's exchange fail, and it does not sleep at all; so none is lost.
//!
//! All changes are `SeqCst`: a notifier that first makes work visible and then swaps, and a sleeper that goes to sleep and
//! then looks for work, cannot miss each other.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crossbeam_utils::CachePadded;
use crossbeam_utils::sync::{Parker, Unparker};
use parking_lot::Mutex;

use crate::driver::{Driver, Unpark};
use crate::primitive::atomic::AtomicUsize;
use crate::primitive::atomic::Ordering::SeqCst;

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

    /// Delivers what is ready, unless another thread has the driver. Returns whether this thread did.
    pub(crate) fn poll(&self) -> bool {
        let Some(mut driver) = self.driver.try_lock() else { return false };
        if let Some(driver) = driver.as_mut() {
            contained(|| driver.poll());
        }
        true
    }

    /// Whether a thread waits in the driver.
    pub(crate) fn is_attended(&self) -> bool {
        self.attended.load(SeqCst)
    }

    /// Closes the driver for good.
    pub(crate) fn shutdown(&self) {
        let driver = self.driver.lock().take();
        if let Some(mut driver) = driver {
            contained(|| driver.shutdown());
        }
    }
}

/// The driver calls wakers, which may be anybody's: a panic of one must not take the worker down.
fn contained(f: impl FnOnce()) {
    crate::task::discard(catch_unwind(AssertUnwindSafe(f)));
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
        (Self { state: AtomicUsize::new(AWAKE), unparker: parker.unparker().clone() }, parker)
    }

    /// Wakes the sleeper, or keeps it from its next sleep.
    pub(crate) fn unpark(&self, driver: &dyn Unpark) {
        match self.state.swap(NOTIFIED, SeqCst) {
            ON_THREAD => self.unparker.unpark(),
            IN_DRIVER => driver.unpark(),
            _ => {}
        }
    }

    /// Sleeps until woken: in the driver if it is free, else on the thread. Returns whether it was in the driver.
    pub(crate) fn park(&self, parker: &Parker, shared: &SharedDriver, timeout: Option<Duration>) -> bool {
        match shared.driver.try_lock() {
            Some(mut driver) => {
                if let Some(driver) = driver.as_mut() {
                    if self.fall_asleep(IN_DRIVER) {
                        shared.attended.store(true, SeqCst);
                        contained(|| driver.park(timeout));
                        shared.attended.store(false, SeqCst);
                        self.state.swap(AWAKE, SeqCst);
                    }
                    return true;
                }
            }
            None => {}
        }
        self.park_thread(parker);
        false
    }

    /// Sleeps on the thread until woken.
    pub(crate) fn park_thread(&self, parker: &Parker) {
        if self.fall_asleep(ON_THREAD) {
            loop {
                parker.park();
                // The parker may return without cause; only the word tells.
                if self.state.compare_exchange(NOTIFIED, AWAKE, SeqCst, SeqCst).is_ok() {
                    return;
                }
            }
        }
    }

    /// False if there was a notification, which is thereby used up.
    fn fall_asleep(&self, how: usize) -> bool {
        if self.state.compare_exchange(AWAKE, how, SeqCst, SeqCst).is_ok() {
            return true;
        }
        self.state.swap(AWAKE, SeqCst);
        false
    }
}
