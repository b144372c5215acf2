//! Names and numbers of runtimes and workers, and what workers count of their time.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::{Duration, Instant};

use rt::net::TcpListener;
use rt::runtime::{Builder, Handle, LocalRuntime, is_rt_shutdown_err, worker_index};
use rt_test_util::*;

#[test]
fn runtimes_have_names_and_numbers() {
    let _watchdog = watchdog();
    let named = Builder::new_multi_thread().worker_threads(1).name("one").build().unwrap();
    let other = Builder::new_current_thread().build().unwrap();
    assert_eq!((named.handle().name(), other.handle().name()), (Some("one"), None));
    assert_ne!(named.handle().id(), other.handle().id());
    let seen = named.block_on(async { rt::spawn(async { Handle::current().id() }).await }).unwrap();
    assert_eq!(seen, named.handle().id());
    assert_eq!(seen.to_string(), named.handle().id().to_string());
}

#[test]
#[should_panic(expected = "must not be empty")]
fn a_name_is_not_empty() {
    Builder::new_current_thread().name(" ");
}

#[rt::test(name = "of a test")]
async fn the_attributes_name_their_runtime() {
    assert_eq!(Handle::current().name(), Some("of a test"));
}

#[test]
fn workers_know_their_index_and_others_have_none() {
    let _watchdog = watchdog();
    let runtime = multi(2);
    let index = runtime.block_on(async {
        assert_eq!(worker_index(), None, "`block_on` is no worker");
        assert_eq!(rt::spawn_blocking(worker_index).await.unwrap(), None);
        rt::spawn(async { worker_index() }).await.unwrap()
    });
    assert!(index.unwrap() < 2);
    assert_eq!(worker_index(), None);
}

#[test]
fn errors_after_the_shutdown_are_told_from_others() {
    let _watchdog = watchdog();
    let (first, second) = (current(), current());
    let listener = first.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    drop(first);
    assert!(is_rt_shutdown_err(&second.block_on(listener.accept()).unwrap_err()));
    assert!(!is_rt_shutdown_err(&std::io::Error::other("the runtime's I/O driver was shut down")));
}

#[test]
fn busy_time_is_that_of_polls_and_not_of_sleep() {
    let _watchdog = watchdog();
    let work = Duration::from_millis(30);
    for runtime in [current(), multi(1)] {
        let metrics = runtime.metrics();
        runtime.block_on(async {
            rt::spawn(async move {
                let start = Instant::now();
                while start.elapsed() < work {
                    std::hint::spin_loop();
                }
            })
            .await
            .unwrap();
        });
        eventually(|| metrics.worker_total_busy_duration(0) >= work);
        eventually(|| metrics.worker_park_unpark_count(0) % 2 == 1 || metrics.num_workers() == 1);
        let (before, since) = (metrics.worker_total_busy_duration(0), Instant::now());
        thread::sleep(work);
        let grown = metrics.worker_total_busy_duration(0) - before;
        assert!(grown < since.elapsed(), "it sleeps");
        assert!(catch_unwind(AssertUnwindSafe(|| metrics.worker_park_count(9))).is_err());
    }
}

#[test]
fn a_local_runtime_counts_too() {
    let _watchdog = watchdog();
    let runtime = LocalRuntime::new().unwrap();
    runtime.block_on(async { rt::task::spawn_local(async {}).await.unwrap() });
    assert_eq!(runtime.metrics().num_alive_tasks(), 0);
}

#[test]
fn few_events_at_a_time_are_all_delivered() {
    let _watchdog = watchdog();
    for set in [Builder::max_io_events_per_tick, Builder::max_io_events_per_busy_tick] {
        assert_unhurt(&set(Builder::new_current_thread().enable_all(), 1).build().unwrap());
    }
}

#[test]
fn tasks_of_two_runtimes_and_a_set_have_different_numbers() {
    let (one, other, set) = (current(), multi(1), rt::task::LocalSet::new());
    let ids = [one.spawn(async {}).id(), other.spawn(async {}).id(), set.spawn_local(async {}).id()];
    assert!(ids[0] != ids[1] && ids[1] != ids[2] && ids[0] != ids[2]);
}

#[test]
fn an_output_dropped_with_its_handle_knows_its_task() {
    struct Asks(std::sync::mpsc::Sender<Option<rt::task::Id>>);
    impl Drop for Asks {
        fn drop(&mut self) {
            self.0.send(rt::task::try_id()).unwrap();
        }
    }
    let _watchdog = watchdog();
    let (send, receive) = std::sync::mpsc::channel();
    let runtime = current();
    let task = runtime.spawn(async move { Asks(send) });
    let id = task.id();
    runtime.block_on(rt::task::yield_now());
    assert!(task.is_finished());
    drop(task);
    assert_eq!(receive.recv().unwrap(), Some(id));
    assert_eq!(rt::task::try_id(), None);
}

#[rt::test(flavor = "local")]
async fn the_local_flavor_runs_local_tasks() {
    assert_eq!(*rt::task::spawn_local(async { std::rc::Rc::new(1) }).await.unwrap(), 1);
}
