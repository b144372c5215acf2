//! The wakers, of which one function does something of its own.

use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::task::{RawWaker, RawWakerVTable, Waker};

use super::Act;
use crate::tasks::faulty::Function;

/// Wakers of which one function does something of its own before it does what it should.
pub(super) struct Meddling(Arc<Family>);

struct Family {
    function: Function,
    act: Act,
    /// What it does may lead to the same function.
    is_inside: AtomicBool,
    begun: AtomicUsize,
    ended: AtomicUsize,
}

impl Family {
    fn call(&self, function: Function) {
        if self.function == function && !self.is_inside.swap(true, SeqCst) {
            self.begun.fetch_add(1, SeqCst);
            (self.act)();
            self.ended.fetch_add(1, SeqCst);
            self.is_inside.store(false, SeqCst);
        }
    }
}

impl Meddling {
    pub(super) fn new(function: Function, act: Act) -> Self {
        let (begun, ended) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Self(Arc::new(Family { function, act, is_inside: AtomicBool::new(false), begun, ended }))
    }

    pub(super) fn waker(&self) -> Waker {
        // SAFETY: the functions below keep RawWaker's contract: the data is an `Arc<Family>`, of which each waker owns
        // one count.
        unsafe { Waker::new(Arc::into_raw(self.0.clone()).cast(), &VTABLE) }
    }

    /// How often it has done its thing, and was done with it.
    pub(super) fn acts(&self) -> usize {
        self.0.ended.load(SeqCst)
    }

    /// How many wakers are left.
    pub(super) fn alive(&self) -> usize {
        Arc::strong_count(&self.0) - 1
    }
}

static VTABLE: RawWakerVTable = RawWakerVTable::new(clone, wake, wake_by_ref, drop_waker);

unsafe fn clone(data: *const ()) -> RawWaker {
    let family: *const Family = data.cast();
    // SAFETY: the waker that is cloned owns a count.
    unsafe {
        (*family).call(Function::Clone);
        Arc::increment_strong_count(family);
    }
    RawWaker::new(data, &VTABLE)
}

unsafe fn wake(data: *const ()) {
    // SAFETY: the count of the waker, which is used up.
    unsafe { Arc::from_raw(data.cast::<Family>()) }.call(Function::Wake);
}

unsafe fn wake_by_ref(data: *const ()) {
    // SAFETY: the waker owns a count, and outlives the call.
    unsafe { &*data.cast::<Family>() }.call(Function::WakeByRef);
}

unsafe fn drop_waker(data: *const ()) {
    // SAFETY: as in `wake`.
    unsafe { Arc::from_raw(data.cast::<Family>()) }.call(Function::Drop);
}
