//! A timer's entry: the part of a `Sleep` that the wheel and the firing thread touch.
//!
//! The entry lies inside the pinned `Sleep`, so that setting a timer allocates nothing. Two parties work on it: its
//! **owner**, the thread with the `Pin<&mut Entry>` (which polls, resets or drops the `Sleep`), and the holder of the
//! **lock** of the entry's shard (the driver that fires; the owner itself, while it sets or cancels).
//!
//! # States
//!
//! | state     | in the wheel | waker cell | meaning                                                       |
//! |-----------|--------------|------------|---------------------------------------------------------------|
//! | `NEW`     | no           | empty      | idle; nobody has compared the deadline with the clock         |
//! | `AHEAD`   | no           | empty      | idle; the deadline lay ahead when it was chosen               |
//! | `PAST`    | no           | empty      | idle; the deadline has passed, and the caller has been told   |
//! | `TOLD`    | no           | full       | the same; the waker is that of the poll that has told it      |
//! | `WAITING` | yes          | full       | the wheel has the node and will take the waker                |
//! | `FIRED`   | no           | empty      | the deadline has passed                                       |
//! | `CLOSED`  | no           | empty      | the runtime's timers were shut down before the deadline       |
//!
//! `NEW` and `AHEAD` are one state to this protocol; only `Sleep` tells them apart. So are `PAST` and `FIRED`: an
//! entry goes to `PAST` when `Sleep` tells its caller that the deadline has passed. It goes on to `TOLD` if the caller
//! may choose another deadline: it need not poll again to be woken at that.
//!
//! A `WAITING` entry may be *unpolled*: it was set again after its end and not polled since. When that fires it goes
//! to `PAST`, as nobody has waited: `Sleep` asks for budget then.
//!
//! A `WAITING` entry may have been *extended*: its deadline is later than the tick under which the wheel has it. The
//! tick at which it is to fire then stands in the same word as the state. An idle timeout lives like that: each message
//! puts it off, which costs one exchange, and the wheel files it again once in its span.
//!
//! # Who moves it
//!
//! - Idle or `TOLD` to `WAITING`: the owner, under the lock, after filling the waker cell and linking the node.
//! - `WAITING` to `FIRED`, `PAST` or `CLOSED`: the holder of the lock (mostly the driver), after unlinking the node and
//!   emptying the waker cell. Storing the state is the last thing done to the entry: from that moment the owner may
//!   free it without ever taking the lock.
//! - `WAITING` to `WAITING`, extended, or polled: the owner, without the lock, by an exchange. So the driver fires by
//!   an exchange too, which fails if the owner has made one just then. An entry that turns out to have been extended
//!   goes back into the wheel.
//! - `WAITING` to idle: the owner, under the lock (cancelling).
//! - Among the other states: the owner, without the lock. Nobody else is interested in an entry that is not in the
//!   wheel.
//!
//! # Who touches what
//!
//! - `deadline`: the owner alone.
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
//! The exchange to `FIRED`, `PAST` or `CLOSED` by the driver is `Release`. It pairs with the `Acquire` load with which
//! the owner looks at the state before it does anything: what the driver did to the entry is over when the owner reuses
//! or frees it. The first poll after a reset ends with such a look: it clears the flag by an `Acquire` exchange, which
//! may find that the entry has fired. Putting off is `Relaxed`: nothing but the word itself is handed over. All other
//! stores are `Relaxed`: they are made either under the lock, which orders them for the next holder, or by the owner
//! for itself.
//!
//! Wakers are never called, cloned or dropped under the lock: they are user code.

mod state;

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomPinned;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::pin::Pin;
use std::ptr::{self, NonNull};
use std::task::Waker;
use std::time::Instant;

use runtime_core::driver::contain;
use runtime_core::primitive::UnsafeCell;
use runtime_core::primitive::atomic::{AtomicU64, Ordering};

pub(crate) use self::state::State;
use self::state::{LATEST, STATE_BITS};
use crate::shard_ref::ShardRef;
use crate::wheel::Node;

/// A timer's entry. The node comes first, so that a pointer to it is a pointer to the entry.
#[repr(C)]
pub(crate) struct Entry {
    node: Node,
    waker: UnsafeCell<MaybeUninit<Waker>>,
    deadline: Cell<Instant>,
    shard: ManuallyDrop<ShardRef>,
    /// A [`State`]; in `Waiting` whether the entry is unpolled, and above them the tick that it was extended to, or
    /// zero.
    state: AtomicU64,
    _pinned: PhantomPinned,
}

