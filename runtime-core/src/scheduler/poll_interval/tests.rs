//! How intervals grow, shrink and end, by times that are made up.

use super::*;

const MICROSECOND: Duration = Duration::from_micros(1);

/// Has an interval of such polls end.
fn interval_of(poll_interval: &PollInterval, poll: Duration) -> u32 {
    let interval = poll_interval.interval.get();
    let next = poll_interval.next_interval(interval, (poll * interval).as_nanos() as u64);
    poll_interval.interval.set(next);
    next
}

#[test]
fn long_polls_shorten_the_interval_at_once() {
    let poll_interval = PollInterval::new(61);
    assert_eq!(interval_of(&poll_interval, 3 * MICROSECOND), 61);
    assert_eq!(interval_of(&poll_interval, 90 * MICROSECOND), 2);
    assert_eq!(interval_of(&poll_interval, Duration::from_secs(60)), 1);
}

#[test]
fn a_run_of_short_polls_lengthens_it_step_by_step() {
    let poll_interval = PollInterval::new(61);
    interval_of(&poll_interval, Duration::from_secs(60));
    for (interval, longer) in [(1, 2), (2, 4), (4, 8), (8, 16), (16, 32), (32, 61)] {
        (1..SHORT_INTERVALS_TO_GROW).for_each(|_| assert_eq!(interval_of(&poll_interval, MICROSECOND), interval));
        assert_eq!(interval_of(&poll_interval, Duration::ZERO), longer);
    }
    (0..100).for_each(|_| assert_eq!(interval_of(&poll_interval, MICROSECOND), 61));
}

#[test]
fn a_long_poll_ends_the_run() {
    let poll_interval = PollInterval::new(61);
    for _ in 0..10 {
        assert_eq!(interval_of(&poll_interval, 100 * MICROSECOND), 2);
        (1..SHORT_INTERVALS_TO_GROW).for_each(|_| assert_eq!(interval_of(&poll_interval, MICROSECOND), 2));
    }
    assert_eq!(interval_of(&poll_interval, MICROSECOND), 4);
}

#[test]
fn one_long_poll_among_hundreds_of_short_ones_does_not_make_each_an_interval() {
    let (poll_interval, mut now) = (PollInterval::new(61), Moment::now());
    poll_interval.restart(now);
    let (mut ended, all) = (0, 255 * 100);
    for poll in 0..all {
        if poll_interval.tick() {
            poll_interval.end_interval(now, || 0);
            ended += 1;
        }
        now += if poll % 255 == 0 { 110 * MICROSECOND } else { Duration::from_nanos(200) };
    }
    assert!(ended < all / 3, "{ended} intervals in {all} polls");
}

#[test]
fn polls_for_which_the_interval_is_right_leave_it() {
    let poll_interval = PollInterval::new(61);
    (0..1000).for_each(|_| assert_eq!(interval_of(&poll_interval, 15 * MICROSECOND), 13));
}

/// Ticks until the interval ends. How many it had.
fn polls(poll_interval: &PollInterval) -> u32 {
    (1..).find(|_| poll_interval.tick()).expect("it ends")
}

/// Ticks until the interval ends, in parts of that number of polls. How many it had.
fn polls_in_parts(poll_interval: &PollInterval, part: u32) -> u32 {
    poll_interval.limit_part(part);
    let mut all = 0;
    loop {
        let ticks = polls(poll_interval);
        assert!(ticks <= part, "{ticks} in a part of {part}");
        all += ticks;
        if !poll_interval.begin_part(part) {
            return all;
        }
    }
}

#[test]
fn parts_add_up_to_the_interval() {
    for part in [1, 2, 7, 60, 61, 62, u32::MAX] {
        let (poll_interval, now) = (PollInterval::new(61), Moment::now());
        poll_interval.interval.set(61);
        poll_interval.next_limit.set(61);
        poll_interval.end_interval(now, || 0);
        assert_eq!(polls_in_parts(&poll_interval, part), 61);
        poll_interval.end_interval(now + MICROSECOND, || 0);
        assert_eq!(polls_in_parts(&poll_interval, part), 61);
    }
}

#[test]
fn after_sleep_the_first_part_has_a_tick_more() {
    let (poll_interval, now) = (PollInterval::new(61), Moment::now());
    poll_interval.restart(now);
    poll_interval.limit_part_before_tick(1);
    assert_eq!(polls(&poll_interval), 2);
    assert!(poll_interval.begin_part(1));
    assert_eq!(polls(&poll_interval), 1);
    assert!(poll_interval.begin_part(u32::MAX));
    assert_eq!(polls(&poll_interval), 1);
    assert!(!poll_interval.begin_part(1), "three polls");
    poll_interval.restart(now);
    poll_interval.limit_part_before_tick(u32::MAX);
    assert_eq!(polls(&poll_interval), FIRST_INTERVAL_POLLS + 1);
}

