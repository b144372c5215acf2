//! A timer's entry: the part of a `Sleep` that the wheel and the firing thread touch.
//!
//! The entry lies inside the pinned `Sleep`, so that setting a timer allocates nothing. Two parties work on it: its
//! **owner**, who has the `Pin<&mut Entry>` (whoever polls, resets or drops the `Sleep`), and whoever holds the
//! **lock** of the entry's shard (the driver that fires; the owner itself, while it sets or cancels).
//!
//! # States
//!
//! | state     | in the wheel | waker cell | meaning                                                       |
//! |-----------|--------------|------------|---------------------------------------------------------------|
//! | `NEW`     | no           | empty      | idle; nobody has compared the deadline with the clock         |
//! | `AHEAD`   | no           | empty      | idle; the deadline lay ahead when it was chosen               |
//! | `PAST`    | no           | empty      | idle; the deadline is known to have passed, and nobody has waited since it was last told |
//! | `NOTED`   | no           | empty      | on the pad of its shard, to be filed when the poll at hand ends (`pad.rs`) |
//! | `WAITING` | yes          | full       | the wheel has the node and will take the waker                |
//! | `FIRED`   | no           | empty      | the deadline has passed                                       |
//! | `CLOSED`  | no           | empty      | the runtime's timers were shut down before the deadline       |
//!
//! `NEW` and `AHEAD` are one state to this protocol; only `Sleep` tells them apart. So are `PAST` and `FIRED`: an
//! entry goes to `PAST` when `Sleep` tells its caller that the deadline has passed.
//!
//! A `WAITING` entry may have been *put off*: its deadline is later than the tick that it is filed under, and beside the state, in
//! the same word, stands the tick at which it is to fire. That is how an idle timeout lives, which each message puts off: it costs
//! an exchange each time, and is filed again once in its span.
//!
//! # Who moves it
//!
//! - Idle to `NOTED`: the owner, on the worker whose shard it is, in a poll of the task that the waker belongs to.
//! - Idle to `WAITING`: the owner, under the lock, after filling the waker cell and linking the node.
//! - `NOTED` to `WAITING`, `FIRED` or `CLOSED`: the worker, under the lock, when that poll ends. As with all that others do to an
//!   entry, storing the state is the last of it.
//! - `NOTED` to idle: the owner, by striking the note out; away from the worker under the lock.
//! - `WAITING` to `FIRED` or `CLOSED`: whoever holds the lock (the driver, mostly), after unlinking the node and
//!   emptying the waker cell. Storing the state is the last thing done to the entry: from that moment the owner may
//!   free it without ever taking the lock.
//! - `WAITING` to `WAITING`, put off: the owner, without the lock, by an exchange. So whoever fires does that by an exchange too: it
//!   fails if the entry was put off just then. What turns out to have been put off goes back into the wheel instead.
//! - `WAITING` to idle: the owner, under the lock (cancelling).
//! - Among the other states: the owner, without the lock. Nobody else is interested in an entry that is not in the
//!   wheel.
//!
//! # Who touches what
//!
//! - `deadline`: written by the owner, who in `NOTED` holds the lock meanwhile, unless it is the worker. Whoever files reads it.
//! - `node`: in `WAITING`, the holder of the lock. Otherwise nobody.
//! - `waker`: it is **written** by the owner only: without the lock when not `WAITING`, under the lock when `WAITING`.
//!   The driver, under the lock, moves the waker *out by reading*, and leaves the bytes. So the owner may **read**
//!   those bytes in `WAITING` without the lock, to see whether it is being polled with the same waker as before: at
//!   worst the driver reads at the same time. It only compares the two pointers that make up the waker; if the driver
//!   has moved the waker out meanwhile, they may be stale but are still the ones the driver took, and the task that
//!   they name is being woken.
//!
//! # Orderings
//!
//! The exchange, or store, to `FIRED` or `CLOSED` by anybody but the owner is `Release` and pairs with the `Acquire` load with which the owner looks at the
//! state before it does anything: what the firing thread did to the entry is over when the owner reuses or frees it.
//! Putting off is `Relaxed`: nothing but the word itself is handed over.
//! All other stores are `Relaxed`: they are made either under the lock, which orders them for the next holder, or by
//! the owner for itself.
//!
//! Wakers are never called, cloned or dropped under the lock: they are foreign code.

