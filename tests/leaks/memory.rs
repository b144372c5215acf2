//! I5, the memory: nothing that a runtime allocates outlives what it was for.
//!
//! Each case runs a few times first, until the caches are full (thread-local storage, the collector of the deques), and
//! then many times. Over these the live bytes must not grow by more than a slack. The slack is far below a leak of one
//! small object a round; in the case of tasks, of one small object for every sixtieth task.
//!
//! Mutations that this is for: a cycle between runtime and tasks; a task cell that is not freed when its last reference
//! goes on another thread, or after the end of the runtime; a drained queue whose entries are forgotten; dead cells
//! that keep whole blocks (`Cells::settle` does nothing); large dead cells that wait for a spawner as small ones do
//! (`remote_spawns.rs`).

use std::future::pending;
use std::hint;
use std::task::{Poll, Waker};
use std::thread;
use std::time::Duration;

use rt::runtime::Runtime;
use rt_test_util::*;

use crate::allocator::{allocations, live_bytes};

/// How much the live memory grows over this number of rounds: the least growth of three such series, after one series
/// to warm up. A buffer grows in one of them, and garbage waits for its collector; a leak shows in all three.
fn growth(rounds: usize, mut round: impl FnMut()) -> isize {
    (0..rounds).for_each(|_| round());
    let mut least = isize::MAX;
    for _ in 0..3 {
        let before = live_bytes();
        (0..rounds).for_each(|_| round());
        least = least.min(live_bytes() - before);
    }
    least
}

/// The slack for 200 rounds: less than one object of 24 bytes a round.
const SLACK: isize = 4096;

/// A thousand tasks, of which some end, some are detached, aborted, or panic; from inside and from outside.
fn thousand_tasks(runtime: &Runtime) {
    runtime.block_on(async {
        let tasks: Vec<_> = (0..700)
            .map(|n| {
                rt::spawn(async move {
                    if n % 3 == 0 {
                        rt::task::yield_now().await;
                    }
                    [n; 8]
                })
            })
            .collect();
        for (n, task) in tasks.into_iter().enumerate() {
            match n % 7 {
                0 => drop(task),
                1 => {
                    task.abort();
                    let _ = task.await;
                }
                _ => drop(task.await.unwrap()),
            }
        }
    });
    let outside: Vec<_> = (0..300).map(|n| runtime.spawn(async move { vec![n; 8] })).collect();
    // The last references go on this thread, which is not the tasks'.
    runtime.block_on(async {
        while !outside.iter().all(|task| task.is_finished()) {
            rt::task::yield_now().await;
        }
        // Those that were detached above.
        while runtime.handle().metrics().num_alive_tasks() > 0 {
            rt::task::yield_now().await;
        }
    });
    thread::scope(|scope| _ = scope.spawn(|| drop(outside)));
}

/// Makes more tasks than a runtime keeps memory for when they are dead (12 MiB). They end in another order than they
/// were made in, so that the cells that are kept lie in all blocks.
async fn many_that_die_in_disorder() {
    const TASKS: usize = 100_000;
    let mut tasks: Vec<_> = (0..TASKS).map(|_| Some(rt::spawn(pending::<()>()))).collect();
    for number in 0..TASKS {
        let task = tasks[number * 7919 % TASKS].take().expect("the factor and the number have no divisor in common");
        task.abort();
        assert!(task.await.unwrap_err().is_cancelled());
    }
}

/// Makes tasks from outside (24 MiB) whose cells are too large to be kept for new ones, and too small for a box each.
/// All are alive at once, then all die, and no more are spawned.
fn many_large_ones_from_outside(runtime: &Runtime) {
    const LARGE: usize = 12 << 10;
    let task = |large: [u8; LARGE]| async move {
        pending::<()>().await;
        hint::black_box(&large);
    };
    let tasks: Vec<_> = (0..2000).map(|_| runtime.spawn(task([0; LARGE]))).collect();
    for task in &tasks {
        task.abort();
    }
    for task in tasks {
        assert!(runtime.block_on(task).unwrap_err().is_cancelled());
    }
}

