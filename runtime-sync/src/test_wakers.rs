//! Wakers that count, for tests and models.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Wake, Waker};

/// Counts wakes. No part of a model: it is looked at when all threads have ended.
pub(crate) struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl Count {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self(AtomicUsize::new(0)))
    }

    pub(crate) fn waker(self: &Arc<Self>) -> Waker {
        self.clone().into()
    }

    pub(crate) fn wakes(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

/// Panics when it is called, with its text.
#[cfg(not(loom))]
pub(crate) struct Panics(pub(crate) &'static str);

#[cfg(not(loom))]
impl Wake for Panics {
    fn wake(self: Arc<Self>) {
        std::panic::panic_any(self.0);
    }
}

#[cfg(not(loom))]
impl Panics {
    pub(crate) fn waker(text: &'static str) -> Waker {
        Arc::new(Self(text)).into()
    }
}

/// The text with which the closure panics.
#[cfg(not(loom))]
pub(crate) fn panic_of(f: impl FnOnce()) -> &'static str {
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(f));
    panicked.expect_err("it panics").downcast_ref::<&str>().expect("the panics of these tests are texts")
}
