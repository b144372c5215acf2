//! I6: no timer fires early, and all fire: by the real clock and by a paused one.
//!
//! Mutations that these tests are for: a deadline rounded down to a tick; a level of the wheel that is emptied one slot
//! early, or skipped; a shard that is never looked at; a timer set while the driver sleeps for longer that does not
//! wake it.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;
use rt::time::{Instant, sleep, sleep_until, timeout};
use rt_test_util::*;

#[test]
fn i6_of_ten_thousand_random_timers_none_fires_early() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let mut random = Random::new(6);
            let tasks: Vec<_> = (0..10_000)
                .map(|_| {
                    // Micro-seconds: most deadlines lie between two ticks.
                    let wait = Duration::from_micros(random.below(60_000));
                    rt::spawn(async move {
                        let start = std::time::Instant::now();
                        let deadline = Instant::now() + wait;
                        sleep(wait).await;
                        assert!(start.elapsed() >= wait, "{:?} too early", wait - start.elapsed());
                        sleep_until(deadline).await;
                        assert!(Instant::now() >= deadline);
                    })
                })
                .collect();
            for task in tasks {
                task.await.unwrap();
            }
        });
        let drivers = runtime.handle().metrics().drivers();
        assert_eq!(drivers.timers_fired, drivers.timers_set);
    });
}

#[test]
fn i6_by_a_paused_clock_timers_fire_in_order_each_at_its_own_tick() {
    let _watchdog = watchdog();
    let runtime = rt::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let (start, fired) = (Instant::now(), Arc::new(Mutex::new(Vec::new())));
        let mut random = Random::new(7);
        let tasks: Vec<_> = (0..10_000)
            .map(|n| {
                // From a millisecond to some years: every level of the wheel, and beyond.
                let wait = Duration::from_millis(1 + random.below(1 << (n % 38)));
                let fired = fired.clone();
                rt::spawn(async move {
                    sleep(wait).await;
                    let late = Instant::now() - start - wait;
                    assert!(late < Duration::from_millis(2), "{wait:?} fired {late:?} late");
                    fired.lock().push(wait);
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        let fired = fired.lock();
        assert_eq!(fired.len(), 10_000);
        assert!(fired.is_sorted(), "in the order of their deadlines");
    });
}

#[test]
fn i6_an_idle_runtime_fires_a_timer_that_is_set_from_outside() {
    let _watchdog = watchdog();
    for workers in [1, 4] {
        let runtime = multi(workers);
        // A driver that sleeps for an hour has to be told of each of these.
        runtime.spawn(sleep_for(Duration::from_secs(3600)));
        for wait in [5, 3, 1, 4] {
            let task = runtime.spawn(sleep_for(Duration::from_millis(wait)));
            eventually(|| task.is_finished());
        }
        // And of those that a thread of its own polls.
        let handle = runtime.handle().clone();
        thread::spawn(move || handle.block_on(sleep_for(Duration::from_millis(2)))).join().unwrap();
    }
}

async fn sleep_for(wait: Duration) {
    sleep(wait).await;
}

#[test]
fn i6_timers_fire_on_a_foreign_executor() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        if runtime.handle().metrics().num_workers() == 1 && runtime.handle().metrics().worker(1).is_none() {
            // Somebody has to drive a current-thread runtime; the multi-thread one of one worker does by itself.
            if runtime.handle().runtime_flavor() == rt::runtime::RuntimeFlavor::CurrentThread {
                return;
            }
        }
        let timer = {
            let _guard = runtime.enter();
            sleep(Duration::from_millis(3))
        };
        // `futures_lite` knows nothing of rt.
        futures_lite::future::block_on(timer);
    });
}

#[test]
fn i6_a_timer_set_earlier_than_all_others_ends_the_drivers_wait() {
    let _watchdog = watchdog();
    let runtime = multi(2);
    let order = runtime.block_on(async {
        let order = Arc::new(Mutex::new(Vec::new()));
        let mut tasks = Vec::new();
        for wait in [40u64, 20, 10, 5, 1] {
            let order = order.clone();
            tasks.push(rt::spawn(async move {
                sleep(Duration::from_millis(wait)).await;
                order.lock().push(wait);
            }));
            rt::task::yield_now().await;
        }
        for task in tasks {
            task.await.unwrap();
        }
        order.lock().clone()
    });
    assert_eq!(order.len(), 5);
}

#[test]
fn i6_a_timeout_is_never_early_and_gives_what_was_ready_first() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let start = std::time::Instant::now();
            let limit = Duration::from_micros(2_300);
            assert!(timeout(limit, std::future::pending::<()>()).await.is_err());
            assert!(start.elapsed() >= limit);
            assert_eq!(timeout(Duration::ZERO, async { 1 }).await, Ok(1), "the future goes first");
            assert_eq!(timeout(Duration::MAX, sleep_for(Duration::from_millis(1))).await, Ok(()));
            assert!(timeout(Duration::from_millis(1), sleep_for(Duration::from_secs(3600))).await.is_err());
        });
    });
}
