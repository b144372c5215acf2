use std::future::pending;
use std::pin::{Pin, pin};
use std::task::{Context, Waker};

use super::*;
use crate::test_wakers::{Count, Panics, panic_of};

fn is_ready(future: Pin<&mut impl Future>) -> bool {
    future.poll(&mut Context::from_waker(Waker::noop())).is_ready()
}

#[test]
fn it_waits_until_it_is_closed_and_empty() {
    let tracker = TaskTracker::new();
    let count = Count::new();
    let mut wait = pin!(tracker.wait());
    assert!(wait.as_mut().poll(&mut Context::from_waker(&count.waker())).is_pending());
    let token = tracker.token();
    let other = token.clone();
    assert!(tracker.close());
    drop(token);
    assert!(!is_ready(pin!(tracker.wait())));
    assert_eq!((tracker.len(), count.wakes()), (1, 0));
    drop(other);
    assert_eq!(count.wakes(), 1);
    assert!(is_ready(wait.as_mut()) && is_ready(wait) && is_ready(pin!(tracker.wait())));
}

#[test]
fn closing_an_empty_one_is_enough() {
    let tracker = TaskTracker::new();
    let mut wait = pin!(tracker.wait());
    assert!(!is_ready(wait.as_mut()));
    drop(tracker.token());
    assert!(!is_ready(wait.as_mut()), "it is open");
    tracker.close();
    assert!(is_ready(wait));
}

#[test]
fn a_moment_is_enough() {
    let tracker = TaskTracker::new();
    let token = tracker.token();
    let mut polled = pin!(tracker.wait());
    assert!(!is_ready(polled.as_mut()));
    let made = pin!(tracker.wait());
    tracker.close();
    drop(token);
    tracker.reopen();
    let _token = tracker.token();
    assert!(is_ready(polled) && is_ready(made));
    assert!(!is_ready(pin!(tracker.wait())));
}

#[test]
fn a_future_counts_until_it_is_dropped() {
    /// Looks at the tracker when it is dropped.
    struct Looks(TaskTracker);
    impl Drop for Looks {
        fn drop(&mut self) {
            assert_eq!(self.0.len(), 1);
        }
    }
    let tracker = TaskTracker::new();
    let looks = Looks(tracker.clone());
    let mut future = Box::pin(tracker.track_future(async move {
        let _looks = looks;
        pending::<()>().await;
    }));
    assert!(!is_ready(future.as_mut()));
    drop(future);
    assert!(tracker.is_empty());

    let looks = Looks(tracker.clone());
    let closure = tracker.track_closure(move || drop(looks));
    assert_eq!(tracker.len(), 1);
    closure();
    assert!(tracker.is_empty());
    let looks = Looks(tracker.clone());
    drop(tracker.track_closure(move || drop(looks)));
    assert!(tracker.is_empty());
}

/// If the panic of the waker left the drop, it would end the process.
#[test]
fn a_token_may_be_dropped_in_a_panic_and_meet_another() {
    let tracker = TaskTracker::new();
    let closure = tracker.track_closure(|| std::panic::panic_any("closure"));
    tracker.close();
    let mut wait = pin!(tracker.wait());
    assert!(wait.as_mut().poll(&mut Context::from_waker(&Panics::waker("waker"))).is_pending());
    assert_eq!(panic_of(closure), "closure");
    assert!(tracker.is_empty() && is_ready(wait));
}
