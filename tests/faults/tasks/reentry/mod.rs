//! Foreign wakers, whose functions come back to what they are called from, or wait for the runtime:
//! both must find no lock that is held for their sake.
//!
//! Mutations that these tests are for: a waker that is cloned, called or dropped under a lock: of a descriptor, a
//! timer's shard, the blocking pool, the drivers; and one that is cloned although the same one is there already.

mod leaves;
mod waker;

use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use rt::io::{AsyncReadExt, AsyncWriteExt};
use rt::net::{TcpListener, TcpStream};
use rt::runtime::{Builder, Handle, Runtime};
use rt_test_util::*;

use super::faulty::Function;
use leaves::{LEAVES, Leaf, Make};
use waker::Meddling;

pub(crate) type Act = Arc<dyn Fn() + Send + Sync>;

/// Waits for a task of the runtime that needs its workers, its timers, its sockets and its blocking pool.
pub(crate) fn wait_for_a_task(handle: &Handle) -> Act {
    let handle = handle.clone();
    Arc::new(move || {
        let task = handle.spawn(async {
            rt::time::sleep(Duration::from_millis(1)).await;
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let mut client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
            let (mut server, _) = listener.accept().await.unwrap();
            server.write_all(b"x").await.unwrap();
            client.read_exact(&mut [0]).await.unwrap();
            rt::spawn_blocking(|| ()).await.unwrap();
        });
        eventually(|| task.is_finished());
    })
}

/// What a waker does.
#[derive(Clone, Copy)]
enum Does {
    Touches,
    Waits,
}

impl Does {
    fn act(self, leaf: &Leaf, handle: &Handle) -> Act {
        match self {
            Does::Touches => leaf.touch.clone(),
            Does::Waits => wait_for_a_task(handle),
        }
    }
}

/// Calls a function with each kind of leaf and each thing that wakers may do.
fn on_each(all: &[Does], test: impl Fn(Make, Does)) {
    LEAVES.into_iter().for_each(|make| all.iter().for_each(|&does| test(make, does)));
}

const ALL: [Does; 2] = [Does::Touches, Does::Waits];

/// Two workers, of which one may be blocked by a waker that waits.
pub(crate) fn runtime() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

fn poll(leaf: &mut Leaf, waker: &Waker) -> Poll<()> {
    (leaf.poll)(&mut Context::from_waker(waker))
}

/// Has a waker cloned into an empty place, and into one where there is another.
fn clones(handle: &Handle, make: Make, does: Does) {
    for is_replaced in [false, true] {
        let mut leaf = make(handle);
        let meddling = Meddling::new(Function::Clone, does.act(&leaf, handle));
        let waker = meddling.waker();
        let (name, may_be_over) = (leaf.name, leaf.may_be_over);
        let is_over = is_replaced && poll(&mut leaf, Waker::noop()).is_ready();
        if is_over || poll(&mut leaf, &waker).is_ready() {
            assert!(may_be_over, "{name}");
            continue;
        }
        let acts = meddling.acts();
        assert!(acts >= 1, "{name}: it was cloned");
        if !may_be_over {
            assert!(poll(&mut leaf, &waker).is_pending(), "{name}");
            assert_eq!(meddling.acts(), acts, "{name}: it is there already");
        }
        drop(leaf);
        drop(waker);
        leaves(&meddling, 0, may_be_over, name);
    }
}

/// Has a waker dropped as it is replaced, and as its thing is dropped.
fn drops(handle: &Handle, make: Make, does: Does) {
    let mut leaf = make(handle);
    let meddling = Meddling::new(Function::Drop, does.act(&leaf, handle));
    // The waker of the poll itself would do it, too.
    let waker = std::mem::ManuallyDrop::new(meddling.waker());
    let (name, may_be_over) = (leaf.name, leaf.may_be_over);
    let mut expected = 0;
    for polled_with in [&waker, Waker::noop(), &waker] {
        if poll(&mut leaf, polled_with).is_ready() {
            assert!(may_be_over, "{name}");
            break;
        }
        expected += usize::from(polled_with.will_wake(&waker));
    }
    drop(leaf);
    assert!(meddling.acts() >= expected || may_be_over, "{name}: {} of {expected}", meddling.acts());
    leaves(&meddling, 1, may_be_over, name);
    drop(std::mem::ManuallyDrop::into_inner(waker));
}

/// Checks that what is dropped has left no more wakers than that. What may be over by itself may be so at this moment:
/// then a driver has taken the waker, calls it, and drops it.
fn leaves(meddling: &Meddling, wakers: usize, may_be_over: bool, name: &str) {
    if may_be_over {
        eventually(|| meddling.alive() == wakers);
    }
    assert_eq!(meddling.alive(), wakers, "{name}");
}

