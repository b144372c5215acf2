//! Values and hooks that use the runtime, or wait for it, when they are dropped or called. Wherever that happens, the
//! runtime holds nothing that they could need.
//!
//! Mutations that these tests are for: a future, an output or a closure that is dropped under a lock, or while its task
//! is not settled; an observer that is called by the thread that has the drivers, or the core of a current-thread
//! runtime, or while the monitor sleeps.

use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::panic::panic_any;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;
use rt::io::unix::AsyncFd;
use rt::runtime::{Builder, Handle, TaskEvent, TaskEventKind};
use rt_test_util::*;

use super::reentry::{Act, runtime, wait_for_a_task};

/// Does something when it is dropped, and counts that.
struct Meddler(Act, Arc<AtomicUsize>);

impl Drop for Meddler {
    fn drop(&mut self) {
        (self.0)();
        self.1.fetch_add(1, SeqCst);
    }
}

/// Spawns, aborts, enters, looks around: without waiting for any of it.
fn look_around(handle: &Handle) -> Act {
    let handle = handle.clone();
    Arc::new(move || {
        let _guard = handle.enter();
        let task = handle.spawn(std::future::pending::<()>());
        task.abort();
        let _ = (task.is_finished(), handle.metrics().num_workers());
        drop(rt::spawn_blocking(|| ()));
        drop(Box::pin(rt::time::sleep(Duration::from_secs(3600))));
    })
}

/// Leaves a value with a runtime.
type Leave = fn(&Handle, Meddler);

/// Each place where the runtime drops a value of a task: gives one there the value, and sees to it that it is dropped.
const PLACES: [(&str, Leave); 11] = [
    ("a future that is over", |handle, meddler| {
        let task = handle.spawn(async move {
            let _meddler = &meddler;
            rt::task::yield_now().await;
        });
        handle.block_on(task).unwrap();
    }),
    ("a future that is aborted", |handle, meddler| {
        let task = handle.spawn(async move {
            let _meddler = meddler;
            std::future::pending::<()>().await;
        });
        task.abort();
        assert!(handle.block_on(task).unwrap_err().is_cancelled());
    }),
    ("a future that has panicked", |handle, meddler| {
        let task = handle.spawn(async move {
            let _meddler = meddler;
            panic_any(());
        });
        assert!(handle.block_on(task).unwrap_err().is_panic());
    }),
    ("what it has panicked with", |handle, meddler| {
        let task = handle.spawn(async move { panic_any(meddler) });
        drop(handle.block_on(task).unwrap_err());
    }),
    ("an output that nobody takes", |handle, meddler| {
        let task = handle.spawn(async move { meddler });
        eventually(|| task.is_finished());
        drop(task);
    }),
    ("an output that nobody waits for", |handle, meddler| {
        let dropped = meddler.1.clone();
        drop(handle.spawn(async move {
            rt::task::yield_now().await;
            meddler
        }));
        eventually(|| dropped.load(SeqCst) > 0);
    }),
    ("a closure of the blocking pool", |handle, meddler| {
        handle.block_on(handle.spawn_blocking(move || drop(meddler))).unwrap();
    }),
    ("an output of the blocking pool", |handle, meddler| {
        let task = handle.spawn_blocking(move || meddler);
        eventually(|| task.is_finished());
        drop(task);
    }),
    ("the future of a `block_on`", |handle, meddler| {
        handle.block_on(async move {
            let _meddler = &meddler;
            rt::task::yield_now().await;
        });
    }),
    ("the object in an `AsyncFd`", |handle, meddler| {
        struct Object(UnixStream, #[allow(dead_code)] Meddler);
        impl AsRawFd for Object {
            fn as_raw_fd(&self) -> RawFd {
                self.0.as_raw_fd()
            }
        }
        let _guard = handle.enter();
        let (ours, _theirs) = UnixStream::pair().unwrap();
        ours.set_nonblocking(true).unwrap();
        drop(AsyncFd::new(Object(ours, meddler)).unwrap());
    }),
    ("an operation on an `AsyncFd`", |handle, meddler| {
        let _guard = handle.enter();
        let (ours, _theirs) = UnixStream::pair().unwrap();
        ours.set_nonblocking(true).unwrap();
        let fd = AsyncFd::new(ours).unwrap();
        handle.block_on(async {
            fd.writable().await.unwrap().retain_ready();
            let operation = move |_: &UnixStream| {
                drop(meddler);
                Ok(())
            };
            fd.try_io(rt::io::Interest::WRITABLE, operation).unwrap();
        });
    }),
];

#[test]
fn a_value_may_use_the_runtime_and_wait_for_it_wherever_it_is_dropped() {
    let _watchdog = watchdog();
    let runtime = runtime();
    for (place, leave) in PLACES {
        for act in [look_around(runtime.handle()), wait_for_a_task(runtime.handle())] {
            let dropped = Arc::new(AtomicUsize::new(0));
            leave(runtime.handle(), Meddler(act, dropped.clone()));
            assert_eq!(dropped.load(SeqCst), 1, "{place}");
        }
    }
}

#[test]
fn a_value_that_is_refused_may_use_what_is_left_of_the_runtime() {
    let _watchdog = watchdog();
    for runtime in [current(), multi(2)] {
        let handle = runtime.handle().clone();
        let _guard = handle.enter();
        drop(runtime);
        let dropped = Arc::new(AtomicUsize::new(0));
        let meddler = || Meddler(look_around(&handle), dropped.clone());
        let (first, second) = (meddler(), meddler());
        let spawned = handle.spawn(async move { drop(first) });
        let blocking = handle.spawn_blocking(move || drop(second));
        assert!(spawned.is_finished() && blocking.is_finished());
        assert_eq!(dropped.load(SeqCst), 2);
    }
}

const KINDS: [TaskEventKind; 5] = [
    TaskEventKind::Spawned,
    TaskEventKind::Polled,
    TaskEventKind::Pending,
    TaskEventKind::Woken,
    TaskEventKind::Completed,
];

/// Has an observer do something, once, when it is told of an event.
#[derive(Clone, Default)]
struct Trap(Arc<(Mutex<Option<Act>>, AtomicUsize)>);

impl Trap {
    /// What to do at the next event.
    fn set(&self, act: Act) {
        *self.0.0.lock() = Some(act);
    }

    fn is_set(&self) -> bool {
        self.0.0.lock().is_some()
    }

    /// How often something was done, and was over.
    fn ended(&self) -> usize {
        self.0.1.load(SeqCst)
    }

    /// An observer of such events.
    fn at(&self, kind: TaskEventKind) -> impl Fn(&TaskEvent) + Send + Sync + 'static {
        let trap = self.clone();
        move |event| {
            let act = if event.kind == kind { trap.0.0.lock().take() } else { None };
            if let Some(act) = act {
                act();
                trap.0.1.fetch_add(1, SeqCst);
            }
        }
    }
}

