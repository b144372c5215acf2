//! `LocalSet`: its tasks are polled and dropped on its thread, whatever thread wakes or aborts them, and none is
//! forgotten.

use std::cell::{Cell, RefCell};
use std::future::{pending, poll_fn};
use std::rc::Rc;
use std::sync::mpsc;
use std::task::{Poll, Waker};
use std::thread::{self, ThreadId};
use std::time::Duration;

use rt::runtime::{Builder, Handle};
use rt::task::{JoinSet, LocalSet, spawn_local, yield_now};
use rt_test_util::*;

/// Ends the process if it is dropped on another thread.
struct Resident(ThreadId, Rc<Cell<usize>>);

impl Resident {
    fn new(drops: &Rc<Cell<usize>>) -> Self {
        Self(thread::current().id(), Rc::clone(drops))
    }
}

impl Drop for Resident {
    fn drop(&mut self) {
        if thread::current().id() != self.0 {
            eprintln!("dropped away from home");
            std::process::abort();
        }
        self.1.set(self.1.get() + 1);
    }
}

#[test]
fn tasks_run_on_the_thread_of_the_set_on_every_runtime() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let set = LocalSet::new();
        let home = thread::current().id();
        let sum = set.block_on(&runtime, async move {
            let mut tasks = JoinSet::new();
            for n in 0..200 {
                tasks.spawn_local(async move {
                    let kept = Rc::new(n);
                    for _ in 0..3 {
                        yield_now().await;
                        rt::time::sleep(Duration::from_micros(10)).await;
                        assert_eq!(thread::current().id(), home);
                    }
                    spawn_local(async move { *kept }).await.unwrap()
                });
            }
            tasks.join_all().await.into_iter().sum::<u64>()
        });
        assert_eq!(sum, (0..200).sum());
        runtime.block_on(set);
    });
}

#[test]
fn a_task_that_gives_way_does_so_to_those_outside_of_the_set_too() {
    let _watchdog = watchdog();
    let runtime = Builder::new_current_thread().build().unwrap();
    LocalSet::new().block_on(&runtime, async {
        for _ in 0..10 {
            let outside = rt::spawn(async {});
            let inside = spawn_local(async move {
                yield_now().await;
                outside.is_finished()
            });
            assert!(inside.await.unwrap());
        }
        // Within the set, to what the others begin.
        let count = Rc::new(Cell::new(0));
        let inside = spawn_local({
            let count = Rc::clone(&count);
            async move {
                chain(10, Rc::clone(&count));
                yield_now().await;
                count.get()
            }
        });
        assert_eq!(inside.await.unwrap(), 10);
    });
}

/// Each task of the set begins the next one, and counts.
fn chain(left: usize, count: Rc<Cell<usize>>) {
    if left > 0 {
        spawn_local(async move {
            count.set(count.get() + 1);
            chain(left - 1, count);
        });
    }
}

#[test]
fn the_set_ends_with_its_last_task() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let (set, log) = (LocalSet::new(), Rc::new(RefCell::new(Vec::new())));
        for n in 0..100 {
            let log = Rc::clone(&log);
            set.spawn_local(async move {
                yield_now().await;
                log.borrow_mut().push(n);
            });
        }
        runtime.block_on(set);
        assert_eq!(*log.borrow(), (0..100).collect::<Vec<_>>(), "in turn");
    });
}

#[test]
fn dropping_the_set_drops_its_futures_here_and_cancels_their_tasks() {
    let _watchdog = watchdog();
    let drops = Rc::new(Cell::new(0));
    let runtime = multi(1);
    let set = LocalSet::new();
    let wakers = Rc::new(RefCell::new(Vec::<Waker>::new()));
    let mut handles = Vec::new();
    for _ in 0..300 {
        let (resident, wakers) = (Resident::new(&drops), Rc::clone(&wakers));
        handles.push(set.spawn_local(async move {
            let _resident = resident;
            poll_fn(|cx| {
                wakers.borrow_mut().push(cx.waker().clone());
                Poll::<()>::Pending
            })
            .await;
        }));
    }
    set.block_on(&runtime, async {
        while wakers.borrow().len() < 300 {
            yield_now().await;
        }
    });
    let guard = set.enter();
    drop(set);
    assert_eq!(drops.get(), 300);
    let refused = spawn_local(pending::<()>());
    drop(guard);
    runtime.block_on(async {
        assert!(refused.await.unwrap_err().is_cancelled(), "the set is no more");
        for handle in handles {
            assert!(handle.await.unwrap_err().is_cancelled());
        }
    });
    // Wakers outlive the set, and are dropped elsewhere.
    let wakers = wakers.take();
    thread::spawn(move || wakers.into_iter().for_each(Waker::wake)).join().unwrap();
}

