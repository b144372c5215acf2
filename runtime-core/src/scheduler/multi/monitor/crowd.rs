//! Workers beyond the processors: whether they are needed after all.
//!
//! A program that asks for sixteen workers on two processors mostly does not know that it has two. Then fourteen threads more
//! than can run take turns with those that do, to nobody's good; so pushers leave them asleep (`../idle/`, the reserve). But
//! some ask for them because their tasks block, for moments too short to be noticed as blocked, or compute for long while others
//! wait. So at each sample a few of the workers that are up are looked at:
//!
//! - Of those still in the poll of the last sample, whether that is their own doing: they sleep, or have had processor time
//!   since the look before. Then they are *held up* until the poll ends, and for each of them the reserve is smaller by two:
//!   one to stand in, and one more, so that many that get held up one after the other are overtaken.
//! - Of the others, while work waits, whether they sleep in their polls. If so many do that processors stand idle (an average
//!   over some samples), the whole reserve is called up for a while. If it is needed again soon after, it stays up for longer:
//!   a program whose tasks block for moments all the time pays for finding that out every ten seconds.
//!
//! If the operating system tells nothing both are taken to be so. Those who are up stay up as long as they find work, also when
//! pushers no longer wake them. Where the user wants no help from the monitor there is no reserve. The processors are those that
//! the runtime found when it was built.

use std::time::Duration;

use super::super::{Shared, Slot};
use super::watch::{Progress, Watch};
use super::{is_up, steps};
use crate::blocked::Times;
use crate::runtime::{Config, Inner};

/// So many threads are looked at in a sample for each of the two questions, and more if there are more processors than
/// four times that: to read what the system tells of one takes some ten microseconds.
const LOOKS: usize = 4;
/// What a sample weighs in the average of those that sleep, and the average from which on processors stand idle: after two
/// samples at the soonest.
const WEIGHT: f64 = 0.2;
const IDLE: f64 = 0.25;
/// A poll that has had so much processor time is long for those that wait, however little that is of what the machine
/// has. (Not the threshold of a blocked poll, which the user may put as high as they like.)
const ENOUGH: Duration = Duration::from_millis(10);