/// It is told not to; but if it does, only the thread that it is called on is held up. Above all not the drivers: a
/// task that a timer or a socket has woken is told of when they have been given back.
#[test]
fn an_observer_that_waits_for_a_task_holds_up_its_own_thread_only() {
    let _watchdog = watchdog();
    for kind in KINDS {
        let trap = Trap::default();
        let runtime =
            Builder::new_multi_thread().worker_threads(2).enable_all().on_task_event(trap.at(kind)).build().unwrap();
        for by_socket in [false, true] {
            // What comes first after this is the driver's wake, if wakes are what is waited for.
            let (ours, theirs) = UnixStream::pair().unwrap();
            ours.set_nonblocking(true).unwrap();
            let waits = Signal::new();
            let tell = waits.clone();
            let task = runtime.spawn(async move {
                let fd = AsyncFd::new(ours).unwrap();
                let mut readable = std::pin::pin!(fd.readable());
                let mut sleep = std::pin::pin!(rt::time::sleep(Duration::from_millis(20)));
                let mut first = true;
                std::future::poll_fn(|cx| {
                    if std::mem::replace(&mut first, false) {
                        tell.set();
                    }
                    if by_socket { readable.as_mut().poll(cx).map(drop) } else { sleep.as_mut().poll(cx) }
                })
                .await;
                rt::task::yield_now().await;
            });
            runtime.block_on(waits.wait());
            trap.set(wait_for_a_task(runtime.handle()));
            if by_socket {
                std::io::Write::write_all(&mut &theirs, b"x").unwrap();
            }
            runtime.block_on(task).unwrap();
            runtime.block_on(async { rt::spawn(rt::time::sleep(Duration::from_millis(1))).await.unwrap() });
            assert!(!trap.is_set(), "{kind}: nobody was told");
            eventually(|| trap.ended() == 1 + usize::from(by_socket));
        }
    }
}

