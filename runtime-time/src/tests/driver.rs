//! The driver: how long it waits, whom it wakes, and what it does with a paused clock.

use super::*;

#[test]
fn without_timers_it_waits_as_long_as_it_is_told() {
    let mut rig = Rig::on(Clock::new());
    rig.driver.park(None, &mut WakeAtOnce);
    rig.driver.park(Some(MS), &mut WakeAtOnce);
    assert_eq!(rig.parks(), [None, Some(MS)]);
}

#[test]
fn waits_until_the_next_deadline_and_not_longer_than_told() {
    let mut rig = Rig::on(Clock::new());
    let (_, waker) = Woken::new();
    let mut sleep = rig.sleep(Duration::from_secs(1000));
    assert!(poll(sleep.as_mut(), &waker).is_pending());
    rig.driver.park(None, &mut WakeAtOnce);
    rig.driver.park(Some(MS), &mut WakeAtOnce);
    let parks = rig.parks();
    assert!(parks[0] > Some(Duration::from_secs(990)) && parks[0] <= Some(Duration::from_millis(1_000_001)));
    assert_eq!(parks[1], Some(MS));
    // A deadline that no timeout of the operating system can express.
    drop(sleep);
    let mut far = rig.sleep(Duration::MAX);
    assert!(poll(far.as_mut(), &waker).is_pending());
    rig.handle.exact_earliest();
    rig.driver.park(None, &mut WakeAtOnce);
    assert!(rig.parks()[0].unwrap().as_millis() < i32::MAX as u128);
}

#[test]
fn a_cancelled_timer_costs_one_wait_and_then_none() {
    let mut rig = Rig::on(Clock::new());
    let (_, waker) = Woken::new();
    for _ in 0..10 {
        let mut sleep = rig.sleep(2 * MS);
        assert!(poll(sleep.as_mut(), &waker).is_pending());
    }
    let start = Clock::real();
    while start.elapsed() < 5 * MS {
        std::hint::spin_loop();
    }
    rig.driver.poll(&mut WakeAtOnce);
    rig.driver.park(None, &mut WakeAtOnce);
    assert_eq!(rig.parks(), [None]);
    assert_eq!(rig.counts(), (10, 0, 10));
}

const TICK: Duration = Duration::from_nanos(31_250);
const SOON: Duration = Duration::from_micros(300);

#[test]
fn after_a_crowd_of_timers_the_next_wait_for_one_lasts_until_a_millisecond_is_over() {
    let (_, end) = wait_after(2, None);
    assert!(end + TICK >= MS, "{end:?}");
}

#[test]
fn after_a_timer_that_was_alone_the_next_wait_is_as_short_as_it_must_be() {
    let (wait, _) = wait_after(1, None);
    assert!(wait <= SOON + TICK, "{wait:?}");
}

/// To file timers again that were extended costs as much as to fire them.
#[test]
fn after_a_crowd_of_timers_that_were_extended_it_is_the_same() {
    let (_, end) = wait_after(2, Some(Duration::from_secs(3600)));
    assert!(end + TICK >= MS, "{end:?}");
}

/// How long the driver waits for a timer that is due soon, after some others whose time has come at once, unless they
/// were extended; and when the wait will end, counted from then.
fn wait_after(others: usize, extend: Option<Duration>) -> (Duration, Duration) {
    let mut rig = Rig::on(Clock::new());
    let (_, waker) = Woken::new();
    // A thread that is made to wait may find a short sleep over when it polls it.
    let set_soon = |rig: &Rig| loop {
        let mut sleep = rig.sleep(SOON);
        if poll(sleep.as_mut(), &waker).is_pending() {
            return sleep;
        }
    };
    // All are due when the driver looks.
    let mut first: Vec<_> = (0..others).map(|_| set_soon(&rig)).collect();
    while !first.iter().all(|sleep| sleep.deadline() + MS < rig.now()) {
        std::hint::spin_loop();
    }
    if let Some(later) = extend {
        first.iter_mut().for_each(|sleep| sleep.as_mut().reset(rig.now() + later));
    }
    let before = rig.now();
    rig.driver.park(None, &mut WakeAtOnce);
    assert!(first.iter().all(|sleep| sleep.is_elapsed() == extend.is_none()));
    let _next = set_soon(&rig);
    rig.driver.park(None, &mut WakeAtOnce);
    let wait = rig.parks().last().unwrap().expect("a timer is set");
    (wait, rig.now() + wait - before)
}

