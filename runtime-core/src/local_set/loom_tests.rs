//! Models of the set's protocol with other threads: see `shared.rs`.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Poll, Waker};

use loom::future::block_on;
use loom::thread;

use super::*;
use crate::primitive::Mutex;

/// All interleavings with two preemptions: enough for the mutations, and done in seconds.
fn check(model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder.check(model);
}

/// A task that is over when another thread has set the flag and called its waker.
fn waits_for(flag: &Arc<Mutex<(bool, Option<Waker>)>>) -> impl Future<Output = ()> + 'static {
    let flag = Arc::clone(flag);
    poll_fn(move |cx| {
        let mut flag = flag.lock();
        flag.1 = Some(cx.waker().clone());
        if flag.0 { Poll::Ready(()) } else { Poll::Pending }
    })
}

fn set_and_wake(flag: &Mutex<(bool, Option<Waker>)>) {
    let waker = {
        let mut flag = flag.lock();
        flag.0 = true;
        flag.1.take()
    };
    if let Some(waker) = waker {
        waker.wake();
    }
}

/// A wake from another thread reaches a set that runs, sleeps, or is about to.
#[test]
fn loom_a_wake_from_elsewhere_reaches_the_set() {
    check(|| {
        let flag = Arc::new(Mutex::new((false, None)));
        let set = LocalSet::new();
        drop(set.spawn_local(waits_for(&flag)));
        let other = thread::spawn({
            let flag = Arc::clone(&flag);
            move || set_and_wake(&flag)
        });
        block_on(set);
        other.join().unwrap();
    });
}

/// A wake from another thread beside the drop of the set: the future is dropped, and in the end the memory of the set.
#[test]
fn loom_a_wake_beside_the_drop_of_the_set_leaves_nothing_behind() {
    check(|| {
        let flag = Arc::new(Mutex::new((false, None)));
        let set = LocalSet::new();
        drop(set.spawn_local(waits_for(&flag)));
        set.run(|| {
            // SAFETY: on the set's thread, in a run.
            unsafe { set.shared.run() };
        });
        let shared = Arc::downgrade(&set.shared);
        let other = thread::spawn({
            let flag = Arc::clone(&flag);
            move || set_and_wake(&flag)
        });
        drop(set);
        other.join().unwrap();
        assert_eq!(Arc::strong_count(&flag), 1, "the future was dropped");
        assert_eq!(shared.strong_count(), 0);
    });
}
