//! An allocator that counts.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicIsize, AtomicUsize};

static LIVE: AtomicIsize = AtomicIsize::new(0);
static MADE: AtomicUsize = AtomicUsize::new(0);

/// How many bytes are allocated now.
pub(crate) fn live_bytes() -> isize {
    LIVE.load(Relaxed)
}

/// How many allocations were made in all.
pub(crate) fn allocations() -> usize {
    MADE.load(Relaxed)
}

struct Counting;

// SAFETY: passes everything on to the system's allocator, and counts beside it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.fetch_add(layout.size() as isize, Relaxed);
        MADE.fetch_add(1, Relaxed);
        // SAFETY: the caller's promises are the system allocator's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size() as isize, Relaxed);
        // SAFETY: as in `alloc`.
        unsafe { System.dealloc(memory, layout) };
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;
