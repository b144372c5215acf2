//! Panics of code of the user's, such as wakers and drops, where this crate has more to do after that code.
//!
//! Called by what wakes many, and by drops that call wakers. A panic that leaves a drop while another one is on its way
//! ends the process. So this must never pass one on while the thread is panicking.

use std::any::Any;
use std::panic::{self, AssertUnwindSafe};
use std::thread;

use runtime_core::discard_payload;

/// Calls several pieces of code, each of them though another panics, and keeps the first panic.
pub(crate) struct Panics {
    first: Option<Box<dyn Any + Send>>,
}

impl Panics {
    pub(crate) const fn new() -> Self {
        Self { first: None }
    }

    /// Calls the closure. If it panics, that stays here.
    pub(crate) fn catch(&mut self, f: impl FnOnce()) {
        if let Err(payload) = panic::catch_unwind(AssertUnwindSafe(f)) {
            self.keep(payload);
        }
    }

    /// Keeps what has been caught elsewhere, if it is the first.
    pub(crate) fn keep(&mut self, payload: Box<dyn Any + Send>) {
        match self.first {
            None => self.first = Some(payload),
            Some(_) => discard_payload(payload),
        }
    }

    /// Passes the first panic on. If the thread is panicking, that panic is the one that counts, and this one ends
    /// here.
    pub(crate) fn pass_on(self) {
        if let Some(payload) = self.first {
            if thread::panicking() {
                discard_payload(payload);
            } else {
                panic::resume_unwind(payload);
            }
        }
    }
}
