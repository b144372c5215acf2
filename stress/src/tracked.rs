//! Tasks that are watched: each future carries a guard that counts its end, and each handle must agree with it.
//!
//! A task ends in one of four ways: its poll returned `Ready`; it panicked, in a poll or while it was dropped; it was
//! dropped because somebody aborted it; or because its runtime ended. Nothing else may happen to it, and none of it
//! twice. Its handle must then give an output, a panic with the very payload, or a cancellation.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU8, Ordering};
use std::task::{Context, Poll};
use std::thread;

use pin_project_lite::pin_project;
use rt::task::{AbortHandle, JoinError, JoinHandle};

use crate::ledger::{Count, Kind, Ledger};
use crate::panics::Planned;

/// The life of a runtime, or of a local set, as its tasks see it.
#[derive(Default)]
pub(crate) struct Life {
    is_set: bool,
    /// Somebody has begun to shut it down, or is about to.
    closing: AtomicBool,
    /// Futures of its tasks.
    alive: AtomicI64,
}

impl Life {
    pub(crate) fn of_set() -> Self {
        Self { is_set: true, ..Self::default() }
    }

    /// From here on tasks may be dropped.
    pub(crate) fn close(&self) {
        self.closing.store(true, Ordering::SeqCst);
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::SeqCst)
    }

    pub(crate) fn alive(&self) -> i64 {
        self.alive.load(Ordering::Acquire)
    }
}

const POLLING: u8 = 1;
const COMPLETED: u8 = 1 << 1;
const POLL_PANICKED: u8 = 1 << 2;
const DROP_PANICKED: u8 = 1 << 3;
const GONE: u8 = 1 << 4;
const ABORTED: u8 = 1 << 5;

/// What is known of one task. The flags are relaxed: that they are seen in time is for rt to see to.
pub(crate) struct Record {
    pub(crate) id: u64,
    kind: Kind,
    flags: AtomicU8,
    ledger: Arc<Ledger>,
    life: Arc<Life>,
}

impl Record {
    pub(crate) fn new(kind: Kind, ledger: &Arc<Ledger>, life: &Arc<Life>) -> Arc<Self> {
        let id = ledger.born(kind);
        life.alive.fetch_add(1, Ordering::Relaxed);
        Arc::new(Self { id, kind, flags: AtomicU8::new(0), ledger: Arc::clone(ledger), life: Arc::clone(life) })
    }

    fn set(&self, flag: u8) -> u8 {
        self.flags.fetch_or(flag, Ordering::Relaxed)
    }

    /// Somebody is about to abort it.
    pub(crate) fn aborting(&self) {
        self.set(ABORTED);
    }

    fn flags(&self) -> u8 {
        self.flags.load(Ordering::Relaxed)
    }

    pub(crate) fn problem(&self, what: &str) {
        let Self { id, kind, .. } = self;
        self.ledger.problem(format!("task {id}, {}: {what} (flags {:#b})", kind.text(), self.flags()));
    }

    /// What the handle says must be what the guard saw.
    fn compare<T>(&self, result: &Result<T, JoinError>) {
        let flags = self.flags();
        if flags & GONE == 0 {
            self.problem("its handle tells of its end, but its future is still there");
        }
        if flags & POLLING != 0 {
            self.problem("its handle tells of its end in the middle of a poll");
        }
        let (said, seen) = match result {
            Ok(_) => ("an output", flags & (COMPLETED | DROP_PANICKED) == COMPLETED),
            Err(error) if error.is_panic() => ("a panic", flags & (POLL_PANICKED | DROP_PANICKED) != 0),
            Err(_) => ("a cancellation", flags & (COMPLETED | POLL_PANICKED | DROP_PANICKED) == 0),
        };
        if !seen {
            self.problem(&format!("its handle tells of {said}"));
        }
    }

    /// How it ended, by what its handle, or its set, tells.
    pub(crate) fn ended<T>(&self, result: Result<T, JoinError>) -> Result<T, End> {
        self.compare(&result);
        result.map_err(|error| match error.try_into_panic() {
            Ok(payload) => {
                if payload.downcast_ref::<Planned>().is_none_or(|planned| planned.0 != self.id) {
                    self.problem("panicked, but not with the payload that was planned for it");
                }
                End::Panicked
            }
            Err(_) => End::Cancelled,
        })
    }
}

/// Lies in the future, or in the closure, of a task.
pub(crate) struct Guard(Arc<Record>);

impl Guard {
    pub(crate) fn new(record: &Arc<Record>) -> Self {
        Self(Arc::clone(record))
    }

