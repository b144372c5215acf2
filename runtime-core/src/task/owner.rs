//! Who owns the tasks: the lists in which every task of a runtime can be found, so that shutdown leaves none behind.
//!
//! Each worker has a list of its own, a [`LocalList`], for the tasks it spawns; tasks spawned from foreign threads go
//! to a [`SharedList`] behind a lock. A task's header points to its [`Owner`], and through it to the runtime. A task
//! stays on its list until its memory is freed, complete or not; what the list *counts* as its reference is given back
//! at completion (see `state.rs`), so a finished task that somebody still has a handle to is a mere cell on a list.
//!
//! # A local list takes no lock
//!
//! The links `prev` and `next` of a task on a local list belong to the thread that owns the list: the worker, then,
//! after the workers are gone, the thread that shuts the runtime down. When the last reference goes on that very
//! thread, it unlinks and frees the task. On any other thread it pushes the task onto the list's *return stack*
//! (linked through [`Birthplace`]), and the owner frees it when it comes by: at its maintenance ticks and before it
//! parks. Pushing is a compare-exchange in a loop; the owner takes the whole stack with one swap, so no node is popped
//! while another thread looks at it, and there is no ABA. A push releases and the swap acquires: the owner frees what
//! the pusher has seen the last of. Every 256th return nudges the owner, so that a sleeping one does not sit on a heap
//! of dead tasks.
//!
//! # What happens at shutdown
//!
//! [`Owner::cancel_all`] cancels what is alive; [`Owner::close`] then empties the return stack, puts `CLOSED` in its
//! place, and reports how many tasks are left on the list: finished ones, to which handles or wakers remain. From then
//! on nobody owns or walks the list: a task that loses its last reference is freed at once without being unlinked, and
//! counted off (see [`Orphans`](super::orphans::Orphans)); the last one lets go of the runtime's memory, in which the
//! lists lie.

use std::cell::Cell;
use std::panic::Location;
use std::ptr::{self, NonNull};

use super::cell::Header;
use super::raw::TaskRef;
use crate::primitive::atomic::AtomicPtr;
use crate::primitive::atomic::AtomicUsize;
use crate::primitive::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use crate::primitive::{Mutex, UnsafeCell};
use crate::runtime::Inner;

/// After so many returned tasks the owner is nudged to take them.
const NUDGE_EVERY: usize = 256;

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
    fn set_next_returned(&self, next: *mut Header) {
        self.0.set(next.cast_const().cast());
    }

    /// For the thread that took the stack.
    fn next_returned(&self) -> *mut Header {
        self.0.get().cast_mut().cast()
    }
}

/// A doubly linked list of tasks, through their [`Links`].
struct List {
    head: *mut Header,
    len: usize,
}

// SAFETY: a list is moved between threads only with the right to its links.
unsafe impl Send for List {}

impl List {
    fn new() -> Self {
        Self { head: ptr::null_mut(), len: 0 }
    }

