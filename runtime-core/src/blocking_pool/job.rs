//! A closure as a task: it is polled once, on a thread of the pool.

use std::future::Future;
use std::pin::Pin;
use std::ptr::{self, NonNull};
use std::task::{Context, Poll};

use crate::coop::Budget;
use crate::task::current::{self, CurrentTask};
use crate::task::{self, Header, Id, JoinHandle, Notified, Schedule, SpawnInfo};

/// The pool, to its tasks. They are queued once, when they are made, and are in no arena.
pub(crate) struct Blocking;

impl Schedule for Blocking {
    const IN_ARENAS: bool = false;

    fn schedule(_: Notified) {
        unreachable!("a blocking task is queued from its birth to its one poll, and no wake queues it again");
    }

    unsafe fn release(task: NonNull<Header>) {
        // SAFETY: the caller's promise; there is no arena to leave.
        unsafe { task::free(task) };
    }
}

struct Job<F> {
    f: Option<F>,
    id: Id,
}

impl<F> Unpin for Job<F> {}

impl<F: FnOnce() -> R, R> Future for Job<F> {
    type Output = R;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<R> {
        let f = self.f.take().expect("a blocking task is polled once");
        Poll::Ready(current::in_task(&CurrentTask::new(self.id, ptr::null()), Budget::UNCONSTRAINED, f))
    }
}

pub(super) fn new<F, R>(f: F, info: SpawnInfo) -> (Notified, JoinHandle<R>)
where
    F: FnOnce() -> R + Send + 'static,
    R: Send + 'static,
{
    let job = Job { f: Some(f), id: info.id };
    // It is in no arena, but counts the reference of one all the same, as any task, and gives it back on completion.
    task::new_task::<_, Blocking>(job, info)
}