#[test]
fn only_an_earlier_deadline_ends_a_wait_and_only_once() {
    let mut rig = Rig::on(Clock::new());
    let (_, waker) = Woken::new();
    let second = |n| Duration::from_secs(n);
    let mut first = rig.sleep(second(100));
    assert!(poll(first.as_mut(), &waker).is_pending());
    assert_eq!(rig.unparks(), 0, "nobody is parked");
    let sleeps =
        Mutex::new([rig.sleep(second(200)), rig.sleep(second(50)), rig.sleep(second(40)), rig.sleep(second(60))]);
    let (seen, handle) = (rig.seen.clone(), rig.handle.clone());
    rig.during_park(move || {
        let mut unparks = Vec::new();
        for sleep in sleeps.lock().iter_mut() {
            assert!(poll(sleep.as_mut(), Waker::noop()).is_pending());
            unparks.push(seen.unparks.load(Ordering::Relaxed));
        }
        // Later than the wait, earlier, earlier still: the driver has been called already.
        assert_eq!(unparks, [0, 1, 1, 1]);
        assert!(handle.earliest() < 41_000 * crate::tick::TICKS_PER_MILLISECOND);
    });
    rig.driver.park(None, &mut WakeAtOnce);
    assert_eq!(rig.unparks(), 1);
    *rig.during_park.lock() = None;
    let mut last = rig.sleep(second(1));
    assert!(poll(last.as_mut(), &waker).is_pending());
    assert_eq!(rig.unparks(), 1, "the wait is over");
}

#[test]
fn all_shards_fire_in_order_of_deadline_each() {
    struct Order(usize, Arc<Mutex<Vec<usize>>>);
    impl Wake for Order {
        fn wake(self: Arc<Self>) {
            self.1.lock().push(self.0);
        }
    }
    let mut rig = Rig::still();
    let order = Arc::new(Mutex::new(Vec::new()));
    let mut sleeps = Vec::new();
    for i in 0..200 {
        let deadline = rig.now() + (1 + (i as u32 * 7) % 100) * MS;
        let mut sleep = Box::pin(Sleep::new(rig.handle.shard_at(i % 3).clone(), deadline, State::Ahead));
        let waker = Waker::from(Arc::new(Order(i, order.clone())));
        assert!(poll(sleep.as_mut(), &waker).is_pending());
        sleeps.push(sleep);
    }
    rig.pass(100 * MS);
    let order = order.lock();
    assert_eq!(order.len(), 200);
    for shard in 0..3 {
        let fired: Vec<_> = order.iter().filter(|&&i| i % 3 == shard).map(|&i| (sleeps[i].deadline(), i)).collect();
        assert!(fired.is_sorted(), "deadline, then the order of setting");
    }
}

#[test]
fn a_paused_clock_moves_to_the_next_deadline_when_idle() {
    let clock = Clock::new();
    clock.pause();
    let mut rig = Rig::on(clock);
    let (woken, waker) = Woken::new();
    let start = rig.now();
    let hour = Duration::from_secs(3600);
    let (mut sleep, mut cancelled) = (rig.sleep(hour), rig.sleep(hour / 2));
    assert!(poll(sleep.as_mut(), &waker).is_pending());
    assert!(poll(cancelled.as_mut(), &waker).is_pending());
    drop(cancelled);
    rig.driver.park(Some(Duration::ZERO), &mut WakeAtOnce);
    assert_eq!(rig.now(), start, "only polled");
    rig.driver.park(None, &mut WakeAtOnce);
    assert_eq!(rig.now(), start + hour, "nobody waits for the cancelled one");
    assert_eq!(woken.count(), 1);
    assert_eq!(rig.parks(), [Some(Duration::ZERO); 2]);
    rig.driver.park(None, &mut WakeAtOnce);
    assert_eq!(rig.parks(), [None]);
    assert_eq!(rig.now(), start + hour);
}

