//! A worker that polls, by a clock that is made up.

use std::time::Duration;

use super::*;

const TARGET: u64 = 4_000;

/// A worker whose polls take as long as they are told to.
struct Worker {
    poll_times: PollTimes,
    times: WorkerTimes,
    now: Moment,
    polls: u64,
    /// How many polls are left of the group.
    left: u32,
}

impl Worker {
    fn new() -> Self {
        let (poll_times, times) = (PollTimes::with_target(Some(TARGET), false), WorkerTimes::default());
        let now = Moment::now();
        poll_times.begin(now, 0);
        let left = poll_times.size();
        poll_times.expect_last(u64::from(left));
        Self { poll_times, times, now, polls: 0, left }
    }

    fn pass(&mut self, nanos: u64) {
        self.now += Duration::from_nanos(nanos);
    }

    /// Polls a task that goes on. What it is charged with.
    fn poll(&mut self, nanos: u64) -> u64 {
        self.polls += 1;
        self.pass(nanos);
        let took =
            if self.poll_times.is_last(self.polls) { self.poll_times.note_end(self.now, self.polls) } else { None };
        let charged = took.unwrap_or(self.poll_times.usual());
        self.end_of_poll();
        charged
    }

    /// Polls a task that is over, and takes that long to be dropped as well.
    fn poll_last(&mut self, nanos: u64, drop: u64) {
        self.polls += 1;
        self.pass(nanos + drop);
        self.end_of_poll();
    }

    fn end_of_poll(&mut self) {
        self.left -= 1;
        if self.left == 0 {
            // What the worker does until it comes to this.
            let ended = self.poll_times.end_of(self.polls).unwrap_or(self.now);
            self.poll_times.end(ended, self.polls, &self.times);
            self.count_down();
        }
    }

    fn count_down(&mut self) {
        self.left = self.poll_times.size();
        self.poll_times.expect_last(self.polls + u64::from(self.left));
    }

    /// Does something that is no poll.
    fn pause(&mut self, nanos: u64) {
        self.poll_times.end(self.now, self.polls, &self.times);
        self.pass(nanos);
        self.poll_times.begin(self.now, self.polls);
        self.count_down();
    }

    /// Polls that take that long, until the group has ended. How many it has had.
    fn group(&mut self, poll: impl Fn(u32) -> u64) -> u32 {
        let size = self.left;
        (0..size).for_each(|number| _ = self.poll(poll(number)));
        size
    }

    fn buckets(&self) -> [u64; 64] {
        *self.times.polls.read().buckets()
    }

    fn counted(&self) -> u64 {
        self.times.polls.read().count()
    }
}

#[test]
fn short_polls_are_measured_in_groups_that_take_the_time_that_reading_the_clock_is_worth() {
    let mut worker = Worker::new();
    let sizes: Vec<_> = (0..10).map(|_| worker.group(|_| 100)).collect();
    assert_eq!(sizes, [1, 2, 4, 8, 16, 32, 40, 40, 40, 40]);
    assert_eq!((worker.counted(), worker.buckets()[6]), (worker.polls, worker.polls), "all are from 64 to 128 ns");
    // No shorter than the clock can tell.
    worker.group(|_| 0);
    assert_eq!(worker.poll_times.size(), 80);
    assert_eq!(worker.buckets()[0], 40);
}

#[test]
fn long_polls_are_measured_one_by_one_and_charged_to_the_nanosecond() {
    let mut worker = Worker::new();
    for poll in 0..100 {
        assert_eq!(worker.left, 1);
        assert_eq!(worker.poll(5_000 + poll), 5_000 + poll);
    }
    assert_eq!(worker.buckets()[12], 100);
    assert!((5_000..5_100).contains(&worker.times.mean_poll()));
}

