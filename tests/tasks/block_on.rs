//! `block_on`: from many threads, inside blocking jobs, with futures that are not `Send`.
//!
//! Mutations that these tests are for: a caller without a `block_on` thread slot that is never woken; a current-thread
//! core that is put down and not picked up by the next caller; a `block_on` thread that leaves its tasks on lanes that
//! no thread looks at; tasks that were spawned before the first `block_on` and lose their place in the line.

use std::cell::RefCell;
use std::future::poll_fn;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::task::Poll;
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;
use rt::runtime::{Builder, Handle};
use rt_test_util::*;

#[test]
fn more_callers_than_guest_slots_all_come_to_their_end() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let all_in = Arc::new(AtomicUsize::new(0));
        scope(|scope| {
            for caller in 0..12 {
                let (all_in, handle) = (all_in.clone(), runtime.handle());
                scope.spawn(move || {
                    handle.block_on(async {
                        all_in.fetch_add(1, SeqCst);
                        // All twelve are inside at once.
                        while all_in.load(SeqCst) < 12 {
                            rt::task::yield_now().await;
                        }
                        for n in 0..20 {
                            let task = rt::spawn(async move {
                                rt::task::yield_now().await;
                                caller * n
                            });
                            assert_eq!(task.await.unwrap(), caller * n);
                        }
                        rt::time::sleep(Duration::from_millis(1)).await;
                        assert_eq!(rt::spawn_blocking(move || caller).await.unwrap(), caller);
                    });
                });
            }
        });
        let totals = runtime.handle().metrics().totals();
        assert_eq!((totals.spawns, totals.completions), (240, 240));
    });
}

#[test]
fn callers_come_and_go_while_tasks_go_on() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let stop = Signal::new();
        let stopped = stop.clone();
        // On a current-thread runtime this runs on whichever caller has the core.
        let lasting = runtime.spawn(async move {
            let mut turns = 0u64;
            while !stopped.is_set() {
                turns += 1;
                rt::task::yield_now().await;
            }
            turns
        });
        scope(|scope| {
            for _ in 0..6 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        runtime.block_on(async {
                            rt::spawn(async { rt::task::yield_now().await }).await.unwrap();
                        });
                    }
                });
            }
        });
        stop.set();
        assert!(runtime.block_on(lasting).unwrap() > 0);
    });
}

#[test]
fn a_waiting_caller_takes_over_the_core_of_a_current_thread_runtime() {
    let _watchdog = watchdog();
    let runtime = current();
    for _ in 0..50 {
        let (leave, arrived) = (Signal::new(), Arc::new(AtomicUsize::new(0)));
        scope(|scope| {
            // Has the core, until it is told to leave.
            let (tell, first) = (arrived.clone(), leave.clone());
            let first = scope.spawn({
                let runtime = &runtime;
                move || {
                    runtime.block_on(async {
                        tell.fetch_add(1, SeqCst);
                        first.wait().await;
                    });
                }
            });
            eventually(|| arrived.load(SeqCst) == 1);
            // Needs a thread that runs its task after the first one has left.
            let (tell, wait, runtime) = (arrived.clone(), leave.clone(), &runtime);
            let second = scope.spawn(move || {
                runtime.block_on(async {
                    tell.fetch_add(1, SeqCst);
                    rt::spawn(async move {
                        wait.wait().await;
                        for _ in 0..5 {
                            rt::time::sleep(Duration::from_micros(100)).await;
                        }
                    })
                    .await
                    .unwrap();
                });
            });
            eventually(|| arrived.load(SeqCst) == 2);
            leave.set();
            first.join().unwrap();
            second.join().unwrap();
        });
    }
}

#[test]
fn tasks_left_by_a_caller_go_on_when_it_has_gone() {
    let _watchdog = watchdog();
    let runtime = multi(1);
    let done = Arc::new(AtomicUsize::new(0));
    for round in 1..=100 {
        let done_here = done.clone();
        runtime.block_on(async move {
            for _ in 0..3 {
                let done = done_here.clone();
                rt::spawn(async move {
                    rt::task::yield_now().await;
                    done.fetch_add(1, SeqCst);
                });
            }
        });
        // Nobody is in `block_on` now: the worker has to have them.
        eventually(|| done.load(SeqCst) == 3 * round);
    }
}

#[test]
fn the_drivers_are_not_left_alone_by_a_caller_that_goes() {
    let _watchdog = watchdog();
    let runtime = multi(1);
    for _ in 0..20 {
        let sleepers = runtime.block_on(async {
            // This thread waits in the drivers for the first sleep, as likely as not; no thread does for the second.
            rt::time::sleep(Duration::from_millis(1)).await;
            [rt::spawn(rt::time::sleep(Duration::from_millis(2)))]
        });
        eventually(|| sleepers[0].is_finished());
    }
}

