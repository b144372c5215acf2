//! The public functions on real schedulers, with nothing but timers to wait for.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicBool;

use runtime_core::driver::{DriverStack, ThreadDriver};
use runtime_core::runtime::{Config, Flavor, Handle, control};
use runtime_core::{spawn, spawn_blocking, task};

use super::*;
use crate::{advance, interval, pause, resume, sleep, sleep_until, timeout, timeout_at};

pub(super) const HOUR: Duration = Duration::from_secs(3600);

/// A runtime as the facade makes them, less the sockets.
pub(super) struct Runtime(pub(super) Handle);

impl Runtime {
    fn from_parts(config: &Config, clock: Arc<Clock>, stack: DriverStack) -> Self {
        Self(control::start(config, clock, stack).unwrap())
    }

    pub(super) fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.0.block_on(future)
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        control::close(&self.0);
        control::wait_closed(&self.0, None);
    }
}

pub(super) fn runtime(flavor: Flavor) -> Runtime {
    let mut config = Config::new(flavor);
    config.worker_threads = 2;
    config.processors = 2;
    let (inner, clock) = (ThreadDriver::new(), Arc::new(Clock::new()));
    let unpark = inner.unpark();
    let (driver, handle) = Driver::new(Box::new(inner), unpark, clock.clone(), config.slots());
    let unpark = handle.unpark_handle();
    let stack = DriverStack { driver: Box::new(driver), unpark, io: None, time: Some(Box::new(handle)) };
    Runtime::from_parts(&config, clock, stack)
}

fn on_current_thread<F: Future>(future: F) -> F::Output {
    runtime(Flavor::CurrentThread).block_on(future)
}

fn panic_text(f: impl FnOnce()) -> String {
    let panic = catch_unwind(AssertUnwindSafe(f)).unwrap_err();
    panic.downcast_ref::<String>().cloned().or_else(|| panic.downcast_ref::<&str>().map(|s| s.to_string())).unwrap()
}

#[test]
fn sleeps_on_both_schedulers() {
    for flavor in [Flavor::CurrentThread, Flavor::MultiThread] {
        runtime(flavor).block_on(async {
            let start = Instant::now();
            let tasks: Vec<_> = (0..200)
                .map(|i| {
                    spawn(async move {
                        for _ in 0..5 {
                            let deadline = Instant::now() + (1 + i % 3) * MS;
                            sleep_until(deadline).await;
                            assert!(Instant::now() >= deadline, "early");
                        }
                    })
                })
                .collect();
            for task in tasks {
                task.await.unwrap();
            }
            assert!(start.elapsed() >= 15 * MS);
            sleep(Duration::ZERO).await;
            assert!(timeout(MS, sleep(HOUR)).await.is_err());
            assert!(timeout_at(Instant::now() + HOUR, sleep(MS)).await.is_ok());
            assert_eq!(timeout(Duration::MAX, async { 7 }).await, Ok(7));
        });
    }
}

#[test]
fn a_future_that_spends_the_budget_still_times_out() {
    /// Ready sleeps without end, so that every poll ends because the budget does.
    async fn greedy() {
        loop {
            sleep(Duration::ZERO).await;
        }
    }
    for flavor in [Flavor::CurrentThread, Flavor::MultiThread] {
        let task = async { timeout(5 * MS, greedy()).await };
        assert!(runtime(flavor).block_on(async { spawn(task).await.unwrap() }).is_err());
    }
}

#[test]
fn ready_sleeps_do_not_starve_others() {
    on_current_thread(async {
        let stop = Arc::new(AtomicBool::new(false));
        let other = stop.clone();
        let greedy = spawn(async move {
            while !other.load(Ordering::Relaxed) {
                sleep(Duration::ZERO).await;
            }
        });
        spawn(async move { stop.store(true, Ordering::Relaxed) }).await.unwrap();
        greedy.await.unwrap();
    });
}

#[test]
fn a_paused_clock_runs_through_sleeps_in_no_time() {
    let real = Clock::real();
    on_current_thread(async {
        pause();
        let start = Instant::now();
        let order = Arc::new(Mutex::new(Vec::new()));
        let tasks: Vec<_> = [3, 1, 2]
            .map(|hours| {
                let order = order.clone();
                spawn(async move {
                    sleep(hours * HOUR).await;
                    order.lock().push(hours);
                })
            })
            .into();
        assert!(timeout(HOUR / 2, std::future::pending::<()>()).await.is_err());
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(*order.lock(), [1, 2, 3]);
        assert_eq!(start.elapsed(), 3 * HOUR);
        let mut interval = interval(HOUR);
        for i in 0..10 {
            assert_eq!(interval.tick().await, start + (3 + i) * HOUR);
        }
        resume();
        let resumed = Instant::now();
        sleep(2 * MS).await;
        assert!(resumed.elapsed() < HOUR);
    });
    assert!(real.elapsed() < HOUR);
}

