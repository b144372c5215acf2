//! [`DelayQueue`]: values that come out of it when their time has come.
//!
//! For programs that have many deadlines in one place: caches, leases, sessions. The queue is a map in the order of
//! the deadlines, an index from keys into it, and one [`Sleep`] for the first deadline, which the task that polls sets.
//! It must never give out a value early, and must have the task that polled last polled again when what comes first has
//! changed to earlier, or when nothing is left.

mod expired;

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use runtime_core::coop;

pub use self::expired::{Expired, Key};
use crate::{Instant, Sleep, sleep_until};

/// A queue of values, each of which comes out of it when its time has come.
///
/// The values come in the order of their deadlines, and those of the same deadline in the order in which they were
/// inserted, or last reset. [`next`](Self::next) waits for the first of them, [`poll_expired`](Self::poll_expired) asks
/// for it. Until then a value can be removed, or have another deadline, by the [`Key`] that its insertion returned.
///
/// However long the queue, it has one timer of the runtime. An operation takes time in proportion to the logarithm of
/// the length.
///
/// It is no `Stream`, as that trait is not in the standard library; `poll_expired` has the signature of
/// `Stream::poll_next`, for `stream::poll_fn` of one's choice.
///
/// # Wakes
///
/// The task that polled last is woken at the first deadline, when that becomes an earlier one by an insertion or a
/// reset, and when the queue becomes empty. Values may be inserted by others, with the queue under a lock.
///
/// # Example
///
/// ```
/// use rt::time::{DelayQueue, Duration};
///
/// rt::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap().block_on(async {
///     let mut sessions = DelayQueue::new();
///     let ann = sessions.insert("ann", Duration::from_secs(30));
///     sessions.insert("bob", Duration::from_secs(40));
///     sessions.reset(&ann, Duration::from_secs(60)); // she is back
///
///     assert_eq!(sessions.next().await.unwrap().into_inner(), "bob");
///     assert_eq!(sessions.next().await.unwrap().into_inner(), "ann");
///     assert!(sessions.next().await.is_none());
/// });
/// ```
pub struct DelayQueue<T> {
    /// What is to come, in order.
    entries: BTreeMap<Place, Entry<T>>,
    /// Where the entry of a key is.
    places: HashMap<Key, Place>,
    /// The next key, and the next place in line among those of one deadline.
    next_number: u64,
    /// There from the first wait on, while the queue is not empty.
    sleep: Option<Pin<Box<Sleep>>>,
    /// The task that polled last, unless it was woken since by the queue itself.
    waker: Option<Waker>,
    /// A poll has returned `Pending` since the last value came out: as for a [`Sleep`], the next one needs no budget.
    has_waited: bool,
}

/// The deadline, and the place in line.
type Place = (Instant, u64);

struct Entry<T> {
    key: Key,
    value: T,
}

impl<T> DelayQueue<T> {
    /// An empty queue. Needs no runtime, and allocates nothing.
    pub fn new() -> Self {
        Self::with_capacity(0)
    }

    /// An empty queue with space for the keys of `capacity` values. The order of the values takes memory as it grows.
    pub fn with_capacity(capacity: usize) -> Self {
        Self {
            entries: BTreeMap::new(),
            places: HashMap::with_capacity(capacity),
            next_number: 0,
            sleep: None,
            waker: None,
            has_waited: false,
        }
    }

    /// Inserts a value that comes out after a duration, from now on. A duration beyond all measure counts as about
    /// thirty years.
    pub fn insert(&mut self, value: T, timeout: Duration) -> Key {
        self.insert_at(value, self.now().saturating_add(timeout))
    }

    /// Inserts a value that comes out at a point in time; at once, if that has passed. It stands in line by its
    /// deadline in any case.
    pub fn insert_at(&mut self, value: T, when: Instant) -> Key {
        let before = self.first_deadline();
        let number = self.take_number();
        let key = Key(number);
        self.places.insert(key, (when, number));
        self.entries.insert((when, number), Entry { key, value });
        self.first_may_have_changed(before);
        key
    }

