//! What channels promise, without threads.

use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use runtime_core::discard_payload;

use super::error::*;
use super::*;
use crate::test_wakers::Count;

macro_rules! poll {
    ($future:expr, $count:expr) => {
        $future.as_mut().poll(&mut Context::from_waker(&$count.waker()))
    };
}

#[test]
fn values_go_through_many_blocks_in_order() {
    let (tx, mut rx) = unbounded_channel();
    let mut expected = 0;
    for round in 0..100 {
        for i in 0..round {
            tx.send(round * 1000 + i).unwrap();
        }
        assert_eq!(rx.len(), round);
        assert_eq!(rx.is_empty(), round == 0);
        for i in 0..round {
            assert_eq!(rx.try_recv(), Ok(round * 1000 + i));
            expected += 1;
        }
    }
    assert_eq!(expected, 4950);
    assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
    drop(tx);
    assert_eq!(rx.try_recv(), Err(TryRecvError::Disconnected));
}

#[test]
fn recv_many_takes_what_there_is_and_gives_the_room_back_at_once() {
    let (tx, mut rx) = channel(3);
    for i in 0..3 {
        tx.try_send(i).unwrap();
    }
    let counts: [_; 3] = std::array::from_fn(|_| Count::new());
    let mut sends: Vec<_> = (3..6).map(|i| Box::pin(tx.send(i))).collect();
    for (send, count) in sends.iter_mut().zip(&counts) {
        assert!(poll!(send, count).is_pending());
    }
    let mut buffer = Vec::new();
    assert_eq!(poll!(pin!(rx.recv_many(&mut buffer, 2)), Count::new()), Poll::Ready(2));
    assert_eq!(counts.each_ref().map(|count| count.wakes()), [1, 1, 0]);
    assert_eq!(poll!(pin!(rx.recv_many(&mut buffer, 0)), Count::new()), Poll::Ready(0));
    assert_eq!(poll!(pin!(rx.recv_many(&mut buffer, 9)), Count::new()), Poll::Ready(1));
    assert_eq!(buffer, [0, 1, 2]);
    assert!(poll!(pin!(rx.recv_many(&mut buffer, 9)), Count::new()).is_pending());
    drop(sends);
    assert_eq!(tx.capacity(), 3);
}

#[test]
fn a_receiver_that_waits_is_woken_for_its_value_only_once() {
    let (tx, mut rx) = unbounded_channel();
    let count = Count::new();
    assert!(poll!(pin!(rx.recv()), count).is_pending());
    tx.send(1).unwrap();
    tx.send(2).unwrap();
    assert_eq!(count.wakes(), 1);
    assert_eq!(poll!(pin!(rx.recv()), count), Poll::Ready(Some(1)));
    assert_eq!(poll!(pin!(rx.recv()), count), Poll::Ready(Some(2)));
    assert!(poll!(pin!(rx.recv()), count).is_pending());
    drop(tx);
    assert_eq!(count.wakes(), 2);
    assert_eq!(poll!(pin!(rx.recv()), count), Poll::Ready(None));
}

#[test]
fn a_closed_channel_waits_for_the_permits_that_are_out() {
    let (tx, mut rx) = channel(3);
    let count = Count::new();
    let used = tx.try_reserve().unwrap();
    let unused = tx.clone().try_reserve_owned().unwrap();
    rx.close();
    assert!(tx.is_closed() && rx.is_closed());
    assert_eq!(tx.try_send(0), Err(TrySendError::Closed(0)));
    assert!(poll!(pin!(rx.recv()), count).is_pending());
    used.send(1);
    assert_eq!(count.wakes(), 1);
    assert_eq!(poll!(pin!(rx.recv()), count), Poll::Ready(Some(1)));
    assert!(poll!(pin!(rx.recv()), count).is_pending());
    drop(unused);
    assert_eq!(count.wakes(), 2);
    assert_eq!(poll!(pin!(rx.recv()), count), Poll::Ready(None));
}

#[test]
fn a_reservation_that_was_granted_and_dropped_after_the_close_ends_the_wait() {
    let (tx, mut rx) = channel(1);
    tx.try_send(1).unwrap();
    let mut reserve = Box::pin(tx.reserve());
    assert!(poll!(reserve, Count::new()).is_pending());
    assert_eq!(rx.try_recv(), Ok(1));
    rx.close();
    let count = Count::new();
    assert!(poll!(pin!(rx.recv()), count).is_pending());
    drop(reserve);
    assert_eq!(count.wakes(), 1);
    assert_eq!(poll!(pin!(rx.recv()), count), Poll::Ready(None));
}