// SAFETY: the cells are touched as the module says: by one owner, who holds the entry exclusively, and under the
// shard's lock; everything in them (wakers, links) may be used from any thread.
unsafe impl Send for Entry {}
// SAFETY: a shared reference gives access to the state, which is atomic, to the shard, which is `Sync`, and to the
// deadline, which is only read: the owner alone writes it, and has the entry exclusively.
unsafe impl Sync for Entry {}

impl Entry {
    /// An idle or fired entry of a shard.
    #[inline]
    pub(crate) fn new(shard: ShardRef, deadline: Instant, state: State) -> Self {
        debug_assert!(!matches!(state, State::Waiting | State::Told));
        Self {
            node: Node::new(),
            waker: UnsafeCell::new(MaybeUninit::uninit()),
            deadline: Cell::new(deadline),
            shard: ManuallyDrop::new(shard),
            state: AtomicU64::new(state as u64),
            _pinned: PhantomPinned,
        }
    }

    pub(crate) fn shard(&self) -> &ShardRef {
        &self.shard
    }

    #[inline]
    pub(crate) fn deadline(&self) -> Instant {
        self.deadline.get()
    }

    /// Whether the deadline has passed, and that has been noticed.
    pub(crate) fn is_elapsed(&self) -> bool {
        matches!(self.state(), State::Fired | State::Past | State::Told)
    }

    /// Whether the tick has passed that it is to fire at, by the clock.
    pub(crate) fn is_overdue(&self) -> bool {
        let shared = &self.shard.shared;
        shared.ticks.passed(shared.clock.now()) >= self.when()
    }

    /// The tick that it is to fire at.
    fn when(&self) -> u64 {
        self.shard.shared.ticks.not_before(self.deadline())
    }

    #[inline]
    pub(crate) fn state(&self) -> State {
        State::of_word(self.state.load(Ordering::Acquire))
    }

    /// Owner: sees to it that the waker is woken when the deadline has passed. Leads to `Waiting`; to `Fired` if the
    /// deadline is known to have passed; to `Closed` if there is no driver any more.
    #[inline]
    pub(crate) fn set(self: Pin<&mut Self>, waker: &Waker) -> State {
        let when = self.when();
        self.set_at(when, waker)
    }

    /// Owner: as [`set`](Self::set), to fire at a tick.
    pub(crate) fn set_at(mut self: Pin<&mut Self>, when: u64, waker: &Waker) -> State {
        if when <= self.shard.shared.seen() {
            return self.note(State::Fired);
        }
        match self.as_mut().start(when, waker.clone(), false) {
            Ok(()) => State::Waiting,
            Err((state, _)) => self.note(state),
        }
    }

    /// Owner, in no state with a waker: to `Waiting`. Or says to which state instead, and gives the waker back.
    fn start(self: Pin<&mut Self>, when: u64, waker: Waker, is_unpolled: bool) -> Result<(), (State, Waker)> {
        let this = self.into_ref().get_ref();
        debug_assert!(!matches!(this.state(), State::Waiting | State::Told));
        let shard = &*this.shard;
        let mut locked = shard.lock();
        if locked.is_closed() {
            return Err((State::Closed, waker));
        }
        // SAFETY: not `WAITING`, so the node is in no wheel. It is pinned, and taken out again before it goes away, by
        // `drop` at the latest. Others leave it alone, as the module says.
        if unsafe { locked.wheel.insert(this.node(), when) }.is_err() {
            return Err((State::Fired, waker));
        }
        // SAFETY: the cell is empty, and belongs to the owner until the lock is released.
        this.waker.with_mut(|cell| unsafe { (*cell).write(waker) });
        this.state.store(State::waiting(is_unpolled), Ordering::Relaxed);
        let is_earliest = shard.note_set(&mut locked, when);
        drop(locked);
        if is_earliest {
            shard.shared.wake_for(when);
        }
        Ok(())
    }

