//! What an empty channel takes on the heap, by an allocator that counts: at most what Tokio's takes.
//!
//! The handles are not counted, which are one pointer each, or two.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    /// What this thread has allocated, and not freed.
    static LIVE: Cell<isize> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: passes everything on to the system's allocator, and counts beside it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.set(LIVE.get() + layout.size() as isize);
        // SAFETY: the caller's promises are the system allocator's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        LIVE.set(LIVE.get() - layout.size() as isize);
        // SAFETY: as in `alloc`.
        unsafe { System.dealloc(memory, layout) };
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// How many bytes there are for what the closure makes. All of them go with it.
fn bytes_of<T>(make: impl Fn() -> T) -> isize {
    // What is made once and for all, as a seed is, is there after the first.
    drop(make());
    let before = LIVE.get();
    let made = make();
    let bytes = LIVE.get() - before;
    drop(made);
    assert_eq!(LIVE.get(), before, "something is left of {}", std::any::type_name::<T>());
    bytes
}

/// Makes each channel with both libraries, for values of this type.
macro_rules! compare {
    ($value:ty, $new:expr) => {
        [
            ("oneshot", bytes_of(|| rt::sync::oneshot::channel::<$value>()), {
                bytes_of(|| tokio::sync::oneshot::channel::<$value>())
            }),
            ("mpsc, bounded to 16", bytes_of(|| rt::sync::mpsc::channel::<$value>(16)), {
                bytes_of(|| tokio::sync::mpsc::channel::<$value>(16))
            }),
            ("mpsc, unbounded", bytes_of(|| rt::sync::mpsc::unbounded_channel::<$value>()), {
                bytes_of(|| tokio::sync::mpsc::unbounded_channel::<$value>())
            }),
            ("broadcast of 1", bytes_of(|| rt::sync::broadcast::channel::<$value>(1)), {
                bytes_of(|| tokio::sync::broadcast::channel::<$value>(1))
            }),
            ("broadcast of 16", bytes_of(|| rt::sync::broadcast::channel::<$value>(16)), {
                bytes_of(|| tokio::sync::broadcast::channel::<$value>(16))
            }),
            ("watch", bytes_of(|| rt::sync::watch::channel::<$value>($new)), {
                bytes_of(|| tokio::sync::watch::channel::<$value>($new))
            }),
        ]
    };
}

#[test]
fn an_empty_channel_takes_no_more_than_tokios() {
    let of_units = compare!((), ()).map(|row| ("()", row));
    let of_words = compare!(u64, 0).map(|row| ("u64", row));
    let of_pages = compare!([u8; 256], [0; 256]).map(|row| ("[u8; 256]", row));
    let mut larger = Vec::new();
    for (value, (channel, ours, tokios)) in of_units.into_iter().chain(of_words).chain(of_pages) {
        println!("{channel:20} of {value:10} {ours:6} bytes, Tokio's {tokios:6}");
        if ours > tokios {
            larger.push((channel, value, ours, tokios));
        }
    }
    assert!(larger.is_empty(), "channel, value, bytes, Tokio's: {larger:?}");
}
