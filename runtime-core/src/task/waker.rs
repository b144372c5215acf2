//! A task's waker: a `RawWaker` over the task pointer, so that making and waking one allocates nothing.

use std::mem::ManuallyDrop;
use std::ptr::{self, NonNull};
use std::task::{RawWaker, RawWakerVTable, Waker};

use super::cell::Header;
use super::raw::TaskRef;
use super::state::Wake;
use crate::context;

static VTABLE: RawWakerVTable = RawWakerVTable::new(clone, wake, wake_by_ref, drop_waker);

/// Whether this is the waker of a task, of whatever runtime: one that only queues.
#[inline]
pub(crate) fn is_waker_of_task(waker: &Waker) -> bool {
    ptr::eq(waker.vtable(), &VTABLE)
}

/// The task that a waker wakes, if it is the waker of a task.
#[inline]
pub(crate) fn task_of_waker(waker: &Waker) -> Option<&Header> {
    // SAFETY: the waker has, or stands on, a reference, which keeps the task at least as long as the waker is borrowed.
    is_waker_of_task(waker).then(|| unsafe { header(waker.data()).as_ref() })
}

/// Runs the closure with a waker that has no reference of its own: it lives only while the caller's reference does.
#[inline]
pub(crate) fn with_borrowed<R>(header: NonNull<Header>, f: impl FnOnce(&Waker) -> R) -> R {
    let raw = RawWaker::new(header.as_ptr().cast_const().cast(), &VTABLE);
    // SAFETY: the vtable keeps RawWaker's contract. The reference that this waker does not have is never given back,
    // because it is never dropped.
    let waker = ManuallyDrop::new(unsafe { Waker::from_raw(raw) });
    f(&waker)
}

fn header(data: *const ()) -> NonNull<Header> {
    // SAFETY: the data of our wakers is a task pointer.
    unsafe { NonNull::new_unchecked(data.cast_mut().cast()) }
}

unsafe fn clone(data: *const ()) -> RawWaker {
    // SAFETY: the waker that is cloned has, or stands on, a reference.
    unsafe { header(data).as_ref() }.state.ref_inc();
    RawWaker::new(data, &VTABLE)
}

unsafe fn wake(data: *const ()) {
    let header = header(data);
    // SAFETY: this waker's reference keeps the task until the state change gives it up.
    match unsafe { header.as_ref() }.state.wake() {
        // SAFETY: the waker's reference goes to the queue, and keeps the task for the call.
        Wake::Submit => unsafe { (header.as_ref().vtable.schedule)(header) },
        Wake::Nothing => context::note_wake(data),
        // SAFETY: that was the last reference.
        Wake::Dealloc => unsafe { (header.as_ref().vtable.release)(header) },
    }
}

unsafe fn wake_by_ref(data: *const ()) {
    let header = header(data);
    // SAFETY: the waker's reference keeps the task.
    match unsafe { header.as_ref() }.state.wake_by_ref() {
        // SAFETY: the state change added a reference for the queue.
        Wake::Submit => unsafe { (header.as_ref().vtable.schedule)(header) },
        Wake::Nothing | Wake::Dealloc => context::note_wake(data),
    }
}

unsafe fn drop_waker(data: *const ()) {
    // SAFETY: the waker's reference is given up.
    drop(unsafe { TaskRef::from_raw(header(data)) });
}
