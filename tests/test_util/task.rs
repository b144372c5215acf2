//! The harness for futures: what it polls, whether it was woken, and what has its waker.

use std::future::{Ready, pending, poll_fn, ready};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::thread;

use rt::sync::{Notify, mpsc, oneshot};
use rt::test_util::task::{Spawn, spawn};
use rt::test_util::{assert_pending, assert_ready, assert_ready_eq};
use rt_test_util::catch;

#[test]
fn a_poll_is_one_poll() {
    let mut polls = 0;
    let mut task = spawn(poll_fn(|_| {
        polls += 1;
        if polls == 3 { Poll::Ready(polls) } else { Poll::Pending }
    }));
    assert_pending!(task.poll());
    assert_pending!(task.poll());
    assert_ready_eq!(task.poll(), 3);
}

#[test]
fn a_wake_is_remembered_until_the_next_poll() {
    let notify = Notify::new();
    let mut task = spawn(async {
        notify.notified().await;
        notify.notified().await;
    });
    assert!(!task.is_woken());
    assert_pending!(task.poll());
    assert!(!task.is_woken());
    notify.notify_one();
    assert!(task.is_woken());
    assert!(task.is_woken());
    assert_pending!(task.poll());
    assert!(!task.is_woken());
    thread::scope(|scope| scope.spawn(|| notify.notify_one()).join()).unwrap();
    assert!(task.is_woken());
    assert_ready!(task.poll());
    assert!(!task.is_woken());
}

#[test]
fn a_wake_during_the_poll_counts() {
    let mut task = spawn(poll_fn(|cx| {
        cx.waker().wake_by_ref();
        Poll::<()>::Pending
    }));
    assert_pending!(task.poll());
    assert!(task.is_woken());
}

#[test]
fn wakers_are_counted() {
    let mut kept: Option<Waker> = None;
    let mut task = spawn(());
    assert_eq!(task.waker_ref_count(), 1);
    task.enter(|cx, _| kept = Some(cx.waker().clone()));
    assert_eq!(task.waker_ref_count(), 2);
    kept.take().unwrap().wake();
    assert!(task.is_woken());
    assert_eq!(task.waker_ref_count(), 1);
}

/// Two wakers of one task are the same, those of two tasks are not.
#[test]
fn the_waker_stays_the_same() {
    let mut wakers = Vec::new();
    let mut task = spawn(());
    for _ in 0..2 {
        task.enter(|cx, _| wakers.push(cx.waker().clone()));
    }
    spawn(()).enter(|cx, _| wakers.push(cx.waker().clone()));
    assert!(wakers[0].will_wake(&wakers[1]));
    assert!(!wakers[0].will_wake(&wakers[2]));
}

#[test]
fn a_receiver_is_entered() {
    let (tx, rx) = mpsc::channel(1);
    let mut task = spawn(rx);
    let poll = |task: &mut Spawn<mpsc::Receiver<u8>>| task.enter(|cx, mut rx| rx.poll_recv(cx));
    assert_pending!(poll(&mut task));
    tx.try_send(5).unwrap();
    assert!(task.is_woken());
    assert_ready_eq!(poll(&mut task), Some(5));
    // It is the receiver in other respects.
    assert_eq!(task.max_capacity(), 1);
    task.close();
    assert!(tx.is_closed());
}

#[test]
fn what_is_inside_comes_out_again() {
    let mut task: Spawn<Ready<u8>> = spawn(ready(5));
    assert_ready_eq!(task.poll(), 5);
    let (tx, rx) = oneshot::channel::<u8>();
    drop(spawn(rx).into_inner());
    assert!(tx.is_closed());
    assert_eq!(format!("{:?}", spawn(5)), "Spawn { is_woken: false, future: 5 }");
}

#[test]
fn as_a_future_it_is_what_is_inside() {
    let waker = spawn(());
    let mut task = spawn(poll_fn(|cx| {
        cx.waker().wake_by_ref();
        Poll::Ready(5)
    }));
    let polled = Future::poll(Pin::new(&mut task), &mut Context::from_waker(Waker::noop()));
    assert_eq!(polled, Poll::Ready(5));
    assert!(!task.is_woken() && !waker.is_woken());
    assert_eq!(rt::test_util::block_on(spawn(async { 6 })), 6);
}

#[test]
fn until_it_is_idle() {
    let mut left = 3;
    let mut task = spawn(poll_fn(move |cx| {
        if left == 0 {
            return Poll::Ready(5);
        }
        left -= 1;
        cx.waker().wake_by_ref();
        Poll::Pending
    }));
    assert_ready_eq!(task.poll_until_idle(), 5);
    assert_pending!(spawn(pending::<()>()).poll_until_idle());
}

#[test]
fn one_that_is_never_idle_is_told_of() {
    let mut polls = 0;
    let mut task = spawn(poll_fn(|cx| {
        polls += 1;
        cx.waker().wake_by_ref();
        Poll::<()>::Pending
    }));
    let (caught, line) = (catch(|| task.poll_until_idle()), line!());
    assert!(caught.message.contains("poll_until_idle exceeded 150 iterations"), "{}", caught.message);
    assert_eq!((caught.file.as_str(), caught.line), (file!(), line));
    drop(task);
    assert_eq!(polls, 150);
}
