//! I8: an idle runtime uses no CPU and makes no system calls. What the kernel counts for each of its threads must stand
//! still.
//!
//! A thread that wakes up, for whatever reason, gives its processor up again when it goes back to sleep, which counts
//! as a voluntary context switch. The test runs in a process of its own, so that all threads are its own.
//!
//! Mutations that this is for: a monitor that samples for ever, or goes on sleeping when a worker is back from
//! `block_in_place`; a parker with a timeout; a driver that polls; a worker that searches while there is nothing to
//! find.

use std::collections::BTreeMap;
use std::fs;
use std::ops::RangeInclusive;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use rt::runtime::{Builder, Runtime};
use rt_test_util::*;

/// What the kernel says of one thread: voluntary switches, and clock ticks in user and kernel mode.
type Account = (u64, u64);

/// The accounts of all threads of runtimes, by number and name.
fn accounts() -> BTreeMap<String, Account> {
    let mut accounts = BTreeMap::new();
    for thread in fs::read_dir("/proc/self/task").unwrap() {
        let path = thread.unwrap().path();
        let Ok(name) = fs::read_to_string(path.join("comm")) else { continue };
        if !name.starts_with("rt-") {
            continue;
        }
        let status = fs::read_to_string(path.join("status")).unwrap();
        let switches = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:")).unwrap();
        let stat = fs::read_to_string(path.join("stat")).unwrap();
        // After the name in parentheses; the times are the fields 14 and 15 of the whole, 12 and 13 of the rest.
        let rest: Vec<_> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
        let time = rest[11].parse::<u64>().unwrap() + rest[12].parse::<u64>().unwrap();
        let key = format!("{} {}", path.file_name().unwrap().to_str().unwrap(), name.trim());
        accounts.insert(key, (switches.trim().parse().unwrap(), time));
    }
    accounts
}

fn warm_up(runtime: &Runtime) {
    runtime.block_on(async {
        let tasks: Vec<_> = (0..100).map(|_| rt::spawn(rt::time::sleep(Duration::from_millis(1)))).collect();
        for task in tasks {
            task.await.unwrap();
        }
        let listener = rt::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = rt::net::TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        drop((listener.accept().await.unwrap(), client));
    });
}

/// Waits until nothing has happened for longer than the monitor goes on sampling; then nothing must happen for a
/// second.
fn assert_idle(what: &str, threads: RangeInclusive<usize>) {
    let mut before = accounts();
    loop {
        thread::sleep(Duration::from_millis(250));
        let now = accounts();
        let still = now == before;
        before = now;
        if still {
            break;
        }
    }
    assert!(threads.contains(&before.len()), "{what}: {} threads: {before:?}", before.len());
    thread::sleep(Duration::from_secs(1));
    assert_eq!(accounts(), before, "{what}: a thread was up in the last second (switches, CPU ticks)");
}

/// Runs `check` while `workers` workers are in `block_in_place`. Each worker, when it is back, must be watched again:
/// it blocks on a task that only its own lanes hold.
fn rest_beside_blocking(runtime: &Runtime, workers: usize, check: impl FnOnce()) {
    let blockers: Vec<_> = (0..workers)
        .map(|_| {
            let (release, released) = mpsc::channel::<()>();
            let blocker = runtime.spawn(async move {
                rt::task::block_in_place(|| released.recv()).unwrap();
                let (send, receive) = mpsc::channel();
                rt::spawn(async move { send.send(()).unwrap() });
                receive.recv().unwrap();
            });
            (release, blocker)
        })
        .collect();
    check();
    for (release, blocker) in blockers {
        release.send(()).unwrap();
        runtime.block_on(blocker).unwrap();
    }
}

#[test]
fn i8_an_idle_runtime_makes_no_system_calls() {
    in_own_process(|| {
        // New, used, and with tasks, timers and sockets that wait: four workers and a monitor each.
        let fresh = multi(4);
        let used = multi(4);
        warm_up(&used);
        let waiting = multi(4);
        warm_up(&waiting);
        for _ in 0..50 {
            waiting.spawn(std::future::pending::<()>());
            waiting.spawn(rt_sleep(Duration::from_secs(3600)));
        }
        waiting.spawn(async {
            let listener = rt::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            drop(listener.accept().await);
        });
        // With more workers than processors, and otherwise the options that are the default.
        let workers = processors() + 4;
        let crowd = Builder::new_multi_thread().worker_threads(workers).enable_all().build().unwrap();
        warm_up(&crowd);
        let without_drivers = Builder::new_multi_thread().worker_threads(2).build().unwrap();
        without_drivers.spawn(async {});
        let threads = 3 * 5 + 3 + workers + 1;
        assert_idle("idle runtimes", threads..=threads);

        // With a thread in `block_on` that waits, and another beyond the `block_on` threads' slots.
        let end = Signal::new();
        thread::scope(|scope| {
            for _ in 0..6 {
                scope.spawn(|| used.block_on(end.wait()));
            }
            eventually(|| end.waiters() == 6);
            assert_idle("with callers of block_on", threads..=threads);
            end.set();
        });

        // With a worker in `block_in_place`, and with all of them: then spares stand in, which stay until the end.
        let aside = Builder::new_multi_thread()
            .worker_threads(4)
            .thread_keep_alive(Duration::MAX)
            .enable_all()
            .build()
            .unwrap();
        let threads = threads + 5;
        rest_beside_blocking(&aside, 1, || assert_idle("with a worker aside", threads..=threads + 1));
        rest_beside_blocking(&aside, 4, || assert_idle("with all workers aside", threads + 1..=threads + 4));

        // It still works after all that rest.
        warm_up(&fresh);
        warm_up(&waiting);
        warm_up(&crowd);
    });
}

async fn rt_sleep(time: Duration) {
    rt::time::sleep(time).await;
}
