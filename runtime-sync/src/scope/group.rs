//! [`Group`]: what belongs to a scope, and how all of them are told to end.
//!
//! # The protocol
//!
//! Everything is under one lock. The group counts its *members*: children, closures on the blocking pool, and groups
//! nested in it that have members themselves. A member is counted before its task is spawned, and counted off when its
//! future has been dropped.
//!
//! - The scope's future leaves its waker, and looks whether the group is *open* and whether it has members, under one
//!   hold of the lock. Whoever closes the group, or counts the last member off, takes the waker under the lock.
//! - The group is closed, for good, when something fails, when the scope's future is dropped, or when that finds no
//!   member at its end. A closed group takes no children: one that is asked for later is not run.
//! - The handles by which children are aborted are known only after they were spawned, on another thread perhaps. So a
//!   child has an entry from the time when it is counted, under a number that is never used again. To abort a child
//!   whose handle is not known yet marks the entry, and whoever brings the handle sees that; whoever brings it when
//!   the entry is gone finds that the child has ended.
//! - A nested group is a member of the outer one while it has members. So an outer scope waits for the children of an
//!   inner one whose future was dropped, or even forgotten. The first member counts the group in, under its lock; the
//!   last one counts it off, when that lock is released. The inner lock may be held while the outer one is taken, never
//!   the other way round.
//!
//! Wakers are called, tasks aborted, and handles dropped outside of the lock. Each may panic: the others follow all the
//! same. Groups may be nested deeper than the stack is, so what ends goes from one to the next by a loop.

use std::collections::BTreeMap;
use std::mem;
use std::sync::Arc;
use std::task::{Poll, Waker};

use runtime_core::AbortHandle;
use runtime_core::primitive::Mutex;
use runtime_core::task::waits::{self, Leaf};

use super::entry::{Abort, Entry};
use crate::panics::Panics;
use crate::task::CancellationToken;

/// See the module.
pub(super) struct Group<H: Abort = AbortHandle> {
    state: Mutex<State<H>>,
    outer: Option<Arc<Group<H>>>,
    token: CancellationToken,
}

struct State<H: Abort> {
    is_open: bool,
    /// Whether the scope's future waits for the members, rather than for its body.
    is_body_done: bool,
    members: usize,
    /// By their numbers, so that they are aborted in the order in which they were spawned.
    children: BTreeMap<u64, Entry<H>>,
    next_number: u64,
    /// That of the scope's future.
    waker: Option<Waker>,
}

impl<H: Abort> Group<H> {
    /// An open one.
    pub(super) fn new(outer: Option<Arc<Self>>) -> Arc<Self> {
        let token = outer.as_ref().map_or_else(CancellationToken::new, |outer| outer.token.child_token());
        let state = State {
            is_open: true,
            is_body_done: false,
            members: 0,
            children: BTreeMap::new(),
            next_number: 0,
            waker: None,
        };
        Arc::new(Self { state: Mutex::new(state), outer, token })
    }

    pub(super) fn token(&self) -> &CancellationToken {
        &self.token
    }

    pub(super) fn members(&self) -> usize {
        self.state.lock().members
    }

    /// Counts a member, whether or not the group is open.
    fn join_in(&self, state: &mut State<H>) {
        if state.members == 0
            && let Some(outer) = &self.outer
        {
            // Nested only as bodies are that poll each other: the scope around a child has that for a member.
            outer.join_in(&mut outer.state.lock());
        }
        state.members += 1;
    }

    /// Counts a member off. If that was the last one, the outer group has to count this one off, and the waker, if
    /// there is one, has to be called.
    fn leave(&self) -> Left {
        let mut state = self.state.lock();
        state.members -= 1;
        if state.members > 0 {
            return Left::Others;
        }
        Left::Nobody(if state.is_body_done { state.waker.take() } else { None })
    }

    /// Counts a member, if the group is open.
    pub(super) fn enter(self: &Arc<Self>) -> Option<Member<H>> {
        let mut state = self.state.lock();
        if !state.is_open {
            return None;
        }
        self.join_in(&mut state);
        drop(state);
        Some(Member { group: self.clone() })
    }

    /// Counts a child, if the group is open.
    pub(super) fn enter_child(self: &Arc<Self>) -> Option<Seat<H>> {
        let mut state = self.state.lock();
        if !state.is_open {
            return None;
        }
        self.join_in(&mut state);
        let number = state.next_number;
        state.next_number += 1;
        state.children.insert(number, Entry::New);
        drop(state);
        Some(Seat { number, member: Member { group: self.clone() } })
    }

    /// The child was spawned, and this is its handle.
    pub(super) fn spawned(&self, number: u64, handle: H) {
        let mut state = self.state.lock();
        match state.children.get_mut(&number) {
            // It has ended. The handle is dropped after the lock is released.
            None => {}
            Some(entry @ Entry::New) => *entry = Entry::Spawned(handle),
            Some(entry) => {
                *entry = Entry::Aborted;
                drop(state);
                handle.abort();
            }
        }
    }

