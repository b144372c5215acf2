//! What a watch channel does.

use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use super::*;
use crate::test_wakers::Count;

fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

#[test]
fn each_version_is_seen_once_by_each_receiver() {
    let (tx, mut rx) = channel(1);
    let mut other = rx.clone();
    assert!(poll(pin!(rx.changed())).is_pending());
    tx.send(2).unwrap();
    for rx in [&mut rx, &mut other] {
        assert!(matches!(poll(pin!(rx.changed())), Poll::Ready(Ok(()))));
        assert!(poll(pin!(rx.changed())).is_pending());
        assert_eq!(*rx.borrow(), 2);
    }
    tx.send(2).unwrap();
    tx.send(3).unwrap();
    let borrowed = rx.borrow_and_update();
    assert!(*borrowed == 3 && borrowed.has_changed());
    drop(borrowed);
    assert!(!rx.has_changed().unwrap() && other.has_changed().unwrap());
}

#[test]
fn the_last_value_is_seen_after_its_sender_has_gone() {
    let (tx, mut rx) = channel(1);
    let other = tx.clone();
    assert_eq!(tx.sender_count(), 2);
    drop(tx);
    other.send(2).unwrap();
    assert!(!rx.is_closed());
    drop(other);
    assert!(rx.is_closed() && rx.has_changed().is_err());
    assert!(matches!(poll(pin!(rx.changed())), Poll::Ready(Ok(()))));
    assert!(matches!(poll(pin!(rx.changed())), Poll::Ready(Err(_))));
    assert!(matches!(poll(pin!(rx.wait_for(|value| *value == 2))), Poll::Ready(Ok(_))));
    assert!(matches!(poll(pin!(rx.wait_for(|value| *value == 3))), Poll::Ready(Err(_))));
}

#[test]
fn a_send_wakes_all_that_wait_and_only_once() {
    let (tx, rx) = channel(1);
    let count = Count::new();
    let mut receivers: Vec<_> = (0..1000).map(|_| rx.clone()).collect();
    let mut waits: Vec<_> = receivers.iter_mut().map(|rx| Box::pin(rx.changed())).collect();
    for wait in &mut waits {
        for _ in 0..2 {
            assert!(wait.as_mut().poll(&mut Context::from_waker(&count.waker())).is_pending());
        }
    }
    waits.drain(..100).for_each(drop);
    tx.send(2).unwrap();
    assert_eq!(count.wakes(), 900);
    tx.send(3).unwrap();
    assert_eq!(count.wakes(), 900);
    assert!(waits.iter_mut().all(|wait| poll(wait.as_mut()).is_ready()));
    assert_eq!(Arc::strong_count(&count), 1);
}

#[test]
fn the_last_waker_is_the_one_that_is_woken() {
    let (tx, mut rx) = channel(1);
    let (first, last) = (Count::new(), Count::new());
    {
        let mut wait = pin!(rx.changed());
        assert!(wait.as_mut().poll(&mut Context::from_waker(&first.waker())).is_pending());
        assert!(wait.as_mut().poll(&mut Context::from_waker(&last.waker())).is_pending());
        assert_eq!(Arc::strong_count(&first), 1);
        drop(tx);
        assert_eq!((first.wakes(), last.wakes()), (0, 1));
        assert!(matches!(poll(wait), Poll::Ready(Err(_))));
    }
}

#[test]
fn the_value_is_dropped_without_the_lock() {
    struct Looks(Option<Sender<Looks>>);
    impl Drop for Looks {
        fn drop(&mut self) {
            if let Some(tx) = self.0.take() {
                assert!(tx.borrow().0.is_none());
                tx.send_modify(|_| ());
            }
        }
    }
    let (tx, _rx) = channel(Looks(None));
    tx.send(Looks(Some(tx.clone()))).unwrap_or_else(|_| panic!("there is a receiver"));
    tx.send(Looks(None)).unwrap_or_else(|_| panic!("there is a receiver"));
}

#[test]
fn a_closure_that_panics_changes_no_version_and_leaves_the_lock_free() {
    let (tx, mut rx) = channel(1);
    let modify = || {
        tx.send_modify(|value| {
            *value = 2;
            panic!("as planned")
        })
    };
    std::panic::catch_unwind(modify).unwrap_err();
    assert!(*rx.borrow() == 2 && !rx.has_changed().unwrap());
    let mut wait = Box::pin(rx.wait_for(|_| panic!("as planned")));
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| poll(wait.as_mut()).is_ready())).unwrap_err();
    drop(wait);
    tx.send(3).unwrap();
}

#[test]
fn closed_is_told_when_the_last_receiver_goes_and_not_if_another_comes() {
    let (tx, rx) = channel(1);
    let count = Count::new();
    let mut closed = pin!(tx.closed());
    let mut poll_closed = || closed.as_mut().poll(&mut Context::from_waker(&count.waker())).is_ready();
    assert!(!poll_closed());
    let other = rx.clone();
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
fn waiting_spends_budget() {
    let runtime = rt::runtime::Builder::new_current_thread().build().unwrap();
    let polls = runtime.block_on(async {
        let (tx, mut rx) = channel(0);
        rt::spawn(async move {
            let mut looks = 0;
            std::future::poll_fn(|cx| {
                loop {
                    tx.send_modify(|_| ());
                    if pin!(rx.changed()).poll(cx).is_pending() {
                        return Poll::Ready(looks);
                    }
                    looks += 1;
                }
            })
            .await
        })
        .await
    });
    assert_eq!(polls.unwrap(), 128);
}

#[test]
fn receivers_on_threads_see_the_last_value() {
    let runtime = rt::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    runtime.block_on(async {
        let (tx, rx) = channel(0);
        let tasks: Vec<_> = (0..100)
            .map(|_| {
                let mut rx = rx.clone();
                rt::spawn(async move {
                    let mut last = 0;
                    while rx.changed().await.is_ok() {
                        let now = *rx.borrow_and_update();
                        assert!(now > last);
                        last = now;
                    }
                    last
                })
            })
            .collect();
        for number in 1..=1000 {
            tx.send(number).unwrap();
            rt::task::yield_now().await;
        }
        drop(tx);
        for task in tasks {
            assert_eq!(task.await.unwrap(), 1000);
        }
    });
}

#[test]
fn the_halves_move_between_threads_with_values_that_are_shared() {
    fn is_send_and_sync<T: Send + Sync + Unpin + std::panic::UnwindSafe>() {}
    is_send_and_sync::<Sender<u32>>();
    is_send_and_sync::<Receiver<u32>>();
}
