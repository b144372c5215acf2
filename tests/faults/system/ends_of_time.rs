//! Durations and points in time at both ends of what there is, by the real clock and by one that stands still: nothing,
//! the least, the most; long past, and never to come.
//!
//! Mutations that these tests are for: a sum of times that runs over (a panic, or a deadline in the past); a far
//! deadline that counts as a near one; a past one that is waited for; a clock that stands still and is waited for.

use std::future::pending;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use rt::runtime::{Builder, Runtime};
use rt::time::{
    Instant, MissedTickBehavior, Sleep, advance, interval, interval_at, sleep, sleep_until, timeout, timeout_at,
};
use rt_test_util::*;

const NANO: Duration = Duration::from_nanos(1);
const HOUR: Duration = Duration::from_secs(3600);

fn paused() -> Runtime {
    Builder::new_current_thread().enable_all().start_paused(true).build().unwrap()
}

/// The last point in time that the system's clock can express, to within a nanosecond.
fn last_instant() -> Instant {
    furthest(Instant::now(), Instant::checked_add)
}

/// And the first.
fn first_instant() -> Instant {
    furthest(Instant::now(), Instant::checked_sub)
}

fn furthest(mut from: Instant, go: impl Fn(&Instant, Duration) -> Option<Instant>) -> Instant {
    let mut step = Duration::MAX;
    while !step.is_zero() {
        match go(&from, step) {
            Some(further) => from = further,
            None => step /= 2,
        }
    }
    from
}

/// Sets a timer that is not due, lets all tasks have a turn, and checks that it is still not.
async fn assert_waits(mut sleep: std::pin::Pin<&mut Sleep>) {
    for _ in 0..10 {
        assert!(poll_once(sleep.as_mut()).await.is_pending());
        rt::task::yield_now().await;
    }
    assert!(!sleep.is_elapsed());
}

#[test]
fn what_is_over_already_is_ready_at_once_and_sets_no_timer() {
    let _watchdog = watchdog();
    let test = |runtime: Runtime| {
        runtime.block_on(async {
            // What is due within a tick, of 31.25 us, is due at its end.
            let a_tick_ago = Instant::now() - Duration::from_nanos(31_250);
            for past in [a_tick_ago, a_tick_ago - NANO, first_instant(), first_instant() + NANO] {
                assert!(poll_once(pin!(sleep_until(past))).await.is_ready());
                assert!(matches!(poll_once(pin!(timeout_at(past, pending::<()>()))).await, Poll::Ready(Err(_))));
                assert_eq!(poll_once(pin!(timeout_at(past, async { 1 }))).await, Poll::Ready(Ok(1)));
                let mut far = pin!(sleep(HOUR));
                far.as_mut().reset(past);
                assert!(poll_once(far).await.is_ready());
            }
        });
        assert_eq!(runtime.metrics().drivers().timers_set, 0);
        runtime.block_on(async {
            sleep(Duration::ZERO).await;
            assert!(timeout(Duration::ZERO, pending::<()>()).await.is_err());
        });
    };
    on_each_runtime(test);
    test(paused());
}

#[test]
fn a_nanosecond_is_waited_for_and_is_never_over_too_early() {
    let _watchdog = watchdog();
    let test = |runtime: Runtime| {
        runtime.block_on(async {
            for _ in 0..50 {
                let start = Instant::now();
                sleep(NANO).await;
                assert!(start.elapsed() >= NANO);
                assert!(timeout(NANO, pending::<()>()).await.is_err());
                assert!(start.elapsed() >= 2 * NANO);
                let mut sleep = pin!(sleep_until(start));
                let soon = Instant::now() + NANO;
                sleep.as_mut().reset(soon);
                sleep.await;
                assert!(Instant::now() >= soon);
            }
        });
    };
    on_each_runtime(test);
    test(paused());
}

#[test]
fn what_never_comes_is_waited_for_without_harm_and_can_be_put_forward() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let last = last_instant();
            let years = Instant::now() + 24 * 365 * HOUR;
            for far in [sleep(Duration::MAX), sleep_until(last), sleep_until(last - NANO), sleep_until(years)] {
                let mut far = pin!(far);
                assert!(far.deadline() >= years);
                assert_waits(far.as_mut()).await;
                // From one end to the other, and back to where something happens.
                far.as_mut().reset(last);
                assert_waits(far.as_mut()).await;
                far.as_mut().reset(Instant::now());
                far.as_mut().await;
                far.as_mut().reset(last);
                assert_waits(far.as_mut()).await;
                let soon = Instant::now() + Duration::from_millis(1);
                far.as_mut().reset(soon);
                far.as_mut().await;
                assert!(Instant::now() >= soon);
            }
            // Beside those that are due earlier, in tasks, as limits of what is ready sooner; and dropped while set.
            let waiting: Vec<_> = (0..10).map(|_| rt::spawn(sleep_until(last))).collect();
            assert_eq!(timeout(Duration::MAX, sleep(Duration::from_millis(2))).await, Ok(()));
            assert_eq!(timeout_at(last, sleep(Duration::from_millis(2))).await, Ok(()));
            assert!(timeout(Duration::from_millis(2), sleep(Duration::MAX)).await.is_err());
            for task in waiting {
                assert!(!task.is_finished());
                task.abort();
                assert!(task.await.unwrap_err().is_cancelled());
            }
        });
    });
}

