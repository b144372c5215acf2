//! What futures and closures do while the shutdown drops them: use the runtime, each other, and other runtimes. None of
//! it hangs, and none of it is lost.
//!
//! Mutations that these tests are for: a lock held while user code is dropped; a list that is walked while it changes;
//! a job that is queued after the queue was emptied for the last time.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::task::Waker;
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;
use rt::io::AsyncReadExt;
use rt::net::{TcpListener, TcpStream};
use rt::runtime::{Builder, Handle, Runtime};
use rt::task::{AbortHandle, JoinHandle};
use rt_test_util::*;

/// Calls something when it goes.
struct OnDrop<F: FnOnce()>(Option<F>);

impl<F: FnOnce()> OnDrop<F> {
    fn new(f: F) -> Self {
        Self(Some(f))
    }
}

impl<F: FnOnce()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0.take().unwrap())();
    }
}

/// A task that does something when the shutdown drops it.
fn leave(runtime: &Runtime, at_the_end: impl FnOnce() + Send + 'static) -> JoinHandle<()> {
    let bye = OnDrop::new(at_the_end);
    runtime.spawn(async move {
        let _bye = bye;
        pending::<()>().await;
    })
}

fn let_them_run(runtime: &Runtime) {
    runtime.block_on(async {
        for _ in 0..20 {
            rt::task::yield_now().await;
        }
    });
}

#[test]
fn futures_that_wake_abort_and_detach_each_other_when_dropped_are_dropped_once() {
    let _watchdog = watchdog();
    #[derive(Default)]
    struct All {
        wakers: Vec<Waker>,
        aborts: Vec<AbortHandle>,
        handles: Vec<JoinHandle<()>>,
    }
    for _ in 0..10 {
        on_each_runtime(|runtime| {
            let (drops, all) = (Drops::new(), Arc::new(Mutex::new(All::default())));
            let tasks: Vec<_> = (0..40)
                .map(|n| {
                    let (token, copy, others) = (drops.token(), all.clone(), all.clone());
                    let bye = OnDrop::new(move || {
                        let mut others = others.lock();
                        others.wakers.iter().for_each(Waker::wake_by_ref);
                        others.aborts.iter().for_each(AbortHandle::abort);
                        // The last references to some of them go here, in the middle of the walk.
                        let (waker, abort, handle) = (others.wakers.pop(), others.aborts.pop(), others.handles.pop());
                        drop(others);
                        drop((waker, abort, handle));
                    });
                    runtime.spawn(async move {
                        let (_token, _bye) = (token, bye);
                        std::future::poll_fn(|cx| {
                            if n % 2 == 0 {
                                copy.lock().wakers.push(cx.waker().clone());
                            }
                            std::task::Poll::<()>::Pending
                        })
                        .await;
                    })
                })
                .collect();
            let_them_run(&runtime);
            {
                let mut all = all.lock();
                all.aborts.extend(tasks.iter().step_by(3).map(JoinHandle::abort_handle));
                all.handles.extend(tasks);
            }
            drop(runtime);
            drops.assert_all();
        });
    }
}

#[test]
fn futures_and_queued_closures_may_use_the_blocking_pool_when_they_are_dropped() {
    let _watchdog = watchdog();
    fn spawns(handle: &Handle, generations: u32, drops: &Drops) -> impl FnOnce() + Send + use<> {
        let (handle, drops, token) = (handle.clone(), drops.clone(), drops.token());
        move || {
            let _token = token;
            if generations > 0 {
                let next = OnDrop::new(spawns(&handle, generations - 1, &drops));
                handle.spawn_blocking(move || drop(next));
                let next = OnDrop::new(spawns(&handle, generations - 1, &drops));
                handle.spawn(async move { drop(next) });
            }
        }
    }
    for mut builder in [Builder::new_current_thread(), Builder::new_multi_thread()] {
        let runtime = builder.worker_threads(2).max_blocking_threads(1).enable_all().build().unwrap();
        let (drops, gate, handle) = (Drops::new(), Gate::new(), runtime.handle().clone());
        let held = gate.clone();
        runtime.spawn_blocking(move || held.pass());
        gate.wait_for(1);
        let queued: Vec<_> = (0..5)
            .map(|_| {
                let bye = OnDrop::new(spawns(&handle, 3, &drops));
                runtime.spawn_blocking(move || drop(bye))
            })
            .collect();
        let tasks: Vec<_> = (0..5).map(|_| leave(&runtime, spawns(&handle, 3, &drops))).collect();
        let_them_run(&runtime);
        scope(|scope| {
            scope.spawn(|| drop(runtime));
            eventually(|| queued.iter().all(JoinHandle::is_finished) && tasks.iter().all(JoinHandle::is_finished));
            gate.open();
        });
        drops.assert_all();
        assert_eq!(drops.count(), 10 * 15, "each a tree of three generations");
    }
}

