//! The protocol of `channel.rs`, on every interleaving (loom).

use std::sync::Arc as StdArc;
use std::sync::atomic::{AtomicUsize as StdAtomicUsize, Ordering as StdOrdering};
use std::task::Wake;

use loom::thread;

use super::*;

/// Counts wakes. Not modelled itself: it is looked at when all threads have ended.
struct Woken(StdAtomicUsize);

impl Wake for Woken {
    fn wake(self: StdArc<Self>) {
        self.0.fetch_add(1, StdOrdering::Relaxed);
    }
}

type Count = StdArc<Woken>;

fn count() -> Count {
    StdArc::new(Woken(StdAtomicUsize::new(0)))
}

fn wakes(count: &Count) -> usize {
    count.0.load(StdOrdering::Relaxed)
}

fn poll(rx: &mut Receiver<Value>, count: &Count) -> Poll<Result<Value, RecvError>> {
    Pin::new(rx).poll(&mut Context::from_waker(&count.clone().into()))
}

/// A value that a model sees: it is written before it is sent, and looked at by the receiver.
struct Value(loom::cell::UnsafeCell<u32>, #[allow(dead_code)] StdArc<()>);

// SAFETY: the model is there to find out.
unsafe impl Send for Value {}

impl Value {
    fn new(token: &StdArc<()>) -> Self {
        let value = Self(loom::cell::UnsafeCell::new(0), token.clone());
        value.0.with_mut(|number| unsafe { *number = 7 });
        value
    }

    fn check(&self) {
        self.0.with(|number| assert_eq!(unsafe { *number }, 7));
    }
}

fn model(f: impl Fn(&StdArc<()>) + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(move || {
        let token = StdArc::new(());
        f(&token);
        assert_eq!(StdArc::strong_count(&token), 1, "a value was lost");
    });
}

/// The receiver gets the value, or is woken for it; with the same waker in the second poll, or with another.
#[test]
fn loom_a_receiver_gets_the_value_or_the_wake() {
    for same in [true, false] {
        model(move |token| {
            let (tx, mut rx) = channel();
            let value = Value::new(token);
            let sender = thread::spawn(move || assert!(tx.send(value).is_ok()));
            let first = count();
            let last = if same { first.clone() } else { count() };
            let mut result = poll(&mut rx, &first);
            if result.is_pending() {
                result = poll(&mut rx, &last);
            }
            sender.join().unwrap();
            if result.is_pending() {
                assert_eq!(wakes(&last), 1, "what was told to wait is woken");
                result = poll(&mut rx, &last);
            }
            let Poll::Ready(Ok(value)) = result else { panic!("the value is there") };
            value.check();
            drop(rx);
            assert_eq!((StdArc::strong_count(&first), StdArc::strong_count(&last)), if same { (2, 2) } else { (1, 1) });
        });
    }
}

/// The value is received, given back, or dropped with the receiver; and the sender, which waits for the end, is told.
#[test]
fn loom_a_value_beside_the_drop_of_the_receiver_is_not_lost() {
    model(|token| {
        let (tx, mut rx) = channel();
        let wakers = [count(), count()];
        assert!(poll(&mut rx, &wakers[0]).is_pending());
        let receiver = thread::spawn(move || drop(rx));
        if let Err(value) = tx.send(Value::new(token)) {
            value.check();
        }
        receiver.join().unwrap();
        assert_eq!(StdArc::strong_count(&wakers[0]), 1);
    });
}

#[test]
fn loom_a_value_beside_a_close_is_received_or_given_back() {
    model(|token| {
        let (tx, mut rx) = channel();
        let value = Value::new(token);
        let sender = thread::spawn(move || tx.send(value).map_err(|value| value.check()).is_ok());
        rx.close();
        let received = rx.try_recv();
        assert_eq!(sender.join().unwrap(), received.is_ok());
        if let Ok(value) = received {
            value.check();
        }
    });
}

/// The sender hears of the end, or is woken for it; with the same waker in the second poll, or with another.
#[test]
fn loom_a_sender_hears_of_the_end() {
    for same in [true, false] {
        model(move |_| {
            let (mut tx, mut rx) = channel::<Value>();
            let receiver_waker = count();
            assert!(poll(&mut rx, &receiver_waker).is_pending());
            let receiver = thread::spawn(move || drop(rx));
            let first = count();
            let last = if same { first.clone() } else { count() };
            let mut poll = |count: &Count| tx.poll_closed(&mut Context::from_waker(&count.clone().into()));
            let is_ready = poll(&first).is_ready() || poll(&last).is_ready();
            receiver.join().unwrap();
            if !is_ready {
                assert_eq!(wakes(&last), 1, "what was told to wait is woken");
                assert!(poll(&last).is_ready());
            }
            drop(tx);
            assert_eq!((StdArc::strong_count(&receiver_waker), wakes(&receiver_waker)), (1, 0));
            assert_eq!((StdArc::strong_count(&first), StdArc::strong_count(&last)), if same { (2, 2) } else { (1, 1) });
        });
    }
}

/// Both go at once, each with a waker in the channel: all wakers are dropped.
#[test]
fn loom_both_halves_go_at_once() {
    model(|_| {
        let (mut tx, mut rx) = channel::<Value>();
        let (sender_waker, receiver_waker) = (count(), count());
        assert!(tx.poll_closed(&mut Context::from_waker(&sender_waker.clone().into())).is_pending());
        assert!(poll(&mut rx, &receiver_waker).is_pending());
        let receiver = thread::spawn(move || drop(rx));
        drop(tx);
        receiver.join().unwrap();
        assert_eq!((StdArc::strong_count(&sender_waker), StdArc::strong_count(&receiver_waker)), (1, 1));
    });
}