use std::fmt;
use std::marker::PhantomPinned;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::pin::Pin;
use std::ptr::{self, NonNull};
use std::task::Waker;
use std::time::Instant;

use runtime_core::context;
use runtime_core::driver::contain;
use runtime_core::primitive::atomic::{AtomicU64, Ordering};
use runtime_core::primitive::{MutexGuard, UnsafeCell};

use crate::shard::{Locked, Shard};
use crate::shard_ref::ShardRef;
use crate::wheel::Node;

/// See the module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub(crate) enum State {
    New,
    Ahead,
    Noted,
    Waiting,
    Fired,
    Closed,
    Past,
}

/// How wide the state is in its word.
const STATE_BITS: u32 = 3;
const STATE_MASK: u64 = (1 << STATE_BITS) - 1;
/// The latest tick that there is room for: nine million years.
const LATEST: u64 = u64::MAX >> STATE_BITS;

impl State {
    fn of_word(word: u64) -> Self {
        match word & STATE_MASK {
            0 => Self::New,
            1 => Self::Ahead,
            2 => Self::Noted,
            3 => Self::Waiting,
            4 => Self::Fired,
            5 => Self::Closed,
            _ => Self::Past,
        }
    }

    fn waiting_until(when: u64) -> u64 {
        debug_assert!(when <= LATEST);
        Self::Waiting as u64 | when << STATE_BITS
    }
}

/// See the module. The node comes first, so that a pointer to it is a pointer to the entry.
#[repr(C)]
pub(crate) struct Entry {
    node: Node,
    waker: UnsafeCell<MaybeUninit<Waker>>,
    deadline: UnsafeCell<Instant>,
    shard: ManuallyDrop<ShardRef>,
    /// A [`State`], and above it a tick: in `Waiting`, what it was put off to; at first, what was known of the time when it was made;
    /// or zero.
    state: AtomicU64,
    _pinned: PhantomPinned,
}

// SAFETY: the cells are touched as the module says: by one owner, who holds the entry exclusively, and under the
// shard's lock; everything in them (wakers, links) may be used from any thread.
unsafe impl Send for Entry {}
// SAFETY: a shared reference gives access to the state, which is atomic, and to the shard, which is `Sync`.
unsafe impl Sync for Entry {}

impl Entry {
    /// An idle or fired entry of a shard.
    #[inline]
    pub(crate) fn new(shard: ShardRef, deadline: Instant, state: State) -> Self {
        debug_assert!(!matches!(state, State::Noted | State::Waiting));
        let made_at = shard.shared.seen() << STATE_BITS;
        Self {
            node: Node::new(),
            waker: UnsafeCell::new(MaybeUninit::uninit()),
            deadline: UnsafeCell::new(deadline),
            shard: ManuallyDrop::new(shard),
            state: AtomicU64::new(state as u64 | made_at),
            _pinned: PhantomPinned,
        }
    }

    pub(crate) fn shard(&self) -> &ShardRef {
        &self.shard
    }

    #[inline]
    pub(crate) fn deadline(&self) -> Instant {
        // SAFETY: it is written by the owner only, who has a `&mut`.
        self.deadline.with(|deadline| unsafe { *deadline })
    }

    /// Owner, under the lock if it is `Noted` on another thread's pad: changes the deadline, and nothing else.
    fn put_deadline(&self, deadline: Instant) {
        // SAFETY: nobody but the owner reads it, except for the worker that files, under the lock or on this thread.
        self.deadline.with_mut(|old| unsafe { *old = deadline });
    }

