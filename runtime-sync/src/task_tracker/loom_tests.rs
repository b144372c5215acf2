//! The protocol of `TaskTracker`, on every interleaving (loom).

use std::pin::pin;
use std::task::{Context, Waker};

use loom::cell::UnsafeCell;
use loom::sync::Arc as LoomArc;
use loom::thread;

use super::*;
use crate::test_wakers::Count;

fn model(f: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(f);
}

/// Two tasks end while one waits, and closes: it is woken if it was told to wait, and sees what both did.
#[test]
fn loom_the_last_end_is_heard_of() {
    model(|| {
        let tracker = TaskTracker::new();
        let shared = LoomArc::new([UnsafeCell::new(0), UnsafeCell::new(0)]);
        let threads = [0, 1].map(|n| {
            let (token, shared) = (tracker.token(), shared.clone());
            thread::spawn(move || {
                shared[n].with_mut(|number| unsafe { *number = 7 });
                drop(token);
            })
        });
        let check = || shared.iter().for_each(|number| number.with(|number| assert_eq!(unsafe { *number }, 7)));
        let count = Count::new();
        let mut wait = pin!(tracker.wait());
        tracker.close();
        let is_early = wait.as_mut().poll(&mut Context::from_waker(&count.waker())).is_ready();
        if is_early {
            check();
        }
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        if !is_early {
            assert_eq!(count.wakes(), 1, "a waiter that was told to wait is woken");
            assert!(wait.poll(&mut Context::from_waker(Waker::noop())).is_ready());
            check();
        }
    });
}

/// The last task ends, while another thread closes the tracker: one of the two tells.
#[test]
fn loom_a_close_beside_the_last_end_is_heard_of() {
    model(|| {
        let tracker = TaskTracker::new();
        let token = tracker.token();
        let count = Count::new();
        let mut wait = pin!(tracker.wait());
        assert!(wait.as_mut().poll(&mut Context::from_waker(&count.waker())).is_pending());
        let ends = thread::spawn(move || drop(token));
        tracker.close();
        ends.join().unwrap();
        assert_eq!(count.wakes(), 1);
        assert!(wait.poll(&mut Context::from_waker(Waker::noop())).is_ready());
    });
}

/// The tracker is used for a second task as soon as the first has ended: what waits for the second does not end by the
/// notification for the first, which may be on its way.
#[test]
fn loom_a_second_phase_is_waited_for() {
    model(|| {
        let tracker = TaskTracker::new();
        let token = tracker.token();
        tracker.close();
        let ends = thread::spawn(move || drop(token));
        let is_over = {
            let first = pin!(tracker.wait());
            first.poll(&mut Context::from_waker(Waker::noop())).is_ready()
        };
        if !is_over {
            ends.join().unwrap();
            return;
        }
        tracker.reopen();
        let token = tracker.token();
        tracker.close();
        let count = Count::new();
        let mut second = pin!(tracker.wait());
        assert!(second.as_mut().poll(&mut Context::from_waker(&count.waker())).is_pending());
        ends.join().unwrap();
        assert!(second.as_mut().poll(&mut Context::from_waker(&count.waker())).is_pending());
        assert_eq!(count.wakes(), 0, "the second task runs");
        drop(token);
        assert_eq!(count.wakes(), 1);
        assert!(second.poll(&mut Context::from_waker(Waker::noop())).is_ready());
    });
}

/// The tracker is opened again at once when it was closed and empty: what waited before that is told.
#[test]
fn loom_a_moment_is_enough() {
    model(|| {
        let tracker = TaskTracker::new();
        let token = tracker.token();
        tracker.close();
        let theirs = tracker.clone();
        let count = Count::new();
        let mut wait = pin!(tracker.wait());
        let ends = thread::spawn(move || {
            drop(token);
            theirs.reopen();
        });
        let is_early = wait.as_mut().poll(&mut Context::from_waker(&count.waker())).is_ready();
        ends.join().unwrap();
        assert!(is_early || count.wakes() == 1, "a waiter that was told to wait is woken");
        assert!(wait.poll(&mut Context::from_waker(Waker::noop())).is_ready());
    });
}