/// Whatever their size, and wherever in memory they lie: also where another task was before.
#[test]
fn dropping_the_set_drops_its_futures_in_the_order_of_their_spawns() {
    struct Number(usize, Rc<RefCell<Vec<usize>>>);
    impl Drop for Number {
        fn drop(&mut self) {
            self.1.borrow_mut().push(self.0);
        }
    }
    async fn holding<const N: usize>(number: Number) {
        let ballast = [0_u8; N];
        pending::<()>().await;
        drop((ballast, number));
    }
    let (runtime, set, dropped) = (current(), LocalSet::new(), Rc::new(RefCell::new(Vec::new())));
    // Leaves cells behind, which some of the others get.
    set.block_on(&runtime, async {
        for task in [(); 20].map(|()| spawn_local(async {})) {
            task.await.unwrap();
        }
    });
    for first in (0..100).step_by(4) {
        let number = |next: usize| Number(first + next, Rc::clone(&dropped));
        set.spawn_local(holding::<2000>(number(0)));
        set.spawn_local(holding::<1>(number(1)));
        set.spawn_local(holding::<100_000>(number(2)));
        set.spawn_local(holding::<1>(number(3)));
    }
    set.block_on(&runtime, yield_now());
    drop(set);
    assert_eq!(*dropped.borrow(), (0..100).collect::<Vec<_>>());
}

#[test]
fn wakes_and_aborts_from_other_threads_reach_the_set() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let set = LocalSet::new();
        let drops = Rc::new(Cell::new(0));
        set.block_on(&runtime, async {
            for _ in 0..50 {
                let (send, receive) = mpsc::channel::<Waker>();
                let other = thread::spawn(move || receive.recv().unwrap().wake());
                let woken = Cell::new(false);
                spawn_local({
                    let resident = Resident::new(&drops);
                    async move {
                        let _resident = resident;
                        poll_fn(|cx| {
                            if woken.replace(true) {
                                return Poll::Ready(());
                            }
                            send.send(cx.waker().clone()).unwrap();
                            Poll::Pending
                        })
                        .await;
                    }
                })
                .await
                .unwrap();
                other.join().unwrap();

                let resident = Resident::new(&drops);
                let task = spawn_local(async move {
                    let _resident = resident;
                    pending::<()>().await;
                });
                let abort = task.abort_handle();
                thread::spawn(move || abort.abort()).join().unwrap();
                assert!(task.await.unwrap_err().is_cancelled());
            }
        });
        assert_eq!(drops.get(), 100);
    });
}

#[test]
fn sets_nest_and_each_spawns_onto_its_own() {
    let _watchdog = watchdog();
    let runtime = current();
    let outer = LocalSet::new();
    outer.block_on(&runtime, async {
        let inner = LocalSet::new();
        assert_ne!(inner.id(), Handle::current().id());
        let in_inner = inner.run_until(poll_fn(|_| Poll::Ready(spawn_local(pending::<()>())))).await;
        let in_outer = spawn_local(async { 1 });
        drop(inner);
        assert!(in_inner.await.unwrap_err().is_cancelled());
        assert_eq!(in_outer.await.unwrap(), 1);
    });
}

type Log = Rc<RefCell<Vec<&'static str>>>;

fn say(log: &Log, what: &'static str) -> impl Future<Output = ()> + 'static {
    let log = Rc::clone(log);
    async move { log.borrow_mut().push(what) }
}

#[test]
fn tasks_stay_in_order_when_a_set_has_run_inside_of_theirs() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let (set, log) = (LocalSet::new(), Log::default());
        set.spawn_local({
            let log = Rc::clone(&log);
            async move {
                let inner = LocalSet::new();
                inner.spawn_local(say(&log, "inner"));
                inner.await;
                spawn_local(say(&log, "after it"));
            }
        });
        set.spawn_local({
            let log = Rc::clone(&log);
            async move {
                log.borrow_mut().push("beside it");
                spawn_local(say(&log, "last"));
            }
        });
        runtime.block_on(set);
        assert_eq!(log.take(), ["inner", "beside it", "after it", "last"]);
    });
}

#[test]
fn tasks_spawned_before_a_set_is_driven_come_before_those_of_its_main_future() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let (set, log) = (LocalSet::new(), Log::default());
        set.spawn_local(say(&log, "before"));
        let beside = say(&log, "beside");
        set.block_on(&runtime, async { spawn_local(beside).await.unwrap() });
        assert_eq!(log.take(), ["before", "beside"]);
    });
}

