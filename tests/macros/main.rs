//! The facade's macros, used the way a program uses them.

mod drop_order;
mod grammar;
mod join;
mod main_attribute;
mod main_shapes;
mod never;
mod pin;
mod select;
mod test_attribute;

use std::cell::{Cell, RefCell};
use std::future::{Future, IntoFuture, pending, poll_fn, ready};
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use rt::task::{consume_budget, yield_now};
use rt::time::sleep;

/// A future that is polled `polls` times before it is done, and tells when it is polled and dropped.
struct Probe<'a> {
    name: &'static str,
    polls: usize,
    log: &'a RefCell<Vec<String>>,
}

impl<'a> Probe<'a> {
    fn new(name: &'static str, polls: usize, log: &'a RefCell<Vec<String>>) -> Self {
        Probe { name, polls, log }
    }
}

impl Future for Probe<'_> {
    type Output = &'static str;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<&'static str> {
        self.log.borrow_mut().push(format!("poll {}", self.name));
        self.polls -= 1;
        if self.polls == 0 {
            Poll::Ready(self.name)
        } else {
            cx.waker().wake_by_ref();
            Poll::Pending
        }
    }
}

impl Drop for Probe<'_> {
    fn drop(&mut self) {
        self.log.borrow_mut().push(format!("drop {}", self.name));
    }
}

/// Polls once, for a look at what a macro's future does in one poll.
fn poll_once<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}
