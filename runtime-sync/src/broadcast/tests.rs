//! What a broadcast channel does.

use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use super::error::{RecvError, TryRecvError};
use super::*;
use crate::test_wakers::Count;

fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

#[test]
fn each_receiver_receives_what_was_sent_since_it_was_made() {
    let (tx, mut first) = channel(4);
    assert_eq!(tx.send(1).unwrap(), 1);
    let mut second = tx.subscribe();
    assert_eq!(tx.send(2).unwrap(), 2);
    assert_eq!((tx.len(), first.len(), second.len()), (2, 2, 1));
    assert_eq!((first.try_recv(), first.try_recv()), (Ok(1), Ok(2)));
    assert_eq!(first.try_recv(), Err(TryRecvError::Empty));
    assert!(first.is_empty() && !tx.is_empty());
    assert_eq!(second.try_recv(), Ok(2));
    assert!(tx.is_empty());
    assert_eq!(tx.len(), 0);
}

#[test]
fn a_slow_receiver_is_told_how_many_it_missed_and_goes_on_with_the_oldest() {
    let (tx, mut rx) = channel(3);
    for number in 0..10 {
        tx.send(number).unwrap();
    }
    assert_eq!((rx.len(), tx.len()), (10, 4), "the capacity is rounded up to four");
    assert_eq!(rx.try_recv(), Err(TryRecvError::Lagged(6)));
    assert_eq!(poll(pin!(rx.recv())), Poll::Ready(Ok(6)));
    tx.send(10).unwrap();
    tx.send(11).unwrap();
    assert_eq!(poll(pin!(rx.recv())), Poll::Ready(Err(RecvError::Lagged(1))));
    drop(tx);
    let rest: Vec<_> = std::iter::from_fn(|| rx.try_recv().ok()).collect();
    assert_eq!(rest, [8, 9, 10, 11]);
    assert_eq!(rx.try_recv(), Err(TryRecvError::Closed));
}

#[test]
fn a_value_is_dropped_with_the_last_that_had_to_receive_it() {
    let value = Arc::new(());
    let (tx, mut first) = channel(2);
    let second = tx.subscribe();
    for _ in 0..5 {
        tx.send(value.clone()).unwrap();
    }
    assert_eq!(Arc::strong_count(&value), 3, "two are in the ring");
    assert_eq!(first.try_recv(), Err(TryRecvError::Lagged(3)));
    drop(first.try_recv().unwrap());
    drop(second);
    assert_eq!(Arc::strong_count(&value), 2);
    drop(first);
    assert_eq!(Arc::strong_count(&value), 1);
}

#[test]
fn values_are_dropped_without_a_lock() {
    #[derive(Clone)]
    struct Sends(Option<Sender<Sends>>);
    impl Drop for Sends {
        fn drop(&mut self) {
            if let Some(tx) = self.0.take() {
                let _ = (tx.send(Sends(None)), tx.len(), tx.receiver_count());
            }
        }
    }
    let (tx, rx) = channel(1);
    for _ in 0..3 {
        // The second is lost to the drop of the first, and so on.
        tx.send(Sends(Some(tx.clone()))).unwrap_or_else(|_| panic!("there is a receiver"));
    }
    drop(rx);
    assert!(tx.send(Sends(None)).is_err());
}

#[test]
fn a_clone_that_panics_counts_as_received() {
    struct Panics;
    impl Clone for Panics {
        fn clone(&self) -> Self {
            panic!("as planned");
        }
    }
    let (tx, mut first) = channel(2);
    let mut second = tx.subscribe();
    tx.send(Panics).unwrap_or_else(|_| panic!("there are receivers"));
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| first.try_recv().is_ok())).unwrap_err();
    assert_eq!(first.try_recv().err(), Some(TryRecvError::Empty));
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| second.try_recv().is_ok())).unwrap_err();
    assert_eq!(second.try_recv().err(), Some(TryRecvError::Empty));
    assert!(tx.is_empty());
}

#[test]
fn a_receiver_that_goes_leaves_no_value_behind_also_if_drops_panic() {
    #[derive(Clone)]
    struct Bad;
    impl Drop for Bad {
        fn drop(&mut self) {
            panic!("a bad drop");
        }
    }
    let (tx, rx) = channel(2);
    (0..2).for_each(|_| assert!(tx.send(Bad).is_ok()));
    let mut unwatched = pin!(tx.closed());
    assert!(poll(unwatched.as_mut()).is_pending());
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(rx))).unwrap_err();
    assert!(tx.is_empty());
    assert!(poll(unwatched).is_ready());
}

