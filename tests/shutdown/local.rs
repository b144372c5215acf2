//! The end of a `LocalRuntime`: what holds for the others holds for it, and everything of its tasks happens at home.
//!
//! Mutations that these tests are for: a local task that is refused but not dropped; a foreign thread that performs the
//! end; a caller of `block_on` elsewhere that is left behind.

use std::future::pending;
use std::rc::Rc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use rt::io::AsyncReadExt;
use rt::net::{TcpListener, TcpStream};
use rt::runtime::{Builder, LocalRuntime};
use rt::task::JoinHandle;
use rt_test_util::*;

fn local() -> LocalRuntime {
    Builder::new_current_thread().max_blocking_threads(1).enable_all().build_local(Default::default()).unwrap()
}

/// Must be dropped where it was made; notes that it was.
struct AtHome {
    own: Rc<()>,
    home: thread::ThreadId,
    _token: Token,
}

impl AtHome {
    fn new(drops: &Drops) -> Self {
        Self { own: Rc::new(()), home: thread::current().id(), _token: drops.token() }
    }
}

impl Drop for AtHome {
    fn drop(&mut self) {
        if thread::current().id() != self.home {
            eprintln!("dropped away from home");
            std::process::abort();
        }
        drop(self.own.clone());
    }
}

/// Local tasks that wait for all there is to wait for.
fn leave_tasks(runtime: &LocalRuntime, drops: &Drops) -> Vec<JoinHandle<()>> {
    let never = Signal::new();
    let tasks: Vec<_> = (0..30)
        .map(|n| {
            let (home, never) = (AtHome::new(drops), never.clone());
            runtime.spawn_local(async move {
                let _home = home;
                match n % 6 {
                    0 => pending().await,
                    1 => rt::time::sleep(Duration::from_secs(3600)).await,
                    2 => never.wait().await,
                    3 => drop(TcpListener::bind("127.0.0.1:0").await.unwrap().accept().await),
                    4 => drop(rt::spawn_local(pending::<()>()).await),
                    _ => loop {
                        rt::task::yield_now().await;
                    },
                }
            })
        })
        .collect();
    runtime.block_on(async {
        for _ in 0..20 {
            rt::task::yield_now().await;
        }
    });
    tasks
}

#[test]
fn every_way_to_end_a_local_runtime_drops_its_tasks_before_it_returns() {
    let _watchdog = watchdog();
    for way in 0..4 {
        let (runtime, drops) = (local(), Drops::new());
        let tasks = leave_tasks(&runtime, &drops);
        let queued = runtime.spawn_local(async {});
        match way {
            0 => drop(runtime),
            1 => runtime.shutdown_background(),
            2 => runtime.shutdown_timeout(Duration::from_secs(1000)),
            _ => runtime.shutdown_timeout(Duration::ZERO),
        }
        drops.assert_all();
        assert!(tasks.iter().all(JoinHandle::is_finished) && queued.is_finished());
        let other = local();
        for task in tasks {
            assert!(other.block_on(task).unwrap_err().is_cancelled());
        }
    }
}

#[test]
fn a_local_runtime_waits_for_running_blocking_jobs_and_cancels_queued_ones() {
    let _watchdog = watchdog();
    for limited in [false, true] {
        let runtime = local();
        let (gate, ended) = (Gate::new(), Arc::new(AtomicBool::new(false)));
        let (held, end) = (gate.clone(), ended.clone());
        let running = runtime.spawn_blocking(move || {
            held.pass();
            end.store(true, SeqCst);
        });
        gate.wait_for(1);
        let queued = runtime.spawn_blocking(|| ());
        scope(|scope| {
            if limited {
                runtime.shutdown_timeout(Duration::from_millis(10));
                assert!(queued.is_finished() && !running.is_finished());
                gate.open();
            } else {
                scope.spawn(|| {
                    eventually(|| queued.is_finished());
                    assert!(!ended.load(SeqCst));
                    gate.open();
                });
                drop(runtime);
                assert!(ended.load(SeqCst), "the drop has waited");
            }
        });
        eventually(|| running.is_finished());
    }
}

