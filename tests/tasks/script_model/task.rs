//! What the runtime is given to poll, drop, hand over and wake. Each compares itself with the account.

use std::future::Future;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::task::{Context, Poll, Wake};

use super::act::{Scope, acts};
use super::{End, Who, claim, one_in, read, with};

/// A task's future. The number is the task's.
pub(super) struct Scripted(pub(super) usize);

impl Future for Scripted {
    type Output = Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Output> {
        let me = self.0;
        begin_poll(me);
        acts(&Scope { who: Who::Task(me), waker: Some(cx.waker()) }, 4);
        let end = match read() % 8 {
            0 | 1 => Some(End::Returned),
            2 => Some(End::Panicked),
            _ => None,
        };
        with(|world| {
            let task = &mut world.tasks[me];
            task.polling = false;
            task.end = end;
            task.has_output = end == Some(End::Returned);
        });
        match end {
            None => Poll::Pending,
            Some(End::Returned) => Poll::Ready(Output(me)),
            Some(_) => throw(me, End::Panicked),
        }
    }
}

fn begin_poll(me: usize) {
    let id = rt::task::try_id();
    with(|world| {
        // A finished task has woken its joiner.
        let mut woken = world.tasks[me].notified;
        for task in &mut world.tasks {
            if task.joiner == Some(Who::Task(me)) && task.handle.as_ref().is_some_and(|handle| handle.is_finished()) {
                task.joiner = None;
                woken = true;
            }
        }
        let task = &mut world.tasks[me];
        claim!(woken, "task {me} was polled, and nobody had woken it");
        claim!(task.end.is_none() && !task.future_dropped, "task {me} was polled after its end");
        claim!(!task.aborted, "task {me} was polled after it had been aborted");
        claim!(!task.polling, "task {me} was polled while it was being polled");
        claim!(id == task.id, "task {me} was polled as {id:?}");
        task.notified = false;
        task.polling = true;
    });
}

impl Drop for Scripted {
    fn drop(&mut self) {
        let me = self.0;
        with(|world| {
            let closing = world.closing;
            let task = &mut world.tasks[me];
            claim!(!task.future_dropped, "the future of task {me} was dropped twice");
            claim!(!task.polling, "the future of task {me} was dropped during its poll");
            claim!(task.end.is_some() || task.aborted || closing, "the future of task {me} was dropped without cause");
            task.future_dropped = true;
            task.end.get_or_insert(End::Cancelled);
        });
        acts(&Scope::NOBODY, 3);
        if one_in(8) && !std::thread::panicking() {
            with(|world| world.tasks[me].end = Some(End::PanickedInDrop));
            throw(me, End::PanickedInDrop);
        }
    }
}

/// A task's output.
#[derive(Debug)]
pub(super) struct Output(pub(super) usize);

impl Drop for Output {
    fn drop(&mut self) {
        let me = self.0;
        with(|world| {
            let task = &mut world.tasks[me];
            claim!(task.has_output, "the output of task {me} was dropped twice");
            let gives_it = !task.handle_gone && task.end == Some(End::Returned);
            claim!(!gives_it, "the output of task {me} was dropped, although somebody could ask for it");
            task.has_output = false;
        });
        acts(&Scope::NOBODY, 3);
        throw_nothing_now_and_then();
    }
}

/// What a panic carries.
pub(super) struct Payload {
    pub(super) of: usize,
    pub(super) when: End,
    /// A second drop is a double free as well, which sanitizers see.
    alive: Box<bool>,
}

impl Drop for Payload {
    fn drop(&mut self) {
        claim!(std::mem::replace(&mut *self.alive, false), "the payload of a panic was dropped twice");
        with(|world| world.payloads -= 1);
        acts(&Scope::NOBODY, 2);
        throw_nothing_now_and_then();
    }
}

/// Panics, without a word on stderr.
fn throw(of: usize, when: End) -> ! {
    with(|world| world.payloads += 1);
    resume_unwind(Box::new(Payload { of, when, alive: Box::new(true) }))
}

/// The payload of panics that the model catches, or that are dropped with no joiner to take them. Of no size, because
/// the payload of a panic in the drop of a payload is leaked.
pub(super) struct Thrown;

pub(super) fn throw_nothing_now_and_then() {
    if one_in(8) && !std::thread::panicking() {
        resume_unwind(Box::new(Thrown));
    }
}

/// A joiner's waker that is not a task's. It may act as well, and panic.
pub(super) struct Listener {
    woken: AtomicUsize,
}

impl Listener {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self { woken: AtomicUsize::new(0) })
    }

    pub(super) fn woken(&self) -> usize {
        self.woken.load(Relaxed)
    }
}

impl Wake for Listener {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.woken.fetch_add(1, Relaxed);
        acts(&Scope::NOBODY, 3);
        throw_nothing_now_and_then();
    }
}
