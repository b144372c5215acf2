//! One thread ends the runtime, and others use its handle in all ways at once: each of their calls comes back with an
//! answer, and no future is polled once the end is over.
//!
//! Mutations that these tests are for: a spawn between the last look at a list and its closing; a caller of `block_on`
//! that takes a core which no thread waits for any more; a wake that queues a task after the queues were emptied.

use std::future::{Future, pending};
use std::pin::Pin;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Arc, Barrier};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use parking_lot::Mutex;
use rt::io::AsyncReadExt;
use rt::net::{TcpListener, TcpStream};
use rt::runtime::{Handle, Runtime};
use rt::task::JoinHandle;
use rt_test_util::*;

/// The ways to end a runtime. All but the last wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Drop,
    Timeout,
    InOwnJob,
    Background,
}

const WAYS: [Way; 4] = [Way::Drop, Way::Timeout, Way::InOwnJob, Way::Background];

fn end(runtime: Runtime, way: Way) {
    match way {
        Way::Drop => drop(runtime),
        Way::Timeout => runtime.shutdown_timeout(Duration::from_secs(1000)),
        Way::Background => runtime.shutdown_background(),
        Way::InOwnJob => {
            let handle = runtime.handle().clone();
            let job = handle.spawn_blocking(move || drop(runtime));
            eventually(|| job.is_finished());
        }
    }
}

/// What the users of a handle have in common.
struct World {
    handle: Handle,
    drops: Drops,
    stop: AtomicBool,
    /// The end is over: a poll from now on is too late.
    over: AtomicBool,
    too_late: AtomicUsize,
    calls: AtomicUsize,
    wakers: Mutex<Vec<Waker>>,
}

/// Puts its waker into the world's list, waits for ever, and counts the polls after the end.
struct Watchful(Arc<World>, #[allow(dead_code)] Token);

impl Watchful {
    fn new(world: &Arc<World>) -> Self {
        Self(world.clone(), world.drops.token())
    }
}

impl Future for Watchful {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.0.over.load(SeqCst) {
            self.0.too_late.fetch_add(1, SeqCst);
        }
        let mut wakers = self.0.wakers.lock();
        if wakers.len() < 100 {
            wakers.push(cx.waker().clone());
        }
        Poll::Pending
    }
}

/// What one call of a user leaves.
fn use_it(world: &Arc<World>, number: usize, tasks: &mut Vec<JoinHandle<()>>) {
    let handle = &world.handle;
    match number % 6 {
        0 => tasks.push(handle.spawn(Watchful::new(world))),
        1 => {
            let token = world.drops.token();
            tasks.push(handle.spawn_blocking(move || drop(token)));
        }
        2 => {
            // Either it runs, or it is cancelled.
            let token = world.drops.token();
            let outcome = handle.block_on(async {
                let task = rt::spawn(async move {
                    let _token = token;
                    rt::task::yield_now().await;
                });
                task.await
            });
            assert!(outcome.map_or_else(|error| error.is_cancelled(), |()| true));
        }
        3 => {
            // An error or a panic, should the drivers go meanwhile; never a hang.
            let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                handle.block_on(async {
                    let _ = rt::time::timeout(Duration::from_micros(50), pending::<()>()).await;
                    let listener = TcpListener::bind("127.0.0.1:0").await?;
                    let mut client = TcpStream::connect(listener.local_addr()?).await?;
                    drop(listener.accept().await?);
                    client.read(&mut [0]).await
                })
            }));
        }
        4 => {
            let _guard = handle.enter();
            tasks.push(rt::spawn(Watchful::new(world)));
            let _ = handle.metrics().num_alive_tasks() + handle.metrics().global_queue_depth();
        }
        _ => {
            let wakers = std::mem::take(&mut *world.wakers.lock());
            for (n, waker) in wakers.into_iter().enumerate() {
                match n % 3 {
                    0 => waker.wake(),
                    1 => waker.wake_by_ref(),
                    _ => drop(waker.clone()),
                }
            }
            tasks.iter().step_by(7).for_each(JoinHandle::abort);
        }
    }
    world.calls.fetch_add(1, SeqCst);
}

#[test]
fn every_way_to_end_a_runtime_may_race_with_everything_that_a_handle_can_do() {
    let _watchdog = watchdog();
    quiet();
    for round in 0..5 {
        for way in WAYS {
            for runtime in [current(), multi(1), multi(2), multi(4)] {
                let world = Arc::new(World {
                    handle: runtime.handle().clone(),
                    drops: Drops::new(),
                    stop: AtomicBool::new(false),
                    over: AtomicBool::new(false),
                    too_late: AtomicUsize::new(0),
                    calls: AtomicUsize::new(0),
                    wakers: Mutex::new(Vec::new()),
                });
                let begin = Barrier::new(5);
                scope(|scope| {
                    let users: Vec<_> = (0..4)
                        .map(|user| {
                            let (world, begin) = (&world, &begin);
                            scope.spawn(move || {
                                begin.wait();
                                let mut tasks = Vec::new();
                                let mut number = user;
                                while !world.stop.load(SeqCst) {
                                    use_it(world, number, &mut tasks);
                                    number += 1;
                                }
                                tasks
                            })
                        })
                        .collect();
                    begin.wait();
                    // At different times: at once, and when a lot is under way.
                    eventually(|| world.calls.load(SeqCst) >= round * 5);
                    end(runtime, way);
                    if way != Way::Background {
                        world.over.store(true, SeqCst);
                    }
                    let calls = world.calls.load(SeqCst);
                    eventually(|| world.calls.load(SeqCst) >= calls + 24);
                    world.stop.store(true, SeqCst);
                    for user in users {
                        for task in user.join().unwrap() {
                            eventually(|| task.is_finished());
                        }
                    }
                });
                eventually(|| world.handle.metrics().num_alive_tasks() == 0);
                eventually(|| world.handle.metrics().num_blocking_threads() == 0);
                world.wakers.lock().drain(..).for_each(Waker::wake);
                world.drops.assert_all();
                assert_eq!(world.too_late.load(SeqCst), 0, "polled after the end, {way:?}");
            }
        }
    }
}

/// Timers that panic because their runtime is gone are expected here by the hundred, and need not be told of.
fn quiet() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let text = info.payload().downcast_ref::<&str>().copied().unwrap_or_default();
            if !text.contains("has been shut down") {
                before(info);
            }
        }));
    });
}

/// Finished tasks whose handles go while their lists are closed: each comes home in time, or is freed where it is.
/// (What the owner of a list does too late to their memory, ThreadSanitizer sees here.)
#[test]
fn handles_of_finished_tasks_go_beside_the_end() {
    let _watchdog = watchdog();
    for make in [current, || multi(2)] {
        for _ in 0..40 {
            let runtime = make();
            let mut handles = runtime.block_on(async {
                let handles: Vec<_> = (0..600).map(|_| rt::spawn(async {})).collect();
                while !handles.iter().all(JoinHandle::is_finished) {
                    rt::task::yield_now().await;
                }
                handles
            });
            let halves = [handles.split_off(300), handles];
            let begin = Barrier::new(halves.len() + 1);
            scope(|scope| {
                for half in halves {
                    let begin = &begin;
                    scope.spawn(move || {
                        begin.wait();
                        drop(half);
                    });
                }
                begin.wait();
                drop(runtime);
            });
        }
    }
}
