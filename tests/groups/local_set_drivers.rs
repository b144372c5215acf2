//! Who is woken when something comes for a `LocalSet`: all that drive it, and nobody who does not any more.

use std::future::{Future, pending, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::thread;

use rt::runtime::Builder;
use rt::task::{LocalSet, spawn_local, yield_now};
use rt_test_util::*;

/// A program may drive a set again and again, each time by another future: none of those that are over is woken.
#[test]
fn a_driver_that_is_done_leaves_no_waker_in_the_set() {
    let _watchdog = watchdog();
    let (set, wakes) = (LocalSet::new(), Arc::new(Wakes::default()));
    let waker = Waker::from(Arc::clone(&wakes));
    let cx = &mut Context::from_waker(&waker);
    let (send, receive) = rt::sync::oneshot::channel::<()>();
    let task = set.spawn_local(receive);
    for _ in 0..3 {
        let mut first = pin!(set.run_until(pending::<()>()));
        assert!(first.as_mut().poll(cx).is_pending());
        let mut second = pin!(set.run_until(yield_now()));
        assert!(second.as_mut().poll(cx).is_pending() && second.as_mut().poll(cx).is_ready());
    }
    assert_eq!(Arc::strong_count(&wakes), 2, "the set has a waker of one who is not there any more");
    let before = wakes.count();
    send.send(()).unwrap();
    assert_eq!(wakes.count(), before);
    // One that comes now finds what has been woken.
    Builder::new_current_thread().build().unwrap().block_on(set.run_until(task)).unwrap().unwrap();
}

/// Two futures of one task drive a set: the end of one is not the end of the other, in whatever order they are polled.
#[test]
fn a_driver_that_is_done_takes_no_waker_of_another_along() {
    let _watchdog = watchdog();
    let runtime = Builder::new_current_thread().build().unwrap();
    let set = LocalSet::new();
    let (send, receive) = rt::sync::oneshot::channel();
    let sender = thread::spawn(|| receive.blocking_recv().unwrap());
    let (wake, woken) = rt::sync::oneshot::channel();
    let task = set.spawn_local(woken);
    runtime.block_on(async {
        let mut goes_on = pin!(set.run_until(task));
        let mut is_done = pin!(set.run_until(yield_now()));
        let (mut wake, mut send, mut done) = (Some(wake), Some(send), false);
        poll_fn(|cx| {
            let polled = goes_on.as_mut().poll(cx);
            if !done && is_done.as_mut().poll(cx).is_ready() {
                done = true;
                // The task is woken from elsewhere, with nothing else that would have this one polled again.
                let (wake, send) = (wake.take().unwrap(), send.take().unwrap());
                let _ = send.send(thread::spawn(move || wake.send(()).unwrap()));
            }
            polled
        })
        .await
        .unwrap()
        .unwrap();
    });
    sender.join().unwrap().join().unwrap();
}

/// One that drives a set is dropped when its last run has left tasks in the queue: another has to poll them.
#[test]
fn a_driver_that_is_dropped_leaves_the_queue_to_another() {
    let _watchdog = watchdog();
    let set = LocalSet::new();
    let wakes = [(); 2].map(|()| Arc::new(Wakes::default()));
    let wakers = wakes.each_ref().map(|wakes| Waker::from(Arc::clone(wakes)));
    let [ref mut goes_on, ref mut is_dropped] = wakers.each_ref().map(Context::from_waker);
    let mut first = pin!(set.run_until(pending::<()>()));
    assert!(first.as_mut().poll(goes_on).is_pending());
    {
        let many = async {
            (0..100).for_each(|_| drop(spawn_local(async {})));
            pending::<()>().await;
        };
        let mut second = pin!(set.run_until(many));
        assert!(second.as_mut().poll(is_dropped).is_pending());
        assert_eq!(wakes.each_ref().map(|wakes| wakes.count()), [0, 1], "the one that has left them goes on");
    }
    assert_eq!(wakes[0].count(), 1);
}

/// A set that is polled as a future keeps the waker of that, whatever else drives it for a while.
#[test]
fn a_set_as_a_future_is_woken_after_another_has_driven_it() {
    let _watchdog = watchdog();
    let mut set = Box::pin(LocalSet::new());
    let wakes = Arc::new(Wakes::default());
    let waker = Waker::from(Arc::clone(&wakes));
    let cx = &mut Context::from_waker(&waker);
    let (send, receive) = rt::sync::oneshot::channel::<()>();
    set.spawn_local(receive);
    assert!(set.as_mut().poll(cx).is_pending());
    assert!(pin!(set.run_until(async {})).poll(cx).is_ready());
    send.send(()).unwrap();
    assert!(wakes.count() > 0 && set.as_mut().poll(cx).is_ready());
}
