//! The paused clock: exact counts of ticks, exact times, and time that does not pass by itself.
//!
//! Mutations that these tests are for: a clock that moves while there is work, or a blocking job; an advance that stops
//! short of a timer, or does not let its task run; a missed tick counted twice or left out.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use rt::runtime::{Builder, Handle, Runtime};
use rt::time::{
    Instant, MissedTickBehavior, advance, interval, interval_at, pause, resume, sleep, sleep_until, timeout,
};
use rt_test_util::*;

fn paused() -> Runtime {
    Builder::new_current_thread().enable_all().start_paused(true).build().unwrap()
}

const fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

#[test]
fn a_paused_clock_stands_still_while_there_is_work() {
    let _watchdog = watchdog();
    paused().block_on(async {
        let start = Instant::now();
        rt::spawn(sleep(ms(5)));
        for _ in 0..1000 {
            rt::task::yield_now().await;
        }
        assert_eq!(start.elapsed(), Duration::ZERO);
        sleep(ms(5)).await;
        assert_eq!(start.elapsed(), ms(5));
    });
}

#[test]
fn years_pass_in_no_time_and_exactly() {
    let _watchdog = watchdog();
    paused().block_on(async {
        let start = Instant::now();
        let year = Duration::from_secs(365 * 24 * 3600);
        for n in 1..=20 {
            sleep(year).await;
            assert_eq!(start.elapsed(), year * n);
        }
    });
}

/// As in Tokio, where programs give way by such a sleep, and join a stream with an interval.
#[test]
fn what_is_due_within_a_tick_is_due_at_its_end() {
    let _watchdog = watchdog();
    paused().block_on(async {
        let mut context = Context::from_waker(Waker::noop());
        // Not at the beginning of a tick, of which there are 32 in a millisecond.
        advance(Duration::from_micros(10)).await;
        let now = Instant::now();
        let mut sleeps = [Box::pin(sleep(Duration::ZERO)), Box::pin(sleep_until(now))];
        let mut interval = interval(ms(10));
        let mut timeout = Box::pin(timeout(Duration::ZERO, pending::<()>()));
        assert!(sleeps.iter_mut().all(|sleep| sleep.as_mut().poll(&mut context).is_pending()));
        assert!(interval.poll_tick(&mut context).is_pending());
        assert!(timeout.as_mut().poll(&mut context).is_pending());
        advance(Duration::from_micros(22)).await;
        assert!(sleeps.iter_mut().all(|sleep| sleep.as_mut().poll(&mut context).is_ready()));
        assert_eq!(interval.poll_tick(&mut context), Poll::Ready(now));
        assert!(timeout.as_mut().poll(&mut context).is_ready());
        // Past is what was due by a tick that has passed.
        advance(Duration::from_micros(32)).await;
        assert!(Box::pin(sleep_until(now)).as_mut().poll(&mut context).is_ready());
    });
}

#[test]
fn an_interval_ticks_exactly_as_often_as_periods_pass() {
    let _watchdog = watchdog();
    paused().block_on(async {
        let ticks = Arc::new(AtomicUsize::new(0));
        let count = ticks.clone();
        rt::spawn(async move {
            let mut interval = interval(ms(10));
            loop {
                interval.tick().await;
                count.fetch_add(1, SeqCst);
            }
        });
        rt::task::yield_now().await;
        assert_eq!(ticks.load(SeqCst), 1, "the first tick comes at once");
        for n in 2..100 {
            advance(ms(9)).await;
            assert_eq!(ticks.load(SeqCst), n - 1);
            advance(ms(1)).await;
            assert_eq!(ticks.load(SeqCst), n);
        }
    });
}

/// Takes the tick that is due at 10 ms at `late` ms, and then all that come until 100 ms. Gives the times at which they
/// came.
async fn ticks_after_a_late_one(behavior: MissedTickBehavior, late: u64) -> Vec<u64> {
    let start = Instant::now();
    let mut interval = interval_at(start + ms(10), ms(10));
    interval.set_missed_tick_behavior(behavior);
    advance(ms(late)).await;
    let mut times = Vec::new();
    while start.elapsed() < ms(100) {
        interval.tick().await;
        times.push(start.elapsed().as_millis() as u64);
    }
    times
}