/// Uses a bit of everything, and drops handles, wakers and a timer after the runtime.
fn short_life(runtime: Runtime) {
    let (wakers, handle) = (Channel::<Waker>::new(), runtime.handle().clone());
    let mut left = Vec::new();
    for n in 0..12 {
        let wakers = wakers.clone();
        left.push(runtime.spawn(async move {
            match n % 4 {
                0 => pending().await,
                1 => rt::time::sleep(Duration::from_secs(3600)).await,
                2 => {
                    let listener = rt::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
                    let _ = listener.accept().await;
                }
                _ => {
                    let mut told = false;
                    std::future::poll_fn(|cx| {
                        if !std::mem::replace(&mut told, true) {
                            wakers.send(cx.waker().clone());
                        }
                        Poll::<()>::Pending
                    })
                    .await;
                }
            }
        }));
    }
    let (kept, sleep) = runtime.block_on(async {
        let mut kept = Vec::new();
        for _ in 0..3 {
            kept.push(wakers.receive().await);
        }
        rt::spawn_blocking(|| ()).await.unwrap();
        let mut sleep = Box::pin(rt::time::sleep(Duration::from_secs(3600)));
        assert!(poll_once(sleep.as_mut()).await.is_pending());
        (kept, sleep)
    });
    let abort = left[0].abort_handle();
    drop(runtime);
    kept.into_iter().for_each(Waker::wake);
    abort.abort();
    drop((left, handle, sleep, abort));
}

/// A guard takes no memory where it is the only one. (Neither does the context of a `block_on`.)
fn entering_takes_no_memory(runtime: &Runtime) {
    // The least, as above: other threads of the process may allocate.
    let made = (0..3).map(|_| {
        let before = allocations();
        (0..100).for_each(|_| drop(runtime.enter()));
        allocations() - before
    });
    assert_eq!(made.min(), Some(0));
}

#[test]
fn i5_memory_returns() {
    in_own_process(|| {
        entering_takes_no_memory(&current());
        for (name, runtime) in [("one thread", current()), ("two workers", multi(2))] {
            // 250,000 tasks each time, a million for both: one in sixty that is not freed is too many. The slack is
            // larger here, because crossbeam-epoch keeps bags of up to 64 buffers for each thread, and the workers'
            // share of the tasks varies.
            let grown = growth(125, || thousand_tasks(&runtime));
            println!("{name}: {grown} bytes more after 125,000 tasks");
            assert!(grown < 64 * SLACK, "{name}: {grown} bytes more after 125,000 tasks");
        }
        for (name, runtime) in [("one thread", current()), ("two workers", multi(2))] {
            let before = live_bytes();
            // Not in a task of one thread's list: as it dies, its cell, of another size, displaces what is kept.
            match name {
                "one thread" => runtime.block_on(many_that_die_in_disorder()),
                _ => runtime.block_on(async { rt::spawn(many_that_die_in_disorder()).await.unwrap() }),
            }
            // Their list's thread looks after the dead in its own time.
            let limit = before + (4 << 20);
            while live_bytes() > limit {
                runtime.block_on(async { rt::spawn(async {}).await.unwrap() });
            }
            println!("{name}: {} bytes more after many tasks in disorder", live_bytes() - before);
        }
        for (name, runtime) in [("one thread", current()), ("two workers", multi(2))] {
            let before = live_bytes();
            many_large_ones_from_outside(&runtime);
            let grown = live_bytes() - before;
            println!("{name}: {grown} bytes more after many large tasks from outside");
            assert!(grown < 12 << 20, "{name}: {grown} bytes more after many large tasks from outside");
        }
        type Make = fn() -> Runtime;
        let flavors: [(&str, Make); 2] = [("one thread", current), ("two workers", || multi(2))];
        for (name, make) in flavors {
            let grown = growth(200, || short_life(make()));
            println!("{name}: {grown} bytes more after 200 runtimes");
            assert!(grown < SLACK, "{name}: {grown} bytes more after 200 runtimes");
        }
        let runtime = multi(2);
        let grown = growth(200, || {
            runtime.block_on(async {
                for task in (0..30).map(|n| rt::spawn(rt::time::sleep(Duration::from_micros(n)))).collect::<Vec<_>>() {
                    task.await.unwrap();
                }
                let listener = rt::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
                for _ in 0..3 {
                    let client = rt::net::TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
                    drop((listener.accept().await.unwrap(), client));
                }
                rt::spawn_blocking(|| ()).await.unwrap();
                // Without the hook's output: a payload to free.
                drop(rt::spawn(async { std::panic::resume_unwind(Box::new([0u64; 8])) }).await.map(|(): ()| ()));
            });
        });
        println!("timers, sockets, jobs, panics: {grown} bytes more");
        assert!(grown < SLACK, "timers, sockets, jobs, panics: {grown} bytes more");
    });
}