    /// Whether it has fired, or would have if it were not left on the pad for the end of this poll.
    pub(crate) fn is_elapsed(&self) -> bool {
        match self.state() {
            State::Fired | State::Past => true,
            // Nobody else may look at the clock. What is known then is known when it is filed, too.
            State::Noted => self.when() <= self.shard.shared.look_at_clock().1,
            State::New | State::Ahead | State::Waiting | State::Closed => false,
        }
    }

    /// Whether the deadline has passed as far as anybody has noticed.
    #[inline]
    fn is_known_to_be_due(&self) -> bool {
        let seen = self.shard.shared.seen();
        // Mostly nobody has looked at the clock since the deadline was chosen, and to find that out is much cheaper.
        seen << STATE_BITS != self.state.load(Ordering::Relaxed) & !STATE_MASK && self.when() <= seen
    }

    /// By the clock.
    pub(crate) fn is_overdue(&self) -> bool {
        self.shard.shared.clock.now() >= self.deadline()
    }

    /// The tick that it is to fire at.
    fn when(&self) -> u64 {
        self.shard.shared.ticks.not_before(self.deadline())
    }

    #[inline]
    pub(crate) fn state(&self) -> State {
        State::of_word(self.state.load(Ordering::Acquire))
    }

    /// Owner: sees to it that the waker is woken when the deadline has passed. Leads to `Noted` or `Waiting`; to `Fired` if it
    /// is known to have passed; to `Closed` if there is no driver any more.
    #[inline]
    pub(crate) fn set(self: Pin<&mut Self>, waker: &Waker) -> State {
        let shard = &*self.shard;
        if shard.is_at_home()
            && !self.is_known_to_be_due()
            // A runtime that is gone may have had the same station.
            && !shard.own().kept.is_closed()
            && context::at_end_of_poll(waker)
            && shard.own().pad.note(&self)
        {
            return self.note(State::Noted);
        }
        self.set_now(waker)
    }

    fn set_now(self: Pin<&mut Self>, waker: &Waker) -> State {
        let when = self.when();
        self.set_at_once(when, waker)
    }

    /// In models, where no thread is anybody's worker: the first half of [`set`](Self::set).
    #[cfg(all(test, loom))]
    pub(crate) fn set_on_pad(self: Pin<&mut Self>) {
        assert!(self.shard.own().pad.note(&self));
        self.note(State::Noted);
    }

    /// Owner: puts the entry into the wheel, to fire at a tick. Otherwise as [`set`](Self::set).
    pub(crate) fn set_at_once(self: Pin<&mut Self>, when: u64, waker: &Waker) -> State {
        let this = self.into_ref().get_ref();
        debug_assert!(!matches!(this.state(), State::Waiting | State::Noted));
        let shard = &*this.shard;
        if when <= shard.shared.seen() {
            return this.note(State::Fired);
        }
        let waker = waker.clone();
        let mut locked = shard.lock();
        if locked.is_closed() {
            drop(locked);
            return this.note(State::Closed);
        }
        // SAFETY: not `WAITING`, so the node is in no wheel. It is pinned, and taken out again before it goes away, by
        // `drop` at the latest. Others leave it alone, as the module says.
        if unsafe { locked.wheel.insert(this.node(), when) }.is_err() {
            drop(locked);
            return this.note(State::Fired);
        }
        let is_earliest = this.begin_wait(shard, &mut locked, when, waker);
        drop(locked);
        if is_earliest {
            shard.shared.wake_for(when);
        }
        State::Waiting
    }

    /// The node has just been linked: what remains of the step to `Waiting`. Returns whether [`Shared::wake_for`] is to be called
    /// after unlocking.
    ///
    /// It does not unlock by itself: from then on the owner of an entry that was filed may free it, and `&self` must be valid until
    /// the function returns.
    ///
    /// [`Shared::wake_for`]: crate::shared::Shared::wake_for
    fn begin_wait(&self, shard: &Shard, locked: &mut Locked, when: u64, waker: Waker) -> bool {
        // SAFETY: the cell is empty, and belongs to whoever sets, or files, until the lock is released.
        self.waker.with_mut(|cell| unsafe { (*cell).write(waker) });
        // Release: whoever files is not the owner, who may read the cell without the lock.
        self.state.store(State::Waiting as u64, Ordering::Release);
        shard.note_set(locked, when)
    }

