//! Guards of `Handle::enter` that are forgotten, kept, or dropped in any order: each task, job and hook runs in
//! its own runtime all the same.
//!
//! Mutations that these tests are for: a poll, a job, a hook or a waker after which nothing restores the current
//! runtime; a guard that restores what was current when it was made.

use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;
use rt::runtime::{Builder, EnterGuard, Handle, Runtime, RuntimeFlavor};
use rt_test_util::*;

/// The runtimes under test are told apart by their flavor.
fn here() -> Option<RuntimeFlavor> {
    Handle::try_current().ok().map(|handle| handle.runtime_flavor())
}

/// A runtime, and another one of the other flavor, which lives for ever.
struct Pair {
    own: Runtime,
    other: &'static Handle,
}

/// What lives for ever, where a search for leaks finds it.
static IMMORTAL: Mutex<Vec<&Runtime>> = Mutex::new(Vec::new());

impl Pair {
    fn new(own: Runtime) -> Self {
        let other = match own.handle().runtime_flavor() {
            RuntimeFlavor::CurrentThread => multi(1),
            _ => current(),
        };
        let other: &'static Runtime = Box::leak(Box::new(other));
        IMMORTAL.lock().push(other);
        Self { own, other: other.handle() }
    }

    /// On one thread each, so that whatever follows runs on the thread that was left in the wrong runtime.
    fn both() -> [Self; 2] {
        [Self::new(current()), Self::new(multi(1))]
    }

    fn flavor(&self) -> RuntimeFlavor {
        self.own.handle().runtime_flavor()
    }

    /// A new task, and a timer and a nested task of it, are of the own runtime.
    #[track_caller]
    fn assert_restored(&self) {
        let flavor = self.flavor();
        let task = self.own.spawn(async move {
            assert_eq!(here(), Some(flavor));
            rt::time::sleep(Duration::from_micros(1)).await;
            rt::spawn(async move { assert_eq!(here(), Some(flavor)) }).await.unwrap();
        });
        self.own.block_on(task).unwrap();
        assert_eq!(here(), None);
    }
}

/// Enters a runtime, and forgets the guard.
fn forget(other: &'static Handle) {
    mem::forget(other.enter());
    assert_eq!(here(), Some(other.runtime_flavor()));
}

#[test]
fn forgotten_in_a_task() {
    let _watchdog = watchdog();
    for pair in Pair::both() {
        let (own, other) = (pair.flavor(), pair.other);
        let task = pair.own.spawn(async move {
            for _ in 0..3 {
                forget(other);
                forget(other);
                rt::task::yield_now().await;
                assert_eq!(here(), Some(own));
            }
            forget(other);
        });
        pair.own.block_on(task).unwrap();
        pair.assert_restored();
    }
}

