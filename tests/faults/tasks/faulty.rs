//! Wakers that panic in one function of their vtable, and count every reference that is made and given up.

use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::task::{RawWaker, RawWakerVTable, Waker};

use rt_test_util::Blast;

/// The functions of a waker's vtable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Function {
    Clone,
    Wake,
    WakeByRef,
    Drop,
}

impl Function {
    pub(crate) const ALL: [Self; 4] = [Self::Clone, Self::Wake, Self::WakeByRef, Self::Drop];
}

/// What the wakers of one family share.
struct Family {
    bad: Function,
    blast: Blast,
    armed: AtomicBool,
    wakes: AtomicUsize,
    faults: AtomicUsize,
}

impl Family {
    fn call(&self, function: Function) {
        if self.bad == function && self.armed.load(SeqCst) {
            self.faults.fetch_add(1, SeqCst);
            self.blast.go_off();
        }
    }
}

/// Makes wakers of which one function panics, from the moment that it is armed.
pub(crate) struct Faulty(Arc<Family>);

impl Faulty {
    pub(crate) fn new(bad: Function, blast: Blast) -> Self {
        Self(Arc::new(Family {
            bad,
            blast,
            armed: AtomicBool::new(true),
            wakes: AtomicUsize::new(0),
            faults: AtomicUsize::new(0),
        }))
    }

    pub(crate) fn waker(&self) -> Waker {
        // SAFETY: the functions below keep RawWaker's contract: the data is an `Arc<Family>`, of which each waker owns
        // one count.
        unsafe { Waker::new(Arc::into_raw(self.0.clone()).cast(), &VTABLE) }
    }

    pub(crate) fn arm(&self) {
        self.0.armed.store(true, SeqCst);
    }

    pub(crate) fn disarm(&self) {
        self.0.armed.store(false, SeqCst);
    }

    /// How often the bad function was called, and panicked.
    pub(crate) fn faults(&self) -> usize {
        self.0.faults.load(SeqCst)
    }

    /// How often one was woken.
    pub(crate) fn wakes(&self) -> usize {
        self.0.wakes.load(SeqCst)
    }

    /// How many wakers are left.
    pub(crate) fn alive(&self) -> usize {
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
    // SAFETY: the count of the waker, which is used up, also if this panics.
    let family = unsafe { Arc::from_raw(data.cast::<Family>()) };
    family.wakes.fetch_add(1, SeqCst);
    family.call(Function::Wake);
}

unsafe fn wake_by_ref(data: *const ()) {
    // SAFETY: the waker owns a count, and outlives the call.
    let family = unsafe { &*data.cast::<Family>() };
    family.wakes.fetch_add(1, SeqCst);
    family.call(Function::WakeByRef);
}

unsafe fn drop_waker(data: *const ()) {
    // SAFETY: as in `wake`.
    let family = unsafe { Arc::from_raw(data.cast::<Family>()) };
    family.call(Function::Drop);
}
