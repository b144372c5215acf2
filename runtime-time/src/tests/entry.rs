//! A sleep's life: set, fired, cancelled, reset, closed.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Waker;

use proptest::prelude::*;

use super::*;
use crate::entry::Entry;

#[test]
fn fires_at_its_tick_and_wakes_once() {
    let mut rig = Rig::still();
    let (woken, waker) = Woken::new();
    let mut sleep = rig.sleep(5 * MS);
    assert!(poll(sleep.as_mut(), &waker).is_pending());
    rig.pass(4 * MS);
    assert!(poll(sleep.as_mut(), &waker).is_pending());
    assert_eq!((woken.count(), sleep.is_elapsed()), (0, false));
    rig.pass(MS);
    assert_eq!((woken.count(), sleep.is_elapsed()), (1, true));
    assert!(poll(sleep.as_mut(), &waker).is_ready());
    assert_eq!(rig.counts(), (1, 1, 0));
    drop(sleep);
    assert_eq!(Arc::strong_count(&woken), 2, "the timer keeps no waker");
}

#[test]
fn a_passed_deadline_is_ready_at_the_first_poll_and_sets_nothing() {
    let rig = Rig::still();
    let waker = Waker::noop();
    let mut zero = rig.sleep(Duration::ZERO);
    assert!(poll(zero.as_mut(), waker).is_ready());
    let mut late = rig.sleep(3 * MS);
    assert!(rig.clock.advance(3 * MS));
    assert!(poll(late.as_mut(), waker).is_ready());
    assert!(late.is_elapsed());
    assert_eq!(rig.counts(), (0, 0, 0));
}

#[test]
fn dropping_takes_it_out() {
    let mut rig = Rig::still();
    let (woken, waker) = Woken::new();
    let mut sleeps: Vec<_> = (0..3).map(|_| rig.sleep(5 * MS)).collect();
    for sleep in &mut sleeps {
        assert!(poll(sleep.as_mut(), &waker).is_pending());
    }
    drop(sleeps.remove(1));
    drop(rig.sleep(MS)); // never polled
    assert_eq!(rig.counts(), (3, 0, 1));
    rig.pass(5 * MS);
    assert_eq!(woken.count(), 2);
    assert_eq!(rig.counts(), (3, 2, 1));
    drop(sleeps);
    assert_eq!((rig.counts(), Arc::strong_count(&woken)), ((3, 2, 1), 2));
}

#[test]
fn reset_to_later_and_to_earlier_keeps_the_waker() {
    let mut rig = Rig::still();
    let (woken, waker) = Woken::new();
    let start = rig.now();
    let mut sleep = rig.sleep(5 * MS);
    assert!(poll(sleep.as_mut(), &waker).is_pending());
    sleep.as_mut().reset(start + 100 * MS);
    rig.pass(50 * MS);
    assert_eq!(woken.count(), 0);
    sleep.as_mut().reset(start + 60 * MS);
    assert_eq!(sleep.deadline(), start + 60 * MS);
    rig.pass(10 * MS);
    assert_eq!(woken.count(), 1);
    assert!(poll(sleep.as_mut(), &waker).is_ready());
    // After it fired, it can be used again.
    sleep.as_mut().reset(start + 70 * MS);
    assert!(!sleep.is_elapsed());
    assert!(poll(sleep.as_mut(), &waker).is_pending());
    rig.pass(10 * MS);
    assert!(poll(sleep.as_mut(), &waker).is_ready());
    assert_eq!(rig.counts(), (3, 2, 1), "to an earlier deadline a waiting timer is taken out and set anew");
}

