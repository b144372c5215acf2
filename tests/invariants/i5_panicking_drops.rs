//! I5 with futures and outputs that panic when they are dropped: each is dropped once all the same, the panic stays
//! with its task, and the runtime goes on.
//!
//! Mutations that these tests are for: a drop outside of `catch_unwind` (the worker dies, or the shutdown stops half
//! way); a stage that is not cleared before the panic is passed on (dropped again).

use std::future::pending;

use rt::task::JoinHandle;
use rt_test_util::*;

#[test]
fn i5_a_future_that_panics_when_aborted_is_dropped_once_and_its_joiner_told() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let drops = Drops::new();
        let tasks: Vec<JoinHandle<()>> = (0..20)
            .map(|_| {
                let bomb = Bomb::new(&drops);
                runtime.spawn(async move {
                    let _bomb = bomb;
                    pending().await
                })
            })
            .collect();
        runtime.block_on(async {
            for task in tasks {
                task.abort();
                let error = task.await.unwrap_err();
                assert!(error.is_panic());
                assert_eq!(message_of(&*error.into_panic()), "a blast");
            }
        });
        assert_eq!(drops.count(), 20);
        assert_unhurt(&runtime);
    });
}

/// Not dropped by its own poll: by the runtime, after the poll that gave the output, which may be a bomb as well.
struct ReadyBomb(#[allow(dead_code)] Bomb, Option<Bomb>);

impl Future for ReadyBomb {
    type Output = Option<Bomb>;

    fn poll(mut self: std::pin::Pin<&mut Self>, _: &mut std::task::Context<'_>) -> std::task::Poll<Option<Bomb>> {
        std::task::Poll::Ready(self.1.take())
    }
}

#[test]
fn i5_a_future_that_panics_when_dropped_after_its_last_poll_is_a_panic_of_the_task() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let drops = Drops::new();
        for _ in 0..20 {
            let task = runtime.spawn(ReadyBomb(Bomb::new(&drops), None));
            let error = runtime.block_on(task).expect_err("a task that has panicked has no output");
            assert_eq!(message_of(&*error.into_panic()), "a blast");
        }
        assert_eq!(drops.count(), 20);
        assert_unhurt(&runtime);
    });
}

#[test]
fn i5_a_future_and_its_output_that_panic_when_dropped_are_dropped_once_each() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let drops = Drops::new();
        for _ in 0..20 {
            let task = runtime.spawn(ReadyBomb(Bomb::new(&drops), Some(Bomb::new(&drops))));
            assert!(runtime.block_on(task).is_err_and(|error| error.is_panic()));
            drop(runtime.spawn(ReadyBomb(Bomb::new(&drops), Some(Bomb::new(&drops)))));
        }
        runtime.block_on(async {
            while drops.count() < 80 {
                rt::task::yield_now().await;
            }
        });
        drops.assert_all();
        assert_unhurt(&runtime);
    });
}

#[test]
fn i5_a_future_that_panics_in_its_poll_and_in_its_drop_is_dropped_once() {
    let _watchdog = watchdog();
    struct Both(#[allow(dead_code)] Bomb);
    impl Future for Both {
        type Output = ();
        fn poll(self: std::pin::Pin<&mut Self>, _: &mut std::task::Context<'_>) -> std::task::Poll<()> {
            panic!("polled a bomb");
        }
    }
    on_each_runtime(|runtime| {
        let drops = Drops::new();
        for _ in 0..20 {
            let error = runtime.block_on(runtime.spawn(Both(Bomb::new(&drops)))).unwrap_err();
            assert_eq!(message_of(&*error.into_panic()), "polled a bomb", "the first panic is the one to know of");
        }
        assert_eq!(drops.count(), 20);
        assert_unhurt(&runtime);
    });
}

#[test]
fn i5_an_output_that_panics_when_dropped_hurts_nobody() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let drops = Drops::new();
        // Detached: the runtime drops the output.
        for _ in 0..20 {
            let drops = drops.clone();
            drop(runtime.spawn(async move { Bomb::new(&drops) }));
        }
        runtime.block_on(async {
            while drops.count() < 20 {
                rt::task::yield_now().await;
            }
        });
        // Complete, and the handle dropped: that drops the output, and may panic here.
        for _ in 0..20 {
            let drops = drops.clone();
            let task = runtime.spawn(async move { Bomb::new(&drops) });
            runtime.block_on(async {
                while !task.is_finished() {
                    rt::task::yield_now().await;
                }
            });
            let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(task)));
        }
        assert_eq!(drops.count(), 40);
        assert_unhurt(&runtime);
    });
}

#[test]
fn i5_panicking_drops_do_not_stop_the_shutdown() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let drops = Drops::new();
        let mut tasks: Vec<JoinHandle<()>> = Vec::new();
        for n in 0..60 {
            let (bomb, plain) = (Bomb::new(&drops), drops.token());
            // Bombs and plain futures alternate, so that one left out after a bomb would be missed.
            tasks.push(runtime.spawn(async move {
                let _bomb = bomb;
                if n % 2 == 0 { pending().await } else { rt::time::sleep(std::time::Duration::MAX).await }
            }));
            tasks.push(runtime.spawn(async move {
                let _plain = plain;
                pending().await
            }));
        }
        runtime.block_on(async {
            for _ in 0..10 {
                rt::task::yield_now().await;
            }
        });
        drop(runtime);
        drops.assert_all();
        for (n, task) in tasks.into_iter().enumerate() {
            let error = current().block_on(task).unwrap_err();
            assert_eq!(error.is_panic(), n % 2 == 0, "task {n}: {error}");
        }
    });
}

#[test]
fn i5_a_payload_that_panics_when_dropped_hurts_nobody() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let drops = Drops::new();
        // Nobody takes the error, whose payload is a bomb: the runtime has to drop it.
        let made = drops.clone();
        drop(runtime.spawn(async move { std::panic::panic_any(Bomb::new(&made)) }));
        runtime.block_on(async {
            while drops.count() < 1 {
                rt::task::yield_now().await;
            }
        });
        assert_unhurt(&runtime);
    });
}

#[test]
fn i5_wakers_that_panic_hurt_nobody() {
    let _watchdog = watchdog();
    struct Panics;
    impl std::task::Wake for Panics {
        fn wake(self: std::sync::Arc<Self>) {
            panic!("woke a bomb");
        }
    }
    on_each_runtime(|runtime| {
        let end = Signal::new();
        let (inside, drops) = (end.clone(), Drops::new());
        let token = drops.token();
        let task = runtime.spawn(async move {
            let _token = token;
            inside.wait().await;
        });
        let waker = std::sync::Arc::new(Panics).into();
        let mut task = std::pin::pin!(task);
        assert!(task.as_mut().poll(&mut std::task::Context::from_waker(&waker)).is_pending());
        end.set();
        runtime.block_on(async {
            while !task.is_finished() {
                rt::task::yield_now().await;
            }
        });
        drops.assert_all();
        assert_unhurt(&runtime);
    });
}
