//! In place of `near/`, for systems that do not tell on which processor a socket's packets come in: every socket is with
//! the shared poller.

use std::sync::Arc;

use mio::event::Event;
use runtime_core::driver::Visit;

use crate::interest::Interest;
use crate::readiness::WakeBatch;

use super::registry::Registry;

#[derive(Clone, Copy, Debug)]
pub(super) enum How {
    Parks,
    Polls,
}

#[derive(Debug)]
pub(super) struct Nearby;

impl Nearby {
    pub(super) fn new(_: usize, _: &Arc<Registry>) -> Self {
        Self
    }

    pub(super) fn visit(&self, _: usize, _: Visit, _: impl FnMut(&Event, &mut WakeBatch)) {}

    pub(super) fn attend(&self, _: usize, _: How, _: impl FnMut(&Event, &mut WakeBatch)) -> u64 {
        0
    }

    pub(super) fn attend_passed_over(&self, _: How, _: impl FnMut(&Event, &mut WakeBatch)) -> u64 {
        0
    }

    pub(super) fn delivered(&self) -> u64 {
        0
    }
}

/// Any socket.
pub(crate) trait Raw {}

impl<T> Raw for T {}

#[derive(Debug)]
pub(super) struct Seat;

impl Seat {
    pub(super) fn new(_: usize) -> Self {
        Self
    }

    pub(super) fn leave(&mut self, _: &Nearby) -> Option<std::io::Result<()>> {
        None
    }

    #[inline]
    pub(super) fn note_read(&self, _: &Nearby, _: &impl Raw, _: impl FnOnce() -> mio::Token, _: Interest) {}
}
