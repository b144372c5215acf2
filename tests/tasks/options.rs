//! Each option of the builder at its ends: it is refused in words, or the runtime works.
//!
//! Mutations that these tests are for: a sum or a product that overflows; memory asked for by an option; a limit of
//! zero that stops everything.

use std::thread;
use std::time::Duration;

use rt::io::{AsyncReadExt, AsyncWriteExt};
use rt::net::{TcpListener, TcpStream};
use rt::runtime::{Builder, RngSeed, Runtime, RuntimeFlavor};
use rt::time::Instant;
use rt_test_util::*;

const BUILDERS: [fn() -> Builder; 2] = [Builder::new_current_thread, Builder::new_multi_thread];

/// Uses a bit of everything, more often than any interval or budget has units.
fn use_it(runtime: &Runtime) {
    let is_multi = runtime.handle().runtime_flavor() == RuntimeFlavor::MultiThread;
    runtime.block_on(async {
        let tasks: Vec<_> = (0..300)
            .map(|n| {
                rt::spawn(async move {
                    for _ in 0..3 {
                        rt::task::yield_now().await;
                        rt::task::consume_budget().await;
                    }
                    rt::time::sleep(Duration::from_micros(100)).await;
                    n
                })
            })
            .collect();
        for (n, task) in tasks.into_iter().enumerate() {
            assert_eq!(task.await.unwrap(), n);
        }
        for n in 0..3 {
            assert_eq!(rt::spawn_blocking(move || n).await.unwrap(), n);
        }
        if is_multi {
            assert_eq!(rt::spawn(async { rt::task::block_in_place(|| 7) }).await.unwrap(), 7);
        }
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut clients = Vec::new();
        for byte in 0..10 {
            let mut client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
            let (mut server, _) = listener.accept().await.unwrap();
            clients.push(rt::spawn(async move {
                let mut bytes = [0];
                client.read_exact(&mut bytes).await.unwrap();
                assert_eq!(bytes, [byte]);
            }));
            server.write_all(&[byte]).await.unwrap();
        }
        for client in clients {
            client.await.unwrap();
        }
    });
}

/// Something blocks its worker for longer than the shortest threshold, while others wait.
fn block_it(runtime: &Runtime) {
    runtime.block_on(async {
        let blocked = rt::spawn(async { std::thread::sleep(Duration::from_millis(30)) });
        let others: Vec<_> = (0..10).map(|_| rt::spawn(rt::task::yield_now())).collect();
        for other in others {
            other.await.unwrap();
        }
        blocked.await.unwrap();
    });
}

/// A runtime with this option does all of what a runtime does, on each flavor.
#[track_caller]
fn works(option: impl Fn(&mut Builder) -> &mut Builder) {
    for new in BUILDERS {
        let mut builder = new();
        builder.worker_threads(2).enable_all().on_blocked(|_| ());
        let runtime = option(&mut builder).build().unwrap();
        use_it(&runtime);
        block_it(&runtime);
        drop(runtime);
    }
}

/// The option is refused at once, at the line of the caller.
#[track_caller]
fn is_refused(words: &str, option: impl Fn(&mut Builder) -> &mut Builder) {
    for new in BUILDERS {
        let mut builder = new();
        let caught = catch(|| _ = option(&mut builder));
        assert!(caught.message.contains(words), "{caught:?}");
        assert!(caught.file.ends_with("options.rs"), "{caught:?}");
    }
}

#[test]
fn worker_threads() {
    let _watchdog = watchdog();
    is_refused("at least one worker", |builder| builder.worker_threads(0));
    is_refused("at most 65000", |builder| builder.worker_threads(65_001));
    is_refused("at most 65000", |builder| builder.worker_threads(usize::MAX));
    works(|builder| builder.worker_threads(1));
}

#[test]
fn max_blocking_threads() {
    let _watchdog = watchdog();
    is_refused("at least one thread", |builder| builder.max_blocking_threads(0));
    works(|builder| builder.max_blocking_threads(1));
    works(|builder| builder.max_blocking_threads(usize::MAX));
}

#[test]
fn max_spare_workers() {
    let _watchdog = watchdog();
    works(|builder| builder.max_spare_workers(0));
    works(|builder| builder.max_spare_workers(1));
    works(|builder| builder.max_spare_workers(usize::MAX));
    works(|builder| builder.max_spare_workers(usize::MAX).worker_threads(1));
}

#[test]
fn thread_keep_alive() {
    let _watchdog = watchdog();
    works(|builder| builder.thread_keep_alive(Duration::ZERO));
    works(|builder| builder.thread_keep_alive(Duration::from_nanos(1)));
    works(|builder| builder.thread_keep_alive(Duration::MAX));
}

#[test]
fn thread_names() {
    let _watchdog = watchdog();
    is_refused("zero byte", |builder| builder.thread_name("a\0b"));
    works(|builder| builder.thread_name(""));
    works(|builder| builder.thread_name("é".repeat(1000)));
    works(|builder| builder.thread_name_fn(|| "a\0b".into()));
}

