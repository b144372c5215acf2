//! Models of a whole runtime: the real current-thread scheduler, tasks, arenas, and shutdown. Stand-ins are the driver,
//! which only sleeps, and the injector (`primitive.rs`).
//!
//! At the end of every model the runtime's memory must be gone: a task, a queue entry or an arena that somebody forgot
//! would keep it. The futures' own `Arc`s are loom's, which fail a model if they leak or are used after their end.

mod steps;

use std::future::{Future, poll_fn};
use std::panic::Location;
use std::sync::{Arc as StdArc, Weak};
use std::task::{Poll, Waker};
use std::time::Duration;

use loom::sync::{Arc, Mutex as LoomMutex};
use loom::thread;

use super::*;
use crate::driver::{DriverStack, Unpark, WakeAtOnce, WakeSink};
use crate::runtime::Flavor;
use crate::scheduler::main_waker::Caller;
use crate::task::arena::requests_drain;
use crate::task::{Id, Site};

struct Sleep(Parker);

impl Driver for Sleep {
    fn park(&mut self, _: Option<Duration>, _: &mut dyn WakeSink) -> bool {
        self.0.park();
        false
    }
    fn poll(&mut self, _: &mut dyn WakeSink) -> bool {
        false
    }
    fn shutdown(&mut self, _: &mut dyn WakeSink) {}
}

struct EndSleep(Unparker);

impl Unpark for EndSleep {
    fn unpark(&self) {
        self.0.unpark();
    }
}

fn start() -> StdArc<Inner> {
    let parker = Parker::new();
    let unpark = StdArc::new(EndSleep(parker.unparker().clone()));
    let drivers = DriverStack { driver: Box::new(Sleep(parker)), unpark, io: None, time: None };
    Inner::start(&Config::new(Flavor::CurrentThread), StdArc::new(Clock::new()), drivers).unwrap()
}

fn info() -> SpawnInfo {
    SpawnInfo { id: Id(1), site: Site::new(Location::caller(), None), arena: None, original_size: 0 }
}

fn spawn<F>(runtime: &Inner, future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    Current::shared(runtime).spawn(runtime, future, info())
}

/// Drives on this thread, as `Runtime::block_on` does.
fn block_on_here<F: Future>(runtime: &StdArc<Inner>, future: F) -> F::Output {
    let _runtime = RuntimeGuard::enter(StdArc::clone(runtime));
    let _entered = context::try_enter();
    block_on(runtime, future)
}

