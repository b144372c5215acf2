//! [`Ended`]: which tasks of a set have ended, in the order of their ends.
//!
//! Each task of a set has a join waker of the set's own, an [`EndOf`]. The thread that completes the task calls it,
//! once, and it does two things under the lock: it puts the task's key at the end of the line, and takes the waker of
//! the task that waits for the set. That is called outside of the lock. The next task that ends finds no waker there,
//! so any number of tasks that end before the waiting one has its turn cost one wake.
//!
//! Nothing is lost: a task that waits looks at the line and leaves its waker under one lock, and a task whose key is
//! not in the line by then finds the waker. A key in the line was pushed after its task was complete, so the task that
//! takes it finds the output.

use std::collections::VecDeque;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;
use std::task::{Poll, Wake, Waker};

use crate::primitive::Mutex;
use crate::task::waits::{self, Leaf};

/// See the module.
#[derive(Debug)]
pub(super) struct Ended {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    keys: VecDeque<usize>,
    waker: Option<Waker>,
}

// Under the lock nothing of a user's runs, so a panic finds it in order.
impl UnwindSafe for Ended {}
impl RefUnwindSafe for Ended {}

impl Ended {
    pub(super) fn new() -> Self {
        Self { state: Mutex::new(State { keys: VecDeque::new(), waker: None }) }
    }

    /// The task with this key has ended.
    pub(super) fn push(&self, key: usize) {
        let waker = {
            let mut state = self.state.lock();
            state.keys.push_back(key);
            state.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// The key of the task that has ended first.
    pub(super) fn pop(&self) -> Option<usize> {
        self.state.lock().keys.pop_front()
    }

    /// The same. The waker is called when the next task ends, also if one had ended before: a caller may count on that,
    /// and not come back for the others at once. It takes the place of the one before.
    pub(super) fn poll_pop(&self, waker: &Waker) -> Poll<usize> {
        // Dropped after the lock is released, as is the clone: both are code of a user's.
        let mut clone = None;
        loop {
            let mut state = self.state.lock();
            let is_kept = state.waker.as_ref().is_some_and(|kept| kept.will_wake(waker));
            if !is_kept && clone.is_none() {
                drop(state);
                clone = Some(waker.clone());
                continue;
            }
            let before = if is_kept { clone } else { std::mem::replace(&mut state.waker, clone) };
            let key = state.keys.pop_front();
            drop(state);
            drop(before);
            return key.map_or_else(|| waits::pending(Leaf::TaskGroup), Poll::Ready);
        }
    }
}

/// The join waker of one task of a set.
pub(super) struct EndOf {
    pub(super) key: usize,
    pub(super) ended: Arc<Ended>,
}

impl Wake for EndOf {
    fn wake(self: Arc<Self>) {
        self.ended.push(self.key);
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use loom::future::block_on;
    use loom::thread;
    use std::future::poll_fn;

    use super::*;

    /// Two tasks end while one waits for the set: it sees both, whichever way they meet.
    #[test]
    fn loom_every_end_is_seen() {
        loom::model(|| {
            let ended = Arc::new(Ended::new());
            let tasks = [0, 1].map(|key| {
                let end = Arc::new(EndOf { key, ended: Arc::clone(&ended) });
                thread::spawn(move || end.wake())
            });
            let mut keys = [0; 2].map(|_| block_on(poll_fn(|cx| ended.poll_pop(cx.waker()))));
            keys.sort_unstable();
            assert_eq!(keys, [0, 1]);
            assert_eq!(ended.pop(), None);
            tasks.into_iter().for_each(|task| task.join().unwrap());
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn many_ends_cost_one_wake_and_keep_their_order() {
        let (ended, count) = (Ended::new(), Arc::new(Count::default()));
        assert!(ended.poll_pop(&Waker::from(Arc::clone(&count))).is_pending());
        (0..1000).for_each(|key| ended.push(key));
        assert_eq!(count.0.load(Ordering::Relaxed), 1);
        (0..1000).for_each(|key| assert_eq!(ended.pop(), Some(key)));
        assert_eq!(ended.pop(), None);
    }

    #[test]
    fn a_caller_that_has_got_one_is_called_for_the_next() {
        let (ended, count) = (Ended::new(), Arc::new(Count::default()));
        ended.push(1);
        assert_eq!(ended.poll_pop(&Waker::from(Arc::clone(&count))), Poll::Ready(1));
        ended.push(2);
        assert_eq!(count.0.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn the_last_waker_is_the_one_that_is_called() {
        let (ended, first, last) = (Ended::new(), Arc::new(Count::default()), Arc::new(Count::default()));
        assert!(ended.poll_pop(&Waker::from(Arc::clone(&first))).is_pending());
        assert!(ended.poll_pop(&Waker::from(Arc::clone(&last))).is_pending());
        ended.push(7);
        assert_eq!(first.0.load(Ordering::Relaxed), 0);
        assert_eq!(last.0.load(Ordering::Relaxed), 1);
        assert_eq!(Arc::strong_count(&first), 1, "dropped when it was replaced");
    }
}
