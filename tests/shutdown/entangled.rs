//! Runtimes that own each other, are owned by their own tasks, or end by way of each other's threads.
//!
//! Mutations that these tests are for: a wait for another runtime in the middle of the end of one; a lock held while
//! futures are dropped; an end that only the owner of the runtime can bring about.

use std::cell::RefCell;
use std::future::pending;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;
use rt::runtime::{Builder, Runtime};
use rt_test_util::*;

/// How the owner of a runtime ends it.
#[derive(Clone, Copy, Debug)]
enum Way {
    /// In async code: panics, after the shutdown has begun.
    Drop,
    Background,
    TimeoutOfZero,
}

/// Owns a runtime, and ends it when it goes.
struct Owns {
    runtime: Option<Runtime>,
    way: Way,
    _token: Token,
}

impl Owns {
    fn new(runtime: Runtime, way: Way, drops: &Drops) -> Self {
        Self { runtime: Some(runtime), way, _token: drops.token() }
    }
}

impl Drop for Owns {
    fn drop(&mut self) {
        let runtime = self.runtime.take().unwrap();
        match self.way {
            Way::Drop => drop(runtime),
            Way::Background => runtime.shutdown_background(),
            Way::TimeoutOfZero => runtime.shutdown_timeout(Duration::ZERO),
        }
    }
}

fn pairs() -> Vec<(Runtime, Runtime)> {
    // The first has workers: it is one of its own threads that makes the beginning.
    vec![(multi(1), multi(1)), (multi(2), multi(3)), (multi(1), current()), (multi(4), current())]
}

#[test]
fn two_runtimes_whose_tasks_own_each_other_end_when_one_of_these_does() {
    let _watchdog = watchdog();
    for (one_way, other_way) in [
        (Way::Drop, Way::Drop),
        (Way::Background, Way::Background),
        (Way::Drop, Way::Background),
        (Way::Background, Way::Drop),
        (Way::TimeoutOfZero, Way::TimeoutOfZero),
    ] {
        for (one, other) in pairs() {
            let (drops, end) = (Drops::new(), Signal::new());
            let (of_one, of_other) = (one.handle().clone(), other.handle().clone());
            let (wait, owns_one) = (end.clone(), Owns::new(one, one_way, &drops));
            let owns_other = Owns::new(other, other_way, &drops);
            // Some beside them, to be found.
            for handle in [&of_one, &of_other] {
                for _ in 0..10 {
                    let token = drops.token();
                    handle.spawn(async move {
                        let _token = token;
                        pending::<()>().await;
                    });
                }
            }
            let kept = of_other.spawn(async move {
                let _one = owns_one;
                pending::<()>().await;
            });
            let ends = of_one.spawn(async move {
                let _other = owns_other;
                wait.wait().await;
            });
            end.set();
            eventually(|| kept.is_finished() && ends.is_finished());
            // A shutdown that waits for nothing leaves the rest to end by itself.
            eventually(|| of_one.metrics().num_alive_tasks() + of_other.metrics().num_alive_tasks() == 0);
            drops.assert_all();
            assert!(current().block_on(of_one.spawn(async {})).unwrap_err().is_cancelled());
            assert!(current().block_on(of_other.spawn(async {})).unwrap_err().is_cancelled());
        }
    }
}

#[test]
fn two_threads_that_end_two_runtimes_whose_tasks_share_them_both_come_back() {
    let _watchdog = watchdog();
    for round in 0..40 {
        let (one, other) = if round % 2 == 0 { (multi(2), multi(2)) } else { (current(), multi(1)) };
        let drops = Drops::new();
        // Each has tasks that wait for the other's, wake them, and abort them when they go.
        let (of_one, of_other) = (one.handle().clone(), other.handle().clone());
        for (here, there) in [(&of_one, &of_other), (&of_other, &of_one)] {
            for _ in 0..20 {
                let (token, far) = (drops.token(), drops.token());
                let task = there.spawn(async move {
                    let _far = far;
                    pending::<()>().await;
                });
                let (abort, again) = (task.abort_handle(), there.clone());
                let bye = OnDrop(Some(move || {
                    abort.abort();
                    drop(again.spawn(async {}));
                }));
                here.spawn(async move {
                    let (_token, _bye) = (token, bye);
                    assert!(task.await.unwrap_err().is_cancelled());
                });
            }
        }
        scope(|scope| {
            let ending = scope.spawn(|| drop(one));
            match round % 3 {
                0 => drop(other),
                1 => other.shutdown_timeout(Duration::from_secs(1000)),
                _ => other.shutdown_background(),
            }
            ending.join().unwrap();
        });
        eventually(|| of_one.metrics().num_alive_tasks() + of_other.metrics().num_alive_tasks() == 0);
        drops.assert_all();
    }
}