    /// Worker: files an entry that it has just taken off the pad.
    ///
    /// # Safety
    ///
    /// The entry was `Noted` in this shard, the lock has been held since before it was taken off, and the caller does not use
    /// the pointer again.
    pub(crate) unsafe fn file(entry: NonNull<Self>, shard: &Shard, mut locked: MutexGuard<'_, Locked>, waker: Waker) {
        // SAFETY: an entry in `NOTED` is alive: its `drop` would have to strike it out, or wait for the lock. The reference is not
        // used after the state has been stored and the lock released, and no function that was passed it is running then.
        let this = unsafe { entry.as_ref() };
        let when = this.when();
        let state = if locked.is_closed() {
            State::Closed
        // SAFETY: as in `set_at_once`.
        } else if when <= shard.shared.seen() || unsafe { locked.wheel.insert(this.node(), when) }.is_err() {
            State::Fired
        } else {
            let is_earliest = this.begin_wait(shard, &mut locked, when, waker);
            drop(locked);
            if is_earliest {
                shard.shared.wake_for(when);
            }
            return;
        };
        // Release: gives the entry back to its owner, who may free it at once.
        this.state.store(state as u64, Ordering::Release);
        drop(locked);
        waker.wake();
    }

    /// Owner: in `Noted`, strikes the entry off the pad. False if it has been filed meanwhile. `is_at_home`: this is the worker
    /// whose pad it is.
    #[inline]
    fn withdraw(&self, is_at_home: bool) -> bool {
        let shard = &*self.shard;
        let is_withdrawn = if is_at_home {
            shard.own().pad.strike_out(self)
        } else {
            shard.own().pad.strike_out_from_afar(self, &mut shard.lock())
        };
        if is_withdrawn {
            self.note(State::New);
        }
        is_withdrawn
    }

    /// Owner: in `Noted` or `Waiting`, sees to it that this waker is the one to be woken. Returns the state, which may have
    /// changed.
    #[inline]
    pub(crate) fn refresh(self: Pin<&mut Self>, waker: &Waker) -> State {
        let this = self.as_ref().get_ref();
        let mut state = this.state();
        if state == State::Noted {
            // Polled again in the same poll of its task: somebody waits in a loop, and wants to see it fire. Or polled by another
            // task.
            if this.withdraw(this.shard.is_at_home()) {
                this.shard.shared.look_at_clock();
                return self.set_now(waker);
            }
            state = this.state();
        }
        if state != State::Waiting {
            return state;
        }
        let same = this.waker.with(|cell| {
            // SAFETY: the cell was filled when `WAITING` was entered, and is written by nobody but us. The reference is
            // used only for the waker's two pointers, never for what they point to.
            let known = unsafe { (*cell).assume_init_ref() };
            known.data() == waker.data() && ptr::eq(known.vtable(), waker.vtable())
        });
        if same { State::Waiting } else { this.replace_waker(waker) }
    }

    #[cold]
    fn replace_waker(&self, waker: &Waker) -> State {
        let waker = waker.clone();
        let locked = self.shard.lock();
        let state = self.state();
        if state != State::Waiting {
            // Too late: the driver has taken the old one.
            drop(locked);
            return state;
        }
        // SAFETY: in `WAITING` and under the lock, the cell is full and the owner may write it.
        let old = self.waker.with_mut(|cell| unsafe { ptr::replace((*cell).as_mut_ptr(), waker) });
        drop(locked);
        // Another poller's, perhaps: it is no business of this one's if that panics.
        contain(|| drop(old));
        State::Waiting
    }

