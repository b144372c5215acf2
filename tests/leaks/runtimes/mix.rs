//! One runtime's life, put together by a seed.

use std::future::pending;
use std::sync::Barrier;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::task::Waker;
use std::thread;
use std::time::Duration;

use rt::runtime::{Builder, Handle, Runtime};
use rt::task::JoinHandle;
use rt_test_util::*;

use super::counts::THREADS;
use super::leftovers::{Leftovers, things};
use super::work::{KINDS, Life, job, task};

/// A runtime that stays, for what is done elsewhere.
pub(crate) struct Beside {
    other: Runtime,
}

impl Beside {
    pub(crate) fn new() -> Self {
        Self { other: current() }
    }
}

/// How it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Drop,
    Timeout,
    /// Without waiting at all.
    TimeoutOfZero,
    Background,
    BackgroundInATask,
    /// Panics in the task, after it has begun.
    DropInATask,
    DropInAnOwnJob,
    DropInBlockOnOfAnother,
}

const WAYS: [Way; 8] = [
    Way::Drop,
    Way::Timeout,
    Way::TimeoutOfZero,
    Way::Background,
    Way::BackgroundInATask,
    Way::DropInATask,
    Way::DropInAnOwnJob,
    Way::DropInBlockOnOfAnother,
];

/// Ends it. Returns whether the end is over by then.
fn end(runtime: Runtime, way: Way, other: &Runtime) -> bool {
    let handle = runtime.handle().clone();
    match way {
        Way::Drop => drop(runtime),
        Way::Timeout => runtime.shutdown_timeout(Duration::from_secs(1000)),
        Way::TimeoutOfZero => runtime.shutdown_timeout(Duration::ZERO),
        Way::Background => runtime.shutdown_background(),
        Way::BackgroundInATask | Way::DropInATask => {
            let task = handle.spawn(async move {
                if way == Way::DropInATask { drop(runtime) } else { runtime.shutdown_background() }
            });
            // A current-thread runtime has to be driven here.
            let _ = handle.block_on(task);
        }
        Way::DropInAnOwnJob => {
            let job = handle.spawn_blocking(move || drop(runtime));
            eventually(|| job.is_finished());
        }
        Way::DropInBlockOnOfAnother => {
            let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                other.block_on(async { drop(runtime) });
            }));
            assert!(caught.is_err());
        }
    }
    matches!(way, Way::Drop | Way::Timeout | Way::DropInAnOwnJob)
}

fn build(random: &mut Random) -> Runtime {
    let mut builder = match random.below(4) {
        0 => Builder::new_current_thread(),
        _ => Builder::new_multi_thread(),
    };
    builder.worker_threads(1 + random.below(4) as usize).max_blocking_threads(3).thread_name(THREADS);
    builder.enable_all().build().unwrap()
}

/// What other threads do with the handle and the wakers, from before the end until after it.
fn interfere(handle: &Handle, life: &Life, wakers: &[Waker], stop: &AtomicBool, begin: &Barrier, number: usize) {
    begin.wait();
    let mut tasks: Vec<JoinHandle<()>> = Vec::new();
    while !stop.load(SeqCst) {
        for waker in wakers.iter().skip(number).step_by(2) {
            waker.wake_by_ref();
            drop(waker.clone());
            let copy = waker.clone();
            copy.wake();
        }
        if tasks.len() < 20 {
            let token = life.drops.token();
            tasks.push(handle.spawn(async move {
                let _token = token;
                pending::<()>().await;
            }));
        }
        let token = life.drops.token();
        handle.block_on(async move {
            let _ = rt::spawn(async move { drop(token) }).await;
        });
        thread::yield_now();
    }
    tasks.into_iter().for_each(|task| eventually(|| task.is_finished()));
}

pub(crate) fn round(seed: u64, beside: &Beside) {
    let mut random = Random::new(seed);
    let (runtime, gate) = (build(&mut random), Gate::new());
    let (life, inbox) = Life::new();
    let handle = runtime.handle().clone();
    let way = WAYS[seed as usize % WAYS.len()];
    // From outside, and from within.
    let mut tasks: Vec<_> =
        (0..random.below(12)).map(|_| runtime.spawn(task(random.below(KINDS), &life, &handle))).collect();
    let inside: Vec<_> = (0..random.below(12)).map(|_| task(random.below(KINDS), &life, &handle)).collect();
    let left = runtime.block_on(async {
        tasks.extend(rt::spawn(async { inside.into_iter().map(rt::spawn).collect::<Vec<_>>() }).await.unwrap());
        for _ in 0..random.below(40) {
            rt::task::yield_now().await;
        }
        things().await
    });
    // Two that run, and some behind them. (A third may run: the one that the end takes place in.)
    let running = random.below(3) as usize;
    let waiting = if running == 2 && way != Way::DropInAnOwnJob { random.below(4) } else { 0 };
    tasks.extend((0..running).map(|_| runtime.spawn_blocking(job(random.below(3), &life, &gate))));
    gate.wait_for(running);
    if waiting > 0 {
        let held = gate.clone();
        runtime.spawn_blocking(move || held.pass());
        gate.wait_for(running + 1);
        tasks.extend((0..waiting).map(|_| runtime.spawn_blocking(job(random.below(3), &life, &gate))));
    }
    let aborts = tasks.iter().filter(|_| random.below(3) == 0).map(JoinHandle::abort_handle).collect::<Vec<_>>();
    aborts.iter().step_by(2).for_each(rt::task::AbortHandle::abort);
    tasks.retain(|_| random.below(3) > 0);
    let wakers: Vec<Waker> = inbox.try_iter().collect();
    let probe = runtime.spawn(pending::<()>());
    let (stop, helpers) = (AtomicBool::new(false), random.below(3) as usize);
    let begin = Barrier::new(helpers + 1);
    scope(|scope| {
        for number in 0..helpers {
            let (handle, life, wakers, stop, begin) = (&handle, &life, &wakers, &stop, &begin);
            scope.spawn(move || interfere(handle, life, wakers, stop, begin, number));
        }
        begin.wait();
        scope.spawn(|| {
            // Jobs that run are let go when the tasks have been dropped, so that something is left to wait for.
            eventually(|| probe.is_finished());
            gate.open();
        });
        let over = end(runtime, way, &beside.other);
        life.over.store(over, SeqCst);
        eventually(|| probe.is_finished() && handle.metrics().num_alive_tasks() == 0);
        eventually(|| handle.metrics().num_blocking_threads() == 0);
        stop.store(true, SeqCst);
    });
    // Where the end is not waited for, the drivers may still be open. They are closed last.
    eventually(|| handle.block_on(rt::net::TcpListener::bind("127.0.0.1:0")).is_err());
    let wakers = wakers.into_iter().chain(inbox.try_iter()).collect();
    Leftovers { handle, tasks, aborts, things: left }.use_up(&mut random, &life, &beside.other, wakers);
    life.drops.assert_all();
    assert_eq!(life.too_late.load(SeqCst), 0, "polled after the end: round {seed}, {way:?}");
}