/// Leaves a waker, and has the thing happen. `None` if it has happened before.
fn wakes(handle: &Handle, make: Make, does: Does) -> Option<(Leaf, Meddling)> {
    let mut leaf = make(handle);
    let meddling = Meddling::new(Function::Wake, does.act(&leaf, handle));
    let is_pending = poll(&mut leaf, &meddling.waker()).is_pending();
    assert!(is_pending || leaf.may_be_over, "{}", leaf.name);
    if !is_pending {
        return None;
    }
    std::mem::replace(&mut leaf.finish, Box::new(|| ()))();
    Some((leaf, meddling))
}

#[test]
fn a_clone_may_come_back_to_what_it_is_cloned_for_or_wait_for_a_task() {
    let _watchdog = watchdog();
    let runtime = runtime();
    on_each(&ALL, |make, does| clones(runtime.handle(), make, does));
}

#[test]
fn a_drop_may_come_back_to_what_it_was_for_or_wait_for_a_task() {
    let _watchdog = watchdog();
    let runtime = runtime();
    on_each(&ALL, |make, does| drops(runtime.handle(), make, does));
}

#[test]
fn clones_and_drops_on_a_worker_may_do_so_too() {
    let _watchdog = watchdog();
    let runtime = runtime();
    for test in [clones, drops] {
        on_each(&ALL, |make, does| {
            let task = runtime.spawn(async move { test(&Handle::current(), make, does) });
            runtime.block_on(task).unwrap();
        });
    }
}

#[test]
fn a_wake_may_come_back_to_what_it_is_for_or_wait_for_a_task() {
    let _watchdog = watchdog();
    let runtime = runtime();
    on_each(&ALL, |make, does| {
        if let Some((leaf, meddling)) = wakes(runtime.handle(), make, does) {
            eventually(|| meddling.acts() == 1 && meddling.alive() == 0);
            drop(leaf);
        }
    });
}

#[test]
fn on_one_thread_wakers_may_come_back_to_what_they_are_for() {
    let _watchdog = watchdog();
    let runtime = current();
    for test in [clones, drops] {
        on_each(&[Does::Touches], |make, does| test(runtime.handle(), make, does));
        on_each(&[Does::Touches], |make, does| runtime.block_on(async { test(runtime.handle(), make, does) }));
    }
    let woken = async |leaf: Option<(Leaf, Meddling)>| {
        while leaf.as_ref().is_some_and(|(_, meddling)| meddling.acts() == 0) {
            rt::task::yield_now().await;
        }
    };
    on_each(&[Does::Touches], |make, does| {
        let from_outside = wakes(runtime.handle(), make, does);
        runtime.block_on(woken(from_outside));
        runtime.block_on(async { woken(wakes(runtime.handle(), make, does)).await });
    });
}

#[test]
fn another_threads_clones_and_drops_may_wait_for_the_one_that_drives() {
    let _watchdog = watchdog();
    let runtime = current();
    let stop = Signal::new();
    /// Also if the test fails, which waits for the other thread.
    struct Stops(Signal);
    impl Drop for Stops {
        fn drop(&mut self) {
            self.0.set();
        }
    }
    scope(|scope| {
        scope.spawn(|| runtime.block_on(stop.wait()));
        let _stops = Stops(stop.clone());
        for test in [clones, drops] {
            on_each(&ALL, |make, does| test(runtime.handle(), make, does));
        }
    });
}

#[test]
fn what_is_told_of_the_end_may_come_back_to_what_it_was_for() {
    let _watchdog = watchdog();
    for function in Function::ALL {
        for make in LEAVES {
            for runtime in [current(), multi(2)] {
                let mut leaf = make(runtime.handle());
                // A timer of a runtime that is gone says so by a panic, which is not what is asked for here.
                let act: Act = match leaf.name {
                    "a sleep" | "an interval" | "a timeout" | "a connect" => Arc::new(|| ()),
                    _ => leaf.touch.clone(),
                };
                let meddling = Meddling::new(function, act);
                let waker = std::mem::ManuallyDrop::new(meddling.waker());
                let _ = poll(&mut leaf, &waker);
                if leaf.name == "a blocking task" {
                    // The end waits for it.
                    std::mem::replace(&mut leaf.finish, Box::new(|| ()))();
                }
                drop(runtime);
                drop(leaf);
                assert_eq!(meddling.alive(), 1);
                drop(std::mem::ManuallyDrop::into_inner(waker));
            }
        }
    }
}
