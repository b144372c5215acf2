//! What a semaphore promises, without threads.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::{Context, Poll};

use super::*;
use crate::test_wakers::Count;

macro_rules! poll {
    ($future:expr, $count:expr) => {
        $future.as_mut().poll(&mut Context::from_waker(&$count.waker()))
    };
}

#[test]
fn those_that_wait_are_served_in_turn_and_not_overtaken() {
    let semaphore = Semaphore::new(1);
    let (many, few) = (Count::new(), Count::new());
    let mut wants_many = pin!(semaphore.acquire_many(3));
    let mut wants_one = pin!(semaphore.acquire());
    assert!(poll!(wants_many, many).is_pending());
    assert!(poll!(wants_one, few).is_pending());
    assert_eq!(semaphore.available_permits(), 0, "the oldest has what there was");
    semaphore.add_permits(1);
    assert_eq!((many.wakes(), few.wakes()), (0, 0));
    assert_eq!(semaphore.try_acquire().unwrap_err(), TryAcquireError::NoPermits);
    semaphore.add_permits(1);
    assert_eq!((many.wakes(), few.wakes()), (1, 0));
    let Poll::Ready(Ok(permits)) = poll!(wants_many, many) else { panic!("the wish was complete") };
    assert_eq!(permits.num_permits(), 3);
    drop(permits);
    assert_eq!(few.wakes(), 1);
    let one = poll!(wants_one, few);
    assert!(one.is_ready());
    assert_eq!(semaphore.available_permits(), 2);
}

#[test]
fn one_that_goes_away_hands_on_what_it_has() {
    let semaphore = Semaphore::new(2);
    let count = Count::new();
    let mut second = pin!(semaphore.acquire_many(2));
    {
        let mut first = pin!(semaphore.acquire_many(3));
        assert!(poll!(first, Count::new()).is_pending());
        assert!(poll!(second, count).is_pending());
    }
    assert_eq!(count.wakes(), 1);
    // Complete, but dropped before it has been told.
    drop(poll!(second, count));
    assert_eq!(semaphore.available_permits(), 2);
}

#[test]
fn a_close_refuses_all_and_frees_what_they_had() {
    let semaphore = Semaphore::new(1);
    let counts: [_; 70] = std::array::from_fn(|_| Count::new());
    let mut waiting: Vec<_> = counts.iter().map(|_| Box::pin(semaphore.acquire_many(2))).collect();
    for (future, count) in waiting.iter_mut().zip(&counts) {
        assert!(poll!(future, count).is_pending());
    }
    semaphore.close();
    assert!(counts.iter().all(|count| count.wakes() == 1));
    for (future, count) in waiting.iter_mut().zip(&counts) {
        assert!(matches!(poll!(future, count), Poll::Ready(Err(AcquireError(())))));
    }
    assert_eq!(semaphore.available_permits(), 1);
    assert_eq!(semaphore.try_acquire().unwrap_err(), TryAcquireError::Closed);
    semaphore.add_permits(1);
    assert_eq!(semaphore.available_permits(), 2, "also of one that is closed");
}

#[test]
fn more_waiters_than_a_batch_are_woken_by_one_release() {
    let semaphore = Semaphore::new(0);
    let counts: [_; 100] = std::array::from_fn(|_| Count::new());
    let mut waiting: Vec<_> = counts.iter().map(|_| Box::pin(semaphore.acquire())).collect();
    for (future, count) in waiting.iter_mut().zip(&counts) {
        assert!(poll!(future, count).is_pending());
    }
    semaphore.add_permits(101);
    assert!(counts.iter().all(|count| count.wakes() == 1));
    assert_eq!(semaphore.available_permits(), 1);
    drop(waiting);
    assert_eq!(semaphore.available_permits(), 101);
}

#[test]
fn too_many_permits_are_refused_and_change_nothing() {
    let semaphore = Semaphore::new(Semaphore::MAX_PERMITS);
    assert!(catch_unwind(AssertUnwindSafe(|| semaphore.add_permits(1))).is_err());
    assert_eq!(semaphore.available_permits(), Semaphore::MAX_PERMITS);
    assert_eq!(semaphore.forget_permits(usize::MAX), Semaphore::MAX_PERMITS);
    assert_eq!(semaphore.forget_permits(1), 0);
    assert!(catch_unwind(|| Semaphore::new(Semaphore::MAX_PERMITS + 1)).is_err());
}

#[test]
fn no_permits_can_be_acquired_from_one_that_has_none() {
    let semaphore = Semaphore::new(0);
    assert_eq!(semaphore.try_acquire_many(0).unwrap().num_permits(), 0);
    let mut future = pin!(semaphore.acquire_many(0));
    assert!(poll!(future, Count::new()).is_ready());
}

#[test]
fn permits_are_merged_and_split() {
    let semaphore = Semaphore::new(5);
    let mut permits = semaphore.try_acquire_many(2).unwrap();
    permits.merge(semaphore.try_acquire_many(2).unwrap());
    assert!(permits.split(5).is_none());
    let three = permits.split(3).unwrap();
    assert_eq!((permits.num_permits(), three.num_permits()), (1, 3));
    three.forget();
    drop(permits);
    assert_eq!(semaphore.available_permits(), 2);
    let other = Semaphore::new(1);
    let mut permits = semaphore.try_acquire().unwrap();
    assert!(catch_unwind(AssertUnwindSafe(|| permits.merge(other.try_acquire().unwrap()))).is_err());
    drop(permits);
    assert_eq!((semaphore.available_permits(), other.available_permits()), (2, 1));
}