#[test]
fn intervals_of_the_shortest_and_of_the_longest_period_tick_at_their_times() {
    let _watchdog = watchdog();
    let test = |runtime: Runtime| {
        runtime.block_on(async {
            let start = Instant::now();
            let mut shortest = interval_at(start + NANO, NANO);
            for n in 1..=10_000 {
                assert_eq!(shortest.tick().await, start + NANO * n);
                assert!(Instant::now() >= start + NANO * n);
            }
            let now = Instant::now();
            let mut longest = interval(Duration::MAX);
            assert!(longest.tick().await >= now);
            for _ in 0..3 {
                assert!(poll_once(pin!(longest.tick())).await.is_pending());
                rt::task::yield_now().await;
            }
            longest.reset_immediately();
            longest.tick().await;
            longest.reset_after(NANO);
            longest.tick().await;
            longest.reset_at(last_instant());
            assert!(poll_once(pin!(longest.tick())).await.is_pending());
            longest.reset();
            assert!(poll_once(pin!(longest.tick())).await.is_pending());
            assert!(poll_once(pin!(interval_at(last_instant(), NANO).tick())).await.is_pending());
        });
    };
    on_each_runtime(test);
    test(paused());
}

#[test]
fn an_interval_that_begins_at_the_first_instant_catches_up_as_it_is_told_to() {
    let _watchdog = watchdog();
    paused().block_on(async {
        let (first, now) = (first_instant(), Instant::now());
        // Step by step from the beginning: this one never arrives.
        let mut burst = interval_at(first, HOUR);
        for n in 0..1000 {
            assert_eq!(burst.tick().await, first + HOUR * n);
        }
        assert_eq!(Instant::now(), now);
        let mut delay = interval_at(first, HOUR);
        delay.set_missed_tick_behavior(MissedTickBehavior::Delay);
        assert_eq!(delay.tick().await, first);
        assert_eq!(delay.tick().await, now + HOUR);
        for period in [NANO, HOUR, Duration::MAX] {
            let now = Instant::now();
            let mut skip = interval_at(first, period);
            skip.set_missed_tick_behavior(MissedTickBehavior::Skip);
            assert_eq!(skip.tick().await, first);
            let next = skip.tick().await;
            assert!(next > now && next - now <= period, "{:?}", next - now);
        }
    });
}

#[test]
fn nothing_comes_due_by_a_clock_that_does_not_advance() {
    let _watchdog = watchdog();
    let runtime = paused();
    runtime.block_on(async {
        let now = Instant::now();
        let mut soon = pin!(sleep(NANO));
        let mut limit = pin!(timeout(NANO, pending::<()>()));
        let mut ticks = interval(NANO);
        assert_eq!(ticks.tick().await, now);
        for _ in 0..1000 {
            // Some task is always ready to run, so time does not pass.
            assert!(poll_once(soon.as_mut()).await.is_pending());
            assert!(poll_once(limit.as_mut()).await.is_pending());
            assert!(poll_once(pin!(ticks.tick())).await.is_pending());
            // What needs no time comes all the same, each time.
            sleep(Duration::ZERO).await;
            assert!(timeout(Duration::ZERO, pending::<()>()).await.is_err());
            assert!(timeout(HOUR, rt::spawn(async {})).await.is_ok());
            rt::task::yield_now().await;
            assert_eq!(Instant::now(), now);
        }
        advance(Duration::ZERO).await;
        assert_eq!(Instant::now(), now);
        assert!(poll_once(soon.as_mut()).await.is_pending());
        // Due to the nanosecond, although a timer is only looked at once a tick.
        advance(Duration::from_millis(1)).await;
        assert!(poll_once(soon).await.is_ready() && poll_once(limit).await.is_ready());
        assert_eq!(ticks.tick().await, now + NANO);
    });
}

#[test]
fn a_clock_moves_on_by_the_longest_durations_and_by_no_more_than_there_is() {
    let _watchdog = watchdog();
    let runtime = paused();
    runtime.block_on(async {
        let start = Instant::now();
        // It is the only one there is to wait for.
        sleep(Duration::MAX).await;
        assert!(start.elapsed() > 24 * 365 * 29 * HOUR);
        let year = 24 * 365 * HOUR;
        for deadline in [Instant::now() + 1000 * year, Instant::now() + 1_000_000 * year] {
            sleep_until(deadline).await;
            assert!(Instant::now() >= deadline);
        }
    });
    let caught = catch(|| runtime.block_on(advance(Duration::MAX)));
    assert!(caught.message.contains("beyond the end of time"), "{caught:?}");
    // The clock has not been moved, and goes on.
    runtime.block_on(async {
        let now = Instant::now();
        sleep(HOUR).await;
        assert_eq!(Instant::now() - now, HOUR);
    });
}

#[test]
fn a_paused_clock_reaches_the_last_timers_only_after_millions_of_years() {
    let _watchdog = watchdog();
    let millennium = 1000 * 365 * 24 * HOUR;
    for deadline in [last_instant(), last_instant() - NANO, Instant::now() + 20_000_000 * (millennium / 1000)] {
        paused().block_on(async {
            let start = Instant::now();
            let mut ticks = interval_at(deadline, Duration::MAX);
            sleep_until(deadline).await;
            assert!(start.elapsed() > 4_000 * millennium);
            // Even from there on.
            ticks.tick().await;
            let now = Instant::now();
            sleep(NANO).await;
            assert!(timeout(Duration::MAX, pending::<()>()).await.is_err());
            assert!(Instant::now() >= now);
        });
    }
}