/// Spawns in its drop, in three ways, a few generations deep.
struct Spawns(u32, Drops, #[allow(dead_code)] AtHome);

impl Drop for Spawns {
    fn drop(&mut self) {
        if self.0 > 0 {
            let next = || Spawns(self.0 - 1, self.1.clone(), AtHome::new(&self.1));
            let (one, other) = (next(), next());
            let task = rt::spawn_local(async move {
                let _one = one;
                pending::<()>().await;
            });
            drop(rt::spawn_local(async move { drop(other) }));
            let (token, job) = (self.1.token(), self.1.token());
            rt::spawn(async move { drop(token) });
            rt::spawn_blocking(move || drop(job));
            assert!(task.is_finished(), "refused, and dropped at once");
        }
    }
}

#[test]
fn local_tasks_may_spawn_while_shutdown_drops_them() {
    let _watchdog = watchdog();
    let (runtime, drops) = (local(), Drops::new());
    for _ in 0..10 {
        let spawns = Spawns(3, drops.clone(), AtHome::new(&drops));
        runtime.spawn_local(async move {
            let _spawns = spawns;
            pending::<()>().await;
        });
    }
    runtime.block_on(rt::task::yield_now());
    drop(runtime);
    drops.assert_all();
    // Each a tree of 15, of which 7 have spawned more.
    assert_eq!(drops.count(), 10 * (15 + 7 * 2));
}

#[test]
fn local_tasks_that_panic_in_their_drop_do_not_stop_the_shutdown() {
    let _watchdog = watchdog();
    struct Bomb(#[allow(dead_code)] AtHome);
    impl Drop for Bomb {
        fn drop(&mut self) {
            std::panic::resume_unwind(Box::new("dropped a bomb"));
        }
    }
    let (runtime, drops) = (local(), Drops::new());
    let tasks: Vec<_> = (0..40)
        .map(|n| {
            let home = AtHome::new(&drops);
            let bomb = (n % 2 == 0).then(|| Bomb(AtHome::new(&drops)));
            runtime.spawn_local(async move {
                let (_home, _bomb) = (home, bomb);
                pending::<()>().await;
            })
        })
        .collect();
    runtime.block_on(rt::task::yield_now());
    drop(runtime);
    drops.assert_all();
    for (n, task) in tasks.into_iter().enumerate() {
        assert_eq!(current().block_on(task).unwrap_err().is_panic(), n % 2 == 0);
    }
}

#[test]
fn a_local_runtime_that_one_of_its_own_tasks_owns_ends_with_that_task() {
    let _watchdog = watchdog();
    for background in [true, false] {
        let (runtime, drops) = (local(), Drops::new());
        let tasks = leave_tasks(&runtime, &drops);
        let handle = runtime.handle().clone();
        let task = handle.block_on(async {
            let task = rt::spawn_local(async move {
                if background {
                    runtime.shutdown_background();
                } else {
                    // In async code it would have to wait for itself.
                    drop(runtime);
                }
                pending::<()>().await;
            });
            task.await.unwrap_err()
        });
        assert_eq!(task.is_panic(), !background);
        // The end comes when `block_on` gives up the thread's place at the runtime.
        drops.assert_all();
        assert!(tasks.iter().all(JoinHandle::is_finished));
    }
}

#[test]
fn foreign_threads_in_block_on_of_a_local_runtime_outlive_it() {
    let _watchdog = watchdog();
    for round in 0..20 {
        let (runtime, go, drops) = (local(), Signal::new(), Drops::new());
        let (send, inside) = mpsc::channel();
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let (handle, go, drops, send) = (runtime.handle().clone(), go.clone(), drops.clone(), send.clone());
                thread::spawn(move || {
                    handle.block_on(async {
                        let token = drops.token();
                        let task = rt::spawn(async move {
                            let _token = token;
                            pending::<()>().await;
                        });
                        send.send(()).unwrap();
                        assert!(task.await.unwrap_err().is_cancelled());
                        go.wait().await;
                    });
                })
            })
            .collect();
        (0..4).for_each(|_| inside.recv().unwrap());
        if round % 2 == 0 {
            runtime.block_on(rt::task::yield_now());
        }
        drop(runtime);
        drops.assert_all();
        go.set();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    }
}

#[test]
fn sockets_and_timers_of_a_local_runtime_give_answers_after_it() {
    let _watchdog = watchdog();
    let runtime = local();
    let (mut client, _server, mut sleep) = runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let mut sleep = Box::pin(rt::time::sleep(Duration::from_secs(3600)));
        assert!(poll_once(sleep.as_mut()).await.is_pending());
        (client, listener.accept().await.unwrap().0, sleep)
    });
    drop(runtime);
    let other = local();
    assert!(other.block_on(client.read(&mut [0])).unwrap_err().to_string().contains("shut down"));
    assert!(catch(|| other.block_on(sleep.as_mut())).message.contains("shut down"));
}