    /// Waits for the next value. `None` if the queue is empty: a queue that is filled later on can be asked again.
    ///
    /// # Panics
    ///
    /// When polled outside a runtime, in one without timers, or after that was shut down.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: a value leaves the queue only when this future is ready. One that is dropped before takes none.
    ///
    /// # Example
    ///
    /// ```
    /// use rt::time::{DelayQueue, Duration, Instant};
    ///
    /// rt::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
    ///     let mut queue = DelayQueue::new();
    ///     queue.insert('b', Duration::from_millis(2));
    ///     queue.insert('a', Duration::from_millis(1));
    ///     let mut word = String::new();
    ///     while let Some(letter) = queue.next().await {
    ///         assert!(letter.deadline() <= Instant::now());
    ///         word.push(letter.into_inner());
    ///     }
    ///     assert_eq!(word, "ab");
    /// });
    /// ```
    #[allow(clippy::should_implement_trait)] // that of streams, which the standard library does not have
    pub fn next(&mut self) -> impl Future<Output = Option<Expired<T>>> {
        Next(self)
    }

    /// Takes the next value out if its time has come, and says `None` if the queue is empty. Otherwise the task is
    /// woken then; only the last task that polled is. Each value spends a unit of the task's budget.
    ///
    /// # Panics
    ///
    /// As [`next`](Self::next).
    #[track_caller]
    pub fn poll_expired(&mut self, cx: &mut Context<'_>) -> Poll<Option<Expired<T>>> {
        let Some(first) = self.first_deadline() else {
            self.note_waker(cx);
            return Poll::Ready(None);
        };
        if first <= self.now() {
            if mem::take(&mut self.has_waited) {
                coop::charge();
            } else {
                match coop::poll_proceed(cx) {
                    Poll::Ready(coop) => coop.made_progress(),
                    Poll::Pending => {
                        self.has_waited = true;
                        return Poll::Pending;
                    }
                }
            }
        } else {
            self.note_waker(cx);
            self.has_waited = true;
            // Not in a closure: a panic has the place of the caller.
            let sleep = match &mut self.sleep {
                Some(sleep) => sleep,
                None => self.sleep.insert(Box::pin(sleep_until(first))),
            };
            if sleep.deadline() != first {
                sleep.as_mut().reset(first);
            }
            // Should it be ready, it has spent what is to be spent.
            ready!(sleep.as_mut().poll(cx));
            self.has_waited = false;
        }
        let key = self.entries.first_key_value().expect("it has a first deadline").1.key;
        let expired = self.take(&key);
        if self.entries.is_empty() {
            self.sleep = None;
        }
        Poll::Ready(expired)
    }

    /// Takes a value out, whether its time has come or not.
    ///
    /// # Panics
    ///
    /// If the queue does not have it any more.
    #[track_caller]
    pub fn remove(&mut self, key: &Key) -> Expired<T> {
        match self.try_remove(key) {
            Some(removed) => removed,
            None => no_such_value(key),
        }
    }

    /// Takes a value out, whether its time has come or not. `None` if the queue does not have it any more.
    ///
    /// # Example
    ///
    /// ```
    /// use rt::time::{DelayQueue, Duration};
    ///
    /// let mut queue = DelayQueue::new();
    /// let key = queue.insert("lease", Duration::from_secs(5));
    /// assert_eq!(queue.try_remove(&key).unwrap().into_inner(), "lease");
    /// queue.insert("another one", Duration::from_secs(5));
    /// assert!(queue.try_remove(&key).is_none());
    /// ```
    pub fn try_remove(&mut self, key: &Key) -> Option<Expired<T>> {
        let before = self.first_deadline();
        let removed = self.take(key)?;
        self.first_may_have_changed(before);
        Some(removed)
    }

    /// Has a value come out after a duration, from now on, instead of when it would have. See
    /// [`reset_at`](Self::reset_at).
    ///
    /// # Panics
    ///
    /// If the queue does not have it any more.
    #[track_caller]
    pub fn reset(&mut self, key: &Key, timeout: Duration) {
        self.reset_at(key, self.now().saturating_add(timeout));
    }