#[test]
fn a_timer_that_is_extended_again_and_again_fires_at_the_last_deadline_only() {
    let mut rig = Rig::still();
    let (woken, waker) = Woken::new();
    let mut sleep = rig.sleep(10 * MS);
    assert!(poll(sleep.as_mut(), &waker).is_pending());
    for _ in 0..100 {
        rig.pass(7 * MS);
        let later = rig.now() + 10 * MS;
        sleep.as_mut().reset(later);
    }
    assert_eq!((woken.count(), rig.counts()), (0, (1, 0, 0)), "it is one timer");
    rig.pass(9 * MS);
    assert_eq!((woken.count(), sleep.is_elapsed()), (0, false));
    rig.pass(MS);
    assert_eq!((woken.count(), sleep.is_elapsed(), rig.counts()), (1, true, (1, 1, 0)));
}

#[test]
fn a_timer_that_was_extended_can_be_cancelled_moved_closer_and_closed() {
    let mut rig = Rig::still();
    let (woken, waker) = Woken::new();
    let start = rig.now();
    let mut sleeps: Vec<_> = (0..3).map(|_| rig.sleep(10 * MS)).collect();
    for sleep in &mut sleeps {
        assert!(poll(sleep.as_mut(), &waker).is_pending());
        sleep.as_mut().reset(start + 1000 * MS);
    }
    // Before, and after, it has been filed again.
    sleeps[0].as_mut().reset(start + 15 * MS);
    rig.pass(15 * MS);
    assert_eq!((woken.count(), sleeps[0].is_elapsed()), (1, true));
    sleeps[1].as_mut().reset(start + 20 * MS);
    rig.pass(5 * MS);
    assert_eq!((woken.count(), sleeps[1].is_elapsed()), (2, true));
    drop(sleeps.drain(..2));
    let mut dropped = rig.sleep(10 * MS);
    assert!(poll(dropped.as_mut(), &waker).is_pending());
    dropped.as_mut().reset(start + 1000 * MS);
    drop(dropped);
    rig.driver.shutdown(&mut WakeAtOnce);
    assert_eq!(woken.count(), 3, "the last one is told");
    drop(sleeps);
    assert_eq!(Arc::strong_count(&woken), 2);
}

#[test]
fn reset_to_the_past_wakes_at_once() {
    let mut rig = Rig::still();
    let (woken, waker) = Woken::new();
    let start = rig.now();
    let (mut first, mut second) = (rig.sleep(5 * MS), rig.sleep(500 * MS));
    assert!(poll(first.as_mut(), &waker).is_pending());
    assert!(poll(second.as_mut(), &waker).is_pending());
    rig.pass(10 * MS);
    assert_eq!(woken.count(), 1);
    second.as_mut().reset(start + MS);
    assert_eq!(woken.count(), 2);
    assert!(poll(second.as_mut(), &waker).is_ready());
    assert_eq!(rig.counts(), (2, 2, 0));
}

#[test]
fn the_last_waker_is_the_one_woken() {
    let mut rig = Rig::still();
    let (first, first_waker) = Woken::new();
    let (second, second_waker) = Woken::new();
    let mut sleep = rig.sleep(MS);
    for waker in [&first_waker, &second_waker, &second_waker] {
        assert!(poll(sleep.as_mut(), waker).is_pending());
    }
    assert_eq!((Arc::strong_count(&first), Arc::strong_count(&second)), (2, 3));
    rig.pass(MS);
    assert_eq!((first.count(), second.count()), (0, 1));
}

#[test]
fn the_longest_duration_is_only_far_away() {
    let mut rig = Rig::still();
    let (woken, waker) = Woken::new();
    let mut far = rig.sleep(Duration::MAX);
    assert!(far.deadline() > rig.now() + Duration::from_secs(29 * 365 * 86400));
    assert!(poll(far.as_mut(), &waker).is_pending());
    // As far as the operating system's clock goes.
    let mut end = rig.now();
    let mut step = Duration::from_secs(1);
    while let Some(later) = end.checked_add(step) {
        (end, step) = (later, step * 2);
    }
    let mut farther = rig.sleep_until(end);
    assert!(poll(farther.as_mut(), &waker).is_pending());
    rig.pass(Duration::from_secs(29 * 365 * 86400));
    assert_eq!(woken.count(), 0);
    rig.pass(Duration::from_secs(2 * 365 * 86400));
    assert_eq!(woken.count(), 1);
    assert!(poll(far.as_mut(), &waker).is_ready());
    drop(farther);
    assert_eq!(rig.counts(), (2, 1, 1));
}

