//! What the process has: threads, descriptors, bytes.

use std::alloc::{GlobalAlloc, Layout, System};
use std::fs;
use std::sync::atomic::AtomicIsize;
use std::sync::atomic::Ordering::Relaxed;

static LIVE: AtomicIsize = AtomicIsize::new(0);

struct Counting;

// SAFETY: passes everything on to the system's allocator, and counts beside it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.fetch_add(layout.size() as isize, Relaxed);
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

/// The names of the threads of the runtimes under test. (The monitor's cannot be chosen.)
pub(crate) const THREADS: &str = "mixed";
const MONITOR: &str = "rt-monitor";

#[derive(Clone, Copy, Debug)]
pub(crate) struct Counts {
    /// Those of runtimes only.
    pub(crate) threads: usize,
    pub(crate) descriptors: usize,
    pub(crate) bytes: isize,
}

impl Counts {
    pub(crate) fn now() -> Self {
        let threads = fs::read_dir("/proc/self/task")
            .unwrap()
            .flatten()
            // One that ends at this moment has no name any more.
            .filter_map(|thread| fs::read_to_string(thread.path().join("comm")).ok())
            .filter(|name| name.starts_with(THREADS) || name.starts_with(MONITOR))
            .count();
        let descriptors = fs::read_dir("/proc/self/fd").unwrap().count();
        Self { threads, descriptors, bytes: LIVE.load(Relaxed) }
    }
}

/// Hundreds of panics are part of the program. Their reports would be kept by the test harness, and counted.
pub(crate) fn be_quiet_about_what_is_expected() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let text = match info.payload().downcast_ref::<&str>() {
            Some(text) => text,
            None => info.payload().downcast_ref::<String>().map_or("", String::as_str),
        };
        let expected = ["has been shut down", "an rt runtime was dropped inside", "`block_on` was called inside"];
        if !expected.iter().any(|part| text.contains(part)) {
            before(info);
        }
    }));
}
