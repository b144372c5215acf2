//! Shutdown while all threads are busy: spawning, waking, blocking, waiting in `block_on`, dropping things that spawn.
//!
//! Mutations that these tests are for: a spawn after the last look at the lists (a future that is never dropped); a
//! queue that is filled after it was emptied; a caller of `block_on` that sleeps through the end.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::task::Waker;
use std::thread;

use rt::runtime::{Handle, Runtime};
use rt_test_util::*;

#[test]
fn tasks_spawned_by_threads_during_the_shutdown_are_run_or_cancelled_and_dropped() {
    let _watchdog = watchdog();
    for _ in 0..20 {
        on_each_runtime(|runtime| {
            let (drops, stop, handle) = (Drops::new(), AtomicBool::new(false), runtime.handle().clone());
            scope(|scope| {
                let spawners: Vec<_> = (0..3)
                    .map(|_| {
                        let (drops, stop, handle) = (&drops, &stop, &handle);
                        scope.spawn(move || {
                            let mut tasks = Vec::new();
                            while !stop.load(SeqCst) {
                                let token = drops.token();
                                tasks.push(handle.spawn(async move {
                                    let _token = token;
                                    pending::<()>().await;
                                }));
                                // On a machine that is busy the end must have its turn too.
                                thread::yield_now();
                            }
                            tasks
                        })
                    })
                    .collect();
                eventually(|| handle.metrics().totals().spawns > 50);
                drop(runtime);
                stop.store(true, SeqCst);
                for spawner in spawners {
                    for task in spawner.join().unwrap() {
                        assert!(task.is_finished());
                    }
                }
            });
            drops.assert_all();
        });
    }
}

#[test]
fn wakes_during_the_shutdown_do_no_harm() {
    let _watchdog = watchdog();
    for _ in 0..20 {
        on_each_runtime(|runtime| {
            let (drops, stop, wakers) = (Drops::new(), AtomicBool::new(false), Channel::<Waker>::new());
            for _ in 0..20 {
                let (token, wakers) = (drops.token(), wakers.clone());
                runtime.spawn(async move {
                    let _token = token;
                    let mut told = false;
                    std::future::poll_fn(|cx| {
                        if !std::mem::replace(&mut told, true) {
                            wakers.send(cx.waker().clone());
                        }
                        std::task::Poll::<()>::Pending
                    })
                    .await;
                });
            }
            let wakers = runtime.block_on(async {
                let mut all = Vec::new();
                for _ in 0..20 {
                    all.push(wakers.receive().await);
                }
                all
            });
            scope(|scope| {
                for thread in 0..3 {
                    let (stop, wakers) = (&stop, &wakers);
                    scope.spawn(move || {
                        while !stop.load(SeqCst) {
                            wakers.iter().skip(thread).step_by(3).for_each(Waker::wake_by_ref);
                        }
                    });
                }
                drop(runtime);
                drops.assert_all();
                stop.store(true, SeqCst);
            });
        });
    }
}

/// Spawns onto the runtime when it is dropped, a few generations deep.
struct Spawns {
    generations: u32,
    drops: Drops,
    spawn: fn(Spawns, Option<Handle>),
    handle: Option<Handle>,
    _token: Token,
}

impl Spawns {
    fn new(generations: u32, drops: &Drops, spawn: fn(Spawns, Option<Handle>), handle: Option<Handle>) -> Self {
        Self { generations, drops: drops.clone(), spawn, handle, _token: drops.token() }
    }
}

impl Drop for Spawns {
    fn drop(&mut self) {
        if self.generations > 0 {
            let next = Spawns::new(self.generations - 1, &self.drops, self.spawn, self.handle.clone());
            (self.spawn)(next, self.handle.take());
        }
    }
}

fn leave_spawners(
    runtime: &Runtime,
    generations: u32,
    spawn: fn(Spawns, Option<Handle>),
    handle: Option<Handle>,
) -> Drops {
    let drops = Drops::new();
    let tasks: Vec<_> = (0..10)
        .map(|_| {
            let spawns = Spawns::new(generations, &drops, spawn, handle.clone());
            runtime.spawn(async move {
                let _spawns = spawns;
                pending::<()>().await;
            })
        })
        .collect();
    runtime.block_on(async {
        for _ in 0..20 {
            rt::task::yield_now().await;
        }
    });
    drop(tasks);
    drops
}

#[test]
fn a_future_may_spawn_through_a_handle_while_shutdown_drops_it() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let spawn = |next: Spawns, handle: Option<Handle>| {
            handle.unwrap().spawn(async move {
                let _next = next;
                pending::<()>().await;
            });
        };
        let drops = leave_spawners(&runtime, 3, spawn, Some(runtime.handle().clone()));
        drop(runtime);
        assert_eq!(drops.count(), 40);
    });
}