#[test]
fn a_task_may_drive_its_own_set() {
    let _watchdog = watchdog();
    let runtime = current();
    let set = Rc::new(LocalSet::new());
    let (send, receive) = mpsc::channel::<Waker>();
    let late = set.spawn_local({
        let woken = Cell::new(false);
        async move {
            poll_fn(|cx| {
                if woken.replace(true) {
                    return Poll::Ready(());
                }
                send.send(cx.waker().clone()).unwrap();
                Poll::Pending
            })
            .await;
        }
    });
    let driving = set.spawn_local({
        let set = Rc::clone(&set);
        async move { set.run_until(async { yield_now().await }).await }
    });
    set.block_on(&runtime, async {
        driving.await.unwrap();
        // Nobody but this `block_on` drives the set now: it must be the one that is woken.
        thread::spawn(move || {
            let waker = receive.recv().unwrap();
            thread::sleep(Duration::from_millis(5));
            waker.wake();
        });
        late.await.unwrap();
    });
}

#[test]
fn panics_stay_with_their_tasks() {
    let _watchdog = watchdog();
    let set = LocalSet::new();
    let panics = set.spawn_local(async { panic!("boom") });
    let other = set.spawn_local(async { 1 });
    set.block_on(&multi(1), async {
        assert!(panics.await.unwrap_err().is_panic());
        assert_eq!(other.await.unwrap(), 1);
    });
}

#[test]
fn a_set_gives_the_future_beside_it_a_turn() {
    let _watchdog = watchdog();
    let set = LocalSet::new();
    for _ in 0..100 {
        set.spawn_local(async {
            loop {
                yield_now().await;
            }
        });
    }
    set.block_on(&current(), async {
        for _ in 0..1000 {
            yield_now().await;
        }
        rt::time::sleep(Duration::from_millis(1)).await;
    });
}

#[test]
fn a_set_needs_no_runtime() {
    let _watchdog = watchdog();
    let set = LocalSet::new();
    let task = set.spawn_local(async { Rc::new(3) });
    assert_eq!(*futures_lite::future::block_on(set.run_until(task)).unwrap(), 3);
    futures_lite::future::block_on(set);
}

#[test]
fn a_set_in_a_thread_local_ends_with_its_thread() {
    let _watchdog = watchdog();
    thread_local! { static SET: LocalSet = LocalSet::new(); }
    let task = thread::spawn(|| SET.with(|set| set.spawn_local(pending::<()>()))).join().unwrap();
    assert!(current().block_on(task).unwrap_err().is_cancelled());
}

#[test]
#[should_panic(expected = "outside of a `task::LocalSet`")]
fn there_must_be_a_set() {
    multi(1).block_on(async { drop(spawn_local(async {})) });
}

#[test]
fn a_driver_that_has_gone_leaves_the_set_to_another() {
    let _watchdog = watchdog();
    let runtime = Builder::new_current_thread().build_local(Default::default()).unwrap();
    runtime.block_on(async {
        let set = Rc::new(LocalSet::new());
        let driver = rt::spawn_local({
            let set = Rc::clone(&set);
            async move { set.run_until(std::future::pending::<()>()).await }
        });
        rt::task::yield_now().await;
        // This drives the set for one poll, and then waits outside of it.
        let task = set.run_until(poll_fn(|_| Poll::Ready(rt::spawn_local(async { 5 })))).await;
        assert_eq!(task.await.unwrap(), 5);
        driver.abort();
    });
}

#[test]
fn a_set_is_driven_from_a_runtime_inside_of_one_of_its_tasks() {
    let _watchdog = watchdog();
    let outer = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let set = Rc::new(LocalSet::new());
    let task = {
        let set = Rc::clone(&set);
        async move {
            // The task's thread is busy with another runtime, which has nothing but this set.
            let inner = Builder::new_current_thread().enable_all().build().unwrap();
            rt::task::block_in_place(|| {
                inner.block_on(set.run_until(async {
                    let sleep = || rt::time::sleep(std::time::Duration::from_millis(5));
                    rt::spawn_local(async move { sleep().await }).await.unwrap();
                }));
            });
            inner.shutdown_background();
        }
    };
    outer.block_on(set.run_until(async { rt::spawn_local(task).await.unwrap() }));
}

#[test]
fn a_set_is_driven_by_a_runtime_behind_a_pointer() {
    let _watchdog = watchdog();
    let set = LocalSet::new();
    let runtime = std::sync::Arc::new(current());
    assert_eq!(set.block_on(&runtime, async { 1 }), 1);
    assert_eq!(set.block_on(&Rc::new(current()), async { 2 }), 2);
    assert_eq!(set.block_on(&Box::new(current()), async { 3 }), 3);
}