/// When nothing has happened for a while the monitor sleeps, too. It must be up before a worker that gets up calls the
/// observer: nobody else comes to the help of a worker that blocks.
#[test]
fn an_observer_may_wait_for_a_task_when_all_threads_have_slept() {
    let _watchdog = watchdog();
    let trap = Trap::default();
    let runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .on_task_event(trap.at(TaskEventKind::Woken))
        .build()
        .unwrap();
    let task = runtime.spawn(async { rt::time::sleep(Duration::from_millis(400)).await });
    // For the monitor to fall asleep. Should it not, or the timer fire before this is over, the test sees less.
    thread::sleep(Duration::from_millis(200));
    let handle = runtime.handle().clone();
    trap.set(Arc::new(move || {
        let task = handle.spawn(async {});
        eventually(|| task.is_finished());
    }));
    runtime.block_on(task).unwrap();
    runtime.block_on(async { rt::spawn(rt::time::sleep(Duration::from_millis(1))).await.unwrap() });
    eventually(|| trap.ended() == 1);
}

/// The drivers of the one runtime wake tasks of the other, whose observer waits for what only those drivers bring.
#[test]
fn an_observer_does_not_hold_up_the_drivers_of_another_runtime() {
    let _watchdog = watchdog();
    let trap = Trap::default();
    let observed =
        Builder::new_multi_thread().worker_threads(1).on_task_event(trap.at(TaskEventKind::Woken)).build().unwrap();
    let drivers = runtime();
    for by_socket in [false, true] {
        let (ours, theirs) = UnixStream::pair().unwrap();
        ours.set_nonblocking(true).unwrap();
        let guard = drivers.enter();
        let fd = AsyncFd::new(ours).unwrap();
        drop(guard);
        let handle = drivers.handle().clone();
        let sleep = move || {
            let _guard = handle.enter();
            rt::time::sleep(Duration::from_millis(1))
        };
        let waits = Arc::new(AtomicBool::new(false));
        let (is_over, tell) = (trap.clone(), waits.clone());
        let task = observed.spawn(async move {
            if by_socket {
                let mut readable = std::pin::pin!(fd.readable());
                std::future::poll_fn(|cx| {
                    let polled = readable.as_mut().poll(cx).map(drop);
                    tell.store(true, SeqCst);
                    polled
                })
                .await;
                return;
            }
            tell.store(true, SeqCst);
            while is_over.ended() == 0 {
                sleep().await;
            }
        });
        eventually(|| waits.load(SeqCst));
        trap.set(wait_for_a_task(drivers.handle()));
        if by_socket {
            std::io::Write::write_all(&mut &theirs, b"x").unwrap();
        }
        eventually(|| trap.ended() == 1 + usize::from(by_socket));
        drivers.block_on(task).unwrap();
    }
}

#[test]
fn an_observer_on_one_thread_may_spawn_at_any_event() {
    let _watchdog = watchdog();
    for kind in KINDS {
        let armed = Arc::new(AtomicBool::new(false));
        let ran = Arc::new(AtomicUsize::new(0));
        let (take, count) = (armed.clone(), ran.clone());
        let runtime = Builder::new_current_thread()
            .enable_all()
            .on_task_event(move |event| {
                if event.kind == kind && take.swap(false, SeqCst) {
                    let count = count.clone();
                    rt::spawn(async move { _ = count.fetch_add(1, SeqCst) });
                }
            })
            .build()
            .unwrap();
        armed.store(true, SeqCst);
        runtime.block_on(async {
            rt::spawn(rt::time::sleep(Duration::from_millis(1))).await.unwrap();
            rt::task::yield_now().await;
        });
        assert_eq!(ran.load(SeqCst), 1, "{kind}");
    }
}

/// Outside of `block_on` a spawn takes the core for a moment; what is called then must not find it gone.
#[test]
fn an_observer_that_is_told_of_a_spawn_may_spawn_and_drive_a_local_runtime() {
    let _watchdog = watchdog();
    let armed = Arc::new(AtomicBool::new(true));
    let ran = Arc::new(AtomicUsize::new(0));
    let (take, count) = (armed.clone(), ran.clone());
    let runtime = Builder::new_current_thread()
        .enable_all()
        .on_task_event(move |event| {
            if event.kind == TaskEventKind::Spawned && take.swap(false, SeqCst) {
                let count = count.clone();
                let nested = rt::task::spawn_local(async move { _ = count.fetch_add(1, SeqCst) });
                // A panic would be contained: it has to be counted.
                assert!(!survives(|| Handle::current().block_on(nested).unwrap()));
                take.store(false, SeqCst);
            }
        })
        .build_local(Default::default())
        .unwrap();
    let _guard = runtime.enter();
    let task = runtime.spawn_local(async {});
    assert_eq!(ran.load(SeqCst), 1, "it was refused");
    runtime.block_on(task).unwrap();
}