    /// Owner: changes the deadline. An entry that waits keeps its waker; if the new deadline is known to have passed, that is
    /// woken here and now. Any other has to be set again.
    pub(crate) fn move_to(mut self: Pin<&mut Self>, deadline: Instant) {
        let this = self.as_ref().get_ref();
        if this.state() == State::Noted {
            // On the worker itself nobody else can file it.
            let _locked = (!this.shard.is_at_home()).then(|| this.shard.lock());
            if this.state() == State::Noted {
                return this.put_deadline(deadline);
            }
        }
        let is_later = deadline >= this.deadline();
        this.put_deadline(deadline);
        let when = this.when();
        if is_later && this.put_off(when) {
            return;
        }
        if !self.as_mut().move_in_wheel(when) {
            self.rest(State::New);
        }
    }

    /// Owner: in `Waiting`, has the entry fire at a tick that is no earlier than the one it would have, and leaves it where it is.
    /// False if it does not wait any more, or that tick is known to have passed.
    #[inline]
    pub(crate) fn put_off(&self, when: u64) -> bool {
        let word = self.state.load(Ordering::Relaxed);
        State::of_word(word) == State::Waiting
            && when > self.shard.shared.seen()
            && when <= LATEST
            && self
                .state
                .compare_exchange(word, State::waiting_until(when), Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
    }

    /// Owner: in `Waiting`, moves the entry to another tick. Returns false, and does nothing, if it does not wait any more.
    pub(crate) fn move_in_wheel(self: Pin<&mut Self>, when: u64) -> bool {
        let this = self.into_ref().get_ref();
        if this.state() != State::Waiting {
            return false;
        }
        let shard = &*this.shard;
        let mut locked = shard.lock();
        if this.state() != State::Waiting {
            return false;
        }
        // SAFETY: in `WAITING` the node is in the wheel.
        unsafe { locked.wheel.remove(this.node()) };
        if locked.is_closed() {
            // The wheel is being emptied, and its time has run ahead of everything.
            shard.note_cancelled(&mut locked);
            let waker = this.end_wait(State::Closed);
            drop(locked);
            contain(|| waker.wake());
            return true;
        }
        // SAFETY: as in `set_at_once`, now that the node is out again.
        if when > shard.shared.seen() && unsafe { locked.wheel.insert(this.node(), when) }.is_ok() {
            // It may have been put off before.
            this.note(State::Waiting);
            shard.note_cancelled(&mut locked);
            let earlier = shard.note_set(&mut locked, when);
            drop(locked);
            if earlier {
                shard.shared.wake_for(when);
            }
            return true;
        }
        shard.note_fired(&mut locked, 1);
        let waker = this.end_wait(State::Fired);
        drop(locked);
        contain(|| waker.wake());
        true
    }

    /// Owner: as one that is new, or whose deadline is known to have passed or not, whatever it was before.
    #[inline]
    pub(crate) fn rest(self: Pin<&mut Self>, state: State) {
        debug_assert!(!matches!(state, State::Noted | State::Waiting));
        let this = self.into_ref().get_ref();
        this.cancel(this.shard.is_at_home());
        this.note(state);
    }

    /// Owner, when the deadline has passed: the caller is told so now, and whoever polls again has not waited for it.
    #[inline]
    pub(crate) fn note_told(self: Pin<&mut Self>) {
        debug_assert!(matches!(self.state(), State::Fired | State::Past));
        self.note(State::Past);
    }

    /// As [`rest`](Self::rest), with another deadline.
    pub(crate) fn rest_until(self: Pin<&mut Self>, deadline: Instant, state: State) {
        let this = self.as_ref().get_ref();
        this.cancel(this.shard.is_at_home());
        this.put_deadline(deadline);
        this.note(state);
    }

    /// Owner: takes the entry off the pad or out of the wheel, if it is there. False if a waker may have been dropped.
    #[inline]
    fn cancel(&self, is_at_home: bool) -> bool {
        let is_filed = match self.state() {
            State::Noted => !self.withdraw(is_at_home),
            State::Waiting => true,
            State::New | State::Ahead | State::Past | State::Fired | State::Closed => false,
        };
        if is_filed {
            self.take_out();
        }
        !is_filed
    }

    /// Owner: takes the entry out of the wheel, if it is still there.
    fn take_out(&self) {
        let shard = &*self.shard;
        let mut locked = shard.lock();
        if self.state() != State::Waiting {
            return;
        }
        // SAFETY: in `WAITING` the node is in the wheel.
        unsafe { locked.wheel.remove(self.node()) };
        shard.note_cancelled(&mut locked);
        let waker = self.end_wait(State::New);
        drop(locked);
        // This may be the drop of one of many, or come while a panic is under way.
        contain(|| drop(waker));
    }

    /// The entry that a node popped from the shard's wheel belongs to.
    pub(crate) fn of_node(node: NonNull<Node>) -> NonNull<Self> {
        // The pointer was made by `node()`, from one to the whole entry.
        node.cast()
    }

    /// Owner, in `Waiting` and under the lock, when the node is out of the wheel: ends the wait, and returns the waker for after
    /// unlocking.
    fn end_wait(&self, to: State) -> Waker {
        debug_assert_eq!(self.state(), State::Waiting);
        // SAFETY: in `WAITING` the cell is full; the next state says that it is empty, so the waker is read out once.
        let waker = self.waker.with(|cell| unsafe { (*cell).assume_init_read() });
        self.note(to);
        waker
    }

    /// Ends the wait of an entry, and returns the waker to call after unlocking; or the tick that it was put off to, if that has not
    /// passed now. Then the node has to go back into the wheel.
    ///
    /// # Safety
    ///
    /// The caller holds the shard's lock. The entry was `Waiting`, and its node has just been taken out of the wheel.
    /// The caller does not use the pointer again, unless it is put off.
    pub(crate) unsafe fn expire(entry: NonNull<Self>, to: State, now: u64) -> Result<Waker, u64> {
        // SAFETY: an entry in `WAITING` is alive: its `drop` would have to take the lock, which the caller holds.
        let entry = unsafe { entry.as_ref() };
        // SAFETY: nobody writes the cell while the lock is held. This is a copy, and the waker's only if the exchange succeeds.
        let waker = entry.waker.with(|cell| unsafe { ptr::read(cell) });
        let mut word = entry.state.load(Ordering::Relaxed);
        loop {
            let put_off_to = word >> STATE_BITS;
            if put_off_to > now {
                return Err(put_off_to);
            }
            // Release: gives the entry back to its owner, who may free it at once.
            match entry.state.compare_exchange(word, to as u64, Ordering::Release, Ordering::Relaxed) {
                // SAFETY: in `WAITING` the cell is full; the next state says that it is empty, so this is the waker's one copy.
                Ok(_) => return Ok(unsafe { waker.assume_init() }),
                // Just put off.
                Err(other) => word = other,
            }
        }
    }

    /// A pointer for the wheel. It is made from the whole entry, so that it may be turned back into one.
    fn node(&self) -> NonNull<Node> {
        NonNull::from(self).cast()
    }

    /// Owner: stores a state.
    fn note(&self, state: State) -> State {
        self.state.store(state as u64, Ordering::Relaxed);
        state
    }
}

impl Drop for Entry {
    #[inline]
    fn drop(&mut self) {
        let mut is_at_home = self.shard.is_at_home();
        if !self.cancel(is_at_home) {
            // Somebody's waker was dropped, which may do anything: also have this thread leave the worker's place.
            is_at_home = self.shard.is_at_home();
        }
        // What follows is freeing, which is a write of everything. Show that to the models.
        #[cfg(loom)]
        {
            self.waker.with_mut(|_| ());
            self.deadline.with_mut(|_| ());
        }
        // SAFETY: dropped once, here; and nothing of others' has run since this thread's place was looked at.
        unsafe { ManuallyDrop::take(&mut self.shard).give_up(is_at_home) };
    }
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry").field("state", &self.state()).finish_non_exhaustive()
    }
}