#[test]
fn block_on_works_inside_a_blocking_job() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let sum = runtime.block_on(async {
            rt::spawn_blocking(|| {
                let handle = Handle::current();
                let inner = handle.block_on(async { rt::spawn(async { 1 }).await.unwrap() });
                // And once more, one level deeper.
                let deeper = handle.block_on(async {
                    rt::spawn_blocking(|| Handle::current().block_on(async { rt::spawn(async { 2 }).await.unwrap() }))
                        .await
                        .unwrap()
                });
                inner + deeper
            })
            .await
            .unwrap()
        });
        assert_eq!(sum, 3);
    });
}

#[test]
fn a_main_future_need_not_be_send_and_can_borrow() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let (shared, mut local) = (Rc::new(RefCell::new(1)), 1);
        let home = thread::current().id();
        runtime.block_on(async {
            for _ in 0..20 {
                *shared.borrow_mut() += rt::spawn(async { 1 }).await.unwrap();
                rt::task::yield_now().await;
                local += 1;
                assert_eq!(thread::current().id(), home);
            }
        });
        assert_eq!((*shared.borrow(), local), (21, 21));
    });
}

#[test]
fn a_main_future_is_dropped_before_block_on_returns_or_unwinds() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let drops = Drops::new();
        struct Main(#[allow(dead_code)] Token, bool);
        impl Future for Main {
            type Output = ();
            fn poll(self: std::pin::Pin<&mut Self>, _: &mut std::task::Context<'_>) -> std::task::Poll<()> {
                assert!(!self.1, "panics");
                std::task::Poll::Ready(())
            }
        }
        runtime.block_on(Main(drops.token(), false));
        assert_eq!(drops.count(), 1);
        catch(|| runtime.block_on(Main(drops.token(), true)));
        assert_eq!(drops.count(), 2);
    });
}

#[test]
fn a_caller_of_a_multi_thread_runtime_runs_no_task_itself() {
    let _watchdog = watchdog();
    let (runtime, here) = (multi(1), thread::current().id());
    runtime.block_on(async {
        for _ in 0..100 {
            assert_ne!(rt::spawn(async { thread::current().id() }).await.unwrap(), here);
        }
    });
}

#[test]
fn a_task_may_block_until_the_main_future_has_gone_on() {
    let _watchdog = watchdog();
    // Were it run on the caller's thread, it would wait for itself.
    let runtime = multi(1);
    for _ in 0..50 {
        runtime.block_on(async {
            let (send, receive) = std::sync::mpsc::channel();
            let task = rt::spawn(async move { receive.recv().unwrap() });
            rt::task::yield_now().await;
            send.send(7).unwrap();
            assert_eq!(task.await.unwrap(), 7);
        });
    }
}

#[test]
fn tasks_that_are_spawned_before_the_first_poll_run_in_the_order_of_their_spawns() {
    let _watchdog = watchdog();
    for interval in [1, 2, 61, u32::MAX] {
        let runtime = Builder::new_current_thread().enable_all().global_queue_interval(interval).build().unwrap();
        let order = Arc::new(Mutex::new(Vec::new()));
        let spawn = |numbers: std::ops::Range<usize>| {
            for number in numbers {
                let order = order.clone();
                drop(runtime.spawn(async move { order.lock().push(number) }));
            }
        };
        spawn(0..100);
        // Ends before any of them has its turn.
        runtime.block_on(async { spawn(100..200) });
        spawn(200..300);
        assert_eq!(*order.lock(), []);
        runtime.block_on(async {
            spawn(300..400);
            rt::spawn(async {}).await.unwrap();
        });
        assert!(order.lock().iter().copied().eq(0..400), "interval {interval}: {:?}", order.lock());
    }
}

/// A future that leaves its waker in its first poll only. On a thread of the blocking pool that is the one poll before
/// the thread has anything of the runtime.
#[test]
fn a_waker_of_the_first_poll_wakes_on_the_blocking_pool_too() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let bridge = runtime.spawn_blocking(|| {
            for _ in 0..300 {
                let woken = Arc::new(AtomicBool::new(false));
                let mut waking = None;
                Handle::current().block_on(poll_fn(|cx| {
                    if woken.load(SeqCst) {
                        return Poll::Ready(());
                    }
                    let (woken, waker) = (Arc::clone(&woken), cx.waker().clone());
                    waking.get_or_insert_with(|| {
                        thread::spawn(move || {
                            woken.store(true, SeqCst);
                            waker.wake();
                        })
                    });
                    Poll::Pending
                }));
                waking.unwrap().join().unwrap();
            }
        });
        runtime.block_on(bridge).unwrap();
    });
}
