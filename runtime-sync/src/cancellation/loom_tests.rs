//! The protocol of tokens, on every interleaving (loom). Under loom a batch has room for one node.

use std::future::Future;
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

/// A waiter of a child is woken when the token is cancelled, if it was told to wait, and sees what came before.
#[test]
fn loom_a_cancellation_is_seen_or_wakes() {
    model(|| {
        let token = CancellationToken::new();
        let child = token.child_token();
        let shared = LoomArc::new(UnsafeCell::new(0));
        let theirs = shared.clone();
        let canceller = thread::spawn(move || {
            theirs.with_mut(|number| unsafe { *number = 7 });
            token.cancel();
        });
        let check = || shared.with(|number| assert_eq!(unsafe { *number }, 7));
        let count = Count::new();
        let mut wait = pin!(child.cancelled());
        let is_early = wait.as_mut().poll(&mut Context::from_waker(&count.waker())).is_ready();
        if is_early {
            check();
        }
        canceller.join().unwrap();
        if !is_early {
            assert_eq!(count.wakes(), 1, "a waiter that was told to wait is woken");
            assert!(wait.poll(&mut Context::from_waker(Waker::noop())).is_ready());
            check();
        }
    });
}

/// A child that is made while its token is cancelled is cancelled, too.
#[test]
fn loom_a_child_that_is_made_beside_a_cancel_is_cancelled() {
    model(|| {
        let token = CancellationToken::new();
        let theirs = token.clone();
        let canceller = thread::spawn(move || theirs.cancel());
        let child = token.child_token();
        canceller.join().unwrap();
        assert!(child.is_cancelled());
    });
}

/// A token is dropped while the one above it is cancelled: those below it are cancelled, in whatever order the two go.
#[test]
fn loom_what_is_below_a_dropped_token_is_cancelled() {
    model(|| {
        let top = CancellationToken::new();
        let middle = top.child_token();
        let below = [middle.child_token(), middle.child_token()];
        let dropper = thread::spawn(move || drop(middle));
        top.cancel();
        assert!(below.iter().all(CancellationToken::is_cancelled));
        dropper.join().unwrap();
        assert!(below.iter().all(CancellationToken::is_cancelled));
    });
}

/// A token is dropped while one below it is made and dropped: nothing is hung below what is gone.
#[test]
fn loom_tokens_come_and_go_side_by_side() {
    model(|| {
        let top = CancellationToken::new();
        let middle = top.child_token();
        let below = middle.child_token();
        let dropper = thread::spawn(move || drop(middle));
        let last = below.child_token();
        drop(below);
        dropper.join().unwrap();
        top.cancel();
        assert!(last.is_cancelled());
    });
}

/// A token and one below it are cancelled at once: each call leaves nothing below its token that is not cancelled.
#[test]
fn loom_two_cancels_leave_nothing_out() {
    model(|| {
        let top = CancellationToken::new();
        let first = top.child_token();
        let second = top.child_token();
        let below = second.child_token();
        let theirs = (second.clone(), below.clone());
        let canceller = thread::spawn(move || {
            theirs.0.cancel();
            assert!(theirs.1.is_cancelled());
        });
        top.cancel();
        assert!([&first, &second, &below].iter().all(|token| token.is_cancelled()));
        canceller.join().unwrap();
    });
}