#[test]
fn advance_moves_by_just_so_much_and_lets_all_others_run() {
    on_current_thread(async {
        pause();
        let start = Instant::now();
        let done = Arc::new(AtomicUsize::new(0));
        for i in 0..10 {
            let done = done.clone();
            spawn(async move {
                sleep((100 + i) * MS).await;
                task::yield_now().await;
                done.fetch_add(1, Ordering::Relaxed);
            });
        }
        let mut early = std::pin::pin!(sleep(105 * MS));
        task::yield_now().await;
        advance(Duration::ZERO).await;
        assert_eq!(Instant::now(), start);
        advance(99 * MS).await;
        assert_eq!((done.load(Ordering::Relaxed), start.elapsed()), (0, 99 * MS));
        advance(6 * MS).await;
        assert_eq!(done.load(Ordering::Relaxed), 6);
        assert!(poll(early.as_mut(), Waker::noop()).is_ready());
        advance(50 * MS).await;
        assert_eq!((done.load(Ordering::Relaxed), start.elapsed()), (10, 155 * MS));
    });
}

#[test]
fn advance_lets_many_others_run() {
    on_current_thread(async {
        pause();
        let done = Arc::new(AtomicUsize::new(0));
        for _ in 0..100 {
            let done = done.clone();
            spawn(async move {
                sleep(MS).await;
                task::yield_now().await;
                done.fetch_add(1, Ordering::Relaxed);
            });
        }
        // They begin to sleep.
        advance(Duration::ZERO).await;
        advance(MS).await;
        assert_eq!(done.load(Ordering::Relaxed), 100);
    });
}

#[test]
fn advance_goes_on_although_a_task_never_waits() {
    on_current_thread(async {
        pause();
        let start = Instant::now();
        let busy = spawn(async {
            loop {
                task::yield_now().await;
            }
        });
        advance(HOUR).await;
        assert_eq!(start.elapsed(), HOUR);
        busy.abort();
    });
}

#[test]
fn a_paused_clock_waits_for_blocking_work() {
    on_current_thread(async {
        pause();
        let start = Instant::now();
        let blocking = spawn_blocking(|| {
            let real = Clock::real();
            while real.elapsed() < 5 * MS {
                std::thread::yield_now();
            }
        });
        assert!(timeout(HOUR, blocking).await.is_ok());
        assert_eq!(Instant::now(), start);
    });
}

#[test]
fn a_paused_clock_goes_on_after_blocking_work_that_nobody_waits_for() {
    on_current_thread(async {
        pause();
        let start = Instant::now();
        drop(spawn_blocking(|| ()));
        sleep(HOUR).await;
        assert_eq!(start.elapsed(), HOUR);
    });
}

#[test]
fn misuse_says_what_is_wrong() {
    assert!(panic_text(|| drop(sleep(MS))).contains("runtime"));
    assert!(panic_text(pause).contains("runtime"));
    assert!(panic_text(|| drop(interval(Duration::ZERO))).contains("zero"));
    on_current_thread(async {
        assert!(panic_text(resume).contains("not paused"));
        let mut advance = std::pin::pin!(advance(MS));
        assert!(panic_text(|| assert!(poll(advance.as_mut(), Waker::noop()).is_pending())).contains("not paused"));
        pause();
        assert!(panic_text(pause).contains("paused already"));
    });
    runtime(Flavor::MultiThread).block_on(async {
        assert!(panic_text(pause).contains("current-thread"));
    });
    let bare = Runtime::from_parts(&Config::new(Flavor::CurrentThread), Arc::new(Clock::new()), DriverStack::bare());
    bare.block_on(async {
        assert!(panic_text(|| drop(sleep(MS))).contains("timer"));
    });
}

#[test]
fn a_sleep_outlives_its_runtime() {
    for flavor in [Flavor::CurrentThread, Flavor::MultiThread] {
        let (woken, waker) = Woken::new();
        let (sent, received) = std::sync::mpsc::channel();
        let runtime = runtime(flavor);
        runtime.block_on(async move {
            spawn(async move {
                let mut sleep = Box::pin(sleep(HOUR));
                assert!(poll(sleep.as_mut(), &waker).is_pending());
                sent.send(sleep).unwrap();
            })
            .await
            .unwrap();
        });
        let mut sleep = received.recv().unwrap();
        drop(runtime);
        assert_eq!(woken.count(), 1);
        assert!(panic_text(|| assert!(poll(sleep.as_mut(), Waker::noop()).is_pending())).contains("shut down"));
        drop(sleep);
    }
}
