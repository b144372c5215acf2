//! I4, beyond the lanes: the budget, the main future, timers and sockets also have their turn, whatever the tasks do.
//!
//! Mutations that these tests are for: a budget that is never spent, or not renewed; a `block_on` loop that runs tasks
//! until there are none; a worker that looks after the drivers only when it is idle.

use std::io;
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
                    yield_by_hand().await;
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
        // One task takes what is ready for as long as nobody stops it; only a spent budget lets the other one run.
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
fn i4_between_two_turns_of_a_yielding_main_future_there_is_one_task() {
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
                    yield_by_hand().await;
                }
            });
        }
        for turn in 0..1000 {
            assert_eq!(polls.load(SeqCst), turn);
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
