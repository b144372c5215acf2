//! What is known of the time before anybody looked at the tasks of this process. One test, because one look changes it.

use std::future::poll_fn;
use std::task::{Poll, Waker};

use rt::runtime::{Builder, TaskState};

#[test]
fn what_a_task_does_is_recorded_from_the_first_look_on() {
    let runtime = Builder::new_current_thread().build().unwrap();
    let (send, receive) = std::sync::mpsc::channel::<Waker>();
    let task = runtime.spawn(poll_fn(move |cx| {
        send.send(cx.waker().clone()).unwrap();
        Poll::<()>::Pending
    }));
    let wake_after_a_poll = || {
        let waker = runtime.block_on(async {
            loop {
                rt::task::yield_now().await;
                if let Ok(waker) = receive.try_recv() {
                    return waker;
                }
            }
        });
        // Here, where nobody drives the runtime, it stays in its queue.
        waker.wake();
        runtime.handle().tasks().pop().unwrap()
    };
    let first = wake_after_a_poll();
    assert!(matches!(first.state, TaskState::Queued { since: None, .. }), "{first:?}");
    assert_eq!((first.polls, first.wakes), (0, 0));
    let second = wake_after_a_poll();
    assert!(matches!(second.state, TaskState::Queued { since: Some(_), .. }), "{second:?}");
    assert_eq!((second.polls, second.wakes), (1, 1));
    task.abort();
}
