//! A closure as a task: it is polled once, on a thread of the pool.

use std::future::Future;
use std::pin::Pin;
use std::ptr::NonNull;
use std::sync::Arc;
use std::task::{Context, Poll};

use crate::clock::Clock;
use crate::context;
use crate::coop::Budget;
use crate::events::TaskEventKind;
use crate::runtime::Inner;
use crate::task::{self, Birth, Header, Id, JoinHandle, Notified, Schedule, TaskRef};

/// The pool, to its tasks. They are queued once, when they are made, and are on no list.
pub(crate) struct Blocking;

impl Schedule for Blocking {
    fn schedule(_: Notified) {
        unreachable!("a blocking task is queued from its birth to its one poll, and no wake queues it again");
    }

    fn reschedule(_: Notified) {
        unreachable!("a blocking task completes in its one poll");
    }

    fn completed(_: &Header) {}

    fn event(_: &TaskRef, _: TaskEventKind) {}

    unsafe fn release(task: NonNull<Header>) {
        // SAFETY: the caller's promise; there is no list to leave.
        unsafe { (task.as_ref().vtable.dealloc)(task) };
    }
}

struct Job<F> {
    f: Option<F>,
    id: Id,
    /// While the job exists, real time passes for somebody: a paused clock must not run ahead of it.
    _inhibit: InhibitAutoAdvance,
}

/// Keeps a paused clock from advancing by itself.
struct InhibitAutoAdvance {
    runtime: Arc<Inner>,
}

impl InhibitAutoAdvance {
    fn new(runtime: &Arc<Inner>) -> Self {
        runtime.clock.inhibit_auto_advance();
        Self { runtime: Arc::clone(runtime) }
    }
}

impl Drop for InhibitAutoAdvance {
    fn drop(&mut self) {
        let clock: &Clock = &self.runtime.clock;
        clock.allow_auto_advance();
        if clock.is_paused() {
            // A driver that waits without limit because it could not advance must look again.
            self.runtime.drivers.unpark.unpark();
        }
    }
}

impl<F> Unpin for Job<F> {}

impl<F: FnOnce() -> R, R> Future for Job<F> {
    type Output = R;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<R> {
        let f = self.f.take().expect("a blocking task is polled once");
        Poll::Ready(context::in_task(self.id, Budget::UNCONSTRAINED, f))
    }
}

pub(super) fn new<F, R>(runtime: &Arc<Inner>, f: F, birth: Birth) -> (Notified, JoinHandle<R>)
where
    F: FnOnce() -> R + Send + 'static,
    R: Send + 'static,
{
    let job = Job { f: Some(f), id: birth.id, _inhibit: InhibitAutoAdvance::new(runtime) };
    // It is on no list, but counts the reference of one all the same, like any task, and gives it back on completion.
    task::new_task::<_, Blocking>(job, birth)
}
