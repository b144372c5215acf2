//! [`Closing`]: what becomes of tasks that are pushed into a queue which shutdown has emptied for the last time.
//!
//! A waker changes the task's state first, and then pushes it. Between the two it may be overtaken by shutdown, which
//! completes the task and empties the queues. What comes after that is a mere reference to a task that is over, but it
//! keeps the task's memory, and with it the runtime's. So shutdown leaves a mark before it empties the queues, and a
//! pusher that finds the mark after its push empties them itself.
//!
//! Shutdown does: set the mark; fence (SeqCst); look at the queue, and empty it. A pusher does: push; fence (SeqCst);
//! look at the mark. One of the fences is first in their common order. If it is the pusher's, shutdown sees the task;
//! if it is shutdown's, the pusher sees the mark. Should both see something, each task still goes to one of them.

use crate::primitive::atomic::Ordering::{Relaxed, SeqCst};
use crate::primitive::atomic::{AtomicBool, fence};

/// The mark that shutdown leaves before it empties the queues.
#[derive(Debug)]
pub(super) struct Closing(AtomicBool);

impl Closing {
    pub(super) fn new() -> Self {
        Self(AtomicBool::new(false))
    }

    /// Shutdown, once: `empty` takes everything out of the queues.
    pub(super) fn close(&self, empty: impl FnOnce()) {
        self.0.store(true, Relaxed);
        // Pairs with the pusher's fence.
        fence(SeqCst);
        empty();
    }

    /// After a push *and a SeqCst fence*: calls `empty` if the queues were emptied for the last time.
    #[inline]
    pub(super) fn after_push(&self, empty: impl FnOnce()) {
        if self.0.load(Relaxed) {
            empty();
        }
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use loom::sync::Arc;
    use loom::thread;

    use super::*;
    use crate::primitive::atomic::AtomicUsize;
    use crate::primitive::atomic::Ordering::{AcqRel, Acquire, Release};

    /// The queue is a number, with the orderings that the real ones give at least.
    #[test]
    fn loom_what_is_pushed_after_the_last_look_is_taken_by_its_pusher() {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(3);
        builder.check(|| {
            let shared = Arc::new((Closing::new(), AtomicUsize::new(0)));
            fn empty(queue: &AtomicUsize) {
                while queue.fetch_update(AcqRel, Acquire, |queued| queued.checked_sub(1)).is_ok() {}
            }
            let pushers = [(); 2].map(|()| {
                let shared = shared.clone();
                thread::spawn(move || {
                    let (closing, queue) = &*shared;
                    queue.fetch_add(1, Release);
                    fence(SeqCst);
                    closing.after_push(|| empty(queue));
                })
            });
            let (closing, queue) = &*shared;
            closing.close(|| empty(queue));
            pushers.into_iter().for_each(|pusher| pusher.join().unwrap());
            assert_eq!(queue.load(Acquire), 0, "a reference stays in the queue for ever");
        });
    }
}
