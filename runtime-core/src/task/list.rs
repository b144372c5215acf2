//! The links through tasks: the doubly linked list on which a task spends its life, and the word by which dead ones are
//! chained. No synchronisation here; whose the links are, `owner.rs` says.

use std::panic::Location;
use std::ptr::{self, NonNull};

use super::cell::Header;
use crate::primitive::Cell;

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

/// Where a task was spawned, and whether it has a name: one word.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site(NonNull<()>);

impl Site {
    /// Locations are aligned to more than a byte, so there is a bit to spare.
    const NAMED: usize = 1;

    #[inline]
    fn new(location: &'static Location<'static>, is_named: bool) -> Self {
        const { assert!(align_of::<Location<'static>>() > Self::NAMED) };
        let place = NonNull::from(location).cast::<()>();
        Self(if is_named { place.map_addr(|addr| addr | Self::NAMED) } else { place })
    }

    pub(crate) fn as_ptr(self) -> *mut () {
        self.0.as_ptr()
    }

    /// From what [`as_ptr`](Self::as_ptr) gave; `None` from a null pointer.
    ///
    /// # Safety
    ///
    /// It is one of the two.
    pub(crate) unsafe fn from_ptr(site: *mut ()) -> Option<Self> {
        NonNull::new(site).map(Self)
    }

    pub(crate) fn is_named(self) -> bool {
        self.0.addr().get() & Self::NAMED != 0
    }

    pub(crate) fn location(self) -> &'static Location<'static> {
        let place = self.0.as_ptr().map_addr(|addr| addr & !Self::NAMED);
        // SAFETY: but for the bit it is what `new` was given: a reference that is valid for ever.
        unsafe { &*place.cast() }
    }
}

/// Where a task was spawned; once the last reference to it is gone and nobody can ask for that any more, the next task
/// on the return stack. One word for two uses that never meet.
pub(crate) struct Birthplace(Cell<*const ()>);

impl Birthplace {
    #[inline]
    pub(super) fn new(location: &'static Location<'static>, is_named: bool) -> Self {
        Self(Cell::new(Site::new(location, is_named).as_ptr()))
    }

    /// Only while there is a reference to the task.
    #[inline]
    pub(super) fn site(&self) -> Site {
        // Until the last reference is gone the word is what `new` made it.
        debug_assert!(!self.0.get().is_null());
        // SAFETY: as said, and so it is not null either.
        Site(unsafe { NonNull::new_unchecked(self.0.get().cast_mut()) })
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