#[test]
fn after_timers_have_fired_the_next_turn_should_not_be_put_off() {
    let clock = Clock::new();
    clock.pause();
    let mut rig = Rig::on(clock);
    let mut sleep = rig.sleep(MS);
    assert!(poll(sleep.as_mut(), Waker::noop()).is_pending());
    rig.driver.poll(&mut WakeAtOnce);
    assert!(!rig.driver.has_left());
    rig.driver.park(None, &mut WakeAtOnce);
    assert!(rig.driver.has_left(), "the clock has moved to its deadline");
    rig.driver.poll(&mut WakeAtOnce);
    assert!(!rig.driver.has_left());
}

#[test]
fn a_paused_clock_stands_for_cancelled_timers_only() {
    let clock = Clock::new();
    clock.pause();
    let mut rig = Rig::on(clock);
    let start = rig.now();
    let mut cancelled = rig.sleep(MS);
    assert!(poll(cancelled.as_mut(), Waker::noop()).is_pending());
    drop(cancelled);
    rig.driver.park(None, &mut WakeAtOnce);
    rig.driver.park(None, &mut WakeAtOnce);
    assert_eq!(rig.now(), start);
    assert_eq!(rig.parks(), [Some(Duration::ZERO), None]);
}

#[test]
fn a_paused_clock_does_not_move_while_there_is_work() {
    let clock = Clock::new();
    clock.pause();
    let mut rig = Rig::on(clock);
    let start = rig.now();
    let mut sleep = rig.sleep(MS);
    assert!(poll(sleep.as_mut(), Waker::noop()).is_pending());
    let unpark = rig.handle.unpark_handle();
    rig.during_park(move || unpark.unpark());
    rig.driver.park(None, &mut WakeAtOnce);
    assert_eq!(rig.now(), start);
    assert_eq!(rig.unparks(), 1);
    *rig.during_park.lock() = None;
    // A blocking call runs: its time is real, so the clock waits for it, and the driver without a limit.
    rig.clock.inhibit_auto_advance();
    rig.driver.park(None, &mut WakeAtOnce);
    rig.clock.allow_auto_advance();
    assert_eq!(rig.now(), start);
    rig.driver.park(None, &mut WakeAtOnce);
    assert_eq!(rig.now(), start + MS);
    assert_eq!(rig.parks(), [Some(Duration::ZERO), None, Some(Duration::ZERO)]);
}

#[test]
fn what_is_due_by_a_paused_clock_fires_without_moving_it() {
    let mut rig = Rig::still();
    let (woken, waker) = Woken::new();
    let mut sleep = rig.sleep(MS);
    assert!(poll(sleep.as_mut(), &waker).is_pending());
    assert!(rig.clock.advance(MS));
    rig.driver.park(None, &mut WakeAtOnce);
    assert_eq!((rig.parks(), woken.count()), (vec![Some(Duration::ZERO)], 1));
}

#[test]
fn remote_threads_share_the_last_shard() {
    let rig = Rig::still();
    let of_thread = |_| {
        let handle = rig.handle.clone();
        std::thread::spawn(move || std::ptr::from_ref(&*handle.shard(None)).addr()).join().unwrap()
    };
    let remote = std::ptr::from_ref(&**rig.handle.shard_at(2)).addr();
    assert!((0..8).map(of_thread).all(|shard| shard == remote));
}
