//! I3: no worker sleeps while work that it could run waits.
//!
//! A worker is blocked here until some other work has been done: if no other worker does that, the test hangs, and the
//! watchdog ends it. Mutations that these tests are for: a push that never wakes a sleeper; a worker that sleeps
//! without a last look; a private slot that is out of the reach of thieves; a monitor that does not look after the
//! single task or the drivers; a yield that never counts as a push, or always.

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Barrier, mpsc};
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;
use rt::runtime::Builder;
use rt_test_util::*;

/// Blocks one worker until `children` tasks that it has spawned are done.
fn blocked_until_children_ran(workers: usize, children: usize) {
    let runtime = multi(workers);
    let task = runtime.spawn(async move {
        let (send, receive) = mpsc::channel();
        for _ in 0..children {
            let send = send.clone();
            rt::spawn(async move { send.send(()).unwrap() });
        }
        (0..children).for_each(|_| receive.recv().unwrap());
    });
    eventually(|| task.is_finished());
}

#[test]
fn i3_surplus_behind_a_blocked_worker_is_run_by_the_others() {
    let _watchdog = watchdog();
    for workers in [2, 4, 16] {
        for children in [2, 3, 10, 300] {
            blocked_until_children_ran(workers, children);
        }
    }
}

#[test]
fn i3_the_single_task_left_behind_a_long_poll_is_rescued() {
    let _watchdog = watchdog();
    for workers in [2, 4] {
        for _ in 0..5 {
            blocked_until_children_ran(workers, 1);
        }
    }
}

#[test]
fn i3_a_task_that_yielded_is_rescued_too() {
    let _watchdog = watchdog();
    let runtime = multi(2);
    for _ in 0..5 {
        let task = runtime.spawn(async {
            let (started, blocked, done) = (Signal::new(), Signal::new(), Gate::new());
            let (tell, hear, finish) = (started.clone(), blocked.clone(), done.clone());
            rt::spawn(async move {
                tell.set();
                // In the fair lane of the worker that runs it, over and over.
                while !hear.is_set() {
                    rt::task::yield_now().await;
                }
                finish.open();
            });
            started.wait().await;
            blocked.set();
            done.pass();
        });
        eventually(|| task.is_finished());
    }
}

#[test]
fn i3_two_tasks_that_go_on_and_on_come_to_have_a_worker_each() {
    let _watchdog = watchdog();
    let runtime = multi(2);
    for _ in 0..20 {
        let (threads, is_apart) = (Arc::new(Mutex::new([None; 2])), Signal::new());
        let go_on = |number: usize| {
            let (threads, is_apart) = (threads.clone(), is_apart.clone());
            async move {
                let look = || {
                    let mut threads = threads.lock();
                    threads[number] = Some(thread::current().id());
                    if threads.iter().all(Option::is_some) && threads[0] != threads[1] {
                        is_apart.set();
                    }
                };
                while !is_apart.is_set() {
                    look();
                    rt::task::yield_now().await;
                }
            }
        };
        let (first, second) = (go_on(0), go_on(1));
        let task = runtime.spawn(async {
            let second = rt::spawn(second);
            first.await;
            second.await.unwrap();
        });
        eventually(|| task.is_finished());
    }
}

/// As a connection that multiplexes streams does at each message: it wakes the handler, and goes on.
#[test]
fn i3_nobody_is_called_for_a_task_that_yields_beside_one_that_is_done_at_once() {
    const MESSAGES: usize = 400;
    let _watchdog = watchdog();
    let runtime = multi(2);
    // Without hooks: before a hook of the user's, who may block, a worker has another one look for work.
    let metrics = runtime.handle().metrics();
    let (messages, handed_on, handled) = (Channel::new(), Channel::new(), Arc::new(AtomicUsize::new(0)));
    let (connection, handler, count) = (messages.clone(), handed_on.clone(), handled.clone());
    runtime.spawn(async move {
        loop {
            let message = connection.receive().await;
            handed_on.send(message);
            rt::task::yield_now().await;
        }
    });
    runtime.spawn(async move {
        loop {
            handler.receive().await;
            count.fetch_add(1, SeqCst);
        }
    });
    let both_sleep = || eventually(|| (0..2).all(|worker| metrics.worker_park_unpark_count(worker) % 2 == 1));
    let sleeps = || (0..2).map(|worker| metrics.worker_park_count(worker)).sum::<u64>() as usize;
    both_sleep();
    let before = sleeps();
    for n in 1..=MESSAGES {
        messages.send(n);
        eventually(|| handled.load(SeqCst) == n);
        both_sleep();
    }
    // One for each message, which comes from outside. Where polls take long, as under a sanitizer, others are called.
    let sleeps = sleeps() - before;
    assert!(sleeps >= MESSAGES, "{sleeps}");
    let poll = metrics.poll_times().percentile(75.0).unwrap();
    assert!(sleeps < MESSAGES * 3 / 2 || poll > Duration::from_micros(4), "{sleeps}, with polls of {poll:?}");
}