#[test]
fn an_interval_in_parts_can_be_cut_short() {
    let (poll_interval, now) = (PollInterval::new(1000), Moment::now());
    poll_interval.next_limit.set(1000);
    poll_interval.end_interval(now, || 0);
    poll_interval.limit_part(10);
    assert_eq!(polls(&poll_interval), 10);
    assert!(poll_interval.begin_part(10));
    poll_interval.end_now();
    assert!(poll_interval.tick() && !poll_interval.begin_part(10));
    assert_eq!(poll_interval.length.get(), 11);
}

#[test]
fn an_interval_that_was_cut_short_is_measured_by_the_polls_it_had() {
    let (poll_interval, now) = (PollInterval::new(1000), Moment::now());
    poll_interval.restart(now);
    assert!((0..3).all(|_| !poll_interval.tick()));
    poll_interval.end_now();
    assert!(poll_interval.tick());
    poll_interval.end_now();
    assert!(poll_interval.end_interval(now + Duration::from_micros(30), || 0));
    assert_eq!(poll_interval.poll_time.get(), 10_000);
    assert_eq!(poll_interval.interval.get(), 20, "cut short is not short");
}

#[test]
fn the_longest_interval_of_all_can_be_cut_short() {
    let poll_interval = PollInterval::new(u32::MAX);
    for (left, had) in [(u32::MAX, 1), (u32::MAX - 2, 3), (1, u32::MAX)] {
        poll_interval.length.set(u32::MAX);
        poll_interval.left.set(left);
        poll_interval.end_now();
        assert_eq!(poll_interval.length.get(), had);
        assert!(poll_interval.tick());
    }
}

#[test]
fn after_sleep_it_begins_with_short_intervals() {
    let (poll_interval, mut now) = (PollInterval::new(61), Moment::now());
    for _ in 0..2 {
        poll_interval.restart(now);
        // The first tick is before the first poll.
        assert_eq!(polls(&poll_interval), FIRST_INTERVAL_POLLS + 1);
        for expected in [6, 12, 24, 48, 61, 61] {
            now += MICROSECOND;
            poll_interval.end_interval(now, || 0);
            assert_eq!(polls(&poll_interval), expected);
        }
    }
    poll_interval.restart(now);
    assert_eq!(polls(&poll_interval), FIRST_INTERVAL_POLLS + 1);
    assert!(poll_interval.end_interval(now + FIRST_INTERVAL_POLLS * 100 * MICROSECOND, || 0));
    assert_eq!(polls(&poll_interval), 2, "they turn out to be long");
}

#[test]
fn what_is_no_poll_is_not_measured() {
    let (poll_interval, now) = (PollInterval::new(10), Moment::now());
    (0..6).for_each(|_| poll_interval.restart(now));
    assert!(!poll_interval.tick() && !poll_interval.tick());
    let later = now + Duration::from_secs(1);
    poll_interval.resume(later);
    assert_eq!(polls(&poll_interval), 2);
    poll_interval.end_interval(later + 10 * MICROSECOND, || 0);
    assert_eq!((poll_interval.poll_time.get(), poll_interval.interval.get()), (5_000, 10));
}

#[test]
fn an_interval_of_short_polls_does_not_poll_the_drivers_twice() {
    let (poll_interval, now) = (PollInterval::new(3), Moment::now());
    poll_interval.restart(now);
    assert_eq!(polls(&poll_interval), 4);
    assert!(!poll_interval.end_interval(now, || 0), "it may have slept in the drivers");
    assert!(!poll_interval.end_interval(now, || 0));
    assert!(poll_interval.end_interval(now + MIN_DRIVER_POLL_GAP, || 0));
}

#[test]
fn if_nothing_is_left_the_drivers_have_their_turn_at_the_last_end_of_an_interval_within_the_target() {
    let (poll_interval, now) = (PollInterval::new(61), Moment::now());
    // After how many microseconds the drivers have their turn, when all intervals take so long.
    let turn_after = |interval: u32| {
        poll_interval.restart(now);
        let mut ends = (1..).map(|number| number * interval);
        ends.find(|&after| {
            // Each has as many polls as the next.
            let PollInterval { length, interval, next_limit, .. } = &poll_interval;
            [length, interval, next_limit].into_iter().for_each(|polls| polls.set(6));
            poll_interval.end_interval(now + after * MICROSECOND, || 0)
        })
    };
    assert_eq!(turn_after(30), Some(30), "what is left is not known");
    poll_interval.note_turn(false);
    assert_eq!([7, 30, 60, 90].map(&turn_after), [196, 180, 180, 180].map(Some));
    assert_eq!([101, 150, 1000].map(&turn_after), [101, 150, 1000].map(Some));
    poll_interval.note_turn(true);
    assert_eq!([7, 30, 150].map(&turn_after), [21, 30, 150].map(Some));
    let of_new_thread = PollInterval::new(61);
    of_new_thread.resume(now);
    of_new_thread.note_turn(false);
    assert!(of_new_thread.end_interval(now + MICROSECOND, || 0), "when they had it is not known");
}

