//! [`Notify`]: to tell tasks that something has happened.
//!
//! # The protocol
//!
//! One word holds the stored *permit*, whether there are waiters, and the *round*: how often `notify_waiters` was
//! called. The list of waiters lies behind a lock, and each waiter knows the round in which it began.
//!
//! - While there are no waiters, permits are stored and taken by an exchange of the word alone.
//! - To wait, a future takes the lock, and by one exchange takes the permit or sets WAITING. If the round is another
//!   than when the future was made, it does not wait.
//! - WAITING changes under the lock only. So a thread that finds it set takes the lock, and looks again.
//! - `notify_waiters` begins a new round, under the lock. From this moment all waiters of earlier rounds are notified,
//!   though it takes them out in batches, and wakes each batch without the lock. They are the oldest in the list. A
//!   `notify_one` that comes meanwhile lends a hand: it takes them out itself until it finds a waiter of the present
//!   round. A waiter that sees under the lock that its round is over takes itself out.
//! - A future that was chosen by `notify_one` or `notify_last`, and is dropped before it was polled again, does the
//!   same once more, so that the notification gets to somebody else.
//!
//! All exchanges are acquires and releases: whatever comes before a notification is seen by the future that it
//! completes.

mod future;
#[cfg(all(test, loom))]
mod loom_tests;
mod state;
#[cfg(all(test, not(loom)))]
mod tests;

use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

use runtime_core::primitive::atomic::AtomicUsize;
use runtime_core::primitive::atomic::Ordering::{AcqRel, Acquire};
use runtime_core::primitive::{Mutex, MutexGuard};

pub(crate) use self::future::Listening;
pub use self::future::{Notified, OwnedNotified};
use self::state::{Round, State};
use crate::waiters::{List, TOLD, WakeBatch};

/// A waiter was chosen by `notify_one`.
const BY_ONE: u8 = TOLD;
/// By `notify_last`.
const BY_LAST: u8 = TOLD + 1;
/// By `notify_waiters`.
const BY_ALL: u8 = TOLD + 2;

/// Tells one task, or all that wait, that something has happened.
///
/// A `Notify` carries no data: it is used beside some, which a lock or an atomic protects. A task waits with
/// [`notified`](Self::notified). Another calls
///
/// - [`notify_one`](Self::notify_one) to complete one of those that wait, or, if there is none, to store a *permit*
///   with which the next does not wait. At most one permit is stored;
/// - [`notify_waiters`](Self::notify_waiters) to complete all that wait, and store nothing.
///
/// # Fairness
///
/// `notify_one` completes those that wait in the order in which they began, `notify_last` in the reverse.
///
/// # Memory
///
/// Four words. A waiter is part of the future that waits; nothing is allocated.
///
/// # Example
///
/// A channel without a bound, for one receiver:
///
/// ```
/// use std::collections::VecDeque;
/// use std::sync::Mutex;
/// use rt::sync::Notify;
///
/// struct Channel<T> {
///     values: Mutex<VecDeque<T>>,
///     notify: Notify,
/// }
///
/// impl<T> Channel<T> {
///     fn send(&self, value: T) {
///         self.values.lock().unwrap().push_back(value);
///         self.notify.notify_one();
///     }
///
///     async fn receive(&self) -> T {
///         loop {
///             if let Some(value) = self.values.lock().unwrap().pop_front() {
///                 return value;
///             }
///             // If a value came in between, there is a permit.
///             self.notify.notified().await;
///         }
///     }
/// }
/// # #[rt::main]
/// # async fn main() {
/// # let channel = Channel { values: Mutex::default(), notify: Notify::new() };
/// # channel.send(1);
/// # assert_eq!(channel.receive().await, 1);
/// # }
/// ```
pub struct Notify {
    state: AtomicUsize,
    waiters: Mutex<List<Round>>,
}