#[test]
fn what_the_shutdown_drops_finds_its_runtime_around_it() {
    let _watchdog = watchdog();
    for mut builder in [Builder::new_current_thread(), Builder::new_multi_thread()] {
        let runtime = builder.worker_threads(1).max_blocking_threads(1).enable_all().build().unwrap();
        let (gate, id) = (Gate::new(), runtime.handle().id());
        let held = gate.clone();
        runtime.spawn_blocking(move || held.pass());
        gate.wait_for(1);
        let is_inside = move || assert_eq!(Handle::current().id(), id);
        let queued = OnDrop::new(is_inside);
        let queued = runtime.spawn_blocking(move || drop(queued));
        let task = leave(&runtime, is_inside);
        let_them_run(&runtime);
        scope(|scope| {
            scope.spawn(|| drop(runtime));
            eventually(|| queued.is_finished());
            gate.open();
        });
        for ended in [queued, task] {
            assert!(current().block_on(ended).unwrap_err().is_cancelled());
        }
    }
}

#[test]
fn futures_that_block_on_something_when_dropped_may_do_so_where_their_runtimes_owner_may() {
    let _watchdog = watchdog();
    /// Whether the ends of its tasks were panics.
    fn panics(runtime: Runtime, end: impl FnOnce(Runtime)) -> [bool; 3] {
        let (handle, other, third) = (runtime.handle().clone(), current(), multi(1));
        let tasks = [
            leave(&runtime, move || assert_eq!(handle.block_on(async { rt::spawn_blocking(|| 7).await.unwrap() }), 7)),
            // Runtimes that are dropped here would be waited for.
            leave(&runtime, move || drop((other, third))),
            leave(&runtime, || drop(Handle::current().spawn(async {}))),
        ];
        let_them_run(&runtime);
        end(runtime);
        tasks.map(|task| {
            eventually(|| task.is_finished());
            current().block_on(task).unwrap_err().is_panic()
        })
    }
    assert_eq!(panics(current(), drop), [false, false, false]);
    let in_async_code = |runtime: Runtime| current().block_on(async { runtime.shutdown_background() });
    assert_eq!(panics(current(), in_async_code), [true, true, false]);
    // On a worker.
    assert_eq!(panics(multi(1), drop), [true, true, false]);
}

#[test]
fn futures_may_set_timers_and_open_sockets_when_they_are_dropped() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let outcomes = Arc::new(Mutex::new(Vec::new()));
        for _ in 0..5 {
            let outcomes = outcomes.clone();
            leave(&runtime, move || {
                // The drivers are still there, or say that they are not; these will never be polled again.
                let mut sleep = Box::pin(rt::time::sleep(Duration::from_secs(3600)));
                let mut bind = Box::pin(TcpListener::bind("127.0.0.1:0"));
                let mut cx = std::task::Context::from_waker(Waker::noop());
                let pending = sleep.as_mut().poll(&mut cx).is_pending();
                outcomes.lock().push((pending, bind.as_mut().poll(&mut cx).is_ready(), sleep));
            });
        }
        let_them_run(&runtime);
        drop(runtime);
        let outcomes = std::mem::take(&mut *outcomes.lock());
        assert_eq!(outcomes.len(), 5, "none of them panicked");
        for (_, bound, mut sleep) in outcomes {
            assert!(bound);
            assert!(catch(|| current().block_on(sleep.as_mut())).message.contains("shut down"));
        }
    });
}

#[test]
fn a_drop_may_wait_for_a_thread_that_uses_the_runtime() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let (handle, ran) = (runtime.handle().clone(), Arc::new(AtomicUsize::new(0)));
        for _ in 0..3 {
            let (handle, ran) = (handle.clone(), ran.clone());
            leave(&runtime, move || {
                let thread = thread::spawn(move || {
                    // All of this is refused, at once, in the middle of the shutdown.
                    let task = handle.spawn(async {});
                    assert!(handle.block_on(task).unwrap_err().is_cancelled());
                    handle.block_on(async {
                        assert!(rt::spawn(async {}).await.unwrap_err().is_cancelled());
                        yield_by_hand().await;
                    });
                    let _ = handle.metrics().num_alive_tasks();
                    ran.fetch_add(1, SeqCst);
                });
                thread.join().unwrap();
            });
        }
        let_them_run(&runtime);
        drop(runtime);
        assert_eq!(ran.load(SeqCst), 3);
    });
}

#[test]
fn peers_of_sockets_that_shutdown_drops_see_the_end_of_the_stream() {
    let _watchdog = watchdog();
    let peers = multi(1);
    on_each_runtime(|runtime| {
        let listener = peers.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        let reading: Vec<_> = (0..5)
            .map(|_| {
                runtime.spawn(async move {
                    let mut stream = TcpStream::connect(address).await.unwrap();
                    // Parked on its own end until shutdown drops it.
                    let _ = stream.read(&mut [0]).await;
                })
            })
            .collect();
        // A current-thread runtime needs a thread that drives it while the peers accept.
        let accepting = peers.spawn(async move {
            let mut streams = Vec::new();
            for _ in 0..5 {
                streams.push(listener.accept().await.unwrap().0);
            }
            streams
        });
        runtime.block_on(async {
            while !accepting.is_finished() {
                rt::task::yield_now().await;
            }
        });
        let streams = peers.block_on(accepting).unwrap();
        drop(runtime);
        assert!(reading.iter().all(JoinHandle::is_finished));
        peers.block_on(async {
            for mut stream in streams {
                assert_eq!(stream.read(&mut [0]).await.unwrap(), 0);
            }
        });
    });
}
