//! Hundreds of tasks block at once, or one after the other.

use std::sync::Arc;
use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use rt::io::{AsyncReadExt, AsyncWriteExt};
use rt::net::{TcpListener, TcpStream};
use rt_test_util::*;

use crate::runtime;

#[test]
fn i7_hundreds_may_block_at_once() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let gate = Gate::new();
    let blocked: Vec<_> = (0..300)
        .map(|_| {
            let gate = gate.clone();
            runtime.spawn(async move { gate.pass() })
        })
        .collect();
    gate.wait_for(2);
    // In the middle of it a timer, a connection, and a task: all behind the three hundred.
    let busy = runtime.spawn(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let client = rt::spawn(async move {
            let mut stream = TcpStream::connect(address).await.unwrap();
            stream.write_all(b"hello").await.unwrap();
            let mut answer = Vec::new();
            stream.read_to_end(&mut answer).await.unwrap();
            answer
        });
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut message = [0; 5];
        stream.read_exact(&mut message).await.unwrap();
        rt::time::sleep(Duration::from_millis(1)).await;
        stream.write_all(&message).await.unwrap();
        drop(stream);
        assert_eq!(client.await.unwrap(), b"hello");
    });
    runtime.block_on(busy).unwrap();
    gate.wait_for(300);
    gate.open();
    runtime.block_on(async {
        for task in blocked {
            task.await.unwrap();
        }
    });
    assert_eq!(runtime.handle().metrics().num_alive_tasks(), 0);
}

#[test]
fn i7_a_hundred_tasks_that_need_each_other_meet_beside_busy_workers() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let over = Arc::new(std::sync::atomic::AtomicBool::new(false));
    // These keep all threads that are not blocked busy, so that none is idle and steals.
    let busy: Vec<_> = (0..400)
        .map(|_| {
            let over = over.clone();
            runtime.spawn(async move {
                while !over.load(std::sync::atomic::Ordering::SeqCst) {
                    (0..1000).for_each(|_| std::hint::spin_loop());
                    rt::task::yield_now().await;
                }
            })
        })
        .collect();
    let barrier = Arc::new(Barrier::new(100));
    let meeting: Vec<_> = (0..100)
        .map(|_| {
            let barrier = barrier.clone();
            runtime.spawn(async move {
                barrier.wait();
            })
        })
        .collect();
    runtime.block_on(async {
        for task in meeting {
            task.await.unwrap();
        }
        over.store(true, std::sync::atomic::Ordering::SeqCst);
        for task in busy {
            task.await.unwrap();
        }
    });
}

#[test]
fn i7_blocking_one_after_the_other_does_not_hold_up_a_ticker() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let ticker = runtime.spawn(async {
        let mut ticks = rt::time::interval(Duration::from_millis(2));
        for _ in 0..50 {
            ticks.tick().await;
        }
    });
    // Each blocks until the ticker is done: each new thread is blocked by the next task.
    let blocked: Vec<_> = (0..50)
        .map(|_| {
            let handle = ticker.abort_handle();
            runtime.spawn(async move {
                while !handle.is_finished() {
                    thread::sleep(Duration::from_millis(1));
                }
            })
        })
        .collect();
    runtime.block_on(async {
        ticker.await.unwrap();
        for task in blocked {
            task.await.unwrap();
        }
    });
}
