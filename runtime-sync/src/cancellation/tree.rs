//! Which tokens come from which, and the walk that cancels them.
//!
//! # The protocol
//!
//! A [`Node`] is what all clones of one token share. The nodes that come from one root share a [`Tree`], and all links
//! between them are in one table behind its lock. The table does not keep a node alive: the last handle of a token
//! drops the node, and that takes the node's slot out of the table, and hangs its children below its parent.
//!
//! - A node is *cancelled* when its flag is set. The flag is set under the lock, and never cleared. So whoever finds it
//!   clear under the lock may hang a child below the node, and the walk that sets it later finds the child.
//! - To cancel a node sets its flag and those of all nodes below it, each before those below it. This is a walk by the
//!   links: down to the first child, as long as there is one; else the node, which is cancelled and has no children any
//!   more, is taken out of its parent's list, and the walk goes on there. So it needs no stack, and no memory but a
//!   batch of nodes.
//! - Wakers are called without the lock, one batch at a time. Meanwhile the walk holds the node that it stands at,
//!   whose slot is in the table therefore. Others may drop the nodes above: their children then hang higher up, yet
//!   still below the node where the walk began. Another walk may have taken the node out: then it has no parent, and
//!   this walk begins anew. It finds what is left, because what is cancelled to its end is not linked any more.
//! - A node whose last handle is gone may still be in the table, because its thread waits for the lock. The walk cannot
//!   get at the node then, and need not: nobody can look at it. It goes through its children as through any others'.
//! - To wait is to wait for the node's [`Notify`], and to look at the flag after the future was made. The flag is set
//!   before the `Notify` is notified: a waiter sees the flag, or is notified.
//!
//! The lock must never be held while a node, or anything of the user's, is dropped or called.

use std::sync::{Arc, Weak};

use runtime_core::primitive::atomic::AtomicBool;
use runtime_core::primitive::atomic::Ordering::{Acquire, Relaxed, Release};
use runtime_core::primitive::{Mutex, MutexGuard};

use crate::Notify;
use crate::panics::Panics;

/// What all clones of one token share.
pub(super) struct Node {
    is_cancelled: AtomicBool,
    pub(super) notify: Notify,
    tree: Arc<Tree>,
    /// Its slot in the table, or [`NONE`] if it was made cancelled, and so has no need of one.
    key: Key,
}

/// What all nodes share that come from one root.
struct Tree {
    links: Mutex<Links>,
}

impl Node {
    /// A root.
    pub(super) fn root() -> Arc<Self> {
        let mut links = Links { slots: Vec::new(), vacant: NONE };
        let key = links.take_slot();
        let node = Self::new(false, Arc::new(Tree { links: Mutex::new(links) }), key);
        // Nobody looks for a root from above: it needs no way from its slot to the node.
        Arc::new(node)
    }

    fn new(is_cancelled: bool, tree: Arc<Tree>, key: Key) -> Self {
        Self { is_cancelled: AtomicBool::new(is_cancelled), notify: Notify::new(), tree, key }
    }

    /// A node that is cancelled when this one is.
    pub(super) fn child(&self) -> Arc<Self> {
        if !self.is_cancelled() {
            let mut links = self.tree.links.lock();
            // Relaxed: it is set under this lock.
            if !self.is_cancelled.load(Relaxed) {
                let key = links.take_slot();
                let child = Arc::new(Self::new(false, self.tree.clone(), key));
                links.at(key).node = Arc::downgrade(&child);
                links.link(key, self.key);
                return child;
            }
        }
        Arc::new(Self::new(true, self.tree.clone(), NONE))
    }

    pub(super) fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Acquire)
    }

    /// Cancels this node and all below it.
    pub(super) fn cancel(self: &Arc<Self>) {
        if self.key == NONE {
            return;
        }
        let mut batch = Batch::new();
        let mut links = self.tree.links.lock();
        self.mark();
        let mut at = self.key;
        loop {
            let first_child = links.of(at).first_child;
            if first_child != NONE {
                at = first_child;
                let Some(node) = links.of(at).node.upgrade() else { continue };
                node.mark();
                if batch.is_full() {
                    MutexGuard::unlocked(&mut links, || batch.notify());
                }
                batch.push(node);
            } else if at != self.key {
                let parent = links.of(at).parent;
                links.unlink(at);
                at = if parent == NONE { self.key } else { parent };
            } else {
                break;
            }
        }
        links.unlink(self.key);
        drop(links);
        if batch.is_full() {
            batch.notify();
        }
        // Last, as in tokio-util. No promise: another call may take over a part of the tree.
        batch.push(self.clone());
        batch.finish();
    }

    /// To be called under the lock.
    fn mark(&self) {
        self.is_cancelled.store(true, Release);
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        if self.key == NONE {
            return;
        }
        let mut links = self.tree.links.lock();
        let mut moved = 0;
        loop {
            let own = links.of(self.key);
            let (child, parent) = (own.first_child, own.parent);
            if child == NONE {
                break;
            }
            links.unlink(child);
            links.link(child, parent);
            moved += 1;
            if moved % Batch::CAPACITY == 0 {
                // Others may have the lock in between.
                MutexGuard::unlocked(&mut links, || ());
            }
        }
        links.unlink(self.key);
        links.give_slot_back(self.key);
    }
}