// What is behind the lock is in order whenever foreign code runs, so a panic of that does no harm.
impl UnwindSafe for Notify {}
impl RefUnwindSafe for Notify {}

impl Notify {
    /// Makes one, without a permit.
    pub fn new() -> Self {
        Self { state: AtomicUsize::new(State::EMPTY.0), waiters: Mutex::new(List::new()) }
    }

    /// As [`new`](Self::new), for constants and statics.
    ///
    /// # Example
    ///
    /// ```
    /// static CHANGED: rt::sync::Notify = rt::sync::Notify::const_new();
    /// ```
    #[cfg(not(loom))]
    pub const fn const_new() -> Self {
        Self { state: AtomicUsize::new(State::EMPTY.0), waiters: Mutex::new(List::new()) }
    }

    /// Waits for a notification.
    ///
    /// The future is in line for [`notify_one`](Self::notify_one) from its first poll on, or from
    /// [`Notified::enable`]; for [`notify_waiters`](Self::notify_waiters) from the moment in which it is made.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe, but it loses its place in the line. If it was chosen by `notify_one` already, another waiter is
    /// chosen in its place, or the permit is stored.
    ///
    /// # Example
    ///
    /// ```
    /// use std::sync::Arc;
    /// use rt::sync::Notify;
    ///
    /// # #[rt::main]
    /// # async fn main() {
    /// let notify = Arc::new(Notify::new());
    /// let waiter = rt::spawn({
    ///     let notify = notify.clone();
    ///     async move { notify.notified().await }
    /// });
    /// notify.notify_one();
    /// waiter.await.unwrap();
    /// # }
    /// ```
    pub fn notified(&self) -> Notified<'_> {
        Notified::new(self)
    }

    /// As [`notified`](Self::notified), for a future that keeps the `Notify` alive and can be moved to a task.
    ///
    /// # Example
    ///
    /// ```
    /// use std::sync::Arc;
    /// use rt::sync::Notify;
    ///
    /// # #[rt::main]
    /// # async fn main() {
    /// let notify = Arc::new(Notify::new());
    /// let waiter = rt::spawn(notify.clone().notified_owned());
    /// notify.notify_waiters(); // the future is made, so it is notified
    /// waiter.await.unwrap();
    /// # }
    /// ```
    pub fn notified_owned(self: Arc<Self>) -> OwnedNotified {
        OwnedNotified::new(self)
    }

    /// Completes the one that has waited longest. If none waits, stores a permit, with which the next does not wait.
    ///
    /// However often it is called while none waits, there is one permit.
    ///
    /// # Example
    ///
    /// ```
    /// use rt::sync::Notify;
    ///
    /// # #[rt::main]
    /// # async fn main() {
    /// let notify = Notify::new();
    /// notify.notify_one();
    /// notify.notified().await;
    /// # }
    /// ```
    pub fn notify_one(&self) {
        self.notify(BY_ONE);
    }

    /// As [`notify_one`](Self::notify_one), but completes the one that began to wait last.
    ///
    /// For a pool of workers: the last to have worked is the one whose memory is in the cache.
    pub fn notify_last(&self) {
        self.notify(BY_LAST);
    }

    /// Completes all that wait, and those that have been made and were not polled yet. Stores no permit.
    ///
    /// # Example
    ///
    /// ```
    /// use rt::sync::Notify;
    ///
    /// # #[rt::main]
    /// # async fn main() {
    /// let notify = Notify::new();
    /// let (first, second) = (notify.notified(), notify.notified());
    /// notify.notify_waiters();
    /// rt::join!(first, second);
    /// # }
    /// ```
    pub fn notify_waiters(&self) {
        self.notify_all_and(|| true);
    }

    /// As [`notified`](Self::notified), but makes the future under the lock. So a call of
    /// [`notify_all_and`](Self::notify_all_and) whose closure has been called before does not notify it.
    pub(crate) fn notified_next(&self) -> Notified<'_> {
        let waiters = self.waiters.lock();
        let notified = Notified::new(self);
        drop(waiters);
        notified
    }

    /// Calls the closure under the lock, and if it returns true, completes all that wait. Returns what it did. The
    /// closure must not call code of the user's.
    pub(crate) fn notify_all_and(&self, f: impl FnOnce() -> bool) -> bool {
        let mut waiters = self.waiters.lock();
        if !f() {
            return false;
        }
        let state = self.update(State::with_next_round).0;
        if !state.has_waiters() {
            return true;
        }
        let mut batch = WakeBatch::new();
        while !self.take_old_out(&mut waiters, &mut batch) {
            MutexGuard::unlocked(&mut waiters, || batch.wake());
        }
        drop(waiters);
        batch.finish();
        true
    }

    /// `notify_one` or `notify_last`.
    fn notify(&self, how: u8) {
        // Also if there is a permit already: who takes it must see what came before this call.
        let stored = self.try_update(|state| (!state.has_waiters()).then(|| state.with_permit(true)));
        if stored.is_err() {
            self.notify_waiting(how);
        }
    }

    fn notify_waiting(&self, how: u8) {
        let mut waiters = self.waiters.lock();
        let mut helped = None;
        while how == BY_ONE && self.has_old(&waiters) {
            let batch = helped.get_or_insert_with(WakeBatch::new);
            self.take_old_out(&mut waiters, batch);
            MutexGuard::unlocked(&mut waiters, || batch.wake());
        }
        let waker = if how == BY_ONE && !waiters.is_empty() {
            waiters.pop_oldest(how)
        } else if how == BY_LAST && waiters.youngest() == Some(self.state().round()) {
            waiters.pop_youngest(how)
        } else {
            // Nobody waits but whom somebody else has notified.
            self.update(|state| state.with_permit(true));
            None
        };
        self.note_whether_empty(&waiters);
        drop(waiters);
        if let Some(waker) = waker {
            waker.wake();
        }
        if let Some(mut batch) = helped {
            batch.finish();
        }
    }

    /// Whether there are waiters of earlier rounds, in the list whose lock the caller has. (The round does not change
    /// meanwhile.)
    fn has_old(&self, waiters: &List<Round>) -> bool {
        waiters.oldest().is_some_and(|oldest| oldest != self.state().round())
    }

    /// Takes waiters of earlier rounds out, until the batch is full. Returns whether there are none left.
    fn take_old_out(&self, waiters: &mut List<Round>, batch: &mut WakeBatch) -> bool {
        while self.has_old(waiters) {
            if batch.is_full() {
                return false;
            }
            batch.push(waiters.pop_oldest(BY_ALL));
        }
        self.note_whether_empty(waiters);
        true
    }

    /// To be called under the lock when somebody was taken out.
    fn note_whether_empty(&self, waiters: &List<Round>) {
        if waiters.is_empty() && self.state().has_waiters() {
            self.update(|state| state.with_waiters(false));
        }
    }

    fn state(&self) -> State {
        State(self.state.load(Acquire))
    }

    /// Changes the word. Returns what it was, and is.
    fn update(&self, change: impl Fn(State) -> State) -> (State, State) {
        self.try_update(|state| Some(change(state))).expect("the change is always one")
    }

    /// Changes the word, if the closure says how. Returns what it was and is, or what it has stayed.
    fn try_update(&self, change: impl Fn(State) -> Option<State>) -> Result<(State, State), State> {
        let mut state = self.state();
        while let Some(next) = change(state) {
            match self.state.compare_exchange_weak(state.0, next.0, AcqRel, Acquire) {
                Ok(_) => return Ok((state, next)),
                Err(now) => state = State(now),
            }
        }
        Err(state)
    }
}

impl Default for Notify {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Notify {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state();
        f.debug_struct("Notify")
            .field("has_permit", &state.has_permit())
            .field("has_waiters", &state.has_waiters())
            .finish()
    }
}
