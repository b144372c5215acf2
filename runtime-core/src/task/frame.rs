//! [`Frame`]: code of the user's runs on this thread, and what it leaves behind is undone.
//!
//! The runtime calls code of the user's inside of a frame: the poll of a task, a closure on the blocking pool, a hook,
//! a waker, the drop of a future. That code may make another runtime the thread's current one, and not undo it. Each
//! runtime that is entered draws a *ticket*, a number that only grows on its thread. So when a frame ends with other
//! tickets drawn than when it began, the layer above is asked to remove what was entered since
//! (`context/entered.rs`). If none was drawn, as usual, the frame costs a comparison of two numbers.

use super::current::{Above, CURRENT};

/// Code of the user's runs while this lives; what it entered and did not leave is left when this is dropped.
#[derive(Debug)]
pub(crate) struct Frame {
    since: u64,
}

impl Frame {
    #[inline]
    pub(crate) fn begin() -> Self {
        Self { since: next_ticket() }
    }
}

impl Drop for Frame {
    #[inline]
    fn drop(&mut self) {
        if next_ticket() != self.since {
            end(self.since);
        }
    }
}

/// The ticket of what is entered next on this thread.
#[inline]
pub(crate) fn next_ticket() -> u64 {
    CURRENT.with(|current| current.next_ticket.get())
}

/// Draws a ticket, for the layer above.
pub(crate) fn draw_ticket(above: &'static Above) -> u64 {
    CURRENT.with(|current| {
        current.above.set(Some(above));
        let ticket = current.next_ticket.get();
        current.next_ticket.set(ticket + 1);
        ticket
    })
}

#[cold]
fn end(since: u64) {
    let above = CURRENT.with(|current| current.above.get()).expect("set when the first ticket was drawn");
    (above.end_frame)(since);
}