#[test]
fn i3_what_the_main_future_left_behind_is_run_while_it_blocks() {
    let _watchdog = watchdog();
    let runtime = multi(1);
    for children in [1, 2, 50] {
        runtime.block_on(async {
            let (send, receive) = mpsc::channel();
            for _ in 0..children {
                let send = send.clone();
                rt::spawn(async move { send.send(()).unwrap() });
            }
            (0..children).for_each(|_| receive.recv().unwrap());
        });
    }
}

#[test]
fn i3_all_workers_work_at_once_when_there_is_work_for_all() {
    let _watchdog = watchdog();
    for (workers, rounds) in [(2, 30), (4, 10), (16, 2)] {
        let runtime = multi(workers);
        for _ in 0..rounds {
            let barrier = Arc::new(Barrier::new(workers));
            let task = runtime.spawn(async move {
                for _ in 1..workers {
                    let barrier = barrier.clone();
                    rt::spawn(async move { barrier.wait() });
                }
                // Returns when every worker blocks in one of these tasks.
                barrier.wait();
            });
            eventually(|| task.is_finished());
        }
    }
}

#[test]
fn i3_work_from_outside_wakes_a_sleeper_each_time() {
    let _watchdog = watchdog();
    for workers in [1, 2, 8] {
        let asleep = Arc::new(AtomicUsize::new(0));
        let (down, up) = (asleep.clone(), asleep.clone());
        let runtime = Builder::new_multi_thread()
            .rescue_blocked(false)
            .worker_threads(workers)
            .on_thread_park(move || _ = down.fetch_add(1, SeqCst))
            .on_thread_unpark(move || _ = up.fetch_sub(1, SeqCst))
            .enable_all()
            .build()
            .unwrap();
        let (send, receive) = mpsc::channel();
        for round in 0..200 {
            // Every fourth time all are on their way to sleep, or there; the other times they are on their way.
            if round % 4 == 0 {
                eventually(|| asleep.load(SeqCst) == workers);
            }
            let send = send.clone();
            runtime.spawn(async move { send.send(()).unwrap() });
            receive.recv().unwrap();
        }
    }
}

#[test]
fn i3_wakes_from_outside_reach_sleeping_workers_each_time() {
    let _watchdog = watchdog();
    let runtime = multi(4);
    let (to_task, from_task) = (Channel::<u32>::new(), mpsc::channel());
    let (receive, send) = (to_task.clone(), from_task.0);
    runtime.spawn(async move {
        loop {
            send.send(receive.receive().await).unwrap();
        }
    });
    for n in 0..1000 {
        to_task.send(n);
        assert_eq!(from_task.1.recv().unwrap(), n);
    }
}

#[test]
fn i3_more_work_than_workers_is_all_done_while_all_but_one_are_blocked() {
    let _watchdog = watchdog();
    let runtime = multi(3);
    let gate = Gate::new();
    for _ in 0..2 {
        let gate = gate.clone();
        runtime.spawn(async move { gate.pass() });
    }
    gate.wait_for(2);
    // From outside, and from a task, with two of the three workers blocked for good.
    let (send, receive) = mpsc::channel();
    for n in 0..500 {
        let send = send.clone();
        runtime.spawn(async move {
            rt::task::yield_now().await;
            rt::spawn(async move { send.send(n).unwrap() });
        });
    }
    let mut seen: Vec<_> = (0..500).map(|_| receive.recv().unwrap()).collect();
    seen.sort_unstable();
    assert!(seen.into_iter().eq(0..500));
    gate.open();
}

#[test]
fn i3_an_idle_worker_fires_the_timers_of_a_blocked_one() {
    let _watchdog = watchdog();
    let runtime = multi(2);
    for _ in 0..5 {
        let task = runtime.spawn(async {
            let (set, fired) = (Signal::new(), Gate::new());
            let (tell, fire) = (set.clone(), fired.clone());
            rt::spawn(async move {
                let mut sleep = std::pin::pin!(rt::time::sleep(Duration::from_millis(3)));
                // Its time may have come, if this thread was held up: then it is ready once more below.
                let _ = poll_once(sleep.as_mut()).await;
                tell.set();
                sleep.await;
                fire.open();
            });
            set.wait().await;
            // If this worker was the one that waits in the drivers, another has to take its place.
            fired.pass();
        });
        eventually(|| task.is_finished());
    }
}

#[test]
fn i3_an_idle_worker_serves_the_sockets_of_a_blocked_one() {
    let _watchdog = watchdog();
    let runtime = multi(2);
    for _ in 0..5 {
        let task = runtime.spawn(async {
            let listener = rt::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let accepted = Gate::new();
            let accept = accepted.clone();
            rt::spawn(async move {
                listener.accept().await.unwrap();
                accept.open();
            });
            rt::task::yield_now().await;
            let _connection = std::net::TcpStream::connect(address).unwrap();
            accepted.pass();
        });
        eventually(|| task.is_finished());
    }
}