#[test]
fn a_panicking_waker_loses_no_other() {
    struct Panics;
    impl Wake for Panics {
        fn wake(self: Arc<Self>) {
            std::panic::resume_unwind(Box::new("a waker that panics")); // without the hook's noise
        }
    }
    let mut rig = Rig::still();
    let (woken, waker) = Woken::new();
    let panics = Waker::from(Arc::new(Panics));
    let mut sleeps: Vec<_> = (0..100).map(|_| rig.sleep(MS)).collect();
    for (i, sleep) in sleeps.iter_mut().enumerate() {
        let waker = if i % 3 == 0 { &panics } else { &waker };
        assert!(poll(sleep.as_mut(), waker).is_pending());
    }
    rig.pass(MS);
    assert_eq!(woken.count(), 66);
    assert_eq!(rig.counts(), (100, 100, 0));
    let mut another = rig.sleep(MS);
    assert!(poll(another.as_mut(), &waker).is_pending());
    rig.pass(MS);
    assert_eq!(woken.count(), 67);
}

#[test]
fn a_waker_may_use_the_shard_it_was_fired_from() {
    struct Drops(Mutex<Option<Pin<Box<Sleep>>>>);
    impl Wake for Drops {
        fn wake(self: Arc<Self>) {
            drop(self.0.lock().take());
        }
    }
    let mut rig = Rig::still();
    let (woken, waker) = Woken::new();
    let mut victim = rig.sleep(100 * MS);
    assert!(poll(victim.as_mut(), &waker).is_pending());
    let drops = Waker::from(Arc::new(Drops(Mutex::new(Some(victim)))));
    let mut sleep = rig.sleep(MS);
    assert!(poll(sleep.as_mut(), &drops).is_pending());
    rig.pass(MS);
    rig.pass(100 * MS);
    assert_eq!(woken.count(), 0);
    assert_eq!(rig.counts(), (2, 1, 1));
}

#[test]
fn shutdown_wakes_who_waits_and_fails_who_polls() {
    let mut rig = Rig::still();
    let (woken, waker) = Woken::new();
    let mut sleeps: Vec<_> = (1..=50).map(|i| rig.sleep(i * MS)).collect();
    for sleep in &mut sleeps {
        assert!(poll(sleep.as_mut(), &waker).is_pending());
    }
    let mut unset = rig.sleep(5 * MS);
    rig.driver.shutdown(&mut WakeAtOnce);
    assert_eq!(woken.count(), 50);
    assert_eq!(rig.counts(), (50, 0, 50));
    let mut waited = sleeps.pop().unwrap();
    for sleep in [&mut waited, &mut unset] {
        let panic = catch_unwind(AssertUnwindSafe(|| poll(sleep.as_mut(), &waker))).unwrap_err();
        assert!(panic.downcast_ref::<&str>().unwrap().contains("shut down"));
    }
    // On any thread, and when all else of the runtime is gone.
    drop(rig);
    let later = waited.deadline() + MS;
    waited.as_mut().reset(later);
    std::thread::spawn(move || drop((waited, unset, sleeps))).join().unwrap();
    assert_eq!(Arc::strong_count(&woken), 2);
}