#[test]
fn a_send_wakes_all_that_wait_and_only_once() {
    let (tx, rx) = channel(1);
    let count = Count::new();
    let mut receivers: Vec<_> = (0..1000).map(|_| rx.resubscribe()).collect();
    let mut waits: Vec<_> = receivers.iter_mut().map(|rx| Box::pin(rx.recv())).collect();
    for wait in &mut waits {
        for _ in 0..2 {
            assert!(wait.as_mut().poll(&mut Context::from_waker(&count.waker())).is_pending());
        }
    }
    waits.drain(..100).for_each(drop);
    tx.send(1).unwrap();
    assert_eq!(count.wakes(), 900);
    assert!(waits.iter_mut().all(|wait| poll(wait.as_mut()) == Poll::Ready(Ok(1))));
    assert_eq!(Arc::strong_count(&count), 1);
}

#[test]
fn weak_senders_do_not_keep_the_channel_open() {
    let (tx, mut rx) = channel(1);
    let weak = tx.downgrade();
    let other = weak.upgrade().unwrap();
    assert_eq!((tx.strong_count(), tx.weak_count(), rx.sender_strong_count(), rx.sender_weak_count()), (2, 1, 2, 1));
    drop(tx);
    assert!(!rx.is_closed());
    other.send(1).unwrap();
    let (first, last) = (Count::new(), Count::new());
    assert_eq!(rx.try_recv(), Ok(1));
    let mut recv = Box::pin(rx.recv());
    for count in [&first, &last] {
        assert!(recv.as_mut().poll(&mut Context::from_waker(&count.waker())).is_pending());
    }
    drop(other);
    assert_eq!((first.wakes(), last.wakes()), (0, 1));
    assert_eq!(poll(recv.as_mut()), Poll::Ready(Err(RecvError::Closed)));
    assert!(weak.clone().upgrade().is_none());
}

#[test]
fn closed_is_told_when_the_last_receiver_goes_and_not_if_another_comes() {
    let (tx, rx) = channel::<u32>(1);
    let count = Count::new();
    let mut closed = pin!(tx.closed());
    let mut poll_closed = || closed.as_mut().poll(&mut Context::from_waker(&count.waker())).is_ready();
    assert!(!poll_closed());
    let other = rx.resubscribe();
    drop(rx);
    assert_eq!(count.wakes(), 0);
    drop(other);
    assert_eq!(count.wakes(), 1);
    let another = tx.subscribe();
    assert!(!poll_closed());
    drop(another);
    assert!(poll_closed());
}

#[test]
fn receiving_spends_budget() {
    let runtime = rt::runtime::Builder::new_current_thread().build().unwrap();
    let received = runtime.block_on(async {
        let (tx, mut rx) = channel(256);
        (0..256).for_each(|number| drop(tx.send(number)));
        rt::spawn(async move {
            let mut received = 0;
            std::future::poll_fn(|cx| {
                while pin!(rx.recv()).poll(cx).is_ready() {
                    received += 1;
                }
                Poll::Ready(())
            })
            .await;
            received
        })
        .await
    });
    assert_eq!(received.unwrap(), 128);
}

#[test]
fn many_threads_send_and_receive_without_a_runtime() {
    let (tx, rx) = channel(64);
    let receivers = [(); 3].map(|()| {
        let mut rx = rx.resubscribe();
        std::thread::spawn(move || {
            let mut seen = 0;
            loop {
                match rx.blocking_recv() {
                    Ok(_) => seen += 1,
                    Err(RecvError::Lagged(missed)) => seen += missed,
                    Err(RecvError::Closed) => break seen,
                }
            }
        })
    });
    drop(rx);
    let senders = [(); 2].map(|()| {
        let tx = tx.clone();
        std::thread::spawn(move || (0..1000).for_each(|number| drop(tx.send(Box::new(number)))))
    });
    drop(tx);
    senders.into_iter().for_each(|thread| thread.join().unwrap());
    for thread in receivers {
        assert_eq!(thread.join().unwrap(), 2000);
    }
}

#[test]
fn the_halves_move_between_threads_with_values_that_do() {
    fn is_send_and_sync<T: Send + Sync + Unpin + std::panic::UnwindSafe>() {}
    is_send_and_sync::<Sender<std::cell::Cell<u32>>>();
    is_send_and_sync::<WeakSender<std::cell::Cell<u32>>>();
    is_send_and_sync::<Receiver<std::cell::Cell<u32>>>();
}