    /// Around a poll, or the call of a closure.
    fn enter(&self) -> Polling<'_> {
        if self.0.set(POLLING) & (POLLING | COMPLETED | POLL_PANICKED | GONE) != 0 {
            self.0.problem("polled while it was being polled, or after its end");
        }
        Polling(&self.0)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let record = &self.0;
        let flags = record.set(GONE);
        if flags & (GONE | POLLING) != 0 {
            record.problem("dropped twice, or in the middle of a poll");
        }
        let is_dropping = flags & (COMPLETED | POLL_PANICKED) == 0;
        // An early end needs a cause.
        if is_dropping && flags & ABORTED == 0 && !record.life.is_closing() {
            record.problem("dropped, though nobody aborted it, nor ended its runtime");
        }
        let end = if flags & POLL_PANICKED != 0 {
            Count::Panicked
        } else if thread::panicking() {
            // What the future held is dropped before this, and it panicked.
            record.set(DROP_PANICKED);
            Count::Panicked
        } else if flags & COMPLETED != 0 {
            Count::Completed
        } else if flags & ABORTED != 0 {
            Count::Aborted
        } else if record.life.is_set {
            Count::DroppedWithSet
        } else {
            Count::Dropped
        };
        record.ledger.count(end);
        record.life.alive.fetch_sub(1, Ordering::Release);
        record.ledger.gone(record.kind);
    }
}

struct Polling<'a>(&'a Record);

impl Polling<'_> {
    fn completed(&self) {
        self.0.set(COMPLETED);
    }
}

impl Drop for Polling<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.set(POLL_PANICKED);
        }
        self.0.flags.fetch_and(!POLLING, Ordering::Relaxed);
    }
}

pin_project! {
    /// A future with a guard, which is dropped last.
    pub(crate) struct Tracked<F> {
        #[pin]
        future: F,
        guard: Guard,
    }
}

impl<F> Tracked<F> {
    pub(crate) fn new(future: F, record: &Arc<Record>) -> Self {
        Self { future, guard: Guard::new(record) }
    }
}

impl<F: Future> Future for Tracked<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let polling = this.guard.enter();
        let polled = this.future.poll(cx);
        if polled.is_ready() {
            polling.completed();
        }
        polled
    }
}

/// A closure with a guard.
pub(crate) fn tracked_job<R, J: FnOnce() -> R>(job: J, record: &Arc<Record>) -> impl FnOnce() -> R + use<R, J> {
    let guard = Guard::new(record);
    move || {
        let polling = guard.enter();
        let result = job();
        polling.completed();
        drop(polling);
        result
    }
}

/// How a task ended that gave no output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Cancelled,
    Panicked,
}

/// A [`JoinHandle`] that is compared with what the guard saw. Dropping it detaches.
pub(crate) struct Joined<T> {
    handle: JoinHandle<T>,
    record: Arc<Record>,
}

impl<T> Joined<T> {
    pub(crate) fn new(handle: JoinHandle<T>, record: Arc<Record>) -> Self {
        Self { handle, record }
    }

    pub(crate) async fn join(mut self) -> Result<T, End> {
        self.wait().await
    }

    /// As [`join`](Self::join), for callers that may give up. Not to be called again once it gave a result.
    pub(crate) async fn wait(&mut self) -> Result<T, End> {
        let result = (&mut self.handle).await;
        if !self.handle.is_finished() {
            self.record.problem("awaited to its end, but not finished");
        }
        self.record.ended(result)
    }

    pub(crate) fn abort(&self) {
        self.record.aborting();
        self.handle.abort();
    }

    /// Whether it has ended.
    pub(crate) fn is_finished(&self) -> bool {
        self.handle.is_finished()
    }

    /// What somebody else may abort it with.
    pub(crate) fn target(&self) -> Target {
        Target::new(self.handle.abort_handle(), &self.record)
    }

    /// Aborts the task when this is dropped: for tasks that would go on for ever.
    pub(crate) fn leash(self) -> Leash<T> {
        Leash(self)
    }
}

/// See [`Joined::leash`].
pub(crate) struct Leash<T>(pub(crate) Joined<T>);

impl<T> Drop for Leash<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// A task that may be aborted by anybody.
pub(crate) struct Target {
    handle: AbortHandle,
    record: Arc<Record>,
}

impl Target {
    pub(crate) fn new(handle: AbortHandle, record: &Arc<Record>) -> Self {
        Self { handle, record: Arc::clone(record) }
    }

    pub(crate) fn abort(&self) {
        self.record.aborting();
        self.handle.abort();
    }
}
