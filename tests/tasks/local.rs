//! `LocalRuntime`: tasks that are not `Send` are polled and dropped on their home thread, and nowhere else.
//!
//! Mutations that these tests are for: a foreign thread that takes the core in its `block_on`; an abort, a last waker
//! or a last abort handle that drops the future, or the output, where it is; a foreign thread that is woken whenever
//! the core is put down, which it may never have.

use std::cell::RefCell;
use std::future::{pending, poll_fn};
use std::rc::Rc;
use std::sync::mpsc;
use std::task::{Poll, Waker};
use std::thread::{self, ThreadId};
use std::time::Duration;

use rt::runtime::{Builder, LocalRuntime};
use rt_test_util::*;

fn local() -> LocalRuntime {
    Builder::new_current_thread().enable_all().build_local(Default::default()).unwrap()
}

/// Notes on which threads it was used and dropped. Not `Send`, for the `Rc`.
struct Resident {
    home: ThreadId,
    log: Rc<RefCell<Vec<&'static str>>>,
}

impl Resident {
    fn new(log: &Rc<RefCell<Vec<&'static str>>>) -> Self {
        Self { home: thread::current().id(), log: log.clone() }
    }

    fn note(&self, what: &'static str) {
        // Through the `Rc` only if it is safe; elsewhere there is no way to go on.
        if thread::current().id() != self.home {
            eprintln!("{what} away from home");
            std::process::abort();
        }
        self.log.borrow_mut().push(what);
    }
}

impl Drop for Resident {
    fn drop(&mut self) {
        self.note("dropped");
    }
}

#[test]
fn local_tasks_run_and_end_at_home() {
    let _watchdog = watchdog();
    let runtime = local();
    let log = Rc::new(RefCell::new(Vec::new()));
    // Outside of `block_on`, inside, and from a local task.
    let (one, two, three) = (Resident::new(&log), Resident::new(&log), Resident::new(&log));
    let before = runtime.spawn_local(async move {
        one.note("one");
        one
    });
    runtime.block_on(async {
        drop(before.await.unwrap());
        let outer = rt::spawn_local(async move {
            two.note("two");
            rt::spawn_local(async move { three.note("three") }).await.unwrap();
            rt::time::sleep(Duration::from_millis(1)).await;
            two.note("again");
        });
        outer.await.unwrap();
    });
    assert_eq!(*log.borrow(), ["one", "dropped", "two", "three", "dropped", "again", "dropped"]);
}

#[test]
fn an_abort_from_another_thread_drops_a_local_task_at_home() {
    let _watchdog = watchdog();
    let runtime = local();
    let log = Rc::new(RefCell::new(Vec::new()));
    runtime.block_on(async {
        for _ in 0..50 {
            let resident = Resident::new(&log);
            let task = rt::spawn_local(async move {
                resident.note("polled");
                pending::<()>().await;
            });
            rt::task::yield_now().await;
            let abort = task.abort_handle();
            let thread = thread::spawn(move || abort.abort());
            assert!(task.await.unwrap_err().is_cancelled());
            thread.join().unwrap();
        }
    });
    assert_eq!(log.borrow().len(), 100);
}

#[test]
fn shutdown_drops_local_tasks_at_home_wherever_their_wakers_are() {
    let _watchdog = watchdog();
    for end in 0..3 {
        let runtime = local();
        let log = Rc::new(RefCell::new(Vec::new()));
        let (send, wakers) = mpsc::channel::<(Waker, rt::task::AbortHandle)>();
        runtime.block_on(async {
            for _ in 0..20 {
                let (resident, waker) = (Resident::new(&log), Rc::new(RefCell::new(None)));
                let slot = waker.clone();
                let task = rt::spawn_local(poll_fn(move |cx| {
                    resident.note("polled");
                    *slot.borrow_mut() = Some(cx.waker().clone());
                    Poll::<()>::Pending
                }));
                rt::task::yield_now().await;
                send.send((waker.borrow_mut().take().unwrap(), task.abort_handle())).unwrap();
            }
        });
        let gate = Gate::new();
        let open = gate.clone();
        let thread = thread::spawn(move || {
            open.pass();
            // Half of the wakers wake a task of a runtime that is gone; all references go away here.
            for (n, (waker, abort)) in wakers.into_iter().enumerate() {
                if n % 2 == 0 {
                    waker.wake();
                    abort.abort();
                }
            }
        });
        match end {
            0 => drop(runtime),
            1 => runtime.shutdown_background(),
            _ => runtime.shutdown_timeout(Duration::from_secs(1)),
        }
        assert_eq!(log.borrow().iter().filter(|&&what| what == "dropped").count(), 20);
        drop(send);
        gate.open();
        thread.join().unwrap();
        assert_eq!(log.borrow().len(), 40, "nothing happened afterwards");
    }
}

