//! What a oneshot channel does, seen from one thread.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use super::error::TryRecvError;
use super::*;

struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn counter() -> (Arc<Count>, Waker) {
    let count = Arc::new(Count(AtomicUsize::new(0)));
    (count.clone(), Waker::from(count))
}

fn wakes(count: &Arc<Count>) -> usize {
    count.0.load(Ordering::Relaxed)
}

#[test]
fn a_value_that_is_not_received_is_dropped_once_with_the_receiver() {
    let value = Arc::new(());
    let (tx, rx) = channel();
    assert!(tx.send(value.clone()).is_ok());
    assert_eq!(Arc::strong_count(&value), 2);
    drop(rx);
    assert_eq!(Arc::strong_count(&value), 1);
}

#[test]
fn the_last_of_several_wakers_is_woken_and_all_are_let_go() {
    let (tx, rx) = channel();
    let mut rx = pin!(rx);
    let ((first, first_waker), (second, second_waker)) = (counter(), counter());
    assert!(rx.as_mut().poll(&mut Context::from_waker(&first_waker)).is_pending());
    assert!(rx.as_mut().poll(&mut Context::from_waker(&second_waker)).is_pending());
    drop(first_waker);
    assert_eq!(Arc::strong_count(&first), 1, "a waker that was replaced is dropped");
    tx.send(1).unwrap();
    assert_eq!((wakes(&first), wakes(&second)), (0, 1));
    assert_eq!(rx.as_mut().poll(&mut Context::from_waker(&second_waker)), Poll::Ready(Ok(1)));
    drop(second_waker);
    assert_eq!(Arc::strong_count(&second), 1);
}

#[test]
fn a_close_wakes_the_sender_and_lets_go_of_the_receivers_waker() {
    let (mut tx, mut rx) = channel::<u32>();
    let ((sender, sender_waker), (receiver, receiver_waker)) = (counter(), counter());
    assert!(tx.poll_closed(&mut Context::from_waker(&sender_waker)).is_pending());
    assert!(Pin::new(&mut rx).poll(&mut Context::from_waker(&receiver_waker)).is_pending());
    rx.close();
    drop((sender_waker, receiver_waker));
    assert_eq!((wakes(&sender), wakes(&receiver)), (1, 0));
    assert_eq!((Arc::strong_count(&sender), Arc::strong_count(&receiver)), (1, 1));
    assert!(tx.poll_closed(&mut Context::from_waker(Waker::noop())).is_ready());
    assert_eq!(tx.send(1), Err(1));
    assert_eq!(rx.try_recv(), Err(TryRecvError::Closed));
}

#[test]
fn a_sender_that_sends_or_goes_lets_go_of_its_waker() {
    for sends in [true, false] {
        let (mut tx, mut rx) = channel();
        let (count, waker) = counter();
        assert!(tx.poll_closed(&mut Context::from_waker(&waker)).is_pending());
        drop(waker);
        if sends {
            tx.send(1).unwrap();
            assert_eq!(Arc::strong_count(&count), 1);
            assert_eq!(rx.try_recv(), Ok(1));
        } else {
            drop(tx);
            assert_eq!(rx.try_recv(), Err(TryRecvError::Closed));
        }
        assert_eq!((Arc::strong_count(&count), wakes(&count)), (1, 0));
    }
}

#[test]
fn a_drop_of_the_value_that_panics_leaks_nothing_else() {
    struct Panics(#[allow(dead_code)] Arc<()>);
    impl Drop for Panics {
        fn drop(&mut self) {
            panic!("as planned");
        }
    }
    let value = Arc::new(());
    let (tx, rx) = channel();
    assert!(tx.send(Panics(value.clone())).is_ok());
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(rx))).unwrap_err();
    assert_eq!(Arc::strong_count(&value), 1);
}

#[test]
#[should_panic = "polled after it was ready"]
fn a_receiver_is_not_to_be_polled_after_it_was_ready() {
    let (tx, mut rx) = channel();
    tx.send(1).unwrap();
    let mut cx = Context::from_waker(Waker::noop());
    assert_eq!(Pin::new(&mut rx).poll(&mut cx), Poll::Ready(Ok(1)));
    let _ = Pin::new(&mut rx).poll(&mut cx);
}

#[test]
fn each_receive_spends_budget() {
    let runtime = rt::runtime::Builder::new_current_thread().build().unwrap();
    let in_one_poll = runtime.block_on(async {
        rt::spawn(async {
            let mut received = 0;
            std::future::poll_fn(|cx| {
                while rt::task::coop::has_budget_remaining() {
                    let (tx, mut rx) = channel();
                    tx.send(()).unwrap();
                    assert_eq!(Pin::new(&mut rx).poll(cx), Poll::Ready(Ok(())));
                    received += 1;
                }
                Poll::Ready(())
            })
            .await;
            received
        })
        .await
    });
    assert_eq!(in_one_poll.unwrap(), 128);
}

#[test]
fn threads_hand_over_without_a_runtime() {
    for _ in 0..1000 {
        let (tx, rx) = channel();
        let thread = std::thread::spawn(move || rx.blocking_recv());
        tx.send(Box::new(1)).unwrap();
        assert_eq!(*thread.join().unwrap().unwrap(), 1);
    }
}

#[test]
fn the_halves_move_between_threads_with_values_that_do() {
    fn is_send_and_sync<T: Send + Sync + Unpin>() {}
    is_send_and_sync::<Sender<std::cell::Cell<u32>>>();
    is_send_and_sync::<Receiver<std::cell::Cell<u32>>>();
}