#[test]
fn the_size_follows_from_how_long_polls_take() {
    // Longer polls: at once. (As many as fit, and one at least.)
    assert_eq!(next_size(40, 40, 8_000, TARGET), 20);
    assert_eq!(next_size(40, 40, 1_000_000, TARGET), 1);
    assert_eq!(next_size(1, 1, u64::MAX, TARGET), 1);
    // Shorter ones: twice as many at most.
    assert_eq!(next_size(40, 40, 1_000, TARGET), 80);
    assert_eq!(next_size(40, 40, 3_200, TARGET), 50);
    assert_eq!(next_size(u32::MAX, u32::MAX, 0, TARGET), u32::MAX);
    // A group that was cut short says nothing about more polls than it had,
    assert_eq!(next_size(40, 2, 10, TARGET), 40);
    // but may say that they are long.
    assert_eq!(next_size(40, 2, 8_000, TARGET), 1);
}

#[test]
fn a_long_poll_among_short_ones_is_found_and_told_by_itself_if_it_comes_again() {
    let mut worker = Worker::new();
    (0..10).for_each(|_| _ = worker.group(|_| 100));
    let before = worker.counted();
    assert_eq!(worker.group(|poll| if poll == 7 { 2_000_000 } else { 100 }), 40);
    assert_eq!(worker.buckets()[20], 1, "2 ms");
    assert_eq!((worker.buckets()[6], worker.counted()), (before + 39, before + 40));
    // One task in thirty is such a one.
    for round in 0..10 {
        for task in 0..30 {
            let took = if task == 29 { 2_000_000 } else { 100 };
            assert_eq!(worker.poll(took), took, "{task} in round {round}");
        }
    }
}

#[test]
fn what_a_long_group_has_paid_for_is_spent_and_no_more() {
    let mut worker = Worker::new();
    (0..10).for_each(|_| _ = worker.group(|_| 100));
    // Three readings, of which one is that at its end.
    worker.group(|poll| if poll == 7 { 3 * TARGET - 39 * 100 } else { 100 });
    assert_eq!([(); 4].map(|()| worker.group(|_| 100)), [1, 1, 2, 4]);
    // However long it took.
    worker.group(|_| 3_600_000_000_000);
    let singles = (0..).find(|_| worker.group(|_| 100) > 1).unwrap();
    assert_eq!(singles, CLOCK_SHARE - 1);
}

/// Whatever comes between polls, and however long the polls of others take: a task is charged with the time of its own
/// poll, or with what is usual, which is less than the target.
#[test]
fn no_poll_is_charged_to_another_task() {
    let mut worker = Worker::new();
    let mut random = 1_u64;
    let (mut exact, mut usual) = (0, 0);
    for _ in 0..200_000 {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (what, bits) = (random >> 33 & 0x3ff, random >> 43);
        match what {
            // Drivers, hooks, sleep; another task that is over; polls, of which one in some hundreds is long.
            0..2 => worker.pause(10_000 + bits),
            2..4 => worker.poll_last(bits, 1_000_000),
            4..7 => {
                let took = 100_000 + bits;
                let charged = worker.poll(took);
                assert!(charged == took || charged < TARGET, "{charged} for {took}");
                exact += u64::from(charged == took);
            }
            _ => {
                let took = bits % 300;
                let charged = worker.poll(took);
                assert!(charged == took || charged < TARGET, "{charged} for {took}");
                usual += u64::from(charged != took);
            }
        }
    }
    assert!(exact > 0 && usual > 0, "both were tried: {exact}, {usual}");
    worker.pause(1);
    assert_eq!(worker.counted(), worker.polls);
}

#[test]
fn what_is_no_poll_does_not_count() {
    let mut worker = Worker::new();
    worker.pause(1_000_000_000);
    assert_eq!(worker.counted(), 0);
    worker.pass(1_000_000_000);
    worker.poll_times.restart(worker.now, worker.polls);
    worker.count_down();
    assert_eq!(worker.poll(3), 3);
    assert_eq!((worker.buckets()[1], worker.counted()), (1, 1));
}

