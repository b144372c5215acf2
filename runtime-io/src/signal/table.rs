//! Which signals have come, and who listens for them: the part of the protocol that threads share and loom checks.
//!
//! There is one [`Table`] in a process (`dispatch.rs`). For each number of a signal it has a flag, *pending*, and a
//! line of listeners. A listener is a [`ScheduledIo`]: a signal is to it what an event is to a descriptor.
//!
//! 1. *Note* (the handler, on any thread, in the middle of anything): sets the pending flag, and after that makes the
//!    teller readable. Nothing else: a handler may neither take a lock nor allocate.
//! 2. *Deliver* (any driver, when its poller says that the teller has become readable): empties the teller, and after
//!    that takes each pending flag that is set, and delivers an event to each listener in that line.
//! 3. *Poll* (a listener): takes the event if there is one, else leaves its waker.
//!
//! # No signal is lost
//!
//! The flag is set before the teller becomes readable, and looked at after the teller has been emptied. So the driver
//! whose read takes the byte out sees the flag, unless another driver has taken the flag already, and is delivering. If
//! the teller is full, the byte cannot be written; then there are older bytes in it, which some driver has yet to take
//! out, and that driver sees the flag.
//!
//! Each driver of the process is told of each byte, and may come too late: the teller is empty then, or no flag is set,
//! and nothing happens. It takes one driver to deliver to all listeners, whichever runtimes they are polled in. So
//! nobody depends on a runtime that has ended, or that no thread is driving at the moment.
//!
//! # Coalescing
//!
//! Signals of a number that come before the flag is taken are one; events that come before the listener takes one are
//! one. A listener takes the event first and returns after that; so it is ready at least once for the last signal,
//! however far behind it is, and never more often than there were signals.
//!
//! # Orderings
//!
//! The flag's `fetch_or` releases and its `swap` acquires: what the thread did before the handler ran is visible to
//! those that the signal wakes. That the byte comes after the flag is the system's doing: writing and reading the
//! teller order what is around them, as a lock would.

use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;
use std::task::{Context, Poll};

use runtime_core::primitive::Mutex;
use runtime_core::primitive::atomic::AtomicU32;
use runtime_core::primitive::atomic::Ordering::{AcqRel, Relaxed, Release};
use slab::Slab;

use crate::readiness::{Direction, ScheduledIo, WakeBatch};
use crate::ready::Ready;

const WORD: usize = u32::BITS as usize;

/// For each number of a signal: whether one is pending, and who listens for it.
pub(super) struct Table {
    /// A bit for each number.
    pending: Box<[AtomicU32]>,
    /// The listeners for each number. Nothing but table work happens under these locks.
    lines: Box<[Mutex<Slab<Arc<ScheduledIo>>>]>,
}

impl Table {
    /// A table for the signals with numbers below `numbers`.
    pub(super) fn new(numbers: usize) -> Self {
        Self {
            pending: (0..numbers.div_ceil(WORD)).map(|_| AtomicU32::new(0)).collect(),
            lines: (0..numbers).map(|_| Mutex::new(Slab::new())).collect(),
        }
    }

    /// Whether there can be signals of that number.
    #[cfg(not(loom))]
    pub(super) fn has(&self, number: usize) -> bool {
        number < self.lines.len()
    }

    /// Notes that a signal has come. Called by the handler, which must make the teller readable after that.
    pub(super) fn note(&self, number: usize) {
        self.pending[number / WORD].fetch_or(1 << (number % WORD), Release);
    }

    /// Delivers what is pending to all listeners. Called after the teller has been emptied.
    pub(super) fn deliver(&self, wakes: &mut WakeBatch) {
        for (place, word) in self.pending.iter().enumerate() {
            // Relaxed: a flag that this does not see yet is followed by a byte in the teller. Nearly always there is
            // none in this word, and then the word stays in the caches of those who look.
            if word.load(Relaxed) == 0 {
                continue;
            }
            let mut flags = word.swap(0, AcqRel);
            while flags != 0 {
                let bit = flags.trailing_zeros() as usize;
                flags &= flags - 1;
                for (_, listener) in &*self.lines[place * WORD + bit].lock() {
                    listener.deliver(listener.generation(), Ready::READABLE, wakes);
                }
            }
        }
    }

    /// Adds a listener for a number that the table [has](Self::has). It hears all signals that are noted from now on,
    /// and perhaps one that was noted before and is not delivered yet.
    pub(super) fn listen(self: &Arc<Self>, number: usize) -> Listener {
        let io = Arc::new(ScheduledIo::new());
        let key = self.lines[number].lock().insert(io.clone());
        Listener { table: self.clone(), number, key, io }
    }
}

/// One that listens for the signals of one number. Dropping it ends that.
pub(crate) struct Listener {
    table: Arc<Table>,
    number: usize,
    key: usize,
    io: Arc<ScheduledIo>,
}

impl Listener {
    /// The number of the signals.
    #[cfg(not(loom))]
    pub(crate) fn number(&self) -> i32 {
        i32::try_from(self.number).expect("there are not many")
    }

    /// Takes note of the signals that have come since the last time, or has the task woken by the next one. Of several
    /// callers, the last one will be woken. Spends no budget.
    pub(crate) fn poll(&self, cx: &mut Context<'_>) -> Poll<()> {
        match self.io.poll_ready(cx, Direction::Read) {
            Poll::Ready(Ok(event)) => {
                // If another signal has come since that look, this clears nothing, and the next poll is ready too.
                self.io.clear_drained(event);
                Poll::Ready(())
            }
            Poll::Ready(Err(_)) => unreachable!("drivers shut down their own registrations, and no listeners"),
            Poll::Pending => Poll::Pending,
        }
    }
}

// As for sockets: no panic leaves the table or the listener inconsistent, as nothing that can panic runs under their
// locks.
impl UnwindSafe for Listener {}
impl RefUnwindSafe for Listener {}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listener").field("number", &self.number).finish_non_exhaustive()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let gone = self.table.lines[self.number].lock().try_remove(self.key);
        debug_assert!(gone.is_some());
        // With the waker, if one was left: not under the lock.
        self.io.retire();
    }
}

#[cfg(all(test, loom))]
mod loom_models;
#[cfg(all(test, not(loom)))]
mod tests;