    /// # Safety
    ///
    /// The task is on no list, and its links are the caller's.
    unsafe fn push(&mut self, task: NonNull<Header>) {
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
    unsafe fn unlink(&mut self, task: NonNull<Header>) {
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
}

/// The list of one worker. See the module.
pub(crate) struct LocalList {
    list: UnsafeCell<List>,
    returned: AtomicPtr<Header>,
    /// Roughly how many are on the return stack.
    returned_len: AtomicUsize,
    /// Which slot of its scheduler the list belongs to.
    slot: usize,
}

/// The list for tasks from foreign threads.
pub(crate) struct SharedList {
    state: Mutex<SharedState>,
}

struct SharedState {
    list: List,
    /// Shutdown has begun: no new tasks.
    refusing: bool,
    /// Shutdown is over: tasks are freed without being unlinked.
    closed: bool,
}

enum Kind {
    Local(LocalList),
    Shared(SharedList),
}

/// One list of tasks, and the way from a task to its runtime. See the module.
pub(crate) struct Owner {
    runtime: AtomicPtr<Inner>,
    kind: Kind,
}

// SAFETY: the parts that are not Sync by themselves are the local list, used only by the thread that owns it (the
// functions that touch it are unsafe for that reason), and the links of tasks, which follow the list or its lock.
unsafe impl Send for Owner {}
// SAFETY: as above.
unsafe impl Sync for Owner {}

/// Marks a return stack that nobody empties any more. Never dereferenced.
fn closed() -> *mut Header {
    ptr::without_provenance_mut(1)
}

impl Owner {
    pub(crate) fn local(slot: usize) -> Self {
        let kind = Kind::Local(LocalList {
            list: UnsafeCell::new(List::new()),
            returned: AtomicPtr::new(ptr::null_mut()),
            returned_len: AtomicUsize::new(0),
            slot,
        });
        Self { runtime: AtomicPtr::new(ptr::null_mut()), kind }
    }

    pub(crate) fn shared() -> Self {
        let state = SharedState { list: List::new(), refusing: false, closed: false };
        let kind = Kind::Shared(SharedList { state: Mutex::new(state) });
        Self { runtime: AtomicPtr::new(ptr::null_mut()), kind }
    }

    /// Called once, before any task is spawned: the list lies inside this runtime.
    pub(crate) fn bind(&self, runtime: *const Inner) {
        self.runtime.store(runtime.cast_mut(), Relaxed);
    }

    /// The runtime of the tasks on this list. It lives at least as long as any of them (see `orphans.rs`).
    #[inline]
    pub(crate) fn runtime(&self) -> &Inner {
        // SAFETY: bound before the first task, and the owner lies inside the runtime.
        unsafe { &*self.runtime.load(Relaxed) }
    }

    /// # Safety
    ///
    /// A task of this list, which was closed, was freed just now. Nothing of the runtime is touched afterwards.
    unsafe fn orphan_gone(this: NonNull<Self>) {
        // SAFETY: the task that was freed kept the runtime until this call.
        unsafe { Inner::orphan_gone(this.as_ref().runtime.load(Relaxed)) };
    }

    fn local_list(&self) -> &LocalList {
        match &self.kind {
            Kind::Local(local) => local,
            Kind::Shared(_) => unreachable!("a worker's list is a local one"),
        }
    }

    /// Adds a new task.
    ///
    /// # Safety
    ///
    /// The calling thread owns this local list, and the task is new.
    #[inline]
    pub(crate) unsafe fn insert_local(&self, task: NonNull<Header>) {
        // SAFETY: the list is the caller's.
        self.local_list().list.with_mut(|list| unsafe { (*list).push(task) });
    }

    /// Adds a new task to a shared list. False if shutdown has begun.
    ///
    /// # Safety
    ///
    /// The task is new.
    #[must_use]
    pub(crate) unsafe fn insert_shared(&self, task: NonNull<Header>) -> bool {
        let Kind::Shared(shared) = &self.kind else { unreachable!("foreign threads use a shared list") };
        let mut state = shared.state.lock();
        if !state.refusing {
            // SAFETY: the task is new, and the lock is held.
            unsafe { state.list.push(task) };
        }
        !state.refusing
    }

    /// Refuses new tasks from now on. Only a shared list needs it: a local one gets tasks from its own thread alone.
    pub(crate) fn refuse(&self) {
        if let Kind::Shared(shared) = &self.kind {
            shared.state.lock().refusing = true;
        }
    }

    /// Frees a task whose last reference is gone, or sends it to the thread that can.
    ///
    /// # Safety
    ///
    /// The task is on this list and nobody has a reference to it. `here`: the calling thread owns this local list.
    // Not a method: the runtime, and this in it, may go with the task, and must not be borrowed for the whole call.
    #[inline]
    pub(crate) unsafe fn release(this: NonNull<Self>, task: NonNull<Header>, here: bool) {
        // SAFETY: the task keeps the runtime, and its owner in it, until it is freed.
        match unsafe { &this.as_ref().kind } {
            // SAFETY: the list is the caller's.
            Kind::Local(local) if here => unsafe {
                local.list.with_mut(|list| (*list).unlink(task));
                free(task);
            },
            // SAFETY: passed on.
            Kind::Local(_) => unsafe { Self::send_home(this, task) },
            Kind::Shared(shared) => {
                let mut state = shared.state.lock();
                let orphaned = state.closed;
                if !orphaned {
                    // SAFETY: the lock is held.
                    unsafe { state.list.unlink(task) };
                }
                // Unlinked, the task no longer keeps the runtime: this unlock is the last that is touched of it.
                drop(state);
                // SAFETY: nobody has a reference, and no list points to it that is looked at again.
                unsafe { free(task) };
                if orphaned {
                    // SAFETY: it was counted when its list was closed.
                    unsafe { Self::orphan_gone(this) };
                }
            }
        }
    }

    /// # Safety
    ///
    /// As [`release`](Self::release).
    #[cold]
    unsafe fn send_home(this: NonNull<Self>, task: NonNull<Header>) {
        // SAFETY: as in `release`.
        let (owner, local) = unsafe { (this.as_ref(), this.as_ref().local_list()) };
        // Nudge first: once the task is on the stack it no longer keeps the runtime, and nothing of it may be touched.
        // An owner that comes too early for this one finds it with the next nudge.
        if (local.returned_len.fetch_add(1, Relaxed) + 1) % NUDGE_EVERY == 0 {
            owner.runtime().nudge(local.slot);
        }
        let mut head = local.returned.load(Acquire);
        loop {
            if head == closed() {
                // SAFETY: nobody has a reference, the list is not looked at again, and it was counted when its list was
                // closed.
                unsafe {
                    free(task);
                    Self::orphan_gone(this);
                }
                return;
            }
            // SAFETY: nobody else has the task.
            unsafe { task.as_ref() }.birthplace().set_next_returned(head);
            match local.returned.compare_exchange_weak(head, task.as_ptr(), AcqRel, Acquire) {
                Ok(_) => break,
                Err(actual) => head = actual,
            }
        }
    }

    /// Frees what other threads returned.
    ///
    /// # Safety
    ///
    /// The calling thread owns this local list.
    #[inline]
    pub(crate) unsafe fn drain_returned(&self) {
        let local = self.local_list();
        if !local.returned.load(Relaxed).is_null() {
            // SAFETY: passed on.
            unsafe { Self::take_returned(local) };
        }
    }

    /// # Safety
    ///
    /// The calling thread owns this local list.
    #[cold]
    unsafe fn take_returned(local: &LocalList) {
        let mut task = local.returned.swap(ptr::null_mut(), AcqRel);
        local.returned_len.store(0, Relaxed);
        while let Some(dead) = NonNull::new(task) {
            // SAFETY: the stack came whole to this thread; each task on it is dead and on this list.
            unsafe {
                task = dead.as_ref().birthplace().next_returned();
                local.list.with_mut(|list| (*list).unlink(dead));
                free(dead);
            }
        }
    }

    /// Cancels every task that is not complete, at shutdown.
    ///
    /// # Safety
    ///
    /// Nobody polls tasks of this runtime any more, no new ones arrive ([`refuse`](Self::refuse)), and the calling
    /// thread owns this list if it is a local one. It must not count as its owner in [`release`](Self::release)
    /// meanwhile.
    pub(crate) unsafe fn cancel_all(&self) {
        // Dropping a future runs user code, which may drop the last references to other tasks of this list. On a local
        // list those only go to the return stack, and the walk is not disturbed.
        match &self.kind {
            Kind::Local(local) => {
                // SAFETY: the list is the caller's.
                let mut next = local.list.with(|list| unsafe { (*list).head });
                while let Some(task) = NonNull::new(next) {
                    // SAFETY: tasks on the list stay on it and alive until the return stack is drained, after the walk.
                    unsafe {
                        cancel(task);
                        next = task.as_ref().links.next.get();
                    }
                }
            }
            Kind::Shared(shared) => {
                // A complete task may vanish as soon as the lock is released, and cancelling must not happen under it:
                // those that are alive are taken hold of first.
                let living: Vec<TaskRef> = {
                    let state = shared.state.lock();
                    let mut living = Vec::new();
                    let mut next = state.list.head;
                    while let Some(task) = NonNull::new(next) {
                        // SAFETY: under the lock no task leaves the list or is freed.
                        unsafe {
                            next = task.as_ref().links.next.get();
                            if !task.as_ref().state.is_complete() {
                                // The owner list's own reference stands, so the count is not zero here.
                                task.as_ref().state.ref_inc();
                                living.push(TaskRef::from_raw(task));
                            }
                        }
                    }
                    living
                };
                for task in living {
                    // SAFETY: the reference keeps it.
                    unsafe { cancel(task.as_raw()) };
                }
            }
        }
    }

    /// Gives the list up; see the module. Returns how many tasks are left on it.
    ///
    /// # Safety
    ///
    /// As [`cancel_all`](Self::cancel_all), which has been called.
    pub(crate) unsafe fn close(&self) -> usize {
        match &self.kind {
            Kind::Local(local) => loop {
                // The mark must meet an empty stack: a task that finds it is freed without being unlinked, and none may
                // be while others are still being unlinked around it.
                let empty = ptr::null_mut();
                if local.returned.compare_exchange(empty, closed(), AcqRel, Acquire).is_ok() {
                    // SAFETY: the list is the caller's.
                    return local.list.with(|list| unsafe { (*list).len });
                }
                // SAFETY: the list is the caller's.
                unsafe { Self::take_returned(local) };
            },
            Kind::Shared(shared) => {
                let mut state = shared.state.lock();
                state.closed = true;
                state.list.len
            }
        }
    }
}

/// # Safety
///
/// The task is alive, and nobody polls tasks of its runtime any more.
unsafe fn cancel(task: NonNull<Header>) {
    // SAFETY: claiming gives the caller the task.
    unsafe {
        if task.as_ref().state.claim_for_shutdown() {
            (task.as_ref().vtable.cancel_claimed)(task);
        }
    }
}

/// # Safety
///
/// Nobody has a reference to the task.
#[inline]
unsafe fn free(task: NonNull<Header>) {
    // SAFETY: the caller's promise.
    unsafe { (task.as_ref().vtable.dealloc)(task) };
}
