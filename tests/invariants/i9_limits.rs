//! I9: what runs out is an error to the caller that met it, and the runtime goes on. And: a configuration that cannot
//! be is refused at once, in words.
//!
//! Mutations that these tests are for: a pool that starts a thread beyond its limit; a failed thread start that leaves
//! its job, or its count, behind (a hang); a panic instead of an error, or without a message.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use rt::runtime::Builder;
use rt_test_util::*;

#[test]
fn i9_blocking_jobs_beyond_the_limit_queue() {
    let _watchdog = watchdog();
    for limit in [1, 3] {
        let runtime = Builder::new_multi_thread().worker_threads(1).max_blocking_threads(limit).build().unwrap();
        let metrics = runtime.handle().metrics();
        let gate = Gate::new();
        let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let jobs: Vec<_> = (0..20)
            .map(|n| {
                let (gate, running, most) = (gate.clone(), running.clone(), most.clone());
                runtime.spawn_blocking(move || {
                    most.fetch_max(running.fetch_add(1, SeqCst) + 1, SeqCst);
                    gate.pass();
                    running.fetch_sub(1, SeqCst);
                    n
                })
            })
            .collect();
        gate.wait_for(limit);
        assert_eq!((metrics.num_blocking_threads(), metrics.num_idle_blocking_threads()), (limit, 0));
        assert_eq!(metrics.blocking_queue_depth(), 20 - limit);
        gate.open();
        runtime.block_on(async {
            for (n, job) in jobs.into_iter().enumerate() {
                assert_eq!(job.await.unwrap(), n);
            }
        });
        assert_eq!(most.load(SeqCst), limit);
        eventually(|| metrics.num_idle_blocking_threads() == limit);
        assert_eq!(metrics.blocking_queue_depth(), 0);
    }
}

#[test]
fn i9_idle_blocking_threads_end_and_new_ones_are_started() {
    let _watchdog = watchdog();
    // No time to wait for work: each thread is on its way out whenever a job comes.
    let runtime = Builder::new_multi_thread().worker_threads(1).thread_keep_alive(Duration::ZERO).build().unwrap();
    runtime.block_on(async {
        for n in 0..300 {
            assert_eq!(rt::spawn_blocking(move || n).await.unwrap(), n);
            let pair = (rt::spawn_blocking(|| 1), rt::spawn_blocking(|| 2));
            assert_eq!((pair.0.await.unwrap(), pair.1.await.unwrap()), (1, 2));
        }
    });
    eventually(|| runtime.handle().metrics().num_blocking_threads() == 0);
}

#[test]
fn i9_a_worker_thread_that_cannot_start_is_an_error() {
    let _watchdog = watchdog();
    let error = Builder::new_multi_thread()
        .worker_threads(2)
        .thread_stack_size(IMPOSSIBLE_STACK)
        .enable_all()
        .build()
        .unwrap_err();
    assert!(error.raw_os_error().is_some(), "{error}");
}

#[test]
fn i9_a_blocking_thread_that_cannot_start_cancels_its_job_and_the_runtime_goes_on() {
    let _watchdog = watchdog();
    let runtime = Builder::new_current_thread().thread_stack_size(IMPOSSIBLE_STACK).enable_all().build().unwrap();
    let drops = Drops::new();
    runtime.block_on(async {
        for _ in 0..3 {
            let token = drops.token();
            let error = rt::spawn_blocking(move || drop(token)).await.unwrap_err();
            assert!(error.is_cancelled());
        }
        rt::spawn(rt::time::sleep(Duration::from_millis(1))).await.unwrap();
    });
    drops.assert_all();
    assert_eq!(runtime.handle().metrics().num_blocking_threads(), 0);
}

#[test]
fn i9_a_thread_name_that_cannot_be_made_leaves_no_hang() {
    let _watchdog = watchdog();
    let runtime = Builder::new_current_thread().thread_name_fn(|| panic!("no name")).build().unwrap();
    let spawned = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| runtime.spawn_blocking(|| ())));
    // Whether the caller meets the panic or the job runs on a thread without a name: the end must come.
    drop(spawned);
    drop(runtime);
}