/// A place in the table.
type Key = u32;
/// No place.
const NONE: Key = Key::MAX;

/// The table. A free slot is in the list of free slots, which is linked by `younger`.
struct Links {
    slots: Vec<Slot>,
    vacant: Key,
}

/// The links of one node, to others of the same table.
struct Slot {
    parent: Key,
    first_child: Key,
    /// The neighbours in the list of the parent's children.
    younger: Key,
    older: Key,
    node: Weak<Node>,
}

impl Slot {
    const EMPTY: Self = Self { parent: NONE, first_child: NONE, younger: NONE, older: NONE, node: Weak::new() };
}

impl Links {
    /// A slot without links.
    fn take_slot(&mut self) -> Key {
        let key = self.vacant;
        if key == NONE {
            let key = Key::try_from(self.slots.len())
                .ok()
                .filter(|key| *key != NONE)
                .expect("a tree has room for 4 billion tokens");
            self.slots.push(Slot::EMPTY);
            return key;
        }
        self.vacant = std::mem::replace(self.at(key), Slot::EMPTY).younger;
        key
    }

    /// Frees a slot that has no links any more.
    fn give_slot_back(&mut self, key: Key) {
        // What is dropped here is a weak reference, whose node is being dropped: that runs no code.
        *self.at(key) = Slot { younger: self.vacant, ..Slot::EMPTY };
        self.vacant = key;
    }

    fn of(&self, key: Key) -> &Slot {
        &self.slots[key as usize]
    }

    fn at(&mut self, key: Key) -> &mut Slot {
        &mut self.slots[key as usize]
    }

    /// Hangs a node that has no parent below this one. Below none, it stays without.
    fn link(&mut self, key: Key, parent: Key) {
        if parent == NONE {
            return;
        }
        let older = std::mem::replace(&mut self.at(parent).first_child, key);
        if older != NONE {
            self.at(older).younger = key;
        }
        let own = self.at(key);
        (own.parent, own.older) = (parent, older);
    }

    /// Takes a node out of its parent's list, if it has a parent.
    fn unlink(&mut self, key: Key) {
        let own = self.at(key);
        let parent = std::mem::replace(&mut own.parent, NONE);
        let younger = std::mem::replace(&mut own.younger, NONE);
        let older = std::mem::replace(&mut own.older, NONE);
        if parent == NONE {
            return;
        }
        match younger {
            NONE => self.at(parent).first_child = older,
            younger => self.at(younger).older = older,
        }
        if older != NONE {
            self.at(older).younger = younger;
        }
    }
}

/// Nodes that were cancelled under the lock, and whose waiters are to be woken without it.
struct Batch {
    nodes: [Option<Arc<Node>>; Self::CAPACITY],
    len: usize,
    /// Of wakers, kept until all are called.
    panics: Panics,
}

impl Batch {
    /// As many nodes are dealt with under one hold of the lock: enough to make the lock cheap, few enough that another
    /// thread waits for a microsecond or two.
    const CAPACITY: usize = if cfg!(loom) { 1 } else { 32 };

    fn new() -> Self {
        Self { nodes: [const { None }; Self::CAPACITY], len: 0, panics: Panics::new() }
    }

    fn is_full(&self) -> bool {
        self.len == Self::CAPACITY
    }

    fn push(&mut self, node: Arc<Node>) {
        self.nodes[self.len] = Some(node);
        self.len += 1;
    }

    /// Wakes all that wait for the nodes, and lets go of them. Not to be called under the lock.
    fn notify(&mut self) {
        let len = std::mem::take(&mut self.len);
        for node in self.nodes[..len].iter_mut().filter_map(Option::take) {
            self.panics.catch(|| node.notify.notify_waiters());
        }
    }

    /// Wakes all that are left, and passes on the first panic, unless the thread is panicking already.
    fn finish(mut self) {
        self.notify();
        self.panics.pass_on();
    }
}

#[cfg(test)]
impl Node {
    /// How many slots the table has, and how many of them are in use.
    #[cfg(not(loom))]
    pub(super) fn slots(&self) -> (usize, usize) {
        let links = self.tree.links.lock();
        let mut free = 0;
        let mut key = links.vacant;
        while key != NONE {
            (free, key) = (free + 1, links.of(key).younger);
        }
        (links.slots.len(), links.slots.len() - free)
    }
}
