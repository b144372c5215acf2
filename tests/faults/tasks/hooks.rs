//! Hooks that panic, each by itself: whatever a program hangs into the builder, the threads live on and end as they
//! should.
//!
//! Mutations that these tests are for: a hook outside of `catch_unwind`; a payload that is dropped outside of it; a
//! thread that is not counted off because its last hook panicked; a frame that drops what it removes outside of it, or
//! all at once.

use std::mem;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;

use rt::runtime::{Builder, Handle, TaskEventKind};
use rt_test_util::*;

/// Both kinds of runtime, with a hook of the caller's, which counts its calls and panics in each.
fn with_hook(mut hang: impl FnMut(&mut Builder, Arc<AtomicUsize>, Blast)) {
    for blast in Blast::ALL {
        for (workers, mut builder) in
            [0, 1, 3].map(|n| (n, if n == 0 { Builder::new_current_thread() } else { Builder::new_multi_thread() }))
        {
            if workers > 0 {
                builder.worker_threads(workers);
            }
            let calls = Arc::new(AtomicUsize::new(0));
            hang(&mut builder, calls.clone(), blast);
            let runtime = builder.enable_all().build().unwrap();
            for _ in 0..3 {
                assert_unhurt(&runtime);
            }
            let left = Drops::new();
            for _ in 0..10 {
                let token = left.token();
                runtime.spawn(async move {
                    let _token = token;
                    std::future::pending::<()>().await;
                });
            }
            drop(runtime);
            left.assert_all();
            assert!(calls.load(SeqCst) > 0, "the hook was never called");
        }
    }
}

#[test]
fn a_start_hook_that_panics_hurts_nobody() {
    let _watchdog = watchdog();
    with_hook(|builder, calls, blast| {
        builder.on_thread_start(move || {
            calls.fetch_add(1, SeqCst);
            blast.go_off()
        });
    });
}

#[test]
fn a_stop_hook_that_panics_hurts_nobody() {
    let _watchdog = watchdog();
    with_hook(|builder, calls, blast| {
        builder.on_thread_stop(move || {
            calls.fetch_add(1, SeqCst);
            blast.go_off()
        });
    });
}

#[test]
fn a_park_hook_that_panics_hurts_nobody() {
    let _watchdog = watchdog();
    with_hook(|builder, calls, blast| {
        builder.on_thread_park(move || {
            calls.fetch_add(1, SeqCst);
            blast.go_off()
        });
    });
}

#[test]
fn an_unpark_hook_that_panics_hurts_nobody() {
    let _watchdog = watchdog();
    with_hook(|builder, calls, blast| {
        builder.on_thread_unpark(move || {
            calls.fetch_add(1, SeqCst);
            blast.go_off()
        });
    });
}

#[test]
fn an_observer_that_panics_at_any_event_hurts_nobody() {
    let _watchdog = watchdog();
    for kind in [
        TaskEventKind::Spawned,
        TaskEventKind::Polled,
        TaskEventKind::Pending,
        TaskEventKind::Woken,
        TaskEventKind::Completed,
    ] {
        with_hook(|builder, calls, blast| {
            builder.on_task_event(move |event| {
                if event.kind == kind {
                    calls.fetch_add(1, SeqCst);
                    blast.go_off()
                }
            });
        });
    }
}

#[test]
fn a_thread_whose_namer_panics_has_a_name_of_the_runtimes() {
    let _watchdog = watchdog();
    for blast in Blast::ALL {
        let mut builder = Builder::new_multi_thread();
        let runtime = builder
            .rescue_blocked(false)
            .worker_threads(2)
            .thread_name_fn(move || blast.go_off())
            .enable_all()
            .build()
            .unwrap();
        assert_unhurt(&runtime);
        let name = || std::thread::current().name().map(str::to_owned);
        let (worker, blocking) = runtime.block_on(async {
            (rt::spawn(async move { name() }).await.unwrap(), rt::spawn_blocking(name).await.unwrap())
        });
        assert!(worker.unwrap().starts_with("rt-worker-"));
        assert!(blocking.unwrap().starts_with("rt-blocking-"));
    }
}

/// Runtimes that have been shut down, and of which nothing is left but these handles, and hooks that go off when they
/// are dropped.
fn ended_with_bombs(drops: &Drops, blast: Blast) -> [Handle; 2] {
    [(); 2].map(|()| {
        let bomb = Bomb::of(blast, drops);
        let hook = move || _ = &bomb;
        Builder::new_current_thread().on_thread_stop(hook).build().unwrap().handle().clone()
    })
}

/// Leaves the last counts of these runtimes to the end of the frame.
fn forget_guards(of: [Handle; 2]) {
    of.into_iter().for_each(|handle| mem::forget(handle.enter()));
}

#[test]
fn hooks_that_go_off_as_the_last_guard_is_removed_hurt_nobody() {
    let _watchdog = watchdog();
    for blast in Blast::ALL {
        for runtime in [current(), multi(1)] {
            let drops = Drops::new();
            let ended = ended_with_bombs(&drops, blast);
            let task = runtime.spawn(async move { forget_guards(ended) });
            runtime.block_on(task).unwrap();
            drops.assert_all();

            let ended = ended_with_bombs(&drops, blast);
            let job = runtime.spawn_blocking(move || forget_guards(ended));
            runtime.block_on(job).unwrap();
            drops.assert_all();

            let ended = ended_with_bombs(&drops, blast);
            runtime.block_on(async move { forget_guards(ended) });
            drops.assert_all();

            // While another panic is under way.
            let ended = ended_with_bombs(&drops, blast);
            assert!(survives(|| runtime.block_on(async move {
                forget_guards(ended);
                blast.go_off();
            })));
            drops.assert_all();
            assert_unhurt(&runtime);
        }
    }
}
