//! I7: every worker is blocked, in one way or another, and the rest goes on. (By the hundred, and by computing:
//! `tests/blocked`.)

use std::io::{Read, Write};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, mpsc};
use std::task::{Context, Wake, Waker};
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;
use rt::io::{AsyncReadExt, AsyncWriteExt};
use rt::net::{TcpListener, TcpStream};
use rt::runtime::Runtime;
use rt_test_util::*;

fn runtime(workers: usize) -> Runtime {
    rescuing(workers).build().unwrap()
}

/// Blocks all workers at a gate, and runs the future, which must end while they are. Then opens the gate.
fn while_all_are_blocked<F>(workers: usize, future: impl FnOnce() -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let runtime = runtime(workers);
    let gate = Gate::new();
    let blocked: Vec<_> = (0..workers)
        .map(|_| {
            let gate = gate.clone();
            runtime.spawn(async move { gate.pass() })
        })
        .collect();
    gate.wait_for(workers);
    let done = runtime.spawn(future());
    runtime.block_on(done).unwrap();
    assert!(blocked.iter().all(|task| !task.is_finished()));
    gate.open();
    runtime.block_on(async {
        for task in blocked {
            task.await.unwrap();
        }
    });
}

#[test]
fn i7_tasks_go_on() {
    let _watchdog = watchdog();
    for workers in [1, 2, 4] {
        while_all_are_blocked(workers, || async {
            let tasks: Vec<_> = (0..100).map(|n| rt::spawn(async move { n })).collect();
            for (n, task) in tasks.into_iter().enumerate() {
                assert_eq!(task.await.unwrap(), n);
                rt::task::yield_now().await;
            }
        });
    }
}

#[test]
fn i7_timers_go_on() {
    let _watchdog = watchdog();
    for workers in [1, 2] {
        while_all_are_blocked(workers, || async {
            let mut ticks = rt::time::interval(Duration::from_millis(3));
            for _ in 0..10 {
                ticks.tick().await;
            }
        });
    }
}

#[test]
fn i7_accepts_reads_and_writes_go_on() {
    let _watchdog = watchdog();
    while_all_are_blocked(2, || async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        // From outside of the runtime, so that only sockets wake anybody.
        let client = thread::spawn(move || {
            for round in 0..10 {
                let mut stream = std::net::TcpStream::connect(address).unwrap();
                stream.write_all(&[round; 100]).unwrap();
                let mut answer = [0; 100];
                stream.read_exact(&mut answer).unwrap();
                assert_eq!(answer, [round; 100]);
            }
        });
        for _ in 0..10 {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut message = [0; 100];
            stream.read_exact(&mut message).await.unwrap();
            stream.write_all(&message).await.unwrap();
        }
        rt::spawn_blocking(|| client.join().unwrap()).await.unwrap();
    });
}

#[test]
fn i7_a_task_may_wait_for_another_on_a_std_channel() {
    let _watchdog = watchdog();
    for workers in [1, 2] {
        let runtime = runtime(workers);
        // Each worker gets a task that blocks for the next one's message; the last message comes from a timer.
        let tasks: Vec<_> = (0..3 * workers)
            .map(|_| {
                let (sender, receiver) = mpsc::channel();
                runtime.spawn(async move {
                    let feeder = rt::spawn(async move {
                        rt::time::sleep(Duration::from_millis(1)).await;
                        sender.send("fed").unwrap();
                    });
                    assert_eq!(receiver.recv(), Ok("fed"));
                    feeder.await.unwrap();
                })
            })
            .collect();
        runtime.block_on(async {
            for task in tasks {
                task.await.unwrap();
            }
        });
    }
}

#[test]
fn i7_a_held_mutex_is_released_by_the_task_that_waits_behind() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let (mutex, release) = (Arc::new(Mutex::new(0)), Gate::new());
    let (holds, holder) = (Gate::new(), {
        let (mutex, release) = (mutex.clone(), release.clone());
        move |holds: Gate| {
            let guard = mutex.lock();
            holds.open();
            release.pass();
            drop(guard);
        }
    });
    let holder = {
        let holds = holds.clone();
        thread::spawn(move || holder(holds))
    };
    holds.pass();
    let tasks: Vec<_> = (0..4)
        .map(|_| {
            let mutex = mutex.clone();
            runtime.spawn(async move { *mutex.lock() += 1 })
        })
        .collect();
    let releasing = runtime.spawn(async move {
        rt::time::sleep(Duration::from_millis(1)).await;
        release.open();
    });
    runtime.block_on(async {
        releasing.await.unwrap();
        for task in tasks {
            task.await.unwrap();
        }
    });
    holder.join().unwrap();
    assert_eq!(*mutex.lock(), 4);
}

#[test]
fn i7_a_blocking_read_is_fed_by_a_task() {
    let _watchdog = watchdog();
    let runtime = runtime(1);
    runtime.block_on(async {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let reader = rt::spawn(async move {
            let (mut stream, _) = listener.accept().unwrap();
            let mut text = String::new();
            stream.read_to_string(&mut text).unwrap();
            text
        });
        let writer = rt::spawn(async move {
            let mut stream = TcpStream::connect(address).await.unwrap();
            for _ in 0..3 {
                rt::time::sleep(Duration::from_millis(1)).await;
                stream.write_all(b"more ").await.unwrap();
            }
        });
        writer.await.unwrap();
        assert_eq!(reader.await.unwrap(), "more more more ");
    });
}

