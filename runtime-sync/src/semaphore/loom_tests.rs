//! The protocol of `batch.rs`, on every interleaving (loom).

use std::pin::{Pin, pin};
use std::sync::Arc as StdArc;
use std::task::{Context, Poll};

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

use super::acquire::Acquire;
use super::batch::Batch;
use super::error::AcquireError;
use crate::test_wakers::Count;

/// A semaphore, and what its first permit is the right to touch.
struct Guarded {
    semaphore: Batch,
    value: UnsafeCell<u32>,
}

// SAFETY: the models are there to find out.
unsafe impl Sync for Guarded {}
// SAFETY: as above.
unsafe impl Send for Guarded {}

impl Guarded {
    fn new(permits: usize) -> Arc<Self> {
        Arc::new(Self { semaphore: Batch::new(permits), value: UnsafeCell::new(0) })
    }

    fn touch(&self) {
        self.value.with_mut(|value| unsafe { *value += 1 });
    }
}

fn poll(future: Pin<&mut Acquire<'_>>, count: &StdArc<Count>) -> Poll<Result<(), AcquireError>> {
    future.poll(&mut Context::from_waker(&count.waker()))
}

/// For models of three threads.
fn bounded(preemptions: usize, f: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(f);
}

/// A permit taken in one thread, used, and given back.
fn use_once(guarded: &Guarded) {
    loom::future::block_on(guarded.semaphore.acquire(1)).unwrap();
    guarded.touch();
    guarded.semaphore.release(1);
}

/// Two threads use one permit. The second is woken, whichever way the first gives it back, and sees what that has done.
#[test]
fn loom_a_permit_goes_from_hand_to_hand() {
    loom::model(|| {
        let guarded = Guarded::new(1);
        let theirs = guarded.clone();
        let other = thread::spawn(move || use_once(&theirs));
        use_once(&guarded);
        other.join().unwrap();
        assert_eq!(guarded.semaphore.available(), 1);
    });
}

/// What is tried only, beside one that waits.
#[test]
fn loom_a_permit_that_is_tried_for() {
    loom::model(|| {
        let guarded = Guarded::new(1);
        let theirs = guarded.clone();
        let other = thread::spawn(move || use_once(&theirs));
        if guarded.semaphore.try_acquire(1).is_ok() {
            guarded.touch();
            guarded.semaphore.release(1);
        }
        other.join().unwrap();
        assert_eq!(guarded.semaphore.available(), 1);
    });
}

/// Permits that come one by one add up to what one waiter wishes for.
#[test]
fn loom_permits_that_come_one_by_one_add_up() {
    bounded(2, || {
        let semaphore = Arc::new(Batch::new(0));
        let others: [_; 2] = std::array::from_fn(|_| {
            let theirs = semaphore.clone();
            thread::spawn(move || theirs.release(1))
        });
        loom::future::block_on(semaphore.acquire(2)).unwrap();
        for other in others {
            other.join().unwrap();
        }
        assert_eq!(semaphore.available(), 0);
    });
}

/// A waiter that goes away beside a release: what it was given, all or in part, is not lost.
#[test]
fn loom_a_waiter_goes_away_beside_a_release() {
    for wish in [1, 2] {
        loom::model(move || goes_away(wish));
    }
}

fn goes_away(wish: usize) {
    let guarded = Guarded::new(1);
    guarded.semaphore.try_acquire(1).unwrap();
    let theirs = guarded.clone();
    let first = Count::new();
    let second = Count::new();
    let mut later = pin!(guarded.semaphore.acquire(1));
    let mut goes = Box::pin(guarded.semaphore.acquire(wish));
    assert!(poll(goes.as_mut(), &first).is_pending());
    let other = thread::spawn(move || {
        theirs.touch();
        theirs.semaphore.release(1);
    });
    let is_ready = poll(later.as_mut(), &second).is_ready();
    drop(goes);
    other.join().unwrap();
    if !is_ready {
        assert_eq!(second.wakes(), 1);
        assert!(poll(later, &second).is_ready());
    }
    guarded.touch();
    guarded.semaphore.release(1);
    assert_eq!(guarded.semaphore.available(), 1);
}

/// A waiter that is polled with another waker beside a release: the last one is woken, if it is told to wait.
#[test]
fn loom_another_waker_beside_a_release() {
    loom::model(|| {
        let guarded = Guarded::new(0);
        let theirs = guarded.clone();
        let first = Count::new();
        let second = Count::new();
        let mut future = pin!(guarded.semaphore.acquire(1));
        assert!(poll(future.as_mut(), &first).is_pending());
        let other = thread::spawn(move || {
            theirs.touch();
            theirs.semaphore.release(1);
        });
        let is_ready = poll(future.as_mut(), &second).is_ready();
        if is_ready {
            guarded.touch();
        }
        other.join().unwrap();
        if !is_ready {
            assert_eq!(second.wakes(), 1);
            assert!(poll(future, &second).is_ready());
        }
    });
}

/// A close refuses those that wait, with or without a part of their wish, and loses no permits.
#[test]
fn loom_a_close_beside_waiters_and_a_release() {
    bounded(2, || {
        let semaphore = Arc::new(Batch::new(1));
        let theirs = semaphore.clone();
        let waiter = thread::spawn(move || {
            if loom::future::block_on(theirs.acquire(2)).is_ok() {
                theirs.release(2);
            }
        });
        let theirs = semaphore.clone();
        let closer = thread::spawn(move || theirs.close());
        semaphore.release(1);
        waiter.join().unwrap();
        closer.join().unwrap();
        assert_eq!(semaphore.available(), 2);
        assert!(semaphore.is_closed());
    });
}

/// Permits that are forgotten beside a waiter: each is either forgotten or given, never both.
#[test]
fn loom_permits_are_forgotten_beside_a_waiter() {
    loom::model(|| {
        let semaphore = Arc::new(Batch::new(1));
        let theirs = semaphore.clone();
        let other = thread::spawn(move || theirs.forget(1));
        let count = Count::new();
        let has_got = poll(pin!(semaphore.acquire(1)).as_mut(), &count).is_ready();
        let forgotten = other.join().unwrap();
        assert_eq!(usize::from(has_got) + forgotten, 1);
        assert_eq!(semaphore.available(), 0);
    });
}
