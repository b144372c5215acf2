//! Intrusive doubly linked lists: the slots of the wheel.
//!
//! A [`Node`] lives inside the timer it belongs to, so linking allocates nothing and unlinking needs no search. Only
//! the [`Wheel`](super::Wheel) uses these lists; it owns the links of every node that is in it, and its own `&mut` is
//! what keeps two threads from touching a link at once. Nothing here may look at a node that is in no list.

use std::fmt;
use std::ptr::NonNull;

use runtime_core::primitive::UnsafeCell;

/// What a timer contributes to the wheel: its place in a list, and its deadline.
///
/// All of it belongs to the wheel from the moment the node is inserted until it is removed or popped.
pub(crate) struct Node {
    links: UnsafeCell<Links>,
}

struct Links {
    prev: Option<NonNull<Node>>,
    next: Option<NonNull<Node>>,
    when: u64,
    slot: u16,
}

impl Node {
    /// A node that is in no list.
    pub(crate) fn new() -> Self {
        Self { links: UnsafeCell::new(Links { prev: None, next: None, when: 0, slot: 0 }) }
    }
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The links may be in use by the thread that holds the wheel, so there is nothing to show.
        f.debug_struct("Node").finish_non_exhaustive()
    }
}

/// Runs the closure on a node's links.
///
/// # Safety
///
/// The node is alive, and the caller holds the wheel that the node is in (or is about to be put in). The closure does
/// not reach the same node again.
unsafe fn with_links<R>(node: NonNull<Node>, f: impl FnOnce(&mut Links) -> R) -> R {
    // SAFETY: the caller vouches that the node is alive; only shared references to nodes are ever made.
    let node = unsafe { node.as_ref() };
    // SAFETY: the caller holds the wheel, and so all links, exclusively, and `f` does not come back to this node.
    node.links.with_mut(|links| f(unsafe { &mut *links }))
}

/// The deadline and the slot that were noted by [`set_place`].
///
/// # Safety
///
/// As for [`with_links`].
pub(super) unsafe fn place(node: NonNull<Node>) -> (u64, usize) {
    // SAFETY: the caller's promise is the same.
    unsafe { with_links(node, |links| (links.when, usize::from(links.slot))) }
}

/// Notes a node's deadline and the slot it goes into.
///
/// # Safety
///
/// As for [`with_links`].
pub(super) unsafe fn set_place(node: NonNull<Node>, when: u64, slot: usize) {
    // SAFETY: the caller's promise is the same.
    unsafe {
        with_links(node, |links| {
            links.when = when;
            links.slot = slot as u16; // there are 1280 slots
        });
    }
}

/// A first-in first-out list that a node can leave from the middle.
#[derive(Debug, Default)]
pub(super) struct List {
    head: Option<NonNull<Node>>,
    tail: Option<NonNull<Node>>,
}

impl List {
    pub(super) fn is_empty(&self) -> bool {
        self.head.is_none()
    }

    /// Appends a node.
    ///
    /// # Safety
    ///
    /// The node is alive, in no list, and stays alive and in place until it has left this one. The caller holds the
    /// wheel.
    pub(super) unsafe fn push_back(&mut self, node: NonNull<Node>) {
        // SAFETY: the node is ours from here on, by the caller's promise.
        unsafe {
            with_links(node, |links| {
                links.prev = self.tail;
                links.next = None;
            });
        }
        match self.tail {
            // SAFETY: the tail is in this list, so it is alive and ours.
            Some(tail) => unsafe { with_links(tail, |links| links.next = Some(node)) },
            None => self.head = Some(node),
        }
        self.tail = Some(node);
    }

    /// Takes a node out.
    ///
    /// # Safety
    ///
    /// The node is in this list, and the caller holds the wheel.
    pub(super) unsafe fn unlink(&mut self, node: NonNull<Node>) {
        // SAFETY: the node is in this list, so it is alive and ours.
        let (prev, next) = unsafe { with_links(node, |links| (links.prev.take(), links.next.take())) };
        match prev {
            // SAFETY: a neighbour of a node of this list is in this list.
            Some(prev) => unsafe { with_links(prev, |links| links.next = next) },
            None => self.head = next,
        }
        match next {
            // SAFETY: as above.
            Some(next) => unsafe { with_links(next, |links| links.prev = prev) },
            None => self.tail = prev,
        }
    }

    /// Takes the oldest node out.
    pub(super) fn pop_front(&mut self) -> Option<NonNull<Node>> {
        let node = self.head?;
        // SAFETY: the head is in this list.
        unsafe { self.unlink(node) };
        Some(node)
    }

    /// The earliest deadline in the list, found by looking at all of it.
    pub(super) fn earliest(&self) -> u64 {
        let mut earliest = u64::MAX;
        let mut at = self.head;
        while let Some(node) = at {
            // SAFETY: the nodes reached from the head are in this list, so they are alive and ours.
            let (when, next) = unsafe { with_links(node, |links| (links.when, links.next)) };
            earliest = earliest.min(when);
            at = next;
        }
        earliest
    }
}