    /// Aborts one child.
    pub(super) fn abort(&self, number: u64) {
        let handle = self.state.lock().children.get_mut(&number).and_then(Entry::doom);
        if let Some(handle) = handle {
            handle.abort();
        }
    }

    /// Aborts the children that there are. The group stays open, if it is.
    pub(super) fn abort_all(&self) {
        let handles: Vec<_> = self.state.lock().children.values_mut().filter_map(Entry::doom).collect();
        let mut panics = Panics::new();
        for handle in handles {
            panics.catch(|| handle.abort());
            panics.catch(|| drop(handle));
        }
        panics.pass_on();
    }

    /// Closes the group, if it is open: aborts its children, has the scope's future look, and cancels the token. Passes
    /// on the first panic of a waker when all is done.
    pub(super) fn close(&self) {
        let waker = {
            let mut state = self.state.lock();
            if !mem::replace(&mut state.is_open, false) {
                return;
            }
            state.waker.take()
        };
        let mut panics = Panics::new();
        panics.catch(|| self.abort_all());
        if let Some(waker) = waker {
            panics.catch(|| waker.wake());
        }
        // Last, for this calls wakers of all kinds.
        panics.catch(|| self.token.cancel());
        panics.pass_on();
    }

    /// The scope's future is dropped.
    pub(super) fn abandon(&self) {
        // There is nobody to wake. The waker is dropped last, as code of the user's.
        let waker = self.state.lock().waker.take();
        let mut panics = Panics::new();
        panics.catch(|| self.close());
        panics.catch(|| drop(waker));
        panics.pass_on();
    }

    /// Waits until the group is closed.
    pub(super) fn poll_closed(&self, waker: &Waker) -> Poll<()> {
        self.poll_until(waker, |state| !state.is_open)
    }

    /// Waits until there are no members, and closes the group then. The body is done.
    pub(super) fn poll_empty(&self, waker: &Waker) -> Poll<()> {
        self.poll_until(waker, |state| {
            state.is_body_done = true;
            if state.members == 0 {
                state.is_open = false;
            }
            state.members == 0
        })
    }

    fn poll_until(&self, waker: &Waker, mut is_done: impl FnMut(&mut State<H>) -> bool) -> Poll<()> {
        // Dropped after the lock is released, as is the clone: both are code of a user's.
        let mut clone = None;
        loop {
            let mut state = self.state.lock();
            if is_done(&mut state) {
                drop(state);
                return Poll::Ready(());
            }
            if state.waker.as_ref().is_some_and(|kept| kept.will_wake(waker)) {
                drop(state);
                return waits::pending(Leaf::TaskGroup);
            }
            match clone.take() {
                None => {
                    drop(state);
                    clone = Some(waker.clone());
                }
                Some(clone) => {
                    let before = state.waker.replace(clone);
                    drop(state);
                    drop(before);
                    return waits::pending(Leaf::TaskGroup);
                }
            }
        }
    }
}

impl<H: Abort> Drop for Group<H> {
    fn drop(&mut self) {
        // An outer group that nothing else keeps would be dropped by its inner one, and so on.
        let mut outer = self.outer.take();
        while let Some(group) = outer {
            outer = Arc::into_inner(group).and_then(|mut group| group.outer.take());
        }
    }
}

/// Who is in a group when a member has left it.
enum Left {
    Others,
    /// With the waker of the scope's future, if that waits for this.
    Nobody(Option<Waker>),
}

/// Somebody that the group waits for, until this is dropped.
pub(super) struct Member<H: Abort = AbortHandle> {
    group: Arc<Group<H>>,
}

impl<H: Abort> Member<H> {
    pub(super) fn group(&self) -> &Arc<Group<H>> {
        &self.group
    }
}

impl<H: Abort> Drop for Member<H> {
    fn drop(&mut self) {
        let mut panics = Panics::new();
        let mut group = Some(&self.group);
        while let Some(this) = group {
            let Left::Nobody(waker) = this.leave() else { break };
            if let Some(waker) = waker {
                panics.catch(|| waker.wake());
            }
            group = this.outer.as_ref();
        }
        panics.pass_on();
    }
}

/// A member with an entry of its own: a child.
pub(super) struct Seat<H: Abort = AbortHandle> {
    number: u64,
    member: Member<H>,
}

impl<H: Abort> Seat<H> {
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    pub(super) fn group(&self) -> &Arc<Group<H>> {
        self.member.group()
    }
}

impl<H: Abort> Drop for Seat<H> {
    fn drop(&mut self) {
        let entry = self.group().state.lock().children.remove(&self.number);
        // Outside of the lock: this may be the last reference to a task.
        drop(entry);
    }
}
