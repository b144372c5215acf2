//! What senders and receivers share.

use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::task::Waker;

use runtime_core::context;
use runtime_core::primitive::atomic::AtomicUsize;
use runtime_core::primitive::{Mutex, MutexGuard, RwLock};

use super::state::{State, Version};
use crate::Notify;
use crate::waiters::{List, TOLD, Waiter, WakeBatch};

/// Receivers that wait on different workers seldom meet at the lock of a list, nor do those that a send wakes, and that
/// wait for the next value.
const LISTS: usize = if cfg!(loom) { 2 } else { 8 };

/// See the module.
pub(super) struct Shared<T> {
    pub(super) value: RwLock<T>,
    pub(super) state: State,
    pub(super) senders: AtomicUsize,
    pub(super) receivers: AtomicUsize,
    /// Tells those that wait for the last receiver to go.
    pub(super) unwatched: Notify,
    /// Each waiter with the version that it knows. Of one list the versions are in order.
    lists: [Mutex<List<Version>>; LISTS],
}

// The value is the user's, who sees what a closure that panicked has left of it. All else is in order whenever foreign
// code runs.
impl<T> UnwindSafe for Shared<T> {}
impl<T> RefUnwindSafe for Shared<T> {}

impl<T> Shared<T> {
    /// With one sender, and `receivers` receivers.
    pub(super) fn new(value: T, receivers: usize) -> Self {
        Self {
            value: RwLock::new(value),
            state: State::new(),
            senders: AtomicUsize::new(1),
            receivers: AtomicUsize::new(receivers),
            unwatched: Notify::new(),
            lists: std::array::from_fn(|_| Mutex::new(List::new())),
        }
    }

    /// The list for somebody who waits on this thread.
    pub(super) fn list_of_this_thread() -> usize {
        context::worker_index().unwrap_or_else(|| context::random_below(LISTS as u32) as usize) % LISTS
    }

    /// Puts the waiter into a list, unless there is a version that it does not know, or there will be none. Returns
    /// whether it waits.
    ///
    /// # Safety
    ///
    /// The waiter must be in no list. Before its memory goes it must be out of this one.
    pub(super) unsafe fn wait(&self, list: usize, waiter: &Waiter<Version>, waker: Waker, known: Version) -> bool {
        let mut waiters = self.lists[list].lock();
        let mut state = self.state.load();
        if state.is_last(known) && !state.is_waited_for() {
            state = self.state.set_waiting();
        }
        if !state.is_last(known) {
            drop(waiters);
            return false;
        }
        // SAFETY: passed on to the caller.
        unsafe { waiters.push(waiter, Some(waker), known) };
        true
    }

    /// The waiters of a list.
    pub(super) fn list(&self, list: usize) -> MutexGuard<'_, List<Version>> {
        self.lists[list].lock()
    }

    /// Wakes all that wait for another version than the present, or, if the channel is closed, all that wait.
    pub(super) fn wake_receivers(&self) {
        let mut batch = WakeBatch::new();
        for list in &self.lists {
            let mut waiters = list.lock();
            while !self.take_out(&mut waiters, &mut batch) {
                MutexGuard::unlocked(&mut waiters, || batch.wake());
            }
        }
        batch.finish();
    }

    /// Takes such waiters out, until the batch is full. Returns whether there are none left.
    fn take_out(&self, waiters: &mut List<Version>, batch: &mut WakeBatch) -> bool {
        // If a waiter of the present version is next, so are all behind it.
        while waiters.oldest().is_some_and(|known| !self.state.load().is_last(known)) {
            if batch.is_full() {
                return false;
            }
            batch.push(waiters.pop_oldest(TOLD));
        }
        true
    }
}

impl<T: fmt::Debug> fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state.load();
        f.debug_struct("Shared")
            .field("value", &self.value)
            .field("version", &state.version())
            .field("is_closed", &state.is_closed())
            .field("receivers", &self.receivers)
            .finish_non_exhaustive()
    }
}