#[test]
fn those_that_wait_for_the_close_hear_of_it() {
    let (tx, rx) = channel::<u8>(1);
    let count = Count::new();
    let mut closed = pin!(tx.closed());
    assert!(poll!(closed, count).is_pending());
    drop(rx);
    assert_eq!(count.wakes(), 1);
    assert!(poll!(closed, count).is_ready());
}

#[test]
fn weak_senders_do_not_keep_a_channel_open() {
    let (tx, mut rx) = channel::<u8>(1);
    let weak = tx.downgrade();
    assert_eq!((tx.strong_count(), rx.sender_weak_count()), (1, 1));
    let again = weak.upgrade().unwrap();
    assert_eq!(weak.strong_count(), 2);
    assert!(again.same_channel(&tx));
    drop((tx, again));
    assert!(weak.upgrade().is_none());
    assert_eq!(rx.try_recv(), Err(TryRecvError::Disconnected));
}

#[test]
fn every_value_is_dropped_also_if_drops_panic_and_if_it_comes_late() {
    struct Bad(Arc<AtomicUsize>);
    impl Drop for Bad {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
            panic!("a bad drop");
        }
    }
    let drops = Arc::new(AtomicUsize::new(0));
    let (tx, rx) = channel(100);
    let late = tx.clone().try_reserve_owned().unwrap();
    for _ in 0..50 {
        assert!(tx.try_send(Bad(drops.clone())).is_ok());
    }
    assert!(catch_unwind(AssertUnwindSafe(|| drop(rx))).is_err());
    assert_eq!(drops.load(Ordering::Relaxed), 50);
    drop(late.send(Bad(drops.clone())));
    assert!(catch_unwind(AssertUnwindSafe(|| drop(tx))).is_err());
    assert_eq!(drops.load(Ordering::Relaxed), 51);
}

#[test]
fn every_value_is_dropped_also_if_what_their_drops_panic_with_panics() {
    struct BadPayload;
    impl Drop for BadPayload {
        fn drop(&mut self) {
            panic!("a bad payload");
        }
    }
    struct Bad(Arc<AtomicUsize>);
    impl Drop for Bad {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
            panic_any(BadPayload);
        }
    }
    let drops = Arc::new(AtomicUsize::new(0));
    let (tx, rx) = channel(3);
    for _ in 0..3 {
        assert!(tx.try_send(Bad(drops.clone())).is_ok());
    }
    discard_payload(catch_unwind(AssertUnwindSafe(|| drop(rx))).unwrap_err());
    assert_eq!(drops.load(Ordering::Relaxed), 3);
}

#[test]
fn room_for_many_is_kept_and_given_back() {
    let (tx, mut rx) = channel(4);
    assert_eq!(tx.try_reserve_many(5).unwrap_err(), TrySendError::Full(()));
    let mut permits = tx.try_reserve_many(3).unwrap();
    assert_eq!((permits.len(), tx.capacity(), tx.max_capacity()), (3, 1, 4));
    permits.next().unwrap().send(7);
    drop(permits);
    assert_eq!(tx.capacity(), 3);
    assert_eq!(rx.try_recv(), Ok(7));
    assert_eq!(rx.capacity(), 4);
}

#[test]
fn an_empty_channel_is_small() {
    // What Tokio 1.54's takes, without the counts of references: its channel, and its first block.
    let tokio = 512 + 32 * 8 + 32;
    let ours =
        size_of::<super::channel::Channel<usize, super::places::Places>>() + size_of::<super::block::Block<usize>>();
    assert!(ours <= tokio, "{ours} bytes");
    let unbounded = size_of::<super::channel::Channel<usize, super::channel::Unbounded>>();
    assert!(unbounded <= 512, "{unbounded} bytes");
}

#[test]
fn a_block_is_not_made_on_the_stack() {
    // 64 MB of slots.
    drop(super::block::Block::<[u8; 2_000_000]>::new());
}

#[test]
fn a_sender_that_is_refused_finds_the_channel_closed() {
    let (tx, rx) = super::channel::<u8>(1);
    drop(rx);
    assert!(tx.try_send(1).is_err() && tx.is_closed());
    let (tx, mut rx) = super::unbounded_channel::<u8>();
    rx.close();
    assert!(tx.send(1).is_err() && tx.is_closed());
}

#[test]
fn what_a_bound_may_be_is_said_of_the_channel() {
    for (bound, says) in [(0, "one value at least"), (usize::MAX, "use `unbounded_channel`")] {
        let panic = catch_unwind(|| channel::<u8>(bound)).unwrap_err();
        let message = panic.downcast_ref::<String>().cloned();
        let message = message.or_else(|| panic.downcast_ref().map(|text: &&str| text.to_string())).unwrap();
        assert!(message.contains("channel") && message.contains(says), "{message}");
    }
}