#[test]
fn after_an_interruption_a_group_begins_with_a_poll() {
    let mut worker = Worker::new();
    assert!(!worker.poll_times.is_interrupted() && !worker.poll_times.has_begun(worker.polls));
    worker.poll(100);
    worker.poll_times.end(worker.now, worker.polls, &worker.times);
    worker.poll_times.interrupt();
    assert!(worker.poll_times.is_interrupted());
    worker.pass(1_000_000_000);
    worker.poll_times.begin(worker.now, worker.polls);
    worker.left = 1;
    worker.poll_times.expect_last(worker.polls + 1);
    assert_eq!(worker.poll(200), 200);
    assert_eq!((worker.buckets()[6], worker.buckets()[7], worker.counted()), (1, 1, 2));
}

#[test]
fn polls_of_what_is_no_task_do_not_count_but_are_no_part_of_others() {
    let mut worker = Worker::new();
    worker.pass(1_000_000_000);
    worker.poll_times.note_other();
    worker.pause(0);
    assert_eq!((worker.counted(), worker.times.mean_poll(), worker.left), (0, 0, 1));
    (0..3).for_each(|_| worker.poll_times.note_other());
    assert_eq!(worker.poll(400), 0, "it was not alone, and nothing is usual yet");
    assert_eq!((worker.buckets()[6], worker.counted()), (1, 1), "100 ns");
}

#[test]
fn what_a_long_poll_took_is_not_what_is_usual() {
    let mut worker = Worker::new();
    (0..4).for_each(|_| _ = worker.group(|_| 100));
    let usual = worker.poll_times.usual();
    // In the middle of a group; then the worker ends it, for a reason of its own.
    worker.pause(0);
    worker.polls += 1;
    worker.pass(1_000_000);
    worker.poll_times.end(worker.now, worker.polls, &worker.times);
    assert_eq!((worker.buckets()[19], worker.poll_times.usual()), (1, usual));
}

#[test]
fn a_poll_that_was_not_over_counts_until_it_is() {
    let mut worker = Worker::new();
    worker.polls += 1;
    worker.pass(100);
    worker.poll_times.note_end(worker.now, worker.polls);
    assert_eq!((worker.poll_times.end_of(1), worker.poll_times.end_of(2)), (Some(worker.now), None));
    // The task was cancelled meanwhile, and its future is dropped.
    worker.poll_times.take_back_end();
    worker.pass(1_000_000);
    worker.end_of_poll();
    assert_eq!((worker.buckets()[19], worker.counted()), (1, 1));
}

#[test]
fn what_was_done_in_the_middle_of_a_group_is_nobodys_poll() {
    let mut worker = Worker::new();
    (0..4).for_each(|_| _ = worker.group(|_| 100));
    let (counted, left) = (worker.counted(), worker.left);
    for number in 0..left {
        if number == left / 2 {
            worker.pass(50_000);
            worker.poll_times.leave_out(50_000);
        }
        worker.poll(100);
    }
    assert_eq!(worker.counted(), counted + u64::from(left));
    assert_eq!(worker.buckets()[6], worker.polls, "all are from 64 to 128 ns");
}

#[test]
fn one_by_one_each_poll_is_a_group() {
    let (poll_times, times, now) = (PollTimes::with_target(Some(TARGET), true), WorkerTimes::default(), Moment::now());
    poll_times.begin(now, 0);
    for polls in 1..1_000 {
        poll_times.end(now, polls, &times);
        assert_eq!(poll_times.size(), 1);
    }
}

#[test]
fn switched_off_it_measures_nothing() {
    let (poll_times, times, now) = (PollTimes::new(false, true), WorkerTimes::default(), Moment::now());
    poll_times.begin(now, 0);
    poll_times.restart(now, 0);
    poll_times.end(now + Duration::from_secs(1), 1, &times);
    assert_eq!((times.polls.read().count(), times.mean_poll(), poll_times.size()), (0, 0, u32::MAX));
    assert_eq!((poll_times.target_nanos(), poll_times.usual()), (None, 0));
    assert!(!poll_times.is_interrupted() && !poll_times.has_begun(1));
    poll_times.expect_last(1);
    assert!(!poll_times.is_last(1));
}

#[test]
fn reading_the_clock_costs_something() {
    assert!(clock_cost() > 0);
}
