//! The protocols of `list.rs` and `channel.rs`, on every interleaving up to a bound (loom). Blocks have two slots here.

use std::sync::Arc as StdArc;
use std::task::{Context, Poll};

use loom::cell::UnsafeCell;
use loom::thread;

use super::*;
use crate::test_wakers::Count;

/// A value that a model sees: it is written before it is sent, and looked at by the receiver.
struct Value(UnsafeCell<u32>, #[allow(dead_code)] StdArc<()>);

// SAFETY: the models are there to find out.
unsafe impl Send for Value {}
// SAFETY: as above.
unsafe impl Sync for Value {}

impl Value {
    fn new(number: u32, token: &StdArc<()>) -> Self {
        let value = Self(UnsafeCell::new(0), token.clone());
        value.0.with_mut(|place| unsafe { *place = number });
        value
    }

    fn get(&self) -> u32 {
        self.0.with(|place| unsafe { *place })
    }
}

fn model(preemptions: usize, f: impl Fn(&StdArc<()>) + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(move || {
        let token = StdArc::new(());
        f(&token);
        assert_eq!(StdArc::strong_count(&token), 1, "a value was lost");
    });
}

/// All values arrive, in order, and the receiver is woken for each for which it waits; beyond the end of a block.
#[test]
fn loom_values_arrive_in_order() {
    model(3, |token| {
        let (tx, mut rx) = unbounded_channel();
        // So that the end of the channel wakes nobody.
        let keeps_open = tx.clone();
        let values = [1, 2, 3].map(|number| Value::new(number, token));
        let sender = thread::spawn(move || {
            for value in values {
                assert!(tx.send(value).is_ok());
            }
        });
        loom::future::block_on(async {
            for number in 1..=3 {
                assert_eq!(rx.recv().await.unwrap().get(), number);
            }
            drop(keeps_open);
            assert!(rx.recv().await.is_none());
        });
        sender.join().unwrap();
    });
}

/// Two senders at the end of a block: each value arrives once.
#[test]
fn loom_two_senders_at_the_end_of_a_block() {
    model(2, |token| {
        let (tx, mut rx) = unbounded_channel();
        assert!(tx.send(Value::new(1, token)).is_ok());
        let senders = [2, 3].map(|number| {
            let (tx, value) = (tx.clone(), Value::new(number, token));
            thread::spawn(move || assert!(tx.send(value).is_ok()))
        });
        drop(tx);
        let mut sum = 0;
        loom::future::block_on(async {
            while let Some(value) = rx.recv().await {
                sum += value.get();
            }
        });
        assert_eq!(sum, 6);
        for sender in senders {
            sender.join().unwrap();
        }
    });
}

/// A receiver that is polled with another waker beside a send: the last one is woken, if it was told to wait.
#[test]
fn loom_another_waker_beside_a_send() {
    model(3, |token| {
        let (tx, mut rx) = unbounded_channel();
        let (first, second) = (Count::new(), Count::new());
        let poll = |rx: &mut UnboundedReceiver<Value>, count: &StdArc<Count>| {
            rx.poll_recv(&mut Context::from_waker(&count.waker()))
        };
        assert!(poll(&mut rx, &first).is_pending());
        let values = [1, 2].map(|number| Value::new(number, token));
        let sender = thread::spawn(move || {
            let tx = tx;
            for value in values {
                assert!(tx.send(value).is_ok());
            }
            tx
        });
        let mut got = 0;
        for _ in 0..2 {
            if let Poll::Ready(value) = poll(&mut rx, &second) {
                got = value.unwrap().get();
            } else {
                break;
            }
        }
        let _keeps_open = sender.join().unwrap();
        if got < 2 {
            // It was told to wait by the last poll.
            assert!(second.wakes() > 0);
            let Poll::Ready(Some(value)) = poll(&mut rx, &second) else { panic!("it was sent") };
            assert_eq!(value.get(), got + 1);
        }
    });
}

/// The last sender goes while the receiver goes to sleep.
#[test]
fn loom_the_last_sender_goes() {
    model(3, |token| {
        let (tx, mut rx) = channel(1);
        let others = tx.clone();
        let value = Value::new(1, token);
        let sender = thread::spawn(move || assert!(others.try_send(value).is_ok()));
        let goes = thread::spawn(move || drop(tx));
        loom::future::block_on(async {
            assert_eq!(rx.recv().await.unwrap().get(), 1);
            assert!(rx.recv().await.is_none());
        });
        sender.join().unwrap();
        goes.join().unwrap();
    });
}

/// A close beside a send: the value is received, or given back.
#[test]
fn loom_a_close_beside_a_send() {
    model(3, |token| {
        let (tx, mut rx) = unbounded_channel();
        let value = Value::new(1, token);
        let sender = thread::spawn(move || tx.send(value).is_ok());
        rx.close();
        let received = loom::future::block_on(rx.recv()).is_some();
        assert_eq!(sender.join().unwrap(), received);
    });
}

/// A permit that is out when the channel is closed: the receiver waits for it, whether it is used or not.
#[test]
fn loom_a_permit_beside_a_close() {
    model(3, |token| {
        let (tx, mut rx) = channel(2);
        let keeps_open = tx.clone();
        let value = Value::new(1, token);
        let sender = thread::spawn(move || match tx.try_reserve() {
            Ok(permit) => {
                permit.send(value);
                true
            }
            Err(_) => false,
        });
        let dropped = {
            let other = keeps_open.clone();
            thread::spawn(move || drop(other.try_reserve()))
        };
        rx.close();
        let received = loom::future::block_on(async {
            let received = rx.recv().await.is_some();
            assert!(!received || rx.recv().await.is_none());
            received
        });
        assert_eq!(sender.join().unwrap(), received);
        dropped.join().unwrap();
        drop(keeps_open);
    });
}

/// A sender that waits for room, beside the receiver that makes it, or goes.
#[test]
fn loom_a_sender_waits_for_room() {
    model(3, |token| {
        let (tx, mut rx) = channel(1);
        assert!(tx.try_send(Value::new(1, token)).is_ok());
        let value = Value::new(2, token);
        let sender = thread::spawn(move || loom::future::block_on(tx.send(value)).is_ok());
        assert_eq!(rx.try_recv().ok().unwrap().get(), 1);
        drop(rx);
        let _sent_or_given_back = sender.join().unwrap();
    });
}

/// A channel of two places, as many as have a box here, which have been used once and are in it.
fn used(token: &StdArc<()>) -> (Sender<Value>, Receiver<Value>) {
    let (tx, mut rx) = channel(2);
    for number in 1..=2 {
        assert!(tx.try_send(Value::new(number, token)).is_ok());
    }
    for number in 1..=2 {
        assert_eq!(rx.try_recv().ok().unwrap().get(), number);
    }
    (tx, rx)
}

/// Places that come back are found by the thread that needs them, also when another one is just getting them.
#[test]
fn loom_two_senders_need_what_came_back() {
    model(3, |token| {
        let (tx, _rx) = used(token);
        let (theirs, value) = (tx.clone(), Value::new(3, token));
        let sender = thread::spawn(move || assert!(theirs.try_send(value).is_ok()));
        assert!(tx.try_send(Value::new(4, token)).is_ok());
        sender.join().unwrap();
        assert!(tx.try_send(Value::new(5, token)).is_err());
    });
}

/// There is always a place left, wherever it may be: nobody is told that there is none.
#[test]
fn loom_a_place_is_left_at_every_moment() {
    model(3, |token| {
        let (tx, mut rx) = used(token);
        let (theirs, value) = (tx.clone(), Value::new(3, token));
        let other = thread::spawn(move || {
            // Takes one place at most at a time.
            assert!(theirs.try_send(value).is_ok());
            assert_eq!(rx.try_recv().ok().unwrap().get(), 3);
            assert!(theirs.try_reserve().is_ok());
            rx
        });
        assert!(tx.try_reserve().is_ok());
        let _rx = other.join().unwrap();
        assert_eq!(tx.capacity(), 2);
    });
}

/// There are never more places than there should be, or fewer, whatever is on its way: to a sender, or back from the
/// receiver.
#[test]
fn loom_the_capacity_beside_sends() {
    model(3, |token| {
        let (tx, rx) = used(token);
        let (theirs, value) = (tx.clone(), Value::new(3, token));
        let sender = thread::spawn(move || theirs.try_send(value).is_ok());
        assert!((1..=2).contains(&tx.capacity()));
        assert!(sender.join().unwrap());
        assert_eq!(tx.capacity(), 1);
        drop(rx);
    });
    model(3, |token| {
        let (tx, mut rx) = channel(2);
        let (theirs, value) = (tx.clone(), Value::new(1, token));
        let other = thread::spawn(move || {
            assert!(theirs.try_send(value).is_ok());
            assert_eq!(rx.try_recv().ok().unwrap().get(), 1);
            rx
        });
        assert!((1..=2).contains(&tx.capacity()));
        let _rx = other.join().unwrap();
        assert_eq!(tx.capacity(), 2);
    });
}

/// A sender that needs a place waits for it in turn, beside the receiver that makes it. What the receiver did before,
/// the sender sees.
#[test]
fn loom_a_place_comes_back_beside_a_send() {
    model(3, |token| {
        let (tx, mut rx) = channel(2);
        let notes = StdArc::new(Value::new(0, token));
        for number in 1..=2 {
            assert!(tx.try_send(Value::new(number, token)).is_ok());
        }
        let (value, theirs) = (Value::new(3, token), notes.clone());
        let sender = thread::spawn(move || {
            // As a thread without a runtime does.
            assert!(crate::blocking::drive(tx.send(value)).is_ok());
            assert_eq!(theirs.get(), 1);
            tx
        });
        notes.0.with_mut(|note| unsafe { *note = 1 });
        assert_eq!(rx.try_recv().ok().unwrap().get(), 1);
        let tx = sender.join().unwrap();
        for number in 2..=3 {
            assert_eq!(rx.try_recv().ok().unwrap().get(), number);
        }
        assert_eq!(tx.capacity(), 2);
    });
}

/// A receiver that blocks a plain thread, beside the send.
#[test]
fn loom_a_thread_waits_for_a_value() {
    model(3, |token| {
        let (tx, mut rx) = channel(1);
        let keeps_open = tx.clone();
        let value = Value::new(1, token);
        let sender = thread::spawn(move || assert!(tx.try_send(value).is_ok()));
        assert_eq!(crate::blocking::drive(rx.recv()).unwrap().get(), 1);
        sender.join().unwrap();
        drop(keeps_open);
    });
}

/// The receiver goes beside a send; nothing is lost, and what comes too late is dropped with the channel.
#[test]
fn loom_the_receiver_goes_beside_sends() {
    model(3, |token| {
        let (tx, rx) = unbounded_channel();
        let values = [1, 2, 3].map(|number| Value::new(number, token));
        let sender = thread::spawn(move || {
            for value in values {
                let _ = tx.send(value);
            }
        });
        drop(rx);
        sender.join().unwrap();
    });
}

/// The length is that of the sends that were completed, at least, also at the end of a block.
#[test]
fn loom_the_length_beside_a_send() {
    model(3, |token| {
        let (tx, mut rx) = unbounded_channel();
        assert!(tx.send(Value::new(1, token)).is_ok());
        let (theirs, value) = (tx.clone(), Value::new(2, token));
        let sender = thread::spawn(move || assert!(theirs.send(value).is_ok()));
        assert!(tx.send(Value::new(3, token)).is_ok());
        assert!((2..=3).contains(&rx.len()));
        assert_eq!(rx.try_recv().ok().unwrap().get(), 1);
        sender.join().unwrap();
        assert_eq!(rx.len(), 2);
    });
}
