//! The protocol of `Notify`, on every interleaving (loom). Under loom a batch has room for one waker.

use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Waker};

use loom::cell::UnsafeCell;
use loom::sync::Arc as LoomArc;
use loom::thread;

use super::*;
use crate::test_wakers::Count;

fn is_ready(future: Pin<&mut impl Future>) -> bool {
    future.poll(&mut Context::from_waker(Waker::noop())).is_ready()
}

fn is_ready_for(future: Pin<&mut impl Future>, count: &Arc<Count>) -> bool {
    future.poll(&mut Context::from_waker(&count.waker())).is_ready()
}

fn model(f: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(f);
}

/// What is written before a notification is seen after it; and a task that was told to wait is woken, with its last
/// waker.
#[test]
fn loom_a_notification_is_received_or_wakes() {
    model(|| {
        let shared = LoomArc::new((Notify::new(), UnsafeCell::new(0)));
        let theirs = shared.clone();
        let notifier = thread::spawn(move || {
            theirs.1.with_mut(|number| unsafe { *number = 7 });
            theirs.0.notify_one();
        });
        let (first, last) = (Count::new(), Count::new());
        let mut wait = pin!(shared.0.notified());
        let check = || shared.1.with(|number| assert_eq!(unsafe { *number }, 7));
        if is_ready_for(wait.as_mut(), &first) || is_ready_for(wait.as_mut(), &last) {
            check();
            notifier.join().unwrap();
        } else {
            notifier.join().unwrap();
            assert_eq!(last.wakes(), 1, "what was told to wait is woken");
            assert!(is_ready(wait));
            check();
        }
    });
}

/// Two permits for a permit and a waiter, from two threads: none is lost, none is found twice.
#[test]
fn loom_two_notifications_complete_two() {
    model(|| {
        let notify = Arc::new(Notify::new());
        let (mut first, mut second) = (pin!(notify.notified()), pin!(notify.notified()));
        assert!(!is_ready(first.as_mut()));
        let theirs = notify.clone();
        let notifier = thread::spawn(move || theirs.notify_one());
        notify.notify_one();
        let _ = is_ready(second.as_mut());
        notifier.join().unwrap();
        assert!(is_ready(first) && is_ready(second));
        assert!(!is_ready(pin!(notify.notified())));
    });
}

/// A waiter that is dropped while it is chosen hands on.
#[test]
fn loom_a_dropped_waiter_hands_its_notification_on() {
    model(|| {
        let notify = Arc::new(Notify::new());
        let mut first = Box::pin(notify.clone().notified_owned());
        assert!(!is_ready(first.as_mut()));
        let count = Count::new();
        let mut second = pin!(notify.notified());
        assert!(!is_ready_for(second.as_mut(), &count));
        let dropper = thread::spawn(move || drop(first));
        notify.notify_one();
        dropper.join().unwrap();
        assert_eq!(count.wakes(), 1);
        assert!(is_ready(second));
        assert!(!is_ready(pin!(notify.notified())));
    });
}

/// All are notified, though one goes and another comes meanwhile; who comes later is not.
#[test]
fn loom_all_are_notified_beside_drops_and_polls() {
    model(|| {
        let notify = Arc::new(Notify::new());
        let counts = [Count::new(), Count::new()];
        let mut waits: Vec<_> = counts.iter().map(|_| Box::pin(notify.clone().notified_owned())).collect();
        for (wait, count) in waits.iter_mut().zip(&counts) {
            assert!(!is_ready_for(wait.as_mut(), count));
        }
        let made = pin!(notify.notified());
        let dropped = waits.remove(0);
        let theirs = notify.clone();
        let notifier = thread::spawn(move || {
            theirs.notify_waiters();
            assert!(!is_ready(pin!(theirs.notified())));
        });
        let is_ready_early = is_ready_for(waits[0].as_mut(), &counts[1]);
        drop(dropped);
        if is_ready_early {
            notifier.join().unwrap();
        } else {
            notifier.join().unwrap();
            assert_eq!(counts[1].wakes(), 1, "what was told to wait is woken");
            assert!(is_ready(waits[0].as_mut()));
        }
        assert!(is_ready(made));
    });
}

/// One more is notified while all are: it is not lost on those that are notified anyway.
#[test]
fn loom_one_beside_all_is_stored_or_received() {
    model(|| {
        let notify = Arc::new(Notify::new());
        let (mut first, mut second) = (pin!(notify.notified()), pin!(notify.notified()));
        assert!(!is_ready(first.as_mut()) && !is_ready(second.as_mut()));
        let theirs = notify.clone();
        let notifier = thread::spawn(move || theirs.notify_waiters());
        let mut third = pin!(notify.notified());
        let _ = is_ready(third.as_mut());
        notify.notify_one();
        notifier.join().unwrap();
        assert!(is_ready(first.as_mut()) && is_ready(second.as_mut()));
        assert!(is_ready(third.as_mut()), "if it was not notified with the others, it was the only one to choose");
        // It may have come before the others were notified: then one of them, or the third, has received it.
        let by_one = [&first, &second, &third].iter().filter(|wait| wait.was_chosen()).count();
        let stored = usize::from(is_ready(pin!(notify.notified())));
        assert_eq!(by_one + stored, 1);
    });
}
