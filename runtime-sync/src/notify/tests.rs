//! What a `Notify` does, seen from one thread.

use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Waker};

use super::*;
use crate::test_wakers::Count;

fn is_ready(future: Pin<&mut impl Future>) -> bool {
    future.poll(&mut Context::from_waker(Waker::noop())).is_ready()
}

#[test]
fn one_permit_is_stored_however_often_nobody_waits() {
    let notify = Notify::new();
    notify.notify_one();
    notify.notify_last();
    assert!(is_ready(pin!(notify.notified())));
    assert!(!is_ready(pin!(notify.notified())));
}

#[test]
fn the_oldest_the_youngest_or_all_are_notified() {
    let notify = Notify::new();
    let mut waits: Vec<_> = (0..100).map(|_| Box::pin(notify.notified())).collect();
    waits.iter_mut().for_each(|wait| assert!(!is_ready(wait.as_mut())));
    notify.notify_one();
    notify.notify_last();
    let ready: Vec<_> = (0..100).filter(|&n| is_ready(waits[n].as_mut())).collect();
    assert_eq!(ready, [0, 99]);
    notify.notify_waiters();
    assert!(waits.iter_mut().all(|wait| is_ready(wait.as_mut())));
    assert!(!is_ready(pin!(notify.notified())), "no permit was stored");
}

#[test]
fn all_that_were_made_before_are_notified_and_none_that_comes_later() {
    let notify = Arc::new(Notify::new());
    let (before, owned) = (pin!(notify.notified()), pin!(notify.clone().notified_owned()));
    notify.notify_waiters();
    assert!(is_ready(before) && is_ready(owned));
    assert!(!is_ready(pin!(notify.notified())));
}

#[test]
fn a_permit_is_left_to_others_by_those_that_were_all_notified() {
    let notify = Notify::new();
    let before = pin!(notify.notified());
    notify.notify_one();
    notify.notify_waiters();
    assert!(is_ready(before));
    assert!(is_ready(pin!(notify.notified())));
}

#[test]
fn a_dropped_one_hands_its_notification_on_in_the_same_order() {
    for (last, next) in [(false, 1), (true, 2)] {
        let notify = Notify::new();
        let mut waits: Vec<_> = (0..4).map(|_| Some(Box::pin(notify.notified()))).collect();
        for wait in waits.iter_mut().flatten() {
            assert!(!is_ready(wait.as_mut()));
        }
        if last {
            notify.notify_last()
        } else {
            notify.notify_one()
        };
        waits[if last { 3 } else { 0 }] = None;
        let ready: Vec<_> = (0..4).filter(|&n| waits[n].as_mut().is_some_and(|wait| is_ready(wait.as_mut()))).collect();
        assert_eq!(ready, [next]);
    }
}

#[test]
fn a_dropped_one_of_all_hands_nothing_on() {
    let notify = Notify::new();
    let (mut first, second) = (Box::pin(notify.notified()), pin!(notify.notified()));
    assert!(!is_ready(first.as_mut()));
    notify.notify_waiters();
    drop(first);
    assert!(is_ready(second));
    assert!(!is_ready(pin!(notify.notified())));
}

#[test]
fn enabling_takes_the_permit_or_a_place_without_a_waker() {
    let notify = Notify::new();
    let (mut first, mut second) = (pin!(notify.notified()), pin!(notify.notified()));
    assert!(!first.as_mut().enable());
    assert!(!is_ready(second.as_mut()));
    notify.notify_one();
    assert!(!is_ready(second.as_mut()));
    assert!(first.as_mut().enable());
    notify.notify_one();
    notify.notify_one();
    let mut third = Box::pin(notify.notified());
    assert!(third.as_mut().enable(), "there is a permit");
    drop(third);
    assert!(!is_ready(pin!(notify.notified())), "what was enabled with a permit has received it");
}

#[test]
fn the_last_waker_is_woken_once_and_let_go() {
    let notify = Notify::new();
    let (first, last) = (Count::new(), Count::new());
    let mut wait = pin!(notify.notified());
    for count in [&first, &first, &last, &last] {
        assert!(wait.as_mut().poll(&mut Context::from_waker(&count.waker())).is_pending());
    }
    assert_eq!((Arc::strong_count(&first), Arc::strong_count(&last)), (1, 2));
    notify.notify_one();
    assert_eq!((first.wakes(), last.wakes(), Arc::strong_count(&last)), (0, 1, 1));
}

#[test]
fn one_waker_that_panics_keeps_no_other_from_being_woken() {
    struct Panics;
    impl std::task::Wake for Panics {
        fn wake(self: Arc<Self>) {
            panic!("as planned");
        }
    }
    let notify = Notify::new();
    let count = Count::new();
    let mut waits: Vec<_> = (0..100).map(|_| Box::pin(notify.notified())).collect();
    for (n, wait) in waits.iter_mut().enumerate() {
        let waker = if n == 10 { Arc::new(Panics).into() } else { count.waker() };
        assert!(wait.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    }
    std::panic::catch_unwind(|| notify.notify_waiters()).unwrap_err();
    assert_eq!(count.wakes(), 99);
}

#[test]
fn wakers_are_called_without_the_lock() {
    struct Notifies(Arc<Notify>);
    impl std::task::Wake for Notifies {
        fn wake(self: Arc<Self>) {
            self.0.notify_one();
            self.0.notify_waiters();
            let _ = is_ready(pin!(self.0.notified()));
        }
    }
    let notify = Arc::new(Notify::new());
    let waker = Waker::from(Arc::new(Notifies(notify.clone())));
    let mut waits: Vec<_> = (0..70).map(|_| Box::pin(notify.notified())).collect();
    for wait in &mut waits {
        assert!(wait.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    }
    notify.notify_one();
    assert!(waits.iter_mut().all(|wait| is_ready(wait.as_mut())));
}

#[test]
fn a_task_that_has_no_budget_left_is_in_line_and_loses_no_notification() {
    let runtime = rt::runtime::Builder::new_current_thread().build().unwrap();
    let task = async {
        let notify = Notify::new();
        let (mut first, mut second) = (Box::pin(notify.notified()), Box::pin(notify.notified()));
        std::future::poll_fn(|cx| {
            while rt::task::coop::has_budget_remaining() {
                notify.notify_one();
                assert!(pin!(notify.notified()).poll(cx).is_ready());
            }
            assert!(first.as_mut().poll(cx).is_pending() && second.as_mut().poll(cx).is_pending());
            notify.notify_one();
            assert!(first.as_mut().poll(cx).is_pending(), "it is notified, but there is no budget");
            std::task::Poll::Ready(())
        })
        .await;
        drop(first);
        rt::task::yield_now().await;
        second.await;
    };
    runtime.block_on(async { rt::spawn(task).await.unwrap() });
}

#[test]
fn many_tasks_wait_and_are_notified_on_threads() {
    let runtime = rt::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    runtime.block_on(async {
        let notify = Arc::new(Notify::new());
        let tasks: Vec<_> = (0..100)
            .map(|_| {
                let notify = notify.clone();
                rt::spawn(async move {
                    for _ in 0..100 {
                        notify.notify_one();
                        notify.notified().await;
                    }
                    notify.notify_one();
                })
            })
            .collect();
        for task in tasks {
            notify.notify_one();
            task.await.unwrap();
        }
    });
}
