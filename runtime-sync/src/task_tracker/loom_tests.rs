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
            assert_eq!(count.wakes(), 1, "whoever was told to wait is woken");
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