    /// Owner: in `Waiting`, sees to it that this waker is the one to be woken. Returns the state, which may have
    /// changed.
    #[inline]
    pub(crate) fn refresh(self: Pin<&mut Self>, waker: &Waker) -> State {
        let this = self.into_ref().get_ref();
        let word = this.state.load(Ordering::Acquire);
        let state = State::of_word(word);
        if state != State::Waiting {
            return state;
        }
        let same = this.waker.with(|cell| {
            // SAFETY: the cell was filled when `WAITING` was entered, and is written by nobody but us. The reference is
            // used only for the waker's two pointers, never for what they point to.
            let known = unsafe { (*cell).assume_init_ref() };
            known.data() == waker.data() && ptr::eq(known.vtable(), waker.vtable())
        });
        let state = if same { State::Waiting } else { this.replace_waker(waker) };
        if state == State::Waiting && State::is_unpolled(word) {
            // Not before it is certain whom it will wake: until then nobody has waited.
            return State::of_word(this.state.fetch_and(State::polled(), Ordering::Acquire));
        }
        state
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

    /// Owner: changes the deadline, and sees to it that the entry fires then. The waker is the one that it has; if the
    /// new deadline has passed, that is woken here and now. An entry without one fires for nobody, until it is polled.
    pub(crate) fn move_to(mut self: Pin<&mut Self>, deadline: Instant) {
        let this = self.as_ref().get_ref();
        let is_later = deadline >= this.deadline.replace(deadline);
        let when = this.when();
        if is_later && this.extend(when) {
            return;
        }
        if self.as_mut().move_in_wheel(when) {
            return;
        }
        // By the clock, for the wheel may be behind that: then at a tick that the wheel knows to have passed.
        let when = if self.is_overdue() { 0 } else { when };
        self.set_unpolled(when);
    }

    /// Owner, when the entry does not wait: to `Waiting`, unpolled, with the waker that was kept.
    pub(crate) fn set_unpolled(mut self: Pin<&mut Self>, when: u64) {
        let waker = self.take_kept().unwrap_or_else(|| Waker::noop().clone());
        if let Err((state, waker)) = self.as_mut().start(when, waker, true) {
            self.note(if state == State::Fired { State::Past } else { state });
            contain(|| waker.wake());
        }
    }

    /// Owner: in `Waiting`, has the entry fire at a tick that is no earlier than the one it would have, and leaves it
    /// where it is. False if it does not wait any more, or that tick is known to have passed.
    #[inline]
    pub(crate) fn extend(&self, when: u64) -> bool {
        let word = self.state.load(Ordering::Relaxed);
        State::of_word(word) == State::Waiting
            && when > self.shard.shared.seen()
            && when <= LATEST
            && self
                .state
                .compare_exchange(word, State::waiting_until(when, word), Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
    }

    /// Owner: in `Waiting`, moves the entry to another tick. Returns false, and does nothing, if it does not wait any
    /// more.
    pub(crate) fn move_in_wheel(self: Pin<&mut Self>, when: u64) -> bool {
        let this = self.into_ref().get_ref();
        if this.state() != State::Waiting {
            return false;
        }
        let shard = &*this.shard;
        let mut locked = shard.lock();
        let word = this.state.load(Ordering::Acquire);
        if State::of_word(word) != State::Waiting {
            return false;
        }
        // SAFETY: in `WAITING` the node is in the wheel.
        unsafe { locked.wheel.remove(this.node()) };
        if locked.is_closed() {
            // The wheel is being emptied, and its time has run ahead of everything.
            shard.note_cancelled(&mut locked, 1);
            let waker = this.end_wait(State::Closed);
            drop(locked);
            contain(|| waker.wake());
            return true;
        }
        // SAFETY: as in `set_at`, now that the node is out again.
        if when > shard.shared.seen() && unsafe { locked.wheel.insert(this.node(), when) }.is_ok() {
            // It may have been extended before.
            this.state.store(State::waiting(State::is_unpolled(word)), Ordering::Relaxed);
            shard.note_cancelled(&mut locked, 1);
            let earlier = shard.note_set(&mut locked, when);
            drop(locked);
            if earlier {
                shard.shared.wake_for(when);
            }
            return true;
        }
        shard.note_fired(&mut locked, 1);
        shard.note_late(&mut locked, shard.shared.seen().saturating_sub(when));
        let waker = this.end_wait(State::Fired.after_wait(word));
        drop(locked);
        contain(|| waker.wake());
        true
    }

    /// Owner: as one that is new, or whose deadline is known to have passed or not, whatever it was before.
    #[inline]
    pub(crate) fn rest(self: Pin<&mut Self>, state: State) {
        debug_assert!(!matches!(state, State::Waiting | State::Told));
        let this = self.into_ref().get_ref();
        this.cancel();
        this.note(state);
    }

    /// Owner, when the deadline has passed: the caller is told so now, and a caller that polls again has not waited for
    /// it.
    #[inline]
    pub(crate) fn note_told(self: Pin<&mut Self>) {
        debug_assert!(self.is_elapsed());
        self.rest(State::Past);
    }

    /// Owner, when the caller has been told: keeps the waker of its poll, for the next deadline.
    #[inline]
    pub(crate) fn keep(self: Pin<&mut Self>, waker: &Waker) {
        debug_assert_eq!(self.state(), State::Past);
        let waker = waker.clone();
        // SAFETY: in `PAST` the cell is empty, and the owner's alone.
        self.waker.with_mut(|cell| unsafe { (*cell).write(waker) });
        self.note(State::Told);
    }

    /// Owner: the waker that was kept, if one was. Leads to `Past`.
    fn take_kept(&self) -> Option<Waker> {
        (self.state() == State::Told).then(|| {
            self.note(State::Past);
            // SAFETY: in `TOLD` the cell is full, and the owner's alone; the state says by now that it is empty.
            self.waker.with(|cell| unsafe { (*cell).assume_init_read() })
        })
    }

    /// As [`rest`](Self::rest), with another deadline.
    pub(crate) fn rest_until(self: Pin<&mut Self>, deadline: Instant, state: State) {
        let this = self.into_ref().get_ref();
        this.cancel();
        this.deadline.set(deadline);
        this.note(state);
    }

    /// Owner: takes the entry out of the wheel, if it is there. No waker is left.
    #[inline]
    fn cancel(&self) {
        match self.state() {
            State::Waiting => self.take_out(),
            State::Told => {
                let kept = self.take_kept();
                // As in `take_out`.
                contain(|| drop(kept));
            }
            _ => {}
        }
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
        shard.note_cancelled(&mut locked, 1);
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

    /// Owner, in `Waiting` and under the lock, when the node is out of the wheel: ends the wait, and returns the waker
    /// for after unlocking.
    fn end_wait(&self, to: State) -> Waker {
        debug_assert_eq!(self.state(), State::Waiting);
        // SAFETY: in `WAITING` the cell is full; the next state says that it is empty, so the waker is read out once.
        let waker = self.waker.with(|cell| unsafe { (*cell).assume_init_read() });
        self.note(to);
        waker
    }

    /// Ends the wait of an entry, and returns the waker to call after unlocking, and the tick that it was extended to,
    /// or zero. If that tick has not passed now, only that: then the node has to go back into the wheel.
    ///
    /// # Safety
    ///
    /// The caller holds the shard's lock. The entry was `Waiting`, and its node has just been taken out of the wheel.
    /// The caller does not use the pointer again, unless it is extended.
    pub(crate) unsafe fn expire(entry: NonNull<Self>, to: State, now: u64) -> Result<(Waker, u64), u64> {
        // SAFETY: an entry in `WAITING` is alive: its `drop` would have to take the lock, which the caller holds.
        let entry = unsafe { entry.as_ref() };
        // SAFETY: nobody writes the cell while the lock is held. This is a copy, and the waker's only if the exchange
        // succeeds.
        let waker = entry.waker.with(|cell| unsafe { ptr::read(cell) });
        let mut word = entry.state.load(Ordering::Relaxed);
        loop {
            let extended_to = word >> STATE_BITS;
            if extended_to > now {
                return Err(extended_to);
            }
            // Release: gives the entry back to its owner, who may free it at once.
            let to = to.after_wait(word);
            match entry.state.compare_exchange(word, to as u64, Ordering::Release, Ordering::Relaxed) {
                // SAFETY: in `WAITING` the cell is full; the next state says that it is empty, so this is the waker's
                // one copy.
                Ok(_) => return Ok((unsafe { waker.assume_init() }, extended_to)),
                // Just extended.
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
        self.cancel();
        // What follows is freeing, which is a write of everything. Show that to the models.
        #[cfg(loom)]
        self.waker.with_mut(|_| ());
        // SAFETY: dropped once, here.
        unsafe { ManuallyDrop::take(&mut self.shard) }.give_up();
    }
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry").field("state", &self.state()).finish_non_exhaustive()
    }
}
