//! The protocol of a broadcast channel, on every interleaving (loom). A batch has room for one waker.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use loom::thread;

use super::error::{RecvError, TryRecvError};
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

/// A value is sent, and then the end: a receiver that waits gets both, and is woken for what it waits.
#[test]
fn loom_each_receiver_receives_each_value_and_the_end() {
    /// What a receiver gets beside what another thread does.
    fn recv_beside<R: 'static>(rx: &mut Receiver<u32>, f: impl FnOnce() -> R + 'static) -> (Result<u32, RecvError>, R) {
        let other = thread::spawn(f);
        let count = Count::new();
        let mut recv = pin!(rx.recv());
        let result = poll_for(recv.as_mut(), &count);
        let returned = other.join().unwrap();
        if let Poll::Ready(result) = result {
            return (result, returned);
        }
        assert_eq!(count.wakes(), 1, "what was told to wait is woken");
        let Poll::Ready(result) = poll(recv) else { panic!("woken for nothing") };
        (result, returned)
    }
    model(|| {
        let (tx, mut rx) = channel(2);
        let mut other = tx.subscribe();
        let (result, tx) = recv_beside(&mut rx, move || {
            tx.send(7).unwrap();
            tx
        });
        assert_eq!(result, Ok(7));
        assert_eq!(recv_beside(&mut rx, move || drop(tx)).0, Err(RecvError::Closed));
        assert_eq!(other.try_recv(), Ok(7));
        assert_eq!(other.try_recv(), Err(TryRecvError::Closed));
    });
}

/// Two receivers wait. One of them goes, the other waits with another waker.
#[test]
fn loom_a_send_wakes_receivers_that_wait_beside_a_drop() {
    model(|| {
        let (tx, mut rx) = channel(1);
        let mut other = tx.subscribe();
        let (first, last) = (Count::new(), Count::new());
        let mut dropped = Box::pin(other.recv());
        let mut recv = pin!(rx.recv());
        assert!(poll_for(dropped.as_mut(), &Count::new()).is_pending());
        assert!(poll_for(recv.as_mut(), &first).is_pending());
        let sender = thread::spawn(move || {
            tx.send(7).unwrap();
            tx
        });
        let mut result = poll_for(recv.as_mut(), &last);
        drop(dropped);
        let tx = sender.join().unwrap();
        if result.is_pending() {
            assert_eq!(last.wakes(), 1, "what was told to wait is woken");
            result = poll(recv);
        }
        assert_eq!(result, Poll::Ready(Ok(7)));
        drop(tx);
    });
}

/// A channel with room for one value, in which a receiver is overtaken: what it gets and what it misses add up.
#[test]
fn loom_a_receiver_that_is_overtaken_is_told_what_it_missed() {
    model(|| {
        let token = Arc::new(());
        let (tx, mut rx) = channel(1);
        let theirs = token.clone();
        let sender = thread::spawn(move || {
            for number in 0..3_u64 {
                tx.send((number, theirs.clone())).unwrap();
            }
        });
        let mut sender = Some(sender);
        let mut next = 0;
        loop {
            match rx.try_recv() {
                Ok((number, _)) => {
                    assert_eq!(number, next);
                    next += 1;
                }
                Err(TryRecvError::Lagged(missed)) => next += missed,
                Err(TryRecvError::Empty) => sender.take().expect("it has not ended").join().unwrap(),
                Err(TryRecvError::Closed) => break,
            }
        }
        assert_eq!(next, 3);
        if let Some(sender) = sender {
            sender.join().unwrap();
        }
        drop(rx);
        assert_eq!(Arc::strong_count(&token), 1);
    });
}

/// The last receivers go, one while a value is sent; and the sender hears of it.
#[test]
fn loom_a_value_beside_the_drop_of_a_receiver_is_dropped_once() {
    model(|| {
        let token = Arc::new(());
        let (tx, rx) = channel(2);
        let mut other = tx.subscribe();
        tx.send(token.clone()).unwrap();
        let receiver = thread::spawn(move || drop(rx));
        let _ = tx.send(token.clone());
        assert!(other.try_recv().is_ok() && other.try_recv().is_ok());
        let count = Count::new();
        let mut closed = pin!(tx.closed());
        drop(other);
        let is_ready = poll_for(closed.as_mut(), &count).is_ready();
        receiver.join().unwrap();
        assert_eq!(Arc::strong_count(&token), 1, "all values are dropped");
        if !is_ready {
            assert_eq!(count.wakes(), 1, "what was told to wait is woken");
            assert!(poll(closed).is_ready());
        }
    });
}
