//! Timers that are reset, moved between tasks, and dropped before their time.
//!
//! Mutations that these tests are for: an entry that stays in the wheel when its `Sleep` is dropped (a use after free,
//! a wake out of nowhere); a reset that leaves it in its old place; a waker that is not exchanged when another task
//! polls.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use parking_lot::Mutex;
use rt::time::{Instant, Sleep, sleep, sleep_until, timeout};
use rt_test_util::*;

const fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

#[test]
fn a_dropped_timer_wakes_nobody() {
    let _watchdog = watchdog();
    let runtime = rt::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let wakes = Arc::<Wakes>::default();
        let waker = Waker::from(wakes.clone());
        let mut sleeps: Vec<_> = (1..=100).map(|n| Box::pin(sleep(ms(n)))).collect();
        for sleep in &mut sleeps {
            assert!(sleep.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        }
        let mut n = 0;
        sleeps.retain(|_| {
            n += 1;
            n % 3 == 0
        });
        rt::time::advance(ms(200)).await;
        assert_eq!(wakes.count(), 33);
        assert!(sleeps.iter().all(|sleep| sleep.is_elapsed()));
    });
    let drivers = runtime.handle().metrics().drivers();
    assert_eq!((drivers.timers_set, drivers.timers_fired, drivers.timers_cancelled), (100, 33, 67));
}

#[test]
fn a_reset_timer_wakes_at_its_new_time_only() {
    let _watchdog = watchdog();
    let runtime = rt::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let wakes = Arc::<Wakes>::default();
        let waker = Waker::from(wakes.clone());
        let poll = |sleep: Pin<&mut Sleep>| sleep.poll(&mut Context::from_waker(&waker));
        let start = Instant::now();
        let mut sleep = Box::pin(sleep(ms(10)));
        assert!(poll(sleep.as_mut()).is_pending());
        sleep.as_mut().reset(start + ms(30));
        rt::time::advance(ms(29)).await;
        assert_eq!(wakes.count(), 0);
        rt::time::advance(ms(1)).await;
        assert_eq!((wakes.count(), poll(sleep.as_mut())), (1, Poll::Ready(())));
        // To an earlier time, and again after it has fired.
        sleep.as_mut().reset(start + ms(1000));
        assert!(!sleep.is_elapsed() && poll(sleep.as_mut()).is_pending());
        sleep.as_mut().reset(start + ms(40));
        assert_eq!(sleep.deadline(), start + ms(40));
        rt::time::advance(ms(10)).await;
        assert_eq!((wakes.count(), poll(sleep.as_mut())), (2, Poll::Ready(())));
        // To the past.
        sleep.as_mut().reset(start);
        assert_eq!(poll(sleep.as_mut()), Poll::Ready(()));
    });
}

#[test]
fn timers_are_set_reset_and_dropped_from_many_tasks_at_once() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let tasks: Vec<_> = (0..50)
                .map(|seed| {
                    rt::spawn(async move {
                        let mut random = Random::new(seed);
                        for _ in 0..60 {
                            let (first, second) = (random.below(3000), random.below(3000));
                            let mut sleep = Box::pin(sleep(Duration::from_micros(first)));
                            match random.below(4) {
                                0 => sleep.as_mut().await,
                                1 => drop(poll_once(sleep.as_mut()).await),
                                2 => {
                                    let _ = poll_once(sleep.as_mut()).await;
                                    let deadline = Instant::now() + Duration::from_micros(second);
                                    sleep.as_mut().reset(deadline);
                                    sleep.as_mut().await;
                                    assert!(Instant::now() >= deadline);
                                }
                                _ => drop(timeout(Duration::from_micros(second), sleep.as_mut()).await),
                            }
                        }
                    })
                })
                .collect();
            for task in tasks {
                task.await.unwrap();
            }
        });
        let drivers = runtime.handle().metrics().drivers();
        assert!(drivers.timers_set >= drivers.timers_fired);
    });
}

#[test]
fn a_timer_moved_to_another_task_wakes_that_one() {
    let _watchdog = watchdog();
    for runtime in [current(), multi(2)] {
        runtime.block_on(async {
            for _ in 0..20 {
                let [sleep] = rt::spawn(async {
                    let mut sleep = Box::pin(sleep(ms(3)));
                    let _ = poll_once(sleep.as_mut()).await;
                    [sleep]
                })
                .await
                .unwrap();
                // It is in the wheel, with the waker of a task that is no more.
                rt::spawn(sleep).await.unwrap();
            }
        });
    }
}

#[test]
fn a_timer_dropped_by_another_thread_while_it_fires_does_no_harm() {
    let _watchdog = watchdog();
    let runtime = multi(2);
    for round in 0..200u64 {
        let kept = Arc::new(Mutex::new(Vec::new()));
        let keep = kept.clone();
        runtime.block_on(async {
            rt::spawn(async move {
                for n in 0..20 {
                    let mut sleep = Box::pin(sleep_until(Instant::now() + Duration::from_micros(500 + 10 * n)));
                    let _ = poll_once(sleep.as_mut()).await;
                    keep.lock().push(sleep);
                }
            })
            .await
            .unwrap();
        });
        // About when they fire; some before, some while, some after.
        let until = std::time::Instant::now() + Duration::from_micros(400 + 10 * (round % 100));
        eventually(|| std::time::Instant::now() >= until);
        std::mem::take(&mut *kept.lock()).into_iter().for_each(drop);
    }
    let drivers = runtime.handle().metrics().drivers();
    assert_eq!(drivers.timers_set, drivers.timers_fired + drivers.timers_cancelled);
}

#[test]
fn an_aborted_sleeper_leaves_no_timer_behind() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let tasks: Vec<_> = (0..100).map(|_| rt::spawn(sleep(Duration::from_secs(3600)))).collect();
            while runtime.handle().metrics().drivers().timers_set < 100 {
                rt::task::yield_now().await;
            }
            for task in tasks {
                task.abort();
                assert!(task.await.unwrap_err().is_cancelled());
            }
        });
        assert_eq!(runtime.handle().metrics().drivers().timers_cancelled, 100);
    });
}