    /// Has a value come out at a point in time, instead of when it would have. It stands in line behind those that have
    /// this deadline already. What has come out cannot be reset.
    ///
    /// # Panics
    ///
    /// If the queue does not have it any more.
    #[track_caller]
    pub fn reset_at(&mut self, key: &Key, when: Instant) {
        let before = self.first_deadline();
        let number = self.take_number();
        let Some(place) = self.places.get_mut(key) else { no_such_value(key) };
        let old = mem::replace(place, (when, number));
        let entry = self.entries.remove(&old).expect("the place of a key is that of its entry");
        self.entries.insert((when, number), entry);
        self.first_may_have_changed(before);
    }

    /// When a value comes out.
    ///
    /// # Panics
    ///
    /// If the queue does not have it any more.
    #[track_caller]
    pub fn deadline(&self, key: &Key) -> Instant {
        match self.places.get(key) {
            Some(place) => place.0,
            None => no_such_value(key),
        }
    }

    /// Which value comes out next, be it now or later.
    pub fn peek(&self) -> Option<Key> {
        Some(self.entries.first_key_value()?.1.key)
    }

    /// Drops all values. Their keys are void.
    pub fn clear(&mut self) {
        let before = self.first_deadline();
        let values = mem::take(&mut self.entries);
        self.places.clear();
        self.first_may_have_changed(before);
        // Last: drops are the user's, and may panic.
        drop(values);
    }

    /// The number of values, those whose time has come included.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no value.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// For how many values there is space, at least, in the index of the keys.
    pub fn capacity(&self) -> usize {
        self.places.capacity()
    }

    /// Makes space for `additional` more values.
    pub fn reserve(&mut self, additional: usize) {
        self.places.reserve(additional);
    }

    /// Gives back the space that is not needed. Keys stay what they are.
    pub fn shrink_to_fit(&mut self) {
        self.places.shrink_to_fit();
    }

    /// The same as [`shrink_to_fit`](Self::shrink_to_fit): values that have come out leave no holes.
    pub fn compact(&mut self) {
        self.shrink_to_fit();
    }

    fn first_deadline(&self) -> Option<Instant> {
        Some(self.entries.first_key_value()?.0.0)
    }

    /// By the clock of the runtime that the queue waits in, or else of the thread's.
    fn now(&self) -> Instant {
        self.sleep.as_ref().map_or_else(Instant::now, |sleep| sleep.now())
    }

    fn take_number(&mut self) -> u64 {
        let number = self.next_number;
        self.next_number += 1;
        number
    }

    fn take(&mut self, key: &Key) -> Option<Expired<T>> {
        let place = self.places.remove(key)?;
        let Entry { key, value } = self.entries.remove(&place).expect("the place of a key is that of its entry");
        Some(Expired { key, value, deadline: place.0 })
    }

    fn note_waker(&mut self, cx: &Context<'_>) {
        match &mut self.waker {
            Some(waker) => waker.clone_from(cx.waker()),
            None => self.waker = Some(cx.waker().clone()),
        }
    }

    /// Who waits does so for the first deadline as it was before: has that put right. The last step of a change, as it
    /// calls the user's waker.
    fn first_may_have_changed(&mut self, before: Option<Instant>) {
        match self.first_deadline() {
            first if first == before => return,
            // Ready at once, with `None`.
            None => self.sleep = None,
            // An earlier timer is for the task to set.
            Some(first) if before.is_none_or(|before| first < before) => {}
            Some(first) => {
                // The sleep keeps its waker. One that has fired has woken the task, which then looks for itself.
                if let Some(sleep) = &mut self.sleep {
                    sleep.as_mut().reset(first);
                }
                return;
            }
        }
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

#[cold]
#[track_caller]
fn no_such_value(key: &Key) -> ! {
    panic!("{key:?} is no value of this queue: it has come out or was removed")
}

/// The future of [`DelayQueue::next`]. Not an `async fn`, so that a panic has the place of the `.await`.
struct Next<'a, T>(&'a mut DelayQueue<T>);

impl<T> Future for Next<'_, T> {
    type Output = Option<Expired<T>>;

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.poll_expired(cx)
    }
}

// A value is moved, never pinned.
impl<T> Unpin for DelayQueue<T> {}

impl<T> Default for DelayQueue<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: fmt::Debug> fmt::Debug for DelayQueue<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.entries.iter().map(|((deadline, _), entry)| (deadline, &entry.value))).finish()
    }
}
