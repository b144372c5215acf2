//! The protocol of a watch channel, on every interleaving (loom). There are two lists, and a batch has room for one
//! waker.

use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use loom::thread;

use super::*;
use crate::test_wakers::Count;

fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

fn poll_for<F: Future>(future: Pin<&mut F>, count: &Arc<Count>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(&count.waker()))
}

fn model(f: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(f);
}

/// Two values are sent, and then the end: a receiver that waits for each sees the last, and is woken for what it waits.
#[test]
fn loom_a_receiver_sees_the_last_value_and_the_end() {
    model(|| {
        let (tx, mut rx) = channel(0);
        let sender = thread::spawn(move || {
            tx.send_replace(1);
            tx.send_replace(2);
        });
        let mut sender = Some(sender);
        let mut seen = 0;
        loop {
            let count = Count::new();
            let result = {
                let mut changed = pin!(rx.changed());
                match poll_for(changed.as_mut(), &count) {
                    Poll::Ready(result) => result,
                    Poll::Pending => {
                        sender.take().expect("nobody waits for a sender that has gone").join().unwrap();
                        assert_eq!(count.wakes(), 1, "what was told to wait is woken");
                        let Poll::Ready(result) = poll(changed) else { panic!("woken for nothing") };
                        result
                    }
                }
            };
            if result.is_err() {
                break;
            }
            let now = *rx.borrow_and_update();
            assert!(now >= seen);
            seen = now;
        }
        assert_eq!(seen, 2);
    });
}

/// What the sender did before it sent is seen by a receiver that has not looked at the value.
#[test]
fn loom_what_comes_before_a_send_is_seen_after_it() {
    model(|| {
        let (tx, mut rx) = channel(0);
        let number = loom::sync::Arc::new(loom::cell::UnsafeCell::new(0));
        let theirs = number.clone();
        let sender = thread::spawn(move || {
            theirs.with_mut(|number| unsafe { *number = 7 });
            tx.send_replace(1);
        });
        if poll(pin!(rx.changed())).is_ready() {
            number.with(|number| assert_eq!(unsafe { *number }, 7));
        }
        sender.join().unwrap();
    });
}

/// Two receivers wait, in one list; one of them goes, or waits with another waker.
#[test]
fn loom_a_send_wakes_who_waits_beside_a_drop() {
    model(|| {
        let (tx, mut rx) = channel(0);
        let mut other = rx.clone();
        let (first, last) = (Count::new(), Count::new());
        let mut dropped = Box::pin(other.changed());
        let mut changed = pin!(rx.changed());
        assert!(poll_for(dropped.as_mut(), &Count::new()).is_pending());
        assert!(poll_for(changed.as_mut(), &first).is_pending());
        let sender = thread::spawn(move || {
            tx.send_replace(1);
            tx
        });
        let result = poll_for(changed.as_mut(), &last);
        drop(dropped);
        let tx = sender.join().unwrap();
        if result.is_pending() {
            assert_eq!(last.wakes(), 1, "what was told to wait is woken");
            assert!(poll(changed).is_ready());
        }
        drop(tx);
    });
}

/// Two senders: a task that waits is woken by one of them.
#[test]
fn loom_a_receiver_that_waits_is_woken_by_one_of_two_senders() {
    model(|| {
        let (tx, mut rx) = channel(0);
        let other = tx.clone();
        let sender = thread::spawn(move || {
            other.send_modify(|value| *value += 1);
            other
        });
        let count = Count::new();
        let mut changed = Box::pin(rx.changed());
        let waits = poll_for(changed.as_mut(), &count).is_pending();
        tx.send_modify(|value| *value += 1);
        let other = sender.join().unwrap();
        if waits {
            assert_eq!(count.wakes(), 1, "what was told to wait is woken");
            assert!(poll(changed.as_mut()).is_ready());
        }
        drop(changed);
        assert_eq!(*rx.borrow(), 2);
        drop((tx, other));
    });
}

/// A task that waits for the last receiver to go is told.
#[test]
fn loom_a_sender_hears_of_the_last_receiver() {
    model(|| {
        let (tx, rx) = channel(0);
        let other = rx.clone();
        let receiver = thread::spawn(move || drop(rx));
        let count = Count::new();
        let mut closed = pin!(tx.closed());
        let is_ready = poll_for(closed.as_mut(), &count).is_ready();
        drop(other);
        receiver.join().unwrap();
        if !is_ready {
            assert_eq!(count.wakes(), 1, "what was told to wait is woken");
            assert!(poll(closed).is_ready());
        }
    });
}
