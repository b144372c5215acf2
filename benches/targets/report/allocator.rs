//! The system's allocator, counting when asked to.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicIsize, Ordering::Relaxed};

static COUNTS: AtomicBool = AtomicBool::new(false);
static BYTES: AtomicIsize = AtomicIsize::new(0);

/// The system's allocator. Unless somebody counts, it adds one predictable branch to it.
pub(crate) struct Counting;

/// Runs a closure, with a function that tells how many bytes have been allocated and not freed since it began. What is
/// allocated before and freed meanwhile counts against that.
pub(crate) fn counting<T>(measure: impl FnOnce(fn() -> isize) -> T) -> T {
    BYTES.store(0, Relaxed);
    COUNTS.store(true, Relaxed);
    let outcome = measure(|| BYTES.load(Relaxed));
    COUNTS.store(false, Relaxed);
    outcome
}

fn add(bytes: isize) {
    if COUNTS.load(Relaxed) {
        BYTES.fetch_add(bytes, Relaxed);
    }
}

// A layout's size fits into an `isize`, so the casts below lose nothing.
//
// SAFETY: everything is passed on to the system's allocator as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add(layout.size() as isize);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        add(layout.size() as isize);
        // SAFETY: the caller's promise.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        add(size as isize - layout.size() as isize);
        // SAFETY: the caller's promise.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        add(-(layout.size() as isize));
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }
}
