use std::future::{Future, pending};
use std::hash::{BuildHasher, RandomState};
use std::panic::{self, AssertUnwindSafe};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread;

use super::*;
use crate::test_wakers::{Count, Panics, panic_of};

fn poll<F: Future>(future: std::pin::Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

#[test]
fn it_goes_down_and_not_up() {
    let root = CancellationToken::new();
    let [left, right] = [(); 2].map(|()| root.child_token());
    let below = left.child_token();
    left.cancel();
    assert!(left.is_cancelled() && below.is_cancelled());
    assert!(!root.is_cancelled() && !right.is_cancelled());
    assert!(left.child_token().is_cancelled() && below.child_token().child_token().is_cancelled());
    root.cancel();
    root.cancel();
    assert!(root.is_cancelled() && right.is_cancelled());
}

#[test]
fn children_of_a_dropped_token_belong_to_the_one_above() {
    let root = CancellationToken::new();
    let middle = root.child_token();
    let below: Vec<_> = (0..100).map(|_| middle.child_token()).collect();
    drop(middle);
    assert!(below.iter().all(|token| !token.is_cancelled()));
    root.cancel();
    assert!(below.iter().all(CancellationToken::is_cancelled));

    let root = CancellationToken::new();
    let [left, right] = [(); 2].map(|()| root.child_token());
    let below = left.child_token();
    drop(root);
    left.cancel();
    assert!(below.is_cancelled() && !right.is_cancelled(), "they have nothing above any more");
}

/// Many of a shape of their own: each comes from the one before, or from the one of half its number.
fn tree(root: &CancellationToken, is_chain: bool) -> Vec<CancellationToken> {
    let mut tokens = vec![root.child_token()];
    for n in 1..100_000 {
        let from = if is_chain { n - 1 } else { n / 2 };
        tokens.push(tokens[from].child_token());
    }
    tokens
}

#[test]
fn a_large_tree_is_cancelled_and_dropped_on_a_small_stack() {
    let small = |f: fn()| thread::Builder::new().stack_size(64 << 10).spawn(f).unwrap().join().unwrap();
    for test in [
        || {
            for is_chain in [true, false] {
                let root = CancellationToken::new();
                let tokens = tree(&root, is_chain);
                root.cancel();
                assert!(tokens.iter().all(CancellationToken::is_cancelled));
            }
        },
        || {
            for is_chain in [true, false] {
                let root = CancellationToken::new();
                let mut tokens = tree(&root, is_chain);
                // From above, so that each hands its children on.
                let last = tokens.pop().unwrap();
                tokens.into_iter().for_each(drop);
                assert_eq!(root.node.slots().1, 2);
                root.cancel();
                assert!(last.is_cancelled());
            }
        },
        || {
            let root = CancellationToken::new();
            let mut tokens = tree(&root, true);
            drop(root);
            while tokens.pop().is_some() {}
        },
        || {
            let (root, top) = (CancellationToken::new(), CancellationToken::new());
            let wide = top.child_token();
            let below: Vec<_> = (0..100_000).map(|_| wide.child_token()).collect();
            drop(wide);
            top.cancel();
            assert!(below.iter().all(CancellationToken::is_cancelled) && !root.is_cancelled());
        },
    ] {
        small(test);
    }
}

#[test]
fn what_is_dropped_leaves_nothing_behind() {
    let root = CancellationToken::new();
    for _ in 0..10_000 {
        let child = root.child_token();
        drop(child.child_token());
    }
    assert_eq!(root.node.slots(), (3, 1), "slots are used again");
    assert_eq!(Arc::weak_count(&root.node), 0);

    // Each comes from the one before, which is dropped.
    let mut token = root.child_token();
    for _ in 0..10_000 {
        token = token.child_token();
    }
    assert_eq!(root.node.slots(), (3, 2));
    root.cancel();
    assert!(token.is_cancelled());
    let weak = Arc::downgrade(&token.node);
    drop(token);
    assert_eq!((weak.strong_count(), root.node.slots().1), (0, 1));
}

#[test]
fn all_that_wait_are_woken_once() {
    let root = CancellationToken::new();
    let tokens: Vec<_> = (0..100).map(|_| root.child_token()).collect();
    let count = Count::new();
    let mut waits: Vec<_> =
        tokens.iter().chain([&root]).map(|token| Box::pin(token.clone().cancelled_owned())).collect();
    let waker = count.waker();
    for wait in &mut waits {
        assert!(wait.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    }
    drop(waits.pop());
    root.cancel();
    assert_eq!(count.wakes(), 100);
    for wait in &mut waits {
        assert!(poll(wait.as_mut()).is_ready());
        assert!(poll(wait.as_mut()).is_ready(), "and stays so");
    }
    assert!(poll(pin!(root.cancelled())).is_ready());
}

#[test]
fn a_waker_may_do_anything_with_the_tree() {
    /// Uses the tree when it is called, and when it is dropped.
    struct Meddles(CancellationToken);
    impl Wake for Meddles {
        fn wake(self: Arc<Self>) {
            assert!(self.0.is_cancelled());
            self.0.cancel();
        }
    }
    impl Drop for Meddles {
        fn drop(&mut self) {
            drop(self.0.child_token());
        }
    }
    let root = CancellationToken::new();
    let tokens: Vec<_> = (0..100).map(|_| root.child_token()).collect();
    let mut waits = Vec::new();
    for token in &tokens {
        let mut wait = Box::pin(token.cancelled());
        let waker = Waker::from(Arc::new(Meddles(root.clone())));
        assert!(wait.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        waits.push(wait);
    }
    root.cancel();
    assert!(tokens.iter().all(CancellationToken::is_cancelled));
}

#[test]
fn a_waker_that_panics_keeps_nobody_from_being_woken() {
    struct Panics;
    impl Wake for Panics {
        fn wake(self: Arc<Self>) {
            panic!("boom");
        }
    }
    let root = CancellationToken::new();
    let count = Count::new();
    let tokens: Vec<_> = (0..100).map(|_| root.child_token()).collect();
    let mut waits: Vec<_> = tokens.iter().map(|token| Box::pin(token.cancelled())).collect();
    for (n, wait) in waits.iter_mut().enumerate() {
        let waker = if n % 10 == 0 { Waker::from(Arc::new(Panics)) } else { count.waker() };
        assert!(wait.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    }
    let panic = panic::catch_unwind(AssertUnwindSafe(|| root.cancel())).unwrap_err();
    assert_eq!(panic.downcast_ref(), Some(&"boom"));
    assert_eq!(count.wakes(), 90);
    assert!(tokens.iter().all(CancellationToken::is_cancelled));
    drop(root.child_token());
}

#[test]
fn guards_cancel_unless_they_are_disarmed() {
    let token = CancellationToken::new();
    let child = token.child_token();
    token.drop_guard_ref().disarm();
    drop(token.clone().drop_guard().disarm());
    assert!(!token.is_cancelled());
    drop(child.drop_guard_ref());
    assert!(child.is_cancelled() && !token.is_cancelled());
    let _ = panic::catch_unwind(AssertUnwindSafe(|| {
        let _guard = token.clone().drop_guard();
        panic!("boom");
    }));
    assert!(token.is_cancelled());
}

#[test]
fn a_future_runs_until_the_token_is_cancelled() {
    let token = CancellationToken::new();
    assert_eq!(poll(pin!(token.run_until_cancelled(async { 7 }))), Poll::Ready(Some(7)));
    let dropped = Arc::new(());
    let count = Count::new();
    let mut run = Box::pin(token.clone().run_until_cancelled_owned({
        let dropped = dropped.clone();
        async move {
            pending::<()>().await;
            drop(dropped);
        }
    }));
    assert!(run.as_mut().poll(&mut Context::from_waker(&count.waker())).is_pending());
    token.cancel();
    assert_eq!(count.wakes(), 1);
    assert_eq!(poll(run.as_mut()), Poll::Ready(None));
    assert_eq!(Arc::strong_count(&dropped), 1, "the future is dropped when the other is complete");
    // Never polled.
    assert_eq!(poll(pin!(token.run_until_cancelled(async { panic!("it is polled") }))), Poll::Ready(None));
}

#[test]
fn what_is_complete_when_the_token_is_cancelled_counts() {
    let token = CancellationToken::new();
    let is_complete = std::cell::Cell::new(false);
    let mut run = pin!(token.run_until_cancelled(std::future::poll_fn(|_| {
        if is_complete.get() { Poll::Ready(7) } else { Poll::Pending }
    })));
    assert!(poll(run.as_mut()).is_pending());
    is_complete.set(true);
    token.cancel();
    assert_eq!(poll(run.as_mut()), Poll::Ready(Some(7)));
}

#[test]
fn clones_are_equal_and_others_are_not() {
    let token = CancellationToken::new();
    let same = token.clone();
    assert_eq!(token, same);
    assert_ne!(token, token.child_token());
    let hashes = RandomState::new();
    assert_eq!(hashes.hash_one(&token), hashes.hash_one(&same));
    assert_ne!(hashes.hash_one(&token), hashes.hash_one(token.child_token()));
    assert_eq!(token.clone().drop_guard().token(), &token);
    assert_eq!(token.drop_guard_ref().token(), &token);
}

#[test]
fn threads_make_drop_and_cancel_tokens_of_one_tree() {
    for round in 0..50 {
        let root = CancellationToken::new();
        let threads: Vec<_> = (0..4)
            .map(|n: usize| {
                let root = root.clone();
                thread::spawn(move || {
                    let mut tokens = vec![root.child_token()];
                    for k in 0..200 {
                        let from = tokens[(k * 7 + n) % tokens.len()].clone();
                        tokens.push(from.child_token());
                        if k % 3 == 0 {
                            tokens.swap_remove(k % tokens.len());
                        }
                        if k % 64 == 63 {
                            from.cancel();
                            assert!(from.is_cancelled());
                        }
                    }
                    if n == round % 4 {
                        root.cancel();
                        assert!(tokens.iter().all(CancellationToken::is_cancelled));
                    } else {
                        tokens.iter().for_each(|token| crate::blocking::block_on(token.cancelled()));
                    }
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(root.node.slots().1, 1);
    }
}

/// If the panic of the waker left the drop, it would end the process.
#[test]
fn a_guard_may_be_dropped_in_a_panic_and_meet_another() {
    let tokens = [(); 2].map(|()| CancellationToken::new());
    let mut waits = tokens.clone().map(|token| Box::pin(token.cancelled_owned()));
    let waker = Panics::waker("waker");
    for wait in &mut waits {
        assert!(wait.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    }
    let text = panic_of(|| {
        let _guard = tokens[0].clone().drop_guard();
        let _guard_ref = tokens[1].drop_guard_ref();
        panic::panic_any("caller");
    });
    assert_eq!(text, "caller");
    assert!(tokens.iter().all(CancellationToken::is_cancelled));

    let token = CancellationToken::new();
    let mut wait = Box::pin(token.cancelled());
    assert!(wait.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    assert_eq!(panic_of(|| drop(token.clone().drop_guard())), "waker");
}
