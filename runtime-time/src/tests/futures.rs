//! Intervals and timeouts.

use std::future::{pending, ready};
use std::pin::pin;

use super::*;
use crate::error::Elapsed;
use crate::{Interval, MissedTickBehavior, Timeout};

fn interval(rig: &Rig, period: Duration) -> Interval {
    Interval::new(rig.sleep(Duration::ZERO), period)
}

fn tick(interval: &mut Interval) -> Poll<Instant> {
    poll(pin!(interval.tick()), Waker::noop())
}

/// Takes the first tick in time and the second 25 ms late; returns when the next ones are due, in ms after the late
/// one's time.
fn after_a_late_tick(behavior: MissedTickBehavior) -> Vec<u128> {
    let mut rig = Rig::still();
    let start = rig.now();
    let mut interval = interval(&rig, 10 * MS);
    interval.set_missed_tick_behavior(behavior);
    assert_eq!(interval.missed_tick_behavior(), behavior);
    assert_eq!(tick(&mut interval), Poll::Ready(start));
    assert!(tick(&mut interval).is_pending());
    rig.pass(35 * MS);
    assert_eq!(tick(&mut interval), Poll::Ready(start + 10 * MS));
    let mut due = Vec::new();
    while due.len() < 4 {
        match tick(&mut interval) {
            Poll::Ready(at) => {
                assert!(at <= rig.now());
                due.push((at - (start + 10 * MS)).as_millis());
            }
            Poll::Pending => rig.pass(MS),
        }
    }
    due
}

#[test]
fn missed_ticks() {
    assert_eq!(after_a_late_tick(MissedTickBehavior::Burst), [10, 20, 30, 40]);
    assert_eq!(after_a_late_tick(MissedTickBehavior::Delay), [35, 45, 55, 65]);
    assert_eq!(after_a_late_tick(MissedTickBehavior::Skip), [30, 40, 50, 60]);
}

#[test]
fn a_little_late_is_in_time() {
    for behavior in [MissedTickBehavior::Burst, MissedTickBehavior::Delay, MissedTickBehavior::Skip] {
        let mut rig = Rig::still();
        let start = rig.now();
        let mut interval = interval(&rig, 10 * MS);
        interval.set_missed_tick_behavior(behavior);
        for i in 0..5 {
            assert_eq!(tick(&mut interval), Poll::Ready(start + 10 * i * MS));
            assert!(tick(&mut interval).is_pending());
            rig.pass(if i == 0 { 15 * MS } else { 10 * MS });
        }
    }
}

#[test]
fn an_interval_can_be_reset() {
    let mut rig = Rig::still();
    let start = rig.now();
    let mut interval = interval(&rig, 10 * MS);
    assert_eq!(interval.period(), 10 * MS);
    assert!(tick(&mut interval).is_ready());
    rig.pass(5 * MS);
    interval.reset();
    assert!(tick(&mut interval).is_pending());
    rig.pass(9 * MS);
    assert!(tick(&mut interval).is_pending());
    rig.pass(MS);
    assert_eq!(tick(&mut interval), Poll::Ready(start + 15 * MS));
    interval.reset_immediately();
    assert_eq!(tick(&mut interval), Poll::Ready(start + 15 * MS));
    interval.reset_after(3 * MS);
    assert!(tick(&mut interval).is_pending());
    interval.reset_at(start + 17 * MS);
    rig.pass(2 * MS);
    assert_eq!(tick(&mut interval), Poll::Ready(start + 17 * MS));
}