/// How many workers are left asleep as long as the others get on: those beyond the processors.
pub(in super::super) fn reserve(config: &Config, processors: usize) -> i32 {
    // There are 65,000 workers at most.
    if config.rescue_blocked { (config.worker_threads - processors) as i32 } else { 0 }
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Crowd {
    /// By victim's number.
    polls: Vec<LongPoll>,
    /// By how much the reserve is smaller at present.
    called: i32,
    call: Call,
    /// What part of those that were looked at slept in their polls.
    asleep: f64,
    /// Where the next looks begin.
    next_long: usize,
    next_moving: usize,
}

/// What is known of a poll that was seen twice.
#[derive(Clone, Copy, Debug, Default)]
struct LongPoll {
    /// At the first look: how long it had lasted, and the times of its thread.
    first: Option<(Duration, Option<Times>)>,
    is_held_up: bool,
}

impl Crowd {
    /// Takes a sample.
    pub(super) fn look(
        &mut self,
        runtime: &Inner,
        shared: &Shared,
        watches: &[Watch],
        progress: &[Progress],
        passed: Duration,
    ) {
        let reserve = shared.monitor.reserve;
        if reserve == 0 {
            return;
        }
        self.call.pass(passed);
        let looks = LOOKS.max(shared.processors / LOOKS);
        let held_up = self.look_at_long_polls(shared, watches, progress, looks);
        if !self.call.is_up() && self.are_processors_idle(shared, progress, looks) {
            self.asleep = 0.0;
            self.call.begin();
        }
        let called = if self.call.is_up() { reserve } else { reserve.min(2 * held_up) };
        let more = called - std::mem::replace(&mut self.called, called);
        if more != 0 {
            shared.idle.change_reserve(-more);
        }
        if more > 0 && shared.does_work_wait() {
            shared.notify(runtime, || false);
        }
    }

    /// The monitor has slept for so long.
    pub(super) fn has_dozed(&mut self, time: Duration) {
        self.call.pass(time);
    }

    /// How many workers are held up.
    fn look_at_long_polls(&mut self, shared: &Shared, watches: &[Watch], progress: &[Progress], looks: usize) -> i32 {
        self.polls.resize_with(progress.len(), LongPoll::default);
        for (poll, how) in self.polls.iter_mut().zip(progress) {
            if matches!(how, Progress::Away | Progress::Moving) {
                *poll = LongPoll::default();
            }
        }
        let is_open = |&number: &usize| {
            !matches!(progress[number], Progress::Away | Progress::Moving) && !self.polls[number].is_held_up
        };
        for number in in_turn(&mut self.next_long, progress.len(), looks, is_open) {
            let Some(slot) = shared.victim(number) else { continue };
            self.polls[number].look(slot, &watches[number]);
        }
        self.polls.iter().filter(|poll| poll.is_held_up).count() as i32
    }

    /// Whether work waits while so many sleep in short polls that processors have nothing to do.
    fn are_processors_idle(&mut self, shared: &Shared, progress: &[Progress], looks: usize) -> bool {
        // Also the one task that a worker is going to run next: another could run it while this one sleeps.
        if !shared.does_work_wait() && !shared.victims().any(Slot::has_any_work) {
            self.asleep *= 1.0 - WEIGHT;
            return false;
        }
        let (mut looked, mut slept) = (0, 0);
        let is_moving = |&number: &usize| progress[number] == Progress::Moving;
        for number in in_turn(&mut self.next_moving, progress.len(), looks, is_moving) {
            let Some(slot) = shared.victim(number) else { continue };
            let parks = is_up(slot).then(|| slot.counters.parks.get());
            let is_asleep = slot.current.thread().and_then(|thread| thread.is_asleep());
            // If it has gone to sleep for want of work, that tells nothing.
            if is_up(slot) && parks == Some(slot.counters.parks.get()) {
                looked += 1;
                slept += u32::from(is_asleep.unwrap_or(true));
            }
        }
        if looked > 0 {
            self.asleep += WEIGHT * (f64::from(slept) / f64::from(looked) - self.asleep);
        }
        self.asleep > IDLE
    }
}

/// So many of the numbers that are wanted, in turn from one call to the next.
fn in_turn(next: &mut usize, numbers: usize, count: usize, is_wanted: impl Fn(&usize) -> bool) -> Vec<usize> {
    let start = (*next).min(numbers);
    let chosen: Vec<usize> = (start..numbers).chain(0..start).filter(is_wanted).take(count).collect();
    *next = chosen.last().map_or(0, |last| last + 1);
    chosen
}

impl LongPoll {
    fn look(&mut self, slot: &Slot, watch: &Watch) {
        let reading = slot.current.thread().and_then(|thread| thread.read());
        if !is_up(slot) || !watch.is_at(steps(slot)) {
            // It has ended.
            return;
        }
        let (is_asleep, times) = reading.map_or((true, None), |reading| (reading.is_asleep, reading.times));
        self.is_held_up = is_asleep || self.has_run(watch.lasted(), times);
    }

    /// Whether the thread has had a quarter of the time since the first look, or [`ENOUGH`]. If the system does not tell, the
    /// second look decides.
    fn has_run(&mut self, lasted: Duration, times: Option<Times>) -> bool {
        let Some((first_lasted, first_times)) = self.first else {
            self.first = Some((lasted, times));
            return false;
        };
        match (first_times, times) {
            (Some(first), Some(now)) => {
                let ran = now.ran.saturating_sub(first.ran);
                ran * 4 >= lasted.saturating_sub(first_lasted) || ran >= ENOUGH
            }
            _ => true,
        }
    }
}

/// For how long the whole reserve is up.
#[derive(Debug, Default)]
struct Call {
    left: Duration,
    length: Duration,
    /// How long it has not been up.
    rest: Duration,
}

impl Call {
    const SHORTEST: Duration = Duration::from_millis(100);
    const LONGEST: Duration = Duration::from_secs(10);

    fn is_up(&self) -> bool {
        !self.left.is_zero()
    }

    fn pass(&mut self, time: Duration) {
        if self.is_up() {
            // What is more than was left counts as rest.
            self.rest = time.saturating_sub(self.left);
            self.left = self.left.saturating_sub(time);
        } else {
            self.rest += time;
        }
    }

    fn begin(&mut self) {
        self.length = if self.rest < self.length { (2 * self.length).min(Self::LONGEST) } else { Self::SHORTEST };
        self.left = self.length;
        self.rest = Duration::ZERO;
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn a_call_ends() {
        let mut call = Call::default();
        call.pass(MS);
        assert!(!call.is_up());
        call.begin();
        call.pass(99 * MS);
        assert!(call.is_up());
        call.pass(MS);
        assert!(!call.is_up());
    }

    #[test]
    fn calls_that_follow_each_other_get_longer() {
        let mut call = Call::default();
        let mut next = |rest| {
            call.pass(rest);
            call.begin();
            let length = call.left;
            call.pass(length);
            length
        };
        assert_eq!(next(Duration::from_secs(100)), 100 * MS);
        assert_eq!(next(99 * MS), 200 * MS);
        assert_eq!(next(3 * MS), 400 * MS);
        assert_eq!(next(400 * MS), 100 * MS, "it was not needed for as long as it had been up");
        (0..10).for_each(|_| _ = next(3 * MS));
        assert_eq!(next(3 * MS), Call::LONGEST);
    }

    #[test]
    fn all_have_their_turn() {
        let mut next = 0;
        let mut turn = |numbers, is_wanted: fn(&usize) -> bool| in_turn(&mut next, numbers, 2, is_wanted);
        assert_eq!(turn(5, |_| true), [0, 1]);
        assert_eq!(turn(5, |_| true), [2, 3]);
        assert_eq!(turn(5, |_| true), [4, 0]);
        assert_eq!(turn(5, |number| number % 2 == 0), [2, 4]);
        assert_eq!(turn(3, |number| *number == 1), [1]);
        assert_eq!(turn(3, |_| false), [0; 0]);
        assert_eq!(turn(3, |_| true), [0, 1]);
    }

    #[test]
    fn a_thread_that_waits_for_a_processor_is_not_held_up_and_one_that_computes_is() {
        let times = |ran| Some(Times { ran: ran * MS, waited: Duration::ZERO });
        let mut poll = LongPoll::default();
        assert!(!poll.has_run(MS, times(100)), "one look tells nothing");
        assert!(!poll.has_run(5 * MS, times(100)));
        assert!(poll.has_run(5 * MS, times(101)), "a quarter of four");
        assert!(!poll.has_run(101 * MS, times(109)));
        assert!(poll.has_run(101 * MS, times(110)), "on a machine that has much else to do");
        let mut unknown = LongPoll::default();
        assert!(!unknown.has_run(MS, None));
        assert!(unknown.has_run(2 * MS, None));
    }
}
