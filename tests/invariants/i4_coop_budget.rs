//! I4, within a poll: a task whose operations are always ready yields when its budget is spent, and the others have
//! their turn.
//!
//! Mutations that these tests are for: a budget that is never spent, or not renewed; an operation that spends nothing.

use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::time::Duration;

use rt::io::{AsyncReadExt, AsyncWriteExt};
use rt::net::{TcpListener, TcpStream};
use rt::runtime::Builder;
use rt::task::{consume_budget, unconstrained};
use rt_test_util::*;

#[test]
fn i4_a_spent_budget_yields_after_exactly_that_many_operations() {
    let _watchdog = watchdog();
    for budget in [128, 10, 1] {
        let mut builder = Builder::new_current_thread();
        if budget != 128 {
            builder.coop_budget(budget);
        }
        let runtime = builder.build().unwrap();
        runtime.block_on(async {
            let (spent, stop) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
            let (count, stopped) = (spent.clone(), stop.clone());
            let greedy = rt::spawn(async move {
                while !stopped.load(SeqCst) {
                    consume_budget().await;
                    count.fetch_add(1, SeqCst);
                }
            });
            rt::spawn(async move {
                for round in 1..=20 {
                    // The two take turns, the greedy one first, and each of its turns is one budget.
                    assert_eq!(spent.load(SeqCst), round * budget as usize);
                    rt::task::yield_now().await;
                }
                stop.store(true, SeqCst);
            })
            .await
            .unwrap();
            greedy.await.unwrap();
        });
        assert!(runtime.handle().metrics().totals().budget_yields >= 20);
    }
}

#[test]
fn i4_joining_finished_tasks_and_passed_timers_spend_the_budget_too() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        // One task takes what is ready until it is stopped; only a spent budget lets the other one run.
        let greedy = |kind: usize| async move {
            let stop = Signal::new();
            let stopper = stop.clone();
            let stopper = rt::spawn(async move { stopper.set() });
            while !stop.is_set() {
                match kind {
                    0 => rt::time::sleep(Duration::ZERO).await,
                    1 => drop(rt::time::timeout(Duration::MAX, async {}).await),
                    _ => {
                        let ready = rt::spawn(async {});
                        while !ready.is_finished() {
                            rt::task::yield_now().await;
                        }
                        ready.await.unwrap();
                    }
                }
            }
            stopper.await.unwrap();
        };
        for kind in [0, 2] {
            runtime.block_on(async { rt::spawn(greedy(kind)).await.unwrap() });
        }
    });
}

#[test]
fn i4_an_unconstrained_future_does_not_yield() {
    let _watchdog = watchdog();
    let runtime = current();
    runtime.block_on(async {
        let ran = Signal::new();
        let other = ran.clone();
        rt::spawn(async move {
            let other = rt::spawn(async move { other.set() });
            unconstrained(async {
                for _ in 0..10_000 {
                    consume_budget().await;
                    assert!(!ran.is_set());
                }
            })
            .await;
            other.await.unwrap();
        })
        .await
        .unwrap();
    });
    assert_eq!(runtime.handle().metrics().totals().budget_yields, 0);
}

#[test]
fn i4_a_socket_that_is_always_readable_does_not_keep_its_neighbours_waiting() {
    let _watchdog = watchdog();
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().rescue_blocked(false).build().unwrap();
    let task = runtime.spawn(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (mut server, _) = listener.accept().await.unwrap();
        let bytes = vec![1; 2000];
        client.write_all(&bytes).await.unwrap();
        let ran = Signal::new();
        let other = ran.clone();
        rt::spawn(async move { other.set() });
        // Byte by byte there is always one more: only the budget ends this task's turn.
        let mut read = 0;
        while !ran.is_set() {
            assert!(read < bytes.len(), "the neighbour never ran");
            server.read_exact(&mut [0]).await.unwrap();
            read += 1;
        }
    });
    eventually(|| task.is_finished());
    runtime.block_on(task).unwrap();
}