#[test]
fn a_sleep_that_is_reset_wakes_its_task_without_another_poll() {
    let mut rig = Rig::still();
    let (woken, waker) = Woken::new();
    let mut sleep = rig.sleep(MS);
    assert!(poll(sleep.as_mut(), &waker).is_pending());
    for round in 1..=5 {
        rig.pass(MS);
        assert_eq!(woken.count(), 2 * round - 1);
        assert!(poll(sleep.as_mut(), &waker).is_ready());
        let next = rig.now() + MS;
        sleep.as_mut().reset(next);
        assert!(!sleep.is_elapsed());
        rig.pass(MS);
        assert_eq!(woken.count(), 2 * round, "by the poll that was ready");
        assert!(sleep.is_elapsed());
        // From here on as one that is polled and waits.
        let next = rig.now() + MS;
        sleep.as_mut().reset(next);
        assert!(poll(sleep.as_mut(), &waker).is_pending());
    }
    // To the past: at once.
    rig.pass(MS);
    assert!(poll(sleep.as_mut(), &waker).is_ready());
    let (before, now) = (woken.count(), rig.now());
    sleep.as_mut().reset(now);
    assert_eq!(woken.count(), before + 1);
    assert!(sleep.is_elapsed() && poll(sleep.as_mut(), &waker).is_ready());
    // What was kept goes with the sleep.
    drop(sleep);
    drop(waker);
    assert_eq!(Arc::strong_count(&woken), 1);
}

#[test]
fn a_sleep_that_nobody_polls_ends_all_the_same_once_it_is_reset() {
    let mut rig = Rig::still();
    let mut sleep = rig.sleep(MS);
    rig.pass(2 * MS);
    assert!(!sleep.is_elapsed(), "nobody has looked");
    let next = rig.now() + MS;
    sleep.as_mut().reset(next);
    rig.pass(MS);
    assert!(sleep.is_elapsed());
    let past = rig.now() - MS;
    sleep.as_mut().reset(past);
    assert!(sleep.is_elapsed());
    // It finds the waker of whoever polls it.
    let (woken, waker) = Woken::new();
    let next = rig.now() + MS;
    sleep.as_mut().reset(next);
    assert!(poll(sleep.as_mut(), &waker).is_pending());
    rig.pass(MS);
    assert_eq!(woken.count(), 1);
}

#[test]
fn a_dropped_tick_is_not_taken() {
    let mut rig = Rig::still();
    let start = rig.now();
    let mut interval = interval(&rig, 10 * MS);
    assert!(tick(&mut interval).is_ready());
    for _ in 0..3 {
        assert!(tick(&mut interval).is_pending());
    }
    rig.pass(10 * MS);
    assert_eq!(tick(&mut interval), Poll::Ready(start + 10 * MS));
}

#[test]
fn the_longest_period_is_only_far_away() {
    let mut rig = Rig::still();
    for behavior in [MissedTickBehavior::Burst, MissedTickBehavior::Delay, MissedTickBehavior::Skip] {
        let mut interval = interval(&rig, Duration::MAX);
        interval.set_missed_tick_behavior(behavior);
        rig.pass(10 * MS);
        assert!(tick(&mut interval).is_ready());
        assert!(tick(&mut interval).is_pending());
    }
}

fn timeout<F: Future>(rig: &Rig, after: Duration, future: F) -> Timeout<F> {
    let shard = rig.handle.shard_at(0).clone();
    Timeout::new(future, Sleep::new(shard, rig.now() + after, State::New))
}

#[test]
fn a_ready_future_beats_its_timeout_and_sets_no_timer() {
    let rig = Rig::still();
    let timeout = pin!(timeout(&rig, Duration::ZERO, ready(7)));
    assert_eq!(poll(timeout, Waker::noop()), Poll::Ready(Ok(7)));
    assert_eq!(rig.counts(), (0, 0, 0));
}

#[test]
fn a_slow_future_meets_its_timeout() {
    let mut rig = Rig::still();
    let (woken, waker) = Woken::new();
    let mut timeout = pin!(timeout(&rig, 5 * MS, pending::<()>()));
    assert!(poll(timeout.as_mut(), &waker).is_pending());
    rig.pass(5 * MS);
    assert_eq!(woken.count(), 1);
    assert_eq!(poll(timeout.as_mut(), &waker), Poll::Ready(Err(Elapsed::new())));
    let error = std::io::Error::from(Elapsed::new());
    assert_eq!((error.kind(), error.to_string()), (std::io::ErrorKind::TimedOut, "deadline has elapsed".to_owned()));
}

#[test]
fn a_timeout_gives_its_future_back() {
    let rig = Rig::still();
    let mut timeout = timeout(&rig, MS, ready(1));
    assert_eq!(timeout.get_ref().clone().into_inner(), 1);
    *timeout.get_mut() = ready(2);
    assert_eq!(timeout.into_inner().into_inner(), 2);
}