#[test]
fn a_reset_while_the_driver_shuts_down_is_not_early() {
    /// Resets a sleep to a nearer deadline, which is still far away, when the shutdown calls it first.
    struct Resets(Mutex<Option<Pin<Box<Sleep>>>>);
    impl std::task::Wake for Resets {
        fn wake(self: Arc<Self>) {
            if let Some(mut sleep) = self.0.lock().take() {
                let nearer = sleep.deadline() - Duration::from_secs(100);
                sleep.as_mut().reset(nearer);
                assert!(!sleep.is_elapsed(), "it has 300 seconds left");
            }
        }
    }
    let mut rig = Rig::still();
    // The shutdown wakes a batch at a time; the one that is reset is of the last.
    let mut sleeps: Vec<_> = (300..400).map(|second| rig.sleep(Duration::from_secs(second))).collect();
    let mut last = rig.sleep(Duration::from_secs(400));
    let resets = Arc::new(Resets(Mutex::new(None)));
    assert!(poll(last.as_mut(), Waker::noop()).is_pending());
    *resets.0.lock() = Some(last);
    let waker = Waker::from(resets.clone());
    for sleep in &mut sleeps {
        assert!(poll(sleep.as_mut(), &waker).is_pending());
    }
    rig.driver.shutdown(&mut WakeAtOnce);
    assert!(resets.0.lock().is_none(), "the shutdown has woken them");
}

#[test]
fn a_driver_dropped_without_shutdown_leaves_sleeps_valid() {
    let rig = Rig::still();
    let (woken, waker) = Woken::new();
    let mut sleep = rig.sleep(MS);
    assert!(poll(sleep.as_mut(), &waker).is_pending());
    drop(rig);
    assert!(poll(sleep.as_mut(), &waker).is_pending());
    drop(sleep);
    assert_eq!((woken.count(), Arc::strong_count(&woken)), (0, 2));
}

#[test]
fn sizes() {
    assert!(size_of::<Sleep>() <= 80, "{}", size_of::<Sleep>());
    fn send_and_sync<T: Send + Sync>() {}
    send_and_sync::<Sleep>();
    send_and_sync::<Handle>();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn never_early_and_at_most_a_tick_late(
        offset in 0..2_000_000_u64,
        deadlines in prop::collection::vec(0..300_000_000_u64, 1..40),
        steps in prop::collection::vec(0..20_000_000_u64, 1..40),
    ) {
        let mut rig = Rig::still();
        assert!(rig.clock.advance(Duration::from_nanos(offset)));
        let (woken, waker) = Woken::new();
        let mut sleeps: Vec<_> = deadlines.iter().map(|&ns| rig.sleep(Duration::from_nanos(ns))).collect();
        let mut ready = sleeps.iter_mut().map(|sleep| poll(sleep.as_mut(), &waker)).filter(Poll::is_ready).count();
        for step in steps {
            rig.pass(Duration::from_nanos(step));
            for sleep in &sleeps {
                if sleep.is_elapsed() {
                    prop_assert!(sleep.deadline() <= rig.now());
                } else {
                    prop_assert!(sleep.deadline() + MS > rig.now());
                }
            }
        }
        rig.pass(Duration::from_secs(1));
        ready += woken.count();
        prop_assert_eq!(ready, sleeps.len());
    }
}

#[test]
fn an_entry_that_fires_before_it_is_polled_again_has_been_waited_for_by_nobody() {
    let mut rig = Rig::still();
    let (_, waker) = Woken::new();
    let shard = rig.handle.shard_at(0).clone();
    let mut entry = Box::pin(Entry::new(shard, (rig.now() + MS).into_std(), State::New));
    assert_eq!(entry.as_mut().set(&waker), State::Waiting);
    // By how much it is put off, one time after the other, and whether it is polled then.
    for (moves, is_polled, end) in [
        (vec![], false, State::Fired),
        (vec![MS], false, State::Past),
        (vec![MS], true, State::Fired),
        (vec![MS, 2 * MS], false, State::Past),
        (vec![MS, 2 * MS], true, State::Fired),
        (vec![10 * MS, MS], false, State::Past),
        (vec![10 * MS, MS], true, State::Fired),
    ] {
        for by in &moves {
            let deadline = rig.now() + *by;
            entry.as_mut().move_to(deadline.into_std());
        }
        if is_polled {
            assert_eq!(entry.as_mut().refresh(&waker), State::Waiting);
        }
        rig.pass(3 * MS);
        assert_eq!(entry.state(), end, "{moves:?}, {is_polled}");
        entry.as_mut().note_told();
        entry.as_mut().keep(&waker);
    }
}