#[test]
fn a_call_is_obeyed_however_soon() {
    let (poll_interval, now) = (PollInterval::new(3), Moment::now());
    poll_interval.end_now();
    assert!(poll_interval.end_interval(now, || 0));
    poll_interval.end_now();
    assert!(poll_interval.end_interval(now, || 0));
    assert!(!poll_interval.end_interval(now, || 0), "once");
}

#[test]
fn a_poll_takes_its_part_of_the_interval() {
    let (poll_interval, now) = (PollInterval::new(10), Moment::now());
    poll_interval.end_interval(now, || 0);
    assert_eq!(poll_interval.poll_time.get(), 0, "not known");
    poll_interval.end_interval(now + 15 * MICROSECOND, || 0);
    assert_eq!(poll_interval.poll_time.get(), 5_000);
}

#[test]
fn when_a_task_gives_way_the_drivers_have_their_turn_soon() {
    let (poll_interval, mut now) = (PollInterval::new(61), Moment::now());
    poll_interval.restart(now);
    poll_interval.note_turn(false);
    let mut run = |polls: u32, poll: Duration, giving_way: u32| {
        for done in 1..=polls {
            now += poll;
            if done == giving_way {
                poll_interval.note_gave_way();
            }
            if poll_interval.tick() {
                return (done, poll_interval.end_interval(now, || 0));
            }
        }
        panic!("it does not end");
    };
    // The tick before the first poll, and how long polls are.
    assert!(!poll_interval.tick());
    while run(61, 10 * MICROSECOND, 0) != (20, true) {}
    assert_eq!(run(61, 10 * MICROSECOND, 3), (4, true), "it and one more take 20 us");
    assert_eq!(run(61, 10 * MICROSECOND, 1), (2, true), "another time");
    assert_eq!(run(61, 10 * MICROSECOND, 0), (20, true), "none gave way");
    assert_eq!(run(61, 10 * MICROSECOND, 20), (20, true), "with the last poll");
    // Nothing is shorter than that.
    while run(61, MICROSECOND / 10, 1).0 < 61 {}
    let ends: Vec<_> = (0..8).map(|_| run(61, MICROSECOND / 10, 1)).collect();
    assert!(ends.iter().all(|end| end.0 == 61), "{ends:?}");
    assert_eq!(ends.iter().filter(|end| end.1).count(), 2, "20 us after the last turn: {ends:?}");
}

#[test]
fn the_drivers_are_left_alone_while_many_events_wait() {
    let (poll_interval, mut now) = (PollInterval::new(61), Moment::now());
    poll_interval.restart(now);
    poll_interval.interval.set(1);
    let mut had = polls(&poll_interval) - 1;
    let mut end = |left, after| {
        now += after;
        let is_turn = poll_interval.end_interval(now, || left);
        had += polls(&poll_interval);
        (is_turn, had)
    };
    const GAP: Duration = MIN_DRIVER_POLL_GAP;
    while let (false, had) = end(17, GAP) {
        assert!(had < 61 + 60, "so many polls have gone by");
    }
    assert!(!end(17, GAP).0, "it counts anew");
    assert!(end(16, GAP).0 && end(0, GAP).0, "half of what it takes at a time");
    assert!(!end(17, MAX_DRIVER_POLL_GAP - GAP).0 && end(17, GAP).0, "so much time has gone by");
    poll_interval.end_now();
    assert!(poll_interval.end_interval(now, || 1000), "a call is obeyed");
}

#[test]
fn polls_are_short_if_they_fit_into_a_time_that_nobody_notices() {
    let poll_interval = PollInterval::new(61);
    assert!(poll_interval.has_short_polls(u64::MAX), "nothing is known yet");
    for (nanos, fit) in [(1, 20_000), (7, 2857), (10_000, 2), (20_000, 1), (20_001, 0), (u64::MAX, 0)] {
        poll_interval.poll_time.set(nanos);
        assert_eq!(u64::from(poll_interval.polls_in_min_gap()), fit);
        assert!(poll_interval.has_short_polls(fit));
        assert!(!poll_interval.has_short_polls(fit + 1), "{nanos}");
    }
}
