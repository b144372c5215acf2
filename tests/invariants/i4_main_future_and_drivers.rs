//! I4, beyond the lanes: the main future, timers and sockets also have their turn, whatever the tasks do.
//!
//! Mutations that these tests are for: a `block_on` loop that runs tasks until there are none; a worker that looks
//! after the drivers only when it is idle.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::time::Duration;

use rt::io::{AsyncReadExt, AsyncWriteExt};
use rt::net::{TcpListener, TcpStream};
use rt_test_util::*;

#[test]
fn i4_the_main_future_has_its_turn_beside_tasks_that_yield_for_ever() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        runtime.block_on(async {
            let hogs: Vec<_> = (0..20)
                .map(|_| {
                    let stopped = stopped.clone();
                    rt::spawn(async move {
                        while !stopped.load(SeqCst) {
                            yield_by_hand().await;
                        }
                    })
                })
                .collect();
            for _ in 0..1000 {
                yield_by_hand().await;
            }
            stopped.store(true, SeqCst);
            for hog in hogs {
                hog.await.unwrap();
            }
        });
        assert!(stop.load(SeqCst));
    });
}

#[test]
fn i4_between_two_turns_of_a_yielding_main_future_each_task_has_one() {
    let _watchdog = watchdog();
    // Exact on one thread: neither does a crowd of tasks keep the main future waiting, nor it them.
    let runtime = current();
    let polls = Arc::new(AtomicUsize::new(0));
    runtime.block_on(async {
        for _ in 0..20 {
            let polls = polls.clone();
            rt::spawn(async move {
                loop {
                    polls.fetch_add(1, SeqCst);
                    rt::task::yield_now().await;
                }
            });
        }
        for turn in 0..1000 {
            assert_eq!(polls.load(SeqCst), 20 * turn);
            rt::task::yield_now().await;
        }
    });
}

#[test]
fn i4_tasks_that_wake_themselves_for_ever_leave_a_yielding_main_future_its_turns() {
    let _watchdog = watchdog();
    let polls = Arc::new(AtomicUsize::new(0));
    current().block_on(async {
        for _ in 0..20 {
            let polls = polls.clone();
            rt::spawn(async move {
                loop {
                    polls.fetch_add(1, SeqCst);
                    yield_by_hand().await;
                }
            });
        }
        for turn in 0..1000 {
            assert_eq!(polls.load(SeqCst), 61 * turn);
            yield_by_hand().await;
        }
    });
}

#[test]
fn i4_a_main_future_that_yields_for_ever_starves_no_task() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let tasks: Vec<_> = (0..50)
                .map(|_| {
                    rt::spawn(async {
                        for _ in 0..10 {
                            yield_by_hand().await;
                        }
                    })
                })
                .collect();
            while !tasks.iter().all(|task| task.is_finished()) {
                yield_by_hand().await;
            }
        });
    });
}

#[test]
fn i4_many_short_calls_of_block_on_starve_no_task_that_came_from_outside() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let task = runtime.spawn(async {});
        let short = || runtime.block_on(async { rt::spawn(yield_by_hand()).await.unwrap() });
        let mut calls = 0;
        while !task.is_finished() {
            short();
            calls += 1;
            // Each is two ticks at least, and every 61st tick of the thread that drives is the injector's: also if they
            // are those of many calls. (With several workers the call may be over before a worker has got up.)
            let exact = runtime.handle().runtime_flavor() == rt::runtime::RuntimeFlavor::CurrentThread;
            assert!(!exact || calls <= 61, "a task waits in the injector for {calls} calls of block_on");
        }
    });
}

#[test]
fn i4_many_short_calls_of_block_on_starve_no_timer_and_no_socket() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let [task] = runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let task = rt::spawn(async move {
                rt::time::sleep(Duration::from_millis(2)).await;
                let accepted = rt::spawn(async move { listener.accept().await.unwrap() });
                rt::task::yield_now().await;
                let _client = TcpStream::connect(address).await.unwrap();
                accepted.await.unwrap();
            });
            rt::task::yield_now().await;
            [task]
        });
        // No call ever waits for anything but its own task, so none of them gets to sleep in the drivers.
        while !task.is_finished() {
            runtime.block_on(async { rt::spawn(yield_by_hand()).await.unwrap() });
        }
    });
}

#[test]
fn i4_timers_fire_while_tasks_yield_for_ever() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let fired = Arc::new(AtomicBool::new(false));
        let seen = fired.clone();
        runtime.spawn(async move {
            for _ in 0..5 {
                rt::time::sleep(Duration::from_millis(1)).await;
            }
            seen.store(true, SeqCst);
        });
        // One for each worker, so that none of them is ever idle.
        let hogs: Vec<_> = (0..runtime.handle().metrics().num_workers() + 1)
            .map(|_| {
                let fired = fired.clone();
                runtime.spawn(async move {
                    while !fired.load(SeqCst) {
                        rt::task::yield_now().await;
                    }
                })
            })
            .collect();
        runtime.block_on(async {
            for hog in hogs {
                hog.await.unwrap();
            }
        });
    });
}

#[test]
fn i4_sockets_are_served_while_tasks_yield_for_ever() -> io::Result<()> {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let done = Arc::new(AtomicBool::new(false));
        for _ in 0..runtime.handle().metrics().num_workers() + 1 {
            let done = done.clone();
            runtime.spawn(async move {
                while !done.load(SeqCst) {
                    yield_by_hand().await;
                }
            });
        }
        let echoed: io::Result<()> = runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await?;
            let mut client = TcpStream::connect(listener.local_addr()?).await?;
            let (mut server, _) = listener.accept().await?;
            let server = rt::spawn(async move {
                let mut byte = [0];
                while server.read(&mut byte).await? == 1 {
                    server.write_all(&byte).await?;
                }
                io::Result::Ok(())
            });
            for n in 0..20 {
                let mut byte = [0];
                client.write_all(&[n]).await?;
                client.read_exact(&mut byte).await?;
                assert_eq!(byte, [n]);
            }
            drop(client);
            server.await.unwrap()
        });
        done.store(true, SeqCst);
        echoed.unwrap();
    });
    Ok(())
}
