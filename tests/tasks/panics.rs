//! Panics of user code: each stays with its task, keeps its payload, and hurts nothing else. (Those of drops are with
//! I5.)
//!
//! Mutations that these tests are for: a call of user code outside of `catch_unwind`; a payload that is dropped, or
//! exchanged for a text; a worker, or a thread of the pool, that is gone, or counted wrongly, after a panic.

use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;

use rt::runtime::Builder;
use rt_test_util::*;

#[derive(Debug, PartialEq)]
struct Payload(u32);

#[test]
fn the_payload_of_a_panic_reaches_the_joiner() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let error = runtime.block_on(async { rt::spawn(async { panic_any(Payload(7)) }).await.unwrap_err() });
        assert!(error.is_panic() && !error.is_cancelled());
        assert_eq!(error.into_panic().downcast_ref(), Some(&Payload(7)));

        let id = runtime.block_on(async {
            let task = rt::spawn(async {
                yield_by_hand().await;
                panic!("in words: {}", 7)
            });
            let id = task.id();
            let error: rt::task::JoinError = task.await.map(|(): ()| ()).unwrap_err();
            assert_eq!(error.id(), id);
            assert!(error.to_string().contains("in words: 7"), "{error}");
            id
        });
        assert!(!id.to_string().is_empty());
    });
}

#[test]
fn a_panic_in_a_blocking_job_reaches_the_joiner_and_leaves_the_thread_for_others() {
    let _watchdog = watchdog();
    let runtime = Builder::new_multi_thread().worker_threads(1).max_blocking_threads(1).build().unwrap();
    for n in 0..20 {
        let error = runtime.block_on(runtime.spawn_blocking(move || panic_any(Payload(n)))).unwrap_err();
        assert_eq!(error.into_panic().downcast_ref(), Some(&Payload(n)));
        assert_eq!(runtime.block_on(runtime.spawn_blocking(|| 1)).unwrap(), 1);
    }
    eventually(|| runtime.handle().metrics().num_idle_blocking_threads() == 1);
    assert_eq!(runtime.handle().metrics().num_blocking_threads(), 1);
}

#[test]
fn a_panicking_task_hurts_no_other_task() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let tasks: Vec<_> = (0..200)
                .map(|n| {
                    rt::spawn(async move {
                        for _ in 0..n % 5 {
                            rt::task::yield_now().await;
                        }
                        if n % 3 == 0 {
                            panic!("{n}");
                        }
                        n
                    })
                })
                .collect();
            for (n, task) in tasks.into_iter().enumerate() {
                match task.await {
                    Ok(output) => assert!(output == n && n % 3 != 0),
                    Err(error) => assert_eq!(message_of(&*error.into_panic()), n.to_string()),
                }
            }
        });
        let totals = runtime.handle().metrics().totals();
        assert_eq!((totals.spawns, totals.completions), (200, 200));
    });
}

#[test]
fn a_panic_of_the_main_future_reaches_the_caller_and_leaves_the_runtime_usable() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let alive = Arc::new(AtomicUsize::new(0));
        for round in 1..=6 {
            let count = alive.clone();
            let result = catch_unwind(AssertUnwindSafe(|| {
                runtime.block_on(async {
                    // Left on the lanes of the caller, which then leaves.
                    rt::spawn(async move {
                        yield_by_hand().await;
                        count.fetch_add(1, SeqCst)
                    });
                    if round % 2 == 0 {
                        rt::task::yield_now().await;
                    }
                    panic_any(Payload(round))
                })
            }));
            let payload: Box<dyn std::any::Any + Send> = result.map(|(): ()| ()).unwrap_err();
            assert_eq!(payload.downcast_ref(), Some(&Payload(round)));
        }
        runtime.block_on(async {
            while alive.load(SeqCst) < 6 {
                rt::task::yield_now().await;
            }
            rt::time::sleep(std::time::Duration::from_millis(1)).await;
        });
    });
}

#[test]
fn resuming_a_panic_of_a_task_ends_up_where_it_is_resumed() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let outer = runtime.block_on(async {
            rt::spawn(async {
                let inner = rt::spawn(async { panic_any(Payload(1)) }).await.map(|(): ()| ()).unwrap_err();
                std::panic::resume_unwind(inner.into_panic())
            })
            .await
        });
        let error: rt::task::JoinError = outer.map(|(): ()| ()).unwrap_err();
        assert_eq!(error.try_into_panic().unwrap().downcast_ref(), Some(&Payload(1)));
    });
}

#[test]
fn a_panic_while_a_joiner_waits_wakes_it() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let (waiting, go) = (Signal::new(), Signal::new());
        let hear = go.clone();
        let panics = runtime.spawn(async move {
            hear.wait().await;
            panic!("now");
        });
        let tell = waiting.clone();
        let joiner = runtime.spawn(async move {
            let mut panics = std::pin::pin!(panics);
            assert!(poll_once(panics.as_mut()).await.is_pending());
            tell.set();
            panics.await.map(|(): ()| ()).unwrap_err().is_panic()
        });
        assert!(runtime.block_on(async {
            waiting.wait().await;
            go.set();
            joiner.await.unwrap()
        }));
    });
}

#[test]
fn into_panic_of_a_cancelled_task_panics_at_the_caller() {
    let runtime = current();
    let task = runtime.spawn(std::future::pending::<()>());
    task.abort();
    let error = runtime.block_on(task).unwrap_err();
    assert!(error.to_string().contains("cancelled"));
    let error = error.try_into_panic().unwrap_err();
    let caught = catch(|| error.into_panic());
    assert!(caught.file.ends_with("panics.rs") && caught.message.contains("did not panic"), "{caught:?}");
}

#[test]
fn a_join_handle_polled_after_its_output_panics_instead_of_hanging() {
    let _watchdog = watchdog();
    let runtime = current();
    let result = catch_unwind(AssertUnwindSafe(|| {
        runtime.block_on(async {
            let mut task = rt::spawn(async {});
            (&mut task).await.unwrap();
            (&mut task).await.unwrap();
        });
    }));
    assert!(result.is_err());
}

/// Is poisoned, as a lock is, if it is dropped while the thread panics. It panics in its poll.
struct Poisoned(Arc<AtomicUsize>);

impl Future for Poisoned {
    type Output = ();

    fn poll(self: std::pin::Pin<&mut Self>, _: &mut std::task::Context<'_>) -> std::task::Poll<()> {
        panic_any(Payload(1))
    }
}

impl Drop for Poisoned {
    fn drop(&mut self) {
        self.0.fetch_add(if std::thread::panicking() { 1 } else { 100 }, SeqCst);
    }
}

#[test]
fn a_future_that_panics_is_dropped_while_the_thread_is_panicking() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let drops = Arc::new(AtomicUsize::new(0));
        let error = runtime.block_on(runtime.spawn(Poisoned(drops.clone()))).unwrap_err();
        assert_eq!(error.into_panic().downcast_ref(), Some(&Payload(1)));
        assert_eq!(drops.load(SeqCst), 1);
    });
}