/// Calls something when it goes.
struct OnDrop<F: FnOnce()>(Option<F>);

impl<F: FnOnce()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0.take().unwrap())();
    }
}

#[test]
fn blocking_jobs_that_end_each_others_runtimes_come_back_if_one_has_a_limit() {
    let _watchdog = watchdog();
    let (one, other) = (multi(1), multi(1));
    let (of_one, of_other) = (one.handle().clone(), other.handle().clone());
    let (drops, gate) = (Drops::new(), Gate::new());
    for handle in [&of_one, &of_other] {
        let token = drops.token();
        handle.spawn(async move {
            let _token = token;
            pending::<()>().await;
        });
    }
    let (begin, other_begin) = (gate.clone(), gate.clone());
    let ends_other = of_one.spawn_blocking(move || {
        begin.pass();
        drop(other);
    });
    let ends_one = of_other.spawn_blocking(move || {
        other_begin.pass();
        // Each of the two is waited for by the other.
        one.shutdown_timeout(Duration::from_millis(50));
    });
    gate.wait_for(2);
    gate.open();
    eventually(|| ends_one.is_finished() && ends_other.is_finished());
    drops.assert_all();
}

#[test]
fn a_runtime_that_its_own_task_owns_ends_with_that_task() {
    let _watchdog = watchdog();
    for way in [Way::Drop, Way::Background, Way::TimeoutOfZero] {
        for workers in [1, 3] {
            let runtime = multi(workers);
            let (handle, drops, end) = (runtime.handle().clone(), Drops::new(), Signal::new());
            let token = drops.token();
            let other = handle.spawn(async move {
                let _token = token;
                pending::<()>().await;
            });
            let (owns, wait) = (Owns::new(runtime, way, &drops), end.clone());
            let task = handle.spawn(async move {
                let _owns = owns;
                wait.wait().await;
            });
            // By its abort, or by its own end.
            if workers == 1 {
                task.abort()
            } else {
                end.set()
            }
            eventually(|| task.is_finished() && other.is_finished());
            drops.assert_all();
        }
    }
}

#[test]
fn an_owner_in_a_queued_blocking_job_of_another_runtime_ends_its_own_with_that_one() {
    let _watchdog = watchdog();
    for inner in [multi(2), current()] {
        let outer = Builder::new_multi_thread().worker_threads(1).max_blocking_threads(1).build().unwrap();
        let (gate, drops) = (Gate::new(), Drops::new());
        let held = gate.clone();
        outer.spawn_blocking(move || held.pass());
        gate.wait_for(1);
        let token = drops.token();
        let task = inner.spawn(async move {
            let _token = token;
            pending::<()>().await;
        });
        let queued = outer.spawn_blocking(move || drop(inner));
        scope(|scope| {
            scope.spawn(|| drop(outer));
            eventually(|| queued.is_finished() && task.is_finished());
            gate.open();
        });
        drops.assert_all();
    }
}

#[test]
fn a_runtime_in_thread_local_storage_ends_with_its_thread() {
    let _watchdog = watchdog();
    thread_local! {
        static OWN: RefCell<Option<Runtime>> = const { RefCell::new(None) };
    }
    for runtime in [multi(2), current()] {
        let drops = Drops::new();
        let token = drops.token();
        let task = runtime.spawn(async move {
            let _token = token;
            rt::time::sleep(Duration::from_secs(3600)).await;
        });
        let job = runtime.spawn_blocking(|| ());
        thread::spawn(move || {
            runtime.block_on(rt::task::yield_now());
            OWN.with(|own| *own.borrow_mut() = Some(runtime));
        })
        .join()
        .unwrap();
        assert!(task.is_finished() && job.is_finished());
        drops.assert_all();
    }
}

#[test]
fn the_last_handle_of_a_runtime_may_go_with_one_of_its_own_tasks_wakers() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        // A waker that holds a handle to the runtime whose memory the waker's task keeps.
        let handle = Arc::new(Mutex::new(Some(runtime.handle().clone())));
        let (send, wakers) = mpsc::channel();
        let slot = handle.clone();
        let task = runtime.spawn(async move {
            let _slot = slot;
            std::future::poll_fn(|cx| {
                send.send(cx.waker().clone()).unwrap();
                std::task::Poll::<()>::Pending
            })
            .await;
        });
        runtime.block_on(async {
            (0..10).for_each(|_| drop(rt::spawn(async {})));
            rt::task::yield_now().await;
        });
        if runtime.handle().runtime_flavor() == rt::runtime::RuntimeFlavor::CurrentThread {
            runtime.block_on(rt::task::yield_now());
        }
        let waker = wakers.recv().unwrap();
        drop((runtime, task));
        thread::spawn(move || {
            drop(handle.lock().take());
            waker.wake_by_ref();
            drop(waker);
        })
        .join()
        .unwrap();
    });
}