#[test]
fn a_foreign_thread_waits_for_a_local_runtime_but_runs_none_of_its_tasks() {
    let _watchdog = watchdog();
    let runtime = local();
    let log = Rc::new(RefCell::new(Vec::new()));
    let resident = Resident::new(&log);
    let (send, receive) = mpsc::channel();
    let (go, inside) = (Signal::new(), Signal::new());
    let (wait, arrived) = (go.clone(), inside.clone());
    let task = runtime.spawn_local(async move {
        wait.wait().await;
        resident.note("polled");
        send.send(()).unwrap();
    });
    // In `block_on` before home is, and for longer.
    let handle = runtime.handle().clone();
    let foreign = thread::spawn(move || {
        handle.block_on(async {
            arrived.set();
            rt::spawn(async { thread::current().id() }).await.unwrap()
        })
    });
    eventually(|| inside.is_set());
    assert!(receive.try_recv().is_err());
    go.set();
    runtime.block_on(task).unwrap();
    let ran_on = runtime.block_on(async {
        let (send, joined) = (Channel::new(), foreign);
        let tell = send.clone();
        // The foreign caller's task runs here too.
        rt::spawn_blocking(move || tell.send(joined.join().unwrap()));
        send.receive().await
    });
    assert_eq!(ran_on, thread::current().id());
    assert_eq!(*log.borrow(), ["polled", "dropped"]);
}

#[test]
fn send_tasks_from_other_threads_run_at_the_home_of_a_local_runtime() {
    let _watchdog = watchdog();
    let runtime = local();
    let handle = runtime.handle().clone();
    let home = thread::current().id();
    let tasks =
        thread::spawn(move || (0..100).map(|_| handle.spawn(async { thread::current().id() })).collect::<Vec<_>>());
    runtime.block_on(async {
        for task in tasks.join().unwrap() {
            assert_eq!(task.await.unwrap(), home);
        }
    });
}

#[test]
fn outputs_that_are_not_send_are_dropped_at_home() {
    let _watchdog = watchdog();
    let runtime = local();
    let log = Rc::new(RefCell::new(Vec::new()));
    let abort = runtime.block_on(async {
        let resident = Resident::new(&log);
        let task = rt::spawn_local(async move { resident });
        while !task.is_finished() {
            rt::task::yield_now().await;
        }
        let abort = task.abort_handle();
        // The handle goes, and takes the output with it, although another reference to the task stays.
        drop(task);
        abort
    });
    assert_eq!(*log.borrow(), ["dropped"]);
    thread::spawn(move || abort.abort()).join().unwrap();
    // Detached: dropped when it is made.
    let resident = Resident::new(&log);
    drop(runtime.spawn_local(async move { resident }));
    runtime.block_on(rt::task::yield_now());
    assert_eq!(log.borrow().len(), 2);
}

/// What the system says of a thread of this process, and how often that has gone to sleep.
#[cfg(target_os = "linux")]
fn sleeps_of(thread: &std::path::Path) -> (bool, u64) {
    let status = std::fs::read_to_string(thread.join("status")).unwrap();
    let value = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).unwrap().trim().to_owned();
    (value("State:").starts_with('S'), value("voluntary_ctxt_switches:").parse().unwrap())
}

#[test]
#[cfg(target_os = "linux")]
fn a_thread_that_only_waits_is_left_alone_while_the_home_thread_drives() {
    const STEPS: u64 = 100;
    let _watchdog = watchdog();
    let runtime = local();
    let (handle, end) = (runtime.handle().clone(), Signal::new());
    let (told, tell) = mpsc::channel();
    scope(|scope| {
        let end = &end;
        scope.spawn(move || {
            told.send(std::path::Path::new("/proc").join(std::fs::read_link("/proc/thread-self").unwrap())).unwrap();
            handle.block_on(end.wait());
        });
        let thread = tell.recv().unwrap();
        eventually(|| end.waiters() == 1 && sleeps_of(&thread).0);
        let before = sleeps_of(&thread).1;
        for _ in 0..STEPS {
            runtime.try_tick();
            eventually(|| sleeps_of(&thread).0);
        }
        let sleeps = sleeps_of(&thread).1 - before;
        end.set();
        assert!(sleeps < STEPS / 2, "it was woken {sleeps} times");
    });
}

#[test]
fn spawn_local_elsewhere_panics_at_the_caller() {
    let _watchdog = watchdog();
    for runtime in [current(), multi(1)] {
        let caught = catch(|| runtime.block_on(async { drop(rt::spawn_local(async {})) }));
        assert!(caught.message.contains("build_local") && caught.file.ends_with("local.rs"), "{caught:?}");
    }
    let caught = catch(|| rt::spawn_local(async {}));
    assert!(
        caught.message.contains("outside of a `task::LocalSet`") && caught.file.ends_with("local.rs"),
        "{caught:?}"
    );
    // In the context of a local runtime, but not at its home.
    let runtime = local();
    let handle = runtime.handle().clone();
    let message = thread::spawn(move || catch(|| handle.block_on(async { drop(rt::spawn_local(async {})) })).message);
    assert!(message.join().unwrap().contains("from the thread the runtime was created on"));
}