#[test]
fn missed_ticks_come_in_a_burst_are_put_off_or_are_skipped() {
    let _watchdog = watchdog();
    paused().block_on(async {
        // Late by 33 ms: the ticks of 10, 20, 30 and 40 are due at 43.
        let burst = ticks_after_a_late_one(MissedTickBehavior::Burst, 43).await;
        assert_eq!(burst, [43, 43, 43, 43, 50, 60, 70, 80, 90, 100]);
        let delay = ticks_after_a_late_one(MissedTickBehavior::Delay, 43).await;
        assert_eq!(delay, [43, 53, 63, 73, 83, 93, 103]);
        let skip = ticks_after_a_late_one(MissedTickBehavior::Skip, 43).await;
        assert_eq!(skip, [43, 50, 60, 70, 80, 90, 100]);
        // Late by less than nothing: all the same.
        for behavior in [MissedTickBehavior::Burst, MissedTickBehavior::Delay, MissedTickBehavior::Skip] {
            let times = ticks_after_a_late_one(behavior, 0).await;
            assert_eq!(times, [10, 20, 30, 40, 50, 60, 70, 80, 90, 100]);
        }
    });
}

#[test]
fn an_interval_that_is_reset_ticks_a_period_later() {
    let _watchdog = watchdog();
    paused().block_on(async {
        let start = Instant::now();
        let mut interval = interval(ms(10));
        interval.tick().await;
        advance(ms(7)).await;
        interval.reset();
        assert_eq!(interval.tick().await, start + ms(17));
        interval.reset_after(ms(3));
        assert_eq!(interval.tick().await, start + ms(20));
        interval.reset_immediately();
        assert_eq!(interval.tick().await, start + ms(20));
        assert_eq!(interval.tick().await, start + ms(30));
        assert_eq!(interval.period(), ms(10));
    });
}

#[test]
fn advance_fires_what_is_due_and_nothing_else() {
    let _watchdog = watchdog();
    paused().block_on(async {
        let fired = Arc::new(AtomicUsize::new(0));
        for n in 1..=100u64 {
            let fired = fired.clone();
            rt::spawn(async move {
                sleep(ms(n)).await;
                fired.fetch_add(1, SeqCst);
            });
        }
        while Handle::current().metrics().drivers().timers_set < 100 {
            rt::task::yield_now().await;
        }
        for n in 1..=100 {
            advance(ms(1)).await;
            assert_eq!(fired.load(SeqCst), n);
        }
    });
}

#[test]
fn a_clock_moves_to_the_next_timer_only_when_nothing_else_can_run() {
    let _watchdog = watchdog();
    let runtime = paused();
    let gate = Gate::new();
    runtime.block_on(async {
        let start = Instant::now();
        let held = gate.clone();
        // Real time passes in there: the clock waits for it.
        let blocking = rt::spawn_blocking(move || held.pass());
        let sleeper = rt::spawn(async {
            sleep(ms(1)).await;
            Instant::now()
        });
        let opener = gate.clone();
        std::thread::spawn(move || {
            opener.wait_for(1);
            opener.open();
        });
        blocking.await.unwrap();
        assert_eq!(start.elapsed(), Duration::ZERO);
        assert_eq!(sleeper.await.unwrap() - start, ms(1));
    });
}

#[test]
fn a_wake_from_another_thread_reaches_a_runtime_with_a_paused_clock() {
    let _watchdog = watchdog();
    let runtime = paused();
    for _ in 0..200 {
        let signal = Signal::new();
        let (setter, waiting) = (signal.clone(), signal.clone());
        let thread = std::thread::spawn(move || {
            eventually(|| waiting.waiters() > 0);
            setter.set();
        });
        runtime.block_on(signal.wait());
        thread.join().unwrap();
    }
}

#[test]
fn a_clock_that_is_paused_and_resumed_goes_on_from_where_it_stood() {
    let _watchdog = watchdog();
    current().block_on(async {
        let before = Instant::now();
        pause();
        let stood = Instant::now();
        assert!(stood >= before);
        assert_eq!(Instant::now(), stood);
        advance(Duration::from_secs(3600)).await;
        resume();
        let after = Instant::now();
        assert!(after >= stood + Duration::from_secs(3600) && after < stood + Duration::from_secs(7200));
        // By the real clock again.
        let real = std::time::Instant::now();
        sleep(ms(2)).await;
        assert!(real.elapsed() >= ms(2));
    });
}

#[test]
fn timeouts_by_a_paused_clock_are_exact() {
    let _watchdog = watchdog();
    paused().block_on(async {
        let start = Instant::now();
        assert!(timeout(ms(50), sleep(ms(51))).await.is_err());
        assert_eq!(start.elapsed(), ms(50));
        assert!(timeout(ms(51), sleep(ms(50))).await.is_ok());
        assert_eq!(start.elapsed(), ms(100));
        // Nested: the inner one is the shorter, then the outer.
        assert_eq!(timeout(ms(20), timeout(ms(10), std::future::pending::<()>())).await.map(|r| r.is_err()), Ok(true));
        assert!(timeout(ms(10), timeout(ms(20), std::future::pending::<()>())).await.is_err());
        assert_eq!(start.elapsed(), ms(120));
    });
}
