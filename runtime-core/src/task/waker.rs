//! A task's waker: a `RawWaker` over the task pointer, so that making and waking one allocates nothing.

use std::mem::ManuallyDrop;
use std::ptr::{self, NonNull};
use std::task::{RawWaker, RawWakerVTable, Waker};

use super::cell::Header;
use super::raw::{Notified, TaskRef};
use super::state::Wake;
use super::{Id, current, waker_events};

static VTABLE: RawWakerVTable = RawWakerVTable::new(clone, wake, wake_by_ref, drop_waker);

/// Whether this is the waker of a task, of whatever runtime.
#[inline]
pub(crate) fn is_waker_of_task(waker: &Waker) -> bool {
    ptr::eq(waker.vtable(), &VTABLE)
}

/// A clone of the waker of a task, made by counting: no code of a user's runs, so it may be made under a lock. `None`
/// for any other waker, and while somebody is to be told of it.
#[inline]
pub(crate) fn clone_if_plain(waker: &Waker) -> Option<Waker> {
    let task = task_of_waker(waker).filter(|_| !waker_events::hear())?;
    task.state.ref_inc();
    // SAFETY: the vtable keeps RawWaker's contract, and the reference was counted.
    Some(unsafe { Waker::from_raw(RawWaker::new(waker.data(), &VTABLE)) })
}

/// Tells what is done with a waker, if it is the waker of a task.
#[inline]
pub(super) fn tell_of(waker: &Waker, what: &'static str) {
    if let Some(task) = task_of_waker(waker) {
        waker_events::tell(|| task.id(), what);
    }
}

/// The task that a waker wakes, if it is the waker of a task.
#[inline]
fn task_of_waker(waker: &Waker) -> Option<&Header> {
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

/// Wakes a task for which `is_own` holds: changes its state as the waker would, and returns the task if it is to be
/// queued, instead of handing it to its scheduler. Gives the waker back if it is of no such task.
///
/// If somebody listens to what becomes of wakers `hear` is called: to tell it, or to have it told later.
#[inline]
pub(crate) fn wake_own(
    waker: Waker,
    is_own: impl FnOnce(&Header) -> bool,
    hear: impl FnOnce(Id),
) -> Result<Option<Notified>, Waker> {
    if !task_of_waker(&waker).is_some_and(is_own) {
        return Err(waker);
    }
    let header = header(ManuallyDrop::new(waker).data());
    if waker_events::hear() {
        // SAFETY: the waker was of a task, and is not dropped: its reference keeps the task.
        hear(unsafe { header.as_ref() }.id());
    }
    // SAFETY: as above, and the reference goes to the call.
    Ok(unsafe { wake_task(header) })
}

/// For [`wake_own`], where a subscriber may be called.
#[inline]
pub(crate) fn hear_wake(task: Id) {
    waker_events::tell(|| task, waker_events::WAKE);
}

/// Wakes a task. Returns it if it is to be queued.
///
/// # Safety
///
/// The caller has a reference to the task and gives it away.
#[inline]
unsafe fn wake_task(header: NonNull<Header>) -> Option<Notified> {
    // SAFETY: the reference keeps the task until the state change gives it up.
    match unsafe { header.as_ref() }.state.wake() {
        // SAFETY: SCHEDULED was set here, and the reference goes to the queue.
        Wake::Submit => Some(unsafe { submit(header) }),
        Wake::Nothing => {
            current::note_wake(header.as_ptr().cast_const().cast());
            None
        }
        Wake::Dealloc => {
            // SAFETY: that was the last reference.
            unsafe { (header.as_ref().vtable.release)(header) };
            None
        }
    }
}

/// A task that was woken while it waited is going to be queued.
///
/// # Safety
///
/// The caller has changed its state from idle to SCHEDULED, and gives a reference away.
#[inline]
pub(super) unsafe fn submit(header: NonNull<Header>) -> Notified {
    // SAFETY: the caller's promise.
    unsafe {
        #[cfg(not(loom))]
        super::record::note_queued(header);
        Notified::from_raw(header)
    }
}

/// Hands a task to its scheduler.
#[inline]
pub(super) fn schedule(task: Notified) {
    let header = task.into_raw();
    // SAFETY: the reference goes to the queue, and keeps the task for the call.
    unsafe { (header.as_ref().vtable.schedule)(header) };
}

fn header(data: *const ()) -> NonNull<Header> {
    // SAFETY: the data of our wakers is a task pointer.
    unsafe { NonNull::new_unchecked(data.cast_mut().cast()) }
}

/// Tells what is about to be done with a waker.
///
/// # Safety
///
/// It is the data of a waker that has, or stands on, a reference.
#[inline]
unsafe fn tell(data: *const (), what: &'static str) {
    // SAFETY: the caller's promise.
    waker_events::tell(|| unsafe { header(data).as_ref() }.id(), what);
}

unsafe fn clone(data: *const ()) -> RawWaker {
    // SAFETY: the waker that is cloned is there.
    unsafe { tell(data, "waker.clone") };
    // SAFETY: the waker that is cloned has, or stands on, a reference.
    unsafe { header(data).as_ref() }.state.ref_inc();
    RawWaker::new(data, &VTABLE)
}

unsafe fn wake(data: *const ()) {
    // SAFETY: the waker's reference is given up after that.
    unsafe { tell(data, waker_events::WAKE) };
    // SAFETY: the waker's reference is given up.
    if let Some(task) = unsafe { wake_task(header(data)) } {
        schedule(task);
    }
}

unsafe fn wake_by_ref(data: *const ()) {
    // SAFETY: the waker is there.
    unsafe { tell(data, "waker.wake_by_ref") };
    let header = header(data);
    // SAFETY: the waker's reference keeps the task.
    match unsafe { header.as_ref() }.state.wake_by_ref() {
        // SAFETY: SCHEDULED was set here, and a reference for the queue was added.
        Wake::Submit => unsafe { schedule(submit(header)) },
        Wake::Nothing | Wake::Dealloc => current::note_wake(data),
    }
}

unsafe fn drop_waker(data: *const ()) {
    // SAFETY: the waker's reference is given up after that.
    unsafe { tell(data, "waker.drop") };
    // SAFETY: the waker's reference is given up.
    drop(unsafe { TaskRef::from_raw(header(data)) });
}