#[test]
fn i7_busy_loops_end_when_another_task_says_so() {
    let _watchdog = watchdog();
    for workers in [1, 2] {
        let runtime = runtime(workers);
        let end = Arc::new(AtomicBool::new(false));
        let loops: Vec<_> = (0..workers)
            .map(|_| {
                let end = end.clone();
                runtime.spawn(async move {
                    while !end.load(SeqCst) {
                        std::hint::spin_loop();
                    }
                })
            })
            .collect();
        let ending = runtime.spawn(async move {
            rt::time::sleep(Duration::from_millis(1)).await;
            end.store(true, SeqCst);
        });
        runtime.block_on(async {
            ending.await.unwrap();
            for task in loops {
                task.await.unwrap();
            }
        });
    }
}

/// Blocks in its drop.
struct BlocksInDrop(Gate);

impl Drop for BlocksInDrop {
    fn drop(&mut self) {
        self.0.pass();
    }
}

#[test]
fn i7_a_drop_may_block() {
    let _watchdog = watchdog();
    let runtime = runtime(1);
    let gate = Gate::new();
    let guard = BlocksInDrop(gate.clone());
    let aborted = runtime.spawn(async move {
        let _guard = guard;
        std::future::pending::<()>().await;
    });
    aborted.abort();
    gate.wait_for(1);
    let opening = runtime.spawn(async move {
        rt::time::sleep(Duration::from_millis(1)).await;
        gate.open();
    });
    runtime.block_on(async {
        opening.await.unwrap();
        assert!(aborted.await.unwrap_err().is_cancelled());
    });
}

/// A waker of the user's that blocks when it is called.
struct BlocksInWake(Gate);

impl Wake for BlocksInWake {
    fn wake(self: Arc<Self>) {
        self.0.pass();
    }
}

#[test]
fn i7_a_waker_may_block_that_a_task_calls() {
    let _watchdog = watchdog();
    let runtime = runtime(1);
    let gate = Gate::new();
    let waker = Waker::from(Arc::new(BlocksInWake(gate.clone())));
    let (first, second) = (Signal::new(), Signal::new());
    let mut waiting = Box::pin(first.wait());
    assert!(waiting.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    let waking = {
        let first = first.clone();
        runtime.spawn(async move { first.set() })
    };
    gate.wait_for(1);
    let opening = {
        let second = second.clone();
        runtime.spawn(async move {
            second.wait().await;
            gate.open();
        })
    };
    runtime.spawn(async move { second.set() });
    runtime.block_on(async {
        opening.await.unwrap();
        waking.await.unwrap();
    });
}

#[test]
fn i7_a_waker_may_block_that_a_timer_or_a_socket_calls() {
    let _watchdog = watchdog();
    let runtime = runtime(1);
    let gate = Gate::new();
    let waker = Waker::from(Arc::new(BlocksInWake(gate.clone())));
    let guard = runtime.enter();
    let _sleep = sleep_that_waits(Duration::from_millis(1), &waker);
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let mut accept = Box::pin(listener.accept());
    assert!(accept.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    drop(guard);
    let client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    // Both wakers block, one after the other or at once; the second only if another worker has taken the drivers.
    gate.wait_for(2);
    let opening = runtime.spawn(async move {
        rt::time::sleep(Duration::from_millis(1)).await;
        gate.open();
    });
    runtime.block_on(opening).unwrap();
    drop(client);
}

#[test]
fn i7_a_park_hook_may_block() {
    let _watchdog = watchdog();
    let gate = Gate::new();
    let blocks = Arc::new(AtomicBool::new(true));
    let runtime = {
        let (gate, blocks) = (gate.clone(), blocks.clone());
        let hook = move || {
            if blocks.swap(false, SeqCst) {
                gate.pass();
            }
        };
        rescuing(1).on_thread_park(hook).build().unwrap()
    };
    gate.wait_for(1);
    let opening = runtime.spawn(async move {
        rt::time::sleep(Duration::from_millis(1)).await;
        gate.open();
    });
    runtime.block_on(opening).unwrap();
}

/// A timer whose waker blocks, on a runtime whose threads have all been asleep for long.
#[test]
fn i7_a_waker_that_blocks_after_a_long_sleep_holds_nobody_up() {
    let _watchdog = watchdog();
    for workers in [1, 2, 3] {
        let runtime = runtime(workers);
        let gate = Gate::new();
        let waker = Waker::from(Arc::new(BlocksInWake(gate.clone())));
        let guard = runtime.enter();
        let _sleep = sleep_that_waits(Duration::from_millis(300), &waker);
        drop(guard);
        gate.wait_for(1);
        let opening = runtime.spawn(async move {
            rt::time::sleep(Duration::from_millis(1)).await;
            gate.open();
        });
        runtime.block_on(opening).unwrap();
    }
}

#[test]
fn i7_a_park_hook_that_blocks_does_not_keep_others_from_searching() {
    let _watchdog = watchdog();
    for _ in 0..5 {
        let (gate, blocks) = (Gate::new(), Arc::new(AtomicBool::new(false)));
        let runtime = {
            let (gate, blocks) = (gate.clone(), blocks.clone());
            let hook = move || {
                if blocks.swap(false, SeqCst) {
                    gate.pass();
                }
            };
            rescuing(3).rescue_blocked(false).on_thread_park(hook).build().unwrap()
        };
        blocks.store(true, SeqCst);
        // One of the three gets up for it, searches, and blocks before it lies down again.
        runtime.block_on(runtime.spawn(async {})).unwrap();
        gate.wait_for(1);
        runtime.block_on(runtime.spawn(async move { gate.open() })).unwrap();
    }
}

/// A timer that will call the waker: one whose time has not come by its first poll, however late that is.
fn sleep_that_waits(time: Duration, waker: &Waker) -> std::pin::Pin<Box<rt::time::Sleep>> {
    loop {
        let mut sleep = Box::pin(rt::time::sleep(time));
        if sleep.as_mut().poll(&mut Context::from_waker(waker)).is_pending() {
            return sleep;
        }
    }
}
