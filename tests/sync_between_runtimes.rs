//! Channels and the like between runtimes of both flavors and plain threads, through the facade.

use std::sync::Arc;
use std::thread;

use rt::runtime::{Builder, Runtime};
use rt::sync::{Notify, OnceCell, SetOnce, broadcast, oneshot, watch};

fn runtimes() -> (Runtime, Runtime) {
    let multi = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    (multi, Builder::new_current_thread().enable_all().build().unwrap())
}

#[test]
fn a_request_carries_the_way_back_for_its_answer() {
    let (server, client) = runtimes();
    for number in 0..200_u32 {
        let (ask, asked) = oneshot::channel::<(u32, oneshot::Sender<u32>)>();
        server.spawn(async move {
            let (number, answer) = asked.await.unwrap();
            answer.send(number * 2).unwrap();
        });
        let answer = client.block_on(async {
            let (answer, answered) = oneshot::channel();
            ask.send((number, answer)).unwrap();
            answered.await
        });
        assert_eq!(answer, Ok(number * 2));
    }
}

#[test]
fn the_last_version_reaches_tasks_of_two_runtimes() {
    let (one, other) = runtimes();
    let (tx, rx) = watch::channel(0);
    let watch = |mut rx: watch::Receiver<u32>| async move { *rx.wait_for(|number| *number == 1000).await.unwrap() };
    let (first, second) = (one.spawn(watch(rx.clone())), watch(rx));
    let sender = thread::spawn(move || {
        (1..=1000).for_each(|number| tx.send_modify(|value| *value = number));
        tx
    });
    assert_eq!(other.block_on(second), 1000);
    assert_eq!(one.block_on(first).unwrap(), 1000);
    drop(sender.join().unwrap());
}

#[test]
fn what_is_broadcast_reaches_tasks_of_two_runtimes_and_a_thread() {
    let (one, other) = runtimes();
    let (tx, rx) = broadcast::channel(1024);
    let sum = |mut rx: broadcast::Receiver<u32>| async move {
        let mut sum = 0;
        while let Ok(number) = rx.recv().await {
            sum += number;
        }
        sum
    };
    let (first, second) = (one.spawn(sum(rx.resubscribe())), sum(rx.resubscribe()));
    let mut rx = rx;
    let third = thread::spawn(move || std::iter::from_fn(|| rx.blocking_recv().ok()).sum::<u32>());
    let sender = thread::spawn(move || (0..1000).for_each(|number| drop(tx.send(number))));
    assert_eq!(other.block_on(second), 499_500);
    assert_eq!(one.block_on(first).unwrap(), 499_500);
    assert_eq!(third.join().unwrap(), 499_500);
    sender.join().unwrap();
}

#[test]
fn two_runtimes_take_turns() {
    let (one, other) = runtimes();
    let turns = Arc::new((Notify::new(), Notify::new()));
    let theirs = turns.clone();
    let first = one.spawn(async move {
        for _ in 0..500 {
            theirs.0.notified().await;
            theirs.1.notify_one();
        }
    });
    other.block_on(async {
        for _ in 0..500 {
            turns.0.notify_one();
            turns.1.notified().await;
        }
    });
    one.block_on(first).unwrap();
}

#[test]
fn one_runtime_makes_or_sets_what_the_other_waits_for() {
    let (one, other) = runtimes();
    let cells = Arc::new((OnceCell::new(), SetOnce::new()));
    let theirs = cells.clone();
    let first = one.spawn(async move {
        let made = *theirs.0.get_or_init(|| async { 1 }).await;
        theirs.1.set(made).unwrap();
        made
    });
    let (made, set) = other.block_on(async {
        let set = *cells.1.wait().await;
        (*cells.0.get_or_init(|| async { 2 }).await, set)
    });
    assert_eq!((one.block_on(first).unwrap(), made, set), (1, 1, 1));
}