#[test]
fn a_future_may_spawn_onto_the_current_runtime_while_shutdown_drops_it() {
    let _watchdog = watchdog();
    // The tasks of a runtime are dropped in its context, by whichever thread: what their drops use of it is there.
    on_each_runtime(|runtime| {
        let spawn = |next: Spawns, _: Option<Handle>| {
            rt::spawn(async move {
                let _next = next;
                pending::<()>().await;
            });
        };
        let drops = leave_spawners(&runtime, 1, spawn, None);
        let joined = runtime.spawn({
            // (One generation: the drop of a second one would abort the test, were the first to panic.)
            let spawns = Spawns::new(1, &drops, spawn, None);
            async move {
                let _spawns = spawns;
                pending::<()>().await;
            }
        });
        drop(runtime);
        assert_eq!(drops.count(), 22);
        let error = current().block_on(joined).unwrap_err();
        assert!(error.is_cancelled(), "its drop did not panic: {error}");
    });
}

#[test]
fn a_thread_in_block_on_of_a_handle_outlives_the_runtime() {
    let _watchdog = watchdog();
    for _ in 0..20 {
        on_each_runtime(|runtime| {
            let (inside, go) = (Arc::new(AtomicUsize::new(0)), Signal::new());
            let tasks = Drops::new();
            scope(|scope| {
                for _ in 0..6 {
                    let (inside, go, tasks, handle) =
                        (inside.clone(), go.clone(), tasks.clone(), runtime.handle().clone());
                    scope.spawn(move || {
                        let outcome = handle.block_on(async {
                            let token = tasks.token();
                            let task = rt::spawn(async move {
                                let _token = token;
                                pending::<()>().await;
                            });
                            inside.fetch_add(1, SeqCst);
                            // Two things to wait for: the end of the runtime, and then something from elsewhere.
                            let outcome = task.await;
                            go.wait().await;
                            outcome
                        });
                        assert!(outcome.unwrap_err().is_cancelled());
                    });
                }
                eventually(|| inside.load(SeqCst) == 6);
                drop(runtime);
                tasks.assert_all();
                go.set();
            });
        });
    }
}

#[test]
fn a_timer_of_a_main_future_does_not_hang_when_the_runtime_ends() {
    let _watchdog = watchdog();
    for runtime in [current(), multi(1)] {
        let (handle, set) = (runtime.handle().clone(), Signal::new());
        let tell = set.clone();
        let thread = thread::spawn(move || {
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                handle.block_on(async {
                    let mut sleep = Box::pin(rt::time::sleep(std::time::Duration::from_secs(100_000)));
                    assert!(poll_once(sleep.as_mut()).await.is_pending());
                    tell.set();
                    sleep.await;
                });
            }))
        });
        eventually(|| set.is_set());
        drop(runtime);
        // Polling a sleep that cannot end panics.
        let message = message_of(&*thread.join().unwrap().unwrap_err());
        assert!(message.contains("shut down"), "{message}");
    }
}

#[test]
fn blocking_jobs_that_spawn_jobs_and_tasks_do_not_keep_the_shutdown_going() {
    let _watchdog = watchdog();
    fn again(handle: Handle, ran: Arc<AtomicUsize>) {
        ran.fetch_add(1, SeqCst);
        let next = handle.clone();
        drop(handle.spawn_blocking(move || again(next, ran)));
        drop(handle.spawn(async {}));
    }
    on_each_runtime(|runtime| {
        let ran = Arc::new(AtomicUsize::new(0));
        for _ in 0..4 {
            let (handle, ran) = (runtime.handle().clone(), ran.clone());
            runtime.spawn_blocking(move || again(handle, ran));
        }
        eventually(|| ran.load(SeqCst) > 50);
        drop(runtime);
        let after = ran.load(SeqCst);
        thread::yield_now();
        assert_eq!(ran.load(SeqCst), after, "the drop has waited for the last of them");
    });
}

#[test]
fn a_runtime_that_ends_while_its_tasks_yield_spawn_and_abort_ends() {
    let _watchdog = watchdog();
    for _ in 0..20 {
        for workers in [1, 2, 4] {
            let (runtime, drops) = (multi(workers), Drops::new());
            for _ in 0..10 {
                let drops = drops.clone();
                runtime.spawn(async move {
                    let _token = drops.token();
                    loop {
                        let token = drops.token();
                        let child = rt::spawn(async move {
                            let _token = token;
                            rt::task::yield_now().await;
                        });
                        rt::task::yield_now().await;
                        child.abort();
                    }
                });
            }
            eventually(|| drops.count() > 100);
            drop(runtime);
            drops.assert_all();
        }
    }
}