#[test]
fn thread_stack_size() {
    let _watchdog = watchdog();
    works(|builder| builder.thread_stack_size(0));
    works(|builder| builder.thread_stack_size(1));
    // Whatever the system says to the first thread. (That is the blocking pool's on a current-thread runtime.)
    for bytes in [usize::MAX, usize::MAX / 2, isize::MAX as usize, usize::MAX / 16] {
        let mut builder = Builder::new_multi_thread();
        assert!(builder.worker_threads(1).thread_stack_size(bytes).build().is_err());
        let runtime = Builder::new_current_thread().thread_stack_size(bytes).build().unwrap();
        assert!(runtime.block_on(runtime.spawn_blocking(|| ())).unwrap_err().is_cancelled());
    }
}

#[test]
fn rescue_and_threshold() {
    let _watchdog = watchdog();
    works(|builder| builder.rescue_blocked(false));
    works(|builder| builder.blocked_threshold(Duration::ZERO));
    works(|builder| builder.blocked_threshold(Duration::from_nanos(1)));
    works(|builder| builder.blocked_threshold(Duration::MAX));
}

#[test]
fn intervals() {
    let _watchdog = watchdog();
    is_refused("above zero", |builder| builder.global_queue_interval(0));
    is_refused("above zero", |builder| builder.event_interval(0));
    for ticks in [1, 2, u32::MAX - 1, u32::MAX] {
        works(|builder| builder.global_queue_interval(ticks));
        works(|builder| builder.event_interval(ticks));
    }
}

#[test]
fn coop_budget() {
    let _watchdog = watchdog();
    is_refused("budget of zero", |builder| builder.coop_budget(0));
    for operations in [1, 2, i32::MAX as u32, i32::MAX as u32 + 1, u32::MAX] {
        works(|builder| builder.coop_budget(operations));
    }
}

#[test]
fn max_io_events_per_tick() {
    let _watchdog = watchdog();
    is_refused("at least one event", |builder| builder.max_io_events_per_tick(0));
    for events in [1, 2, u32::MAX as usize, usize::MAX / 16, usize::MAX] {
        works(|builder| builder.max_io_events_per_tick(events));
    }
}

#[test]
fn max_io_events_per_busy_tick() {
    let _watchdog = watchdog();
    is_refused("at least one event", |builder| builder.max_io_events_per_busy_tick(0));
    for events in [1, 2, u32::MAX as usize, usize::MAX / 16, usize::MAX] {
        works(|builder| builder.max_io_events_per_busy_tick(events));
    }
}

#[test]
fn rng_seed() {
    let _watchdog = watchdog();
    works(|builder| builder.rng_seed(RngSeed::from_u64(0)));
    works(|builder| builder.rng_seed(RngSeed::from_u64(u64::MAX)));
    works(|builder| builder.rng_seed(RngSeed::from_bytes(b"")));
}

#[test]
fn start_paused() {
    let _watchdog = watchdog();
    works(|builder| builder.start_paused(false));
    let runtime = Builder::new_current_thread().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let start = Instant::now();
        thread::sleep(Duration::from_millis(2));
        assert_eq!(start.elapsed(), Duration::ZERO);
        rt::time::advance(Duration::from_secs(7)).await;
        assert_eq!(start.elapsed(), Duration::from_secs(7), "also without timers");
        rt::time::resume();
        rt::time::pause();
    });
    let error = Builder::new_multi_thread().enable_all().start_paused(true).build().unwrap_err();
    assert!(error.to_string().contains("only a current-thread runtime"), "{error:?}");
}

#[test]
fn all_of_them_at_their_smallest_and_at_their_largest() {
    let _watchdog = watchdog();
    works(|builder| {
        builder
            .worker_threads(1)
            .max_blocking_threads(1)
            .max_spare_workers(0)
            .thread_keep_alive(Duration::ZERO)
            .blocked_threshold(Duration::ZERO)
            .global_queue_interval(1)
            .event_interval(1)
            .coop_budget(1)
            .max_io_events_per_tick(1)
    });
    works(|builder| {
        builder
            .max_blocking_threads(usize::MAX)
            .max_spare_workers(usize::MAX)
            .thread_keep_alive(Duration::MAX)
            .blocked_threshold(Duration::MAX)
            .global_queue_interval(u32::MAX)
            .event_interval(u32::MAX)
            .coop_budget(u32::MAX)
            .max_io_events_per_tick(usize::MAX)
    });
}

#[test]
fn a_local_runtime_takes_the_same_options() {
    let _watchdog = watchdog();
    let caught = catch(|| _ = Builder::new_multi_thread().build_local(Default::default()));
    assert!(caught.message.contains("multi_thread is not supported for LocalRuntime"), "{caught:?}");
    assert!(caught.file.ends_with("options.rs"), "{caught:?}");
    let paused = Builder::new_current_thread().start_paused(true).build_local(Default::default()).unwrap();
    paused.block_on(async { assert!(catch(rt::time::pause).message.contains("paused already")) });
    let local = Builder::new_current_thread()
        .enable_all()
        .coop_budget(1)
        .event_interval(u32::MAX)
        .build_local(Default::default())
        .unwrap();
    local.block_on(async {
        rt::spawn_local(rt::task::consume_budget()).await.unwrap();
        rt::time::sleep(Duration::from_millis(1)).await;
    });
}
