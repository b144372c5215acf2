//! The links through tasks: the doubly linked list on which a task spends its life, and the word by which dead ones are
//! chained. No synchronisation here; whose the links are, `owner.rs` says.

use std::cell::Cell;
use std::panic::Location;
use std::ptr::{self, NonNull};

use super::cell::Header;

/// A task's places in the lists of its owner.
pub(crate) struct Links {
    prev: Cell<*mut Header>,
    next: Cell<*mut Header>,
}

impl Links {
    pub(super) fn new() -> Self {
        let null = ptr::null_mut();
        Self { prev: Cell::new(null), next: Cell::new(null) }
    }
}

/// Where a task was spawned; once the last reference to it is gone and nobody can ask for that any more, the next task
/// on the return stack. One word for two uses that never meet.
pub(crate) struct Birthplace(Cell<*const ()>);

impl Birthplace {
    pub(super) fn new(location: &'static Location<'static>) -> Self {
        Self(Cell::new(ptr::from_ref(location).cast()))
    }

    /// Only while there is a reference to the task.
    pub(super) fn location(&self) -> &'static Location<'static> {
        // SAFETY: until the last reference is gone the word is what `new` made it: a reference that is valid for ever.
        unsafe { &*self.0.get().cast() }
    }

    /// For the thread that dropped the last reference and pushes the task.
    pub(super) fn set_next_returned(&self, next: *mut Header) {
        self.0.set(next.cast_const().cast());
    }

    /// For the thread that took the stack.
    pub(super) fn next_returned(&self) -> *mut Header {
        self.0.get().cast_mut().cast()
    }
}

/// A doubly linked list of tasks, through their [`Links`].
pub(super) struct List {
    head: *mut Header,
    len: usize,
}

// SAFETY: a list is moved between threads only with the right to its links.
unsafe impl Send for List {}

impl List {
    pub(super) fn new() -> Self {
        Self { head: ptr::null_mut(), len: 0 }
    }

    /// # Safety
    ///
    /// The task is on no list, and its links are the caller's.
    pub(super) unsafe fn push(&mut self, task: NonNull<Header>) {
        // SAFETY: the caller's promise; the head, if any, is on this list and thus alive.
        unsafe {
            task.as_ref().links.next.set(self.head);
            if let Some(head) = self.head.as_ref() {
                head.links.prev.set(task.as_ptr());
            }
        }
        self.head = task.as_ptr();
        self.len += 1;
    }

    /// # Safety
    ///
    /// The task is on this list, whose links are the caller's.
    pub(super) unsafe fn unlink(&mut self, task: NonNull<Header>) {
        // SAFETY: neighbours on the list are alive.
        unsafe {
            let links = &task.as_ref().links;
            let (prev, next) = (links.prev.get(), links.next.get());
            match prev.as_ref() {
                Some(prev) => prev.links.next.set(next),
                None => self.head = next,
            }
            if let Some(next) = next.as_ref() {
                next.links.prev.set(prev);
            }
        }
        self.len -= 1;
    }

    /// How many tasks are on the list.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The newest task.
    pub(super) fn first(&self) -> Option<NonNull<Header>> {
        NonNull::new(self.head)
    }

    /// The task that was pushed before this one.
    ///
    /// # Safety
    ///
    /// The task is on this list, whose links are the caller's.
    pub(super) unsafe fn after(&self, task: NonNull<Header>) -> Option<NonNull<Header>> {
        // SAFETY: what is on the list is alive.
        NonNull::new(unsafe { task.as_ref() }.links.next.get())
    }
}
