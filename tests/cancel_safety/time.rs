//! Sleeps, ticks and timeouts.

use std::pin::pin;

use rt::runtime::Builder;
use rt::time::{
    DelayQueue, Duration, Instant, advance, interval, interval_at, sleep, sleep_until, timeout, timeout_at,
};
use rt_test_util::watchdog;

use super::{give_up, on_each};

const LONG: Duration = Duration::from_secs(3600);

fn paused<F: Future<Output = ()>>(test: F) {
    let _watchdog = watchdog();
    Builder::new_current_thread().enable_all().start_paused(true).build().unwrap().block_on(test);
}

#[test]
fn a_sleep_by_reference_keeps_its_deadline() {
    paused(async {
        let start = Instant::now();
        let mut nap = pin!(sleep(LONG));
        give_up(nap.as_mut()).await;
        advance(LONG / 2).await;
        give_up(nap.as_mut()).await;
        nap.await;
        assert_eq!(start.elapsed(), LONG);
        // One that is dropped holds nothing up.
        give_up(sleep_until(start + LONG * 100)).await;
        sleep(LONG).await;
        assert_eq!(start.elapsed(), LONG * 2);
    });
}

#[test]
fn a_tick_is_not_taken() {
    paused(async {
        let start = Instant::now();
        let mut ticks = interval_at(start + LONG, LONG);
        give_up(ticks.tick()).await;
        advance(LONG / 2).await;
        give_up(ticks.tick()).await;
        assert_eq!(ticks.tick().await, start + LONG);
        give_up(ticks.tick()).await;
        assert_eq!(ticks.tick().await, start + LONG * 2);
        assert_eq!(start.elapsed(), LONG * 2);
    });
}

/// One whose time has come, so that its future has been woken, and is then dropped unpolled.
#[test]
fn a_tick_that_is_due_is_not_taken_either() {
    paused(async {
        let start = Instant::now();
        let mut ticks = interval(LONG);
        ticks.tick().await;
        {
            let mut tick = pin!(ticks.tick());
            give_up(tick.as_mut()).await;
            advance(LONG).await;
        }
        assert_eq!(ticks.tick().await, start + LONG);
        assert_eq!(start.elapsed(), LONG);
    });
}

#[test]
fn a_queue_of_delays_keeps_its_values() {
    paused(async {
        let start = Instant::now();
        let mut queue = DelayQueue::new();
        queue.insert("late", LONG * 2);
        queue.insert("early", LONG);
        give_up(queue.next()).await;
        {
            // Its time comes while the future waits, which is then dropped unpolled.
            let mut next = pin!(queue.next());
            give_up(next.as_mut()).await;
            advance(LONG).await;
        }
        assert_eq!(queue.next().await.unwrap().into_inner(), "early");
        give_up(queue.next()).await;
        assert_eq!(queue.next().await.unwrap().into_inner(), "late");
        assert_eq!(start.elapsed(), LONG * 2);
        assert!(queue.next().await.is_none());
    });
}

#[test]
fn a_timeout_is_as_safe_as_what_is_in_it() {
    on_each(async || {
        let (tx, mut rx) = rt::sync::mpsc::channel(1);
        give_up(timeout(LONG, rx.recv())).await;
        timeout(Duration::from_micros(100), rx.recv()).await.unwrap_err();
        timeout_at(Instant::now(), rx.recv()).await.unwrap_err();
        tx.send(1).await.unwrap();
        assert_eq!(timeout(LONG, rx.recv()).await, Ok(Some(1)));
    });
}