#[test]
fn i9_impossible_configurations_panic_at_the_caller_in_words() {
    type Misuse = fn(&mut Builder) -> &mut Builder;
    let misuses: [(Misuse, &str); 8] = [
        (|b| b.worker_threads(0), "at least one worker thread"),
        (|b| b.worker_threads(65_001), "at most 65000 worker threads, not 65001"),
        (|b| b.max_blocking_threads(0), "at least one thread"),
        (|b| b.global_queue_interval(0), "above zero"),
        (|b| b.event_interval(0), "above zero"),
        (|b| b.coop_budget(0), "budget of zero"),
        (|b| b.max_io_events_per_tick(0), "at least one event"),
        (|b| b.thread_name("a\0b"), "zero byte"),
    ];
    for (misuse, message) in misuses {
        let caught = catch(|| drop(misuse(&mut Builder::new_multi_thread()).build()));
        assert!(caught.message.contains(message), "{caught:?}");
        assert!(caught.file.ends_with("i9_limits.rs"), "{caught:?}");
    }
    let caught = catch(|| drop(Builder::new_multi_thread().build_local(Default::default())));
    assert!(caught.message.contains("new_current_thread") && caught.file.ends_with("i9_limits.rs"), "{caught:?}");
}

#[test]
fn i9_a_paused_clock_where_none_can_be_is_an_error() {
    let error = Builder::new_multi_thread().enable_all().start_paused(true).build().unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
    assert!(error.to_string().contains("only a current-thread runtime"), "{error}");
}

/// Not a test by itself: what the next one runs in a process of its own, where the environment says something else.
#[test]
fn build_with_the_environment_given() {
    if std::env::var_os("RT_TEST_CHILD").is_none() {
        return;
    }
    match Builder::new_multi_thread().build() {
        Ok(runtime) => println!("workers: {}", runtime.handle().metrics().num_workers()),
        Err(error) => println!("error: {error}"),
    }
}

fn build_with_variables(variables: &[(&str, &str)]) -> String {
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "i9_limits::build_with_the_environment_given", "--nocapture"])
        .env("RT_TEST_CHILD", "1")
        .env_remove("RT_WORKER_THREADS")
        .env_remove("TOKIO_WORKER_THREADS")
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{variables:?}: {text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

fn build_with_worker_threads_variable(value: &str) -> String {
    build_with_variables(&[("RT_WORKER_THREADS", value)])
}

#[test]
fn i9_the_environment_variable_sets_the_workers_or_is_an_error() {
    let _watchdog = watchdog();
    assert!(build_with_worker_threads_variable("3").contains("workers: 3"));
    assert!(build_with_worker_threads_variable(" 5 ").contains("workers: 5"));
    for value in ["0", "-1", "many", "", "99999999999999999999"] {
        let text = build_with_worker_threads_variable(value);
        assert!(text.contains("error: RT_WORKER_THREADS must be a number from 1 to 65000"), "{value}: {text}");
    }
}

#[test]
fn i9_tokios_environment_variable_counts_unless_there_is_rts_own() {
    let _watchdog = watchdog();
    assert!(build_with_variables(&[("TOKIO_WORKER_THREADS", "3")]).contains("workers: 3"));
    let both = [("TOKIO_WORKER_THREADS", "many"), ("RT_WORKER_THREADS", "5")];
    assert!(build_with_variables(&both).contains("workers: 5"));
    let text = build_with_variables(&both[..1]);
    assert!(text.contains("error: TOKIO_WORKER_THREADS must be a number from 1 to 65000"), "{text}");
}

#[test]
fn i9_more_workers_in_the_environment_than_there_can_be_is_an_error_too() {
    let _watchdog = watchdog();
    let text = build_with_worker_threads_variable("70000");
    assert!(text.contains("error: "), "{text}");
}