#[test]
fn forgotten_in_a_task_that_panics_and_in_one_that_is_dropped() {
    let _watchdog = watchdog();
    struct Forgets(&'static Handle);
    impl Drop for Forgets {
        fn drop(&mut self) {
            forget(self.0);
        }
    }
    for pair in Pair::both() {
        let other = pair.other;
        let task = pair.own.spawn(async move {
            forget(other);
            std::panic::resume_unwind(Box::new("meant"));
        });
        assert!(pair.own.block_on(task).unwrap_err().is_panic());
        pair.assert_restored();

        let forgets = Forgets(other);
        let task = pair.own.spawn(async move {
            let _forgets = forgets;
            std::future::pending::<()>().await;
        });
        task.abort();
        assert!(pair.own.block_on(task).unwrap_err().is_cancelled());
        pair.assert_restored();

        // An output that is not taken.
        drop(pair.own.spawn(async move { Forgets(other) }));
        pair.assert_restored();

        // And at the end, when what is left is dropped on this thread or another.
        let forgets = Forgets(other);
        pair.own.spawn(async move {
            let _forgets = forgets;
            std::future::pending::<()>().await;
        });
        pair.assert_restored();
        drop(pair.own);
        assert_eq!(here(), None);
    }
}

#[test]
fn forgotten_on_the_blocking_pool() {
    let _watchdog = watchdog();
    for own in [
        Builder::new_current_thread().enable_all().max_blocking_threads(1).build().unwrap(),
        Builder::new_multi_thread().worker_threads(1).enable_all().max_blocking_threads(1).build().unwrap(),
    ] {
        let pair = Pair::new(own);
        let (own, other) = (pair.flavor(), pair.other);
        for _ in 0..3 {
            let job = pair.own.spawn_blocking(move || {
                let before = here();
                forget(other);
                before
            });
            assert_eq!(pair.own.block_on(job).unwrap(), Some(own));
        }
    }
}

#[test]
fn forgotten_in_hooks() {
    let _watchdog = watchdog();
    for flavor in [RuntimeFlavor::CurrentThread, RuntimeFlavor::MultiThread] {
        let other = match flavor {
            RuntimeFlavor::CurrentThread => Pair::new(current()).other,
            _ => Pair::new(multi(1)).other,
        };
        let mut builder = match flavor {
            RuntimeFlavor::CurrentThread => Builder::new_current_thread(),
            _ => Builder::new_multi_thread(),
        };
        let own = builder
            .worker_threads(1)
            .enable_all()
            .on_thread_start(move || forget(other))
            .on_thread_park(move || forget(other))
            .on_thread_unpark(move || forget(other))
            .on_thread_stop(move || forget(other))
            .on_task_event(move |_| forget(other))
            .build()
            .unwrap();
        let pair = Pair { own, other };
        for _ in 0..3 {
            pair.assert_restored();
            let job = pair.own.spawn_blocking(here);
            assert_eq!(pair.own.block_on(job).unwrap(), Some(flavor));
        }
        drop(pair.own);
        assert_eq!(here(), None);
    }
}

#[test]
fn forgotten_in_block_in_place() {
    let _watchdog = watchdog();
    let pair = Pair::new(multi(1));
    let (own, other) = (pair.flavor(), pair.other);
    let task = pair.own.spawn(async move {
        rt::task::block_in_place(|| forget(other));
        rt::task::yield_now().await;
        assert_eq!(here(), Some(own));
        rt::task::block_in_place(|| {
            Handle::current().block_on(async { forget(other) });
            assert_eq!(here(), Some(own));
        });
    });
    pair.own.block_on(task).unwrap();
    pair.assert_restored();
}

#[test]
fn forgotten_in_a_waker_that_the_driver_calls() {
    let _watchdog = watchdog();
    struct Forgets(&'static Handle, Signal);
    impl Wake for Forgets {
        fn wake(self: Arc<Self>) {
            forget(self.0);
            self.1.set();
        }
    }
    for pair in Pair::both() {
        let (own, other) = (pair.flavor(), pair.other);
        pair.own.block_on(async move {
            let called = Signal::new();
            let waker = Waker::from(Arc::new(Forgets(other, called.clone())));
            // One whose time has not come by its first poll: else it calls no waker.
            let _sleep = loop {
                let mut sleep = Box::pin(rt::time::sleep(Duration::from_millis(1)));
                if sleep.as_mut().poll(&mut Context::from_waker(&waker)).is_pending() {
                    break sleep;
                }
            };
            called.wait().await;
            assert_eq!(here(), Some(own));
            // Nor if a task that ends calls it.
            let called = Signal::new();
            let waker = Waker::from(Arc::new(Forgets(other, called.clone())));
            let mut task = rt::spawn(rt::task::yield_now());
            let _ = Pin::new(&mut task).poll(&mut Context::from_waker(&waker));
            rt::time::sleep(Duration::from_millis(1)).await;
            assert_eq!(here(), Some(own));
        });
        pair.assert_restored();
    }
}

#[test]
fn a_main_future_has_its_guards_to_itself_and_until_its_end() {
    let _watchdog = watchdog();
    for pair in Pair::both() {
        let (own, other) = (pair.flavor(), pair.other);
        let elsewhere = other.runtime_flavor();
        let tasks_are_at_home = || pair.own.spawn(async move { assert_eq!(here(), Some(own)) });
        pair.own.block_on(async {
            {
                let _guard = other.enter();
                for _ in 0..3 {
                    tasks_are_at_home().await.unwrap();
                    assert_eq!(here(), Some(elsewhere));
                }
            }
            assert_eq!(here(), Some(own));
            forget(other);
            tasks_are_at_home().await.unwrap();
            assert_eq!(here(), Some(elsewhere));
        });
        pair.assert_restored();
        // Also if it panics.
        let caught = catch(|| {
            pair.own.block_on(async {
                forget(other);
                tasks_are_at_home().await.unwrap();
                panic!("meant");
            })
        });
        assert_eq!(caught.message, "meant");
        pair.assert_restored();
    }
}

#[test]
fn a_guard_of_a_local_task_holds_for_the_poll_at_hand_and_can_be_dropped_later() {
    let _watchdog = watchdog();
    let own = Builder::new_current_thread().enable_all().build_local(Default::default()).unwrap();
    let other = Pair::new(current()).other;
    let home = Some(RuntimeFlavor::CurrentThread);
    own.block_on(async {
        let task = rt::spawn_local(async move {
            let guard = other.enter();
            assert_eq!(here(), Some(RuntimeFlavor::MultiThread));
            rt::task::yield_now().await;
            assert_eq!(here(), home);
            // It is a guard no more, and does nothing to a younger one.
            let younger = other.enter();
            drop(guard);
            assert_eq!(here(), Some(RuntimeFlavor::MultiThread));
            drop(younger);
            assert_eq!(here(), home);
        });
        let beside = rt::spawn_local(async move { assert_eq!(here(), home) });
        task.await.unwrap();
        beside.await.unwrap();
    });
    assert_eq!(here(), None);
}

#[test]
fn the_youngest_guard_decides_in_any_order_of_drops() {
    let _watchdog = watchdog();
    let (one, many) = (current(), multi(1));
    let (first, second, third) = (one.enter(), many.enter(), one.enter());
    assert_eq!(here(), Some(RuntimeFlavor::CurrentThread));
    drop(second);
    assert_eq!(here(), Some(RuntimeFlavor::CurrentThread));
    let fourth = many.enter();
    drop(first);
    assert_eq!(here(), Some(RuntimeFlavor::MultiThread));
    drop(fourth);
    assert_eq!(here(), Some(RuntimeFlavor::CurrentThread));
    drop(third);
    assert_eq!(here(), None);
}

#[test]
fn guards_that_cross_the_bounds_of_block_on() {
    let _watchdog = watchdog();
    for pair in Pair::both() {
        let (own, other) = (pair.flavor(), pair.other);
        // Out of it.
        let guard = pair.own.block_on(async { other.enter() });
        assert_eq!(here(), None);
        let younger = other.enter();
        drop(guard);
        assert_eq!(here(), Some(other.runtime_flavor()));
        // Into it.
        pair.own.block_on(async move {
            assert_eq!(here(), Some(own));
            rt::task::yield_now().await;
            drop(younger);
            assert_eq!(here(), Some(own));
        });
        pair.assert_restored();
    }
}

thread_local! {
    static KEPT: RefCell<Vec<EnterGuard<'static>>> = const { RefCell::new(Vec::new()) };
}

fn keep(other: &'static Handle) {
    KEPT.with_borrow_mut(|kept| kept.push(other.enter()));
}

#[test]
fn kept_in_a_thread_local_they_are_dropped_with_the_thread() {
    let _watchdog = watchdog();
    let other = Pair::new(current()).other;
    let kept = thread::spawn(move || {
        keep(other);
        keep(other);
        here()
    });
    assert_eq!(kept.join().unwrap(), Some(RuntimeFlavor::MultiThread));
    for pair in Pair::both() {
        let (own, other) = (pair.flavor(), pair.other);
        let task = pair.own.spawn(async move {
            keep(other);
            rt::task::yield_now().await;
            assert_eq!(here(), Some(own));
        });
        pair.own.block_on(task).unwrap();
        let job = pair.own.spawn_blocking(move || keep(other));
        pair.own.block_on(job).unwrap();
        pair.assert_restored();
        // Ends the threads.
        drop(pair.own);
        KEPT.with_borrow_mut(Vec::clear);
        assert_eq!(here(), None);
    }
}

#[test]
fn a_runtime_whose_guards_were_forgotten_is_freed() {
    let _watchdog = watchdog();
    for own in [current(), multi(1)] {
        let alive = Drops::new();
        let token = alive.token();
        let other = Builder::new_current_thread()
            .on_thread_stop(move || {
                let _token = &token;
            })
            .build()
            .unwrap();
        let handle = other.handle().clone();
        own.block_on(async move {
            for _ in 0..100 {
                let handle = handle.clone();
                rt::spawn(async move { mem::forget(handle.enter()) }).await.unwrap();
            }
            mem::forget(handle.enter());
        });
        drop(other);
        alive.assert_all();
    }
}

/// The usual future of a `block_on` that is polled by hand: what it enters in a poll is its own, too.
#[test]
fn a_future_polled_by_hand_outside_of_the_runtime_is_the_callers() {
    let _watchdog = watchdog();
    let other = current();
    let mut polls = 0;
    let mut future = Box::pin(async {
        let _guard = other.enter();
        poll_fn(|_| {
            polls += 1;
            if polls == 2 { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    });
    let mut cx = Context::from_waker(Waker::noop());
    assert!(future.as_mut().poll(&mut cx).is_pending());
    assert!(here().is_some());
    assert!(future.as_mut().poll(&mut cx).is_ready());
    assert!(here().is_none());
}