/// Lets the tasks run that are queued now: the scheduler polls its caller's future after them.
async fn let_run() {
    let mut have_run = false;
    poll_fn(|cx| {
        if have_run {
            return Poll::Ready(());
        }
        have_run = true;
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Closes the runtime, and sees it gone.
fn end(runtime: StdArc<Inner>) -> Weak<Inner> {
    runtime.close();
    runtime.wait_closed(None);
    StdArc::downgrade(&runtime)
}

fn assert_gone(runtime: &Weak<Inner>) {
    assert_eq!(runtime.strong_count(), 0, "something keeps the runtime");
}

fn check(preemptions: usize, model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.max_branches = 5_000;
    builder.check(model);
}

/// A spawn from outside beside shutdown: the task is refused, or in the arena and cancelled by the walk.
#[test]
fn loom_a_spawn_beside_shutdown_is_refused_or_cancelled() {
    check(3, || {
        let runtime = start();
        let held = Arc::new(());
        let spawner = {
            let (runtime, held) = (runtime.clone(), held.clone());
            thread::spawn(move || {
                let handle = spawn(&runtime, async move {
                    let _held = held;
                    std::future::pending::<()>().await;
                });
                drop(runtime);
                handle
            })
        };
        let gone = end(runtime);
        let handle = spawner.join().unwrap();
        assert!(handle.is_finished(), "the task was neither refused nor cancelled");
        assert_eq!(Arc::strong_count(&held), 1, "its future is gone");
        drop(handle);
        assert_gone(&gone);
    });
}

/// Waits for ever, having left its waker.
fn leave_waker(wakers: Arc<LoomMutex<Vec<Waker>>>, held: Arc<()>) -> impl Future<Output = ()> + Send {
    poll_fn(move |cx| {
        let _held = &held;
        wakers.lock().unwrap().push(cx.waker().clone());
        Poll::Pending
    })
}

/// A runtime with one task in the driving thread's arena, which waits and has left a waker.
fn start_with_a_waiting_task() -> (StdArc<Inner>, JoinHandle<()>, Waker, Arc<()>) {
    let (runtime, held) = (start(), Arc::new(()));
    let wakers = Arc::new(LoomMutex::new(Vec::new()));
    let future = leave_waker(wakers.clone(), held.clone());
    let handle = block_on_here(&runtime, async {
        let handle = crate::runtime::spawn_here(future, info());
        let_run().await;
        handle
    });
    let waker = wakers.lock().unwrap().pop().expect("the task was polled");
    (runtime, handle, waker, held)
}

/// A close while another thread sleeps in the driver: that one wakes up, and performs the finale.
#[test]
fn loom_a_close_reaches_the_thread_that_drives() {
    check(3, || {
        let runtime = start();
        let flag = StdArc::new(Flag::default());
        let driving = {
            let (runtime, flag) = (runtime.clone(), flag.clone());
            thread::spawn(move || block_on_here(&runtime, flag.wait()))
        };
        let gone = end(runtime);
        flag.raise();
        driving.join().unwrap();
        assert_gone(&gone);
    });
}

/// Something to wait for.
#[derive(Default)]
struct Flag(LoomMutex<(bool, Vec<Waker>)>);

impl Flag {
    fn raise(&self) {
        let wakers = {
            let mut state = self.0.lock().unwrap();
            state.0 = true;
            std::mem::take(&mut state.1)
        };
        wakers.into_iter().for_each(Waker::wake);
    }

    fn wait(self: &StdArc<Self>) -> impl Future<Output = ()> + Send + use<> {
        let flag = self.clone();
        poll_fn(move |cx| {
            let mut state = flag.0.lock().unwrap();
            if state.0 {
                return Poll::Ready(());
            }
            state.1.push(cx.waker().clone());
            Poll::Pending
        })
    }
}

/// Two threads are in `block_on`. One is done at once and leaves a task in the queue; the other waits for what that
/// task does, and takes the core over when it is put down.
#[test]
fn loom_the_core_is_handed_to_whoever_waits_for_it() {
    check(3, || {
        let runtime = start();
        let flag = StdArc::new(Flag::default());
        // Runs on whatever thread has the core.
        let raising = {
            let flag = flag.clone();
            spawn(&runtime, async move { flag.raise() })
        };
        let other = {
            let (runtime, flag) = (runtime.clone(), flag.clone());
            thread::spawn(move || block_on_here(&runtime, flag.wait()))
        };
        block_on_here(&runtime, async {});
        other.join().unwrap();
        drop(raising);
        assert_gone(&end(runtime));
    });
}

/// A spawn from outside, beside a thread that falls asleep in the driver: it sees the task, or is woken.
#[test]
fn loom_a_spawn_from_outside_reaches_the_thread_that_drives() {
    check(3, || {
        let runtime = start();
        let flag = StdArc::new(Flag::default());
        let spawner = {
            let (runtime, flag) = (runtime.clone(), flag.clone());
            thread::spawn(move || drop(spawn(&runtime, async move { flag.raise() })))
        };
        block_on_here(&runtime, flag.wait());
        spawner.join().unwrap();
        assert_gone(&end(runtime));
    });
}

/// A wake beside shutdown: what is pushed after the queues were emptied is emptied by its pusher.
#[test]
fn loom_a_wake_beside_shutdown_leaves_nothing_in_the_queue() {
    check(3, || {
        let (runtime, handle, waker, held) = start_with_a_waiting_task();
        drop(handle);
        let waking = thread::spawn(move || waker.wake());
        let gone = end(runtime);
        waking.join().unwrap();
        assert_eq!(Arc::strong_count(&held), 1);
        assert_gone(&gone);
    });
}

/// A handle and a waker are dropped by two threads beside the walk of shutdown: the last one frees the task, once,
/// and the last of all the runtime.
#[test]
fn loom_the_last_references_go_beside_the_walk_of_shutdown() {
    check(3, || {
        let (runtime, handle, waker, held) = start_with_a_waiting_task();
        let dropping_handle = thread::spawn(move || drop(handle));
        let dropping_waker = thread::spawn(move || drop(waker));
        let gone = end(runtime);
        dropping_handle.join().unwrap();
        dropping_waker.join().unwrap();
        assert_eq!(Arc::strong_count(&held), 1);
        assert_gone(&gone);
    });
}

/// Identifiers such that the return of the second task from now asks its arena's owner to drain.
fn next_but_one_requests_drain(runtime: &Inner) {
    let id = (2..).find(|&id| requests_drain(Id(id))).expect("one in some hundreds does");
    runtime.reserve_ids(id - 2);
}

/// Two finished tasks of the driving thread's arena, whose handles are dropped by other threads while that one spawns
/// and drives, or has put the core down: each is freed once, by the thread that owns the arena.
#[test]
fn loom_finished_tasks_return_to_their_arena_from_any_thread() {
    for request_drain in [false, true] {
        check(3, move || {
            let runtime = start();
            if request_drain {
                next_but_one_requests_drain(&runtime);
            }
            let held = Arc::new(());
            let handles = block_on_here(&runtime, async {
                let handles = [0, 1].map(|_| {
                    let held = held.clone();
                    crate::runtime::spawn_here(async move { drop(held) }, info())
                });
                let_run().await;
                handles
            });
            let dropping = handles.map(|handle| thread::spawn(move || drop(handle)));
            block_on_here(&runtime, async {
                drop(crate::runtime::spawn_here(async {}, info()));
            });
            let gone = end(runtime);
            dropping.into_iter().for_each(|thread| thread.join().unwrap());
            assert_eq!(Arc::strong_count(&held), 1);
            assert_gone(&gone);
        });
    }
}

/// Tasks of a remote arena die on the driving thread, and go back in its batches, several at a time, while others hold
/// the spawn lock of that arena: to spawn, to see to a request to drain, or to close it for good.
#[test]
fn loom_remote_frees_meet_spawns_and_shutdown_at_the_spawn_lock() {
    for request_drain in [false, true] {
        check(2, move || {
            let runtime = start();
            if request_drain {
                next_but_one_requests_drain(&runtime);
            }
            let held = Arc::new(());
            for _ in 0..2 {
                let held = held.clone();
                drop(spawn(&runtime, async move { drop(held) }));
            }
            let driving = {
                let runtime = runtime.clone();
                thread::spawn(move || block_on_here(&runtime, let_run()))
            };
            let spawner = {
                let (runtime, held) = (runtime.clone(), held.clone());
                thread::spawn(move || drop(spawn(&runtime, async move { drop(held) })))
            };
            let gone = end(runtime);
            spawner.join().unwrap();
            driving.join().unwrap();
            assert_eq!(Arc::strong_count(&held), 1);
            assert_gone(&gone);
        });
    }
}

/// Two finished tasks of the remote arena, whose handles are dropped beside shutdown; the second requests a drain. Once
/// the spawn lock is closed the arena is shutdown's alone.
#[test]
fn loom_a_drain_request_leaves_an_arena_alone_that_shutdown_has() {
    check(3, || {
        let runtime = start();
        next_but_one_requests_drain(&runtime);
        let handles = [(); 2].map(|()| spawn(&runtime, async {}));
        block_on_here(&runtime, let_run());
        let dropping = thread::spawn(move || drop(handles));
        let gone = end(runtime);
        dropping.join().unwrap();
        assert_gone(&gone);
    });
}

/// The walk drops a future that holds the handle of another task in the arena, which it has passed or is yet to come
/// to, while another thread drops that task's waker. What dies during the walk is freed after it.
#[test]
fn loom_what_dies_during_the_walk_is_freed_after_it() {
    for held_is_older in [false, true] {
        check(3, move || {
            let runtime = start();
            let wakers = Arc::new(LoomMutex::new(Vec::new()));
            let slot = Arc::new(LoomMutex::new(None));
            let (future, keep) = (leave_waker(wakers.clone(), Arc::new(())), slot.clone());
            let holder = async move {
                let _keep = keep;
                std::future::pending::<()>().await;
            };
            block_on_here(&runtime, async {
                let spawn_holder = || drop(crate::runtime::spawn_here(holder, info()));
                if held_is_older {
                    *slot.lock().unwrap() = Some(crate::runtime::spawn_here(future, info()));
                    spawn_holder();
                } else {
                    spawn_holder();
                    *slot.lock().unwrap() = Some(crate::runtime::spawn_here(future, info()));
                }
                let_run().await;
            });
            drop(slot);
            let waker = wakers.lock().unwrap().pop().expect("the task was polled");
            let dropping = thread::spawn(move || drop(waker));
            let gone = end(runtime);
            dropping.join().unwrap();
            assert_gone(&gone);
        });
    }
}

/// A thread has polled its future before it takes the core, and goes on to sleep where the scheduler does: it hears of
/// a wake that comes meanwhile. (So do threads of the blocking pool, in the other scheduler.)
#[test]
fn loom_a_wake_finds_a_caller_that_goes_to_the_scheduler_after_its_first_poll() {
    check(3, || {
        let runtime = start();
        let shared = Current::shared(&runtime);
        let caller = Caller::new();
        assert!(caller.main().take(), "for the first poll");
        let waker = Waker::from(caller.main().clone());
        // loom does not see the cell with the place, and would not try the wake in front of that for its sake.
        let before = Arc::new(AtomicUsize::new(0));
        let waking = {
            let before = before.clone();
            thread::spawn(move || {
                before.fetch_add(1, Relaxed);
                waker.wake();
            })
        };
        let core = shared.take_core(|| None).expect("nobody else wants it");
        before.fetch_add(1, Relaxed);
        caller.settle(&runtime, 0);
        while !caller.main().take() {
            shared.wakeup.park(&core.parker, &shared.driver, &mut WakeAtOnce);
        }
        shared.leave(&runtime, core);
        waking.join().unwrap();
        drop(caller);
        assert_gone(&end(runtime));
    });
}
