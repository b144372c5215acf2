//! What the monitor has seen of one worker, sample by sample.
//!
//! A worker counts its polls. If two samples find the same count it was in one poll all the time between them, which
//! adds to the *age* of the poll. The rest of a poll's time is not known: before it was first seen it is *unseen*, and
//! what a late sample brings more than was expected is left out of the age (the worker may have had no processor, as
//! the monitor had none), though reports have it (*lasted*). From the threshold on the thread is asked about, too.
//!
//! An example: samples a millisecond apart, a threshold of 10 ms, and a poll that begins just before the first sample
//! and takes 30 ms.
//!
//! | at, ms | age, ms | if it sleeps | if it computes | if it has no processor |
//! |--:|--:|---|---|---|
//! | 0 | 0 | `Moving`: another poll | the same | the same |
//! | 1 to 9 | 1 to 9 | `Slow` | `Slow` | `Slow` |
//! | 10 | 10 | first reading, asleep: `Stuck`, and helped | first reading: `Preempted`, it is to be seen | the same |
//! | 11 | 11 | it has waited for no processor: *proven*, and counted | it has run for 1 ms of 1: `Stuck`, proven | it has run for none: `Preempted` |
//! | 30 | | `Moving`: what was counted is reported | the same | nothing was counted |
//!
//! Those that sleep beside a worker that has no processor are [excused](excuse_sleepers).

use std::time::Duration;

use super::LONG_BLOCK;
use super::sample_interval::FAST_INTERVAL;
use crate::blocked::{Activity, Reading, Stack, Times};
use crate::scheduler::multi::slot::UserCode;

/// A thread that had the processor for one part in this many of the time was not kept from running.
const FAIR_SHARE_DIVISOR: u32 = 4;

/// For how long a sleeper may be excused. Quotas of processor time are counted in periods of 100 ms, unless somebody
/// has asked for others.
const LONGEST_EXCUSE: Duration = FAST_INTERVAL.saturating_mul(100);

/// The time between two samples.
#[derive(Clone, Copy, Debug)]
pub(super) struct Elapsed {
    pub(super) real: Duration,
    /// No more than was to be expected: if the monitor itself had to wait for a processor, so had the workers.
    pub(super) counted: Duration,
}

/// What a sample sees of a worker.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    /// What it has counted: polls, and whatever else it does.
    pub(super) steps: u64,
    /// It sleeps, has no thread, or blocks in place.
    pub(super) is_away: bool,
    /// If it has woken up for the poll that it is in: how long ago.
    pub(super) woke_up: Option<Duration>,
}

/// How a worker is getting on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// Not to be watched now.
    Away,
    /// It is in another poll than last time.
    Moving,
    /// In the same poll, but the operating system lets its thread wait for a processor; or its thread sleeps, and may
    /// wait for one that has none.
    Preempted,
    /// In the same poll as at the last sample.
    Slow,
    /// In the same poll for longer than the threshold.
    Stuck,
}

/// A worker that was blocked while something waited.
#[derive(Clone, Debug)]
pub(super) struct Event {
    pub(super) user_code: UserCode,
    pub(super) is_reported: bool,
    pub(super) stack: Option<Stack>,
}

/// What was seen of a poll that was found to lack a processor, and is over.
#[derive(Clone, Copy, Debug)]
struct Lack {
    /// The thread's times at the first reading.
    times: Times,
    /// How long ago that was.
    since: Duration,
}

/// What the monitor has seen of one worker's current poll.
#[derive(Debug, Default)]
pub(super) struct Sampler {
    /// The count when this poll was first seen; `None` while away.
    steps: Option<u64>,
    /// For how long it has been seen, not counting what the monitor itself may have missed.
    age: Duration,
    /// For how much longer it may have lasted, as it was not looked at.
    unseen: Duration,
    /// For how long it has been seen by the clock: a little less than it has lasted.
    lasted: Duration,
    asleep: u32,
    running: u32,
    /// The first reading of the thread's times in this poll and when that was, and the latest.
    first_times: Option<(Duration, Times)>,
    last_times: Option<(Duration, Times)>,
    /// How long between the two it has run, or slept, and not waited for a processor. No more than is certain.
    unpreempted: Duration,
    /// What waited meanwhile: the most tasks at a time, and whether timers and sockets did.
    tasks_waiting: usize,
    drivers_waited: bool,
    pub(super) event: Option<Event>,
    /// At the last reading the thread was asleep.
    is_asleep_now: bool,
    /// It was found to lack a processor at the last look.
    lacks_one: bool,
    /// The poll before this one was.
    lacked_before: Option<Lack>,
    /// It counted as stuck.
    was_stuck: bool,
}

impl Sampler {
    /// Takes a sample. If it ends an event, that is returned with what was seen of the poll.
    pub(super) fn add(
        &mut self,
        sample: Sample,
        elapsed: Elapsed,
        threshold: Duration,
    ) -> (Progress, Option<(Self, Event)>) {
        let steps = (!sample.is_away).then_some(sample.steps);
        if steps.is_some() && steps == self.steps {
            self.age += elapsed.counted;
            self.lasted += elapsed.real;
            return (if self.age >= threshold { Progress::Stuck } else { Progress::Slow }, None);
        }
        // That was after the last look, if the clock that it read is the monitor's.
        let woke_up = sample.woke_up.unwrap_or_default();
        let (age, lasted) = (woke_up.min(elapsed.counted), woke_up.min(elapsed.real));
        let unseen = elapsed.counted - age;
        let lack = |(at, times)| Lack { times, since: self.age - at + elapsed.counted };
        let lacked_before = self.first_times.filter(|_| self.lacks_one).map(lack);
        let anew = Self { steps, age, unseen, lasted, lacked_before, ..Self::default() };
        let mut before = std::mem::replace(self, anew);
        let ended = before.event.take().map(|event| (before, event));
        (if sample.is_away { Progress::Away } else { Progress::Moving }, ended)
    }

    /// Notes what the operating system says of the thread.
    pub(super) fn note(&mut self, reading: Reading) {
        if reading.is_asleep {
            self.asleep += 1;
        } else {
            self.running += 1;
        }
        if let (Some((since, last)), Some(times)) = (self.last_times, reading.times) {
            // While it waits for a processor the system does not count that yet.
            self.unpreempted += if reading.is_asleep {
                (self.age - since).saturating_sub(times.waited.saturating_sub(last.waited))
            } else {
                times.ran.saturating_sub(last.ran)
            };
        }
        self.is_asleep_now = reading.is_asleep;
        self.last_times = reading.times.map(|times| (self.age, times));
        self.first_times = self.first_times.or(self.last_times);
    }

    /// Its poll is not a long one, although it may have lasted for the threshold: whether that is because its thread
    /// could run, and does not.
    fn lacks_processor(&self, threshold: Duration) -> bool {
        self.age + self.unseen >= threshold && self.has_reading() && !self.is_asleep_now
    }

    /// Whether its poll before this one lacked a processor, as it was found to: its thread has waited for one since the
    /// first reading, or run for less than a fair part of the time. (Not all kernels count it as waiting that a thread
    /// is kept from running by a quota.) `read` tells the thread's times.
    fn has_lacked(&self, read: impl FnOnce() -> Option<Times>) -> bool {
        let lacked = |Lack { times: before, since }, now: Times| {
            let ran = now.ran.saturating_sub(before.ran);
            now.waited.saturating_sub(before.waited) >= FAST_INTERVAL || ran * FAIR_SHARE_DIVISOR < since
        };
        self.lacked_before.is_some_and(|lack| read().is_some_and(|now| lacked(lack, now)))
    }

    /// Whether it sleeps in a poll that has not counted as stuck, nor gone on for so long that it has to.
    fn may_be_excused(&self) -> bool {
        self.has_reading() && self.is_asleep() && !self.was_stuck && self.lasted < LONGEST_EXCUSE
    }

    /// What was seen of this poll until now is not held against it.
    fn start_anew(&mut self) {
        debug_assert!(self.event.is_none(), "it has counted as stuck");
        *self = Self { steps: self.steps, lasted: self.lasted, ..Self::default() };
    }

    /// The time between the first reading and the latest, and how much of it the thread has run, and waited for a
    /// processor.
    fn span(&self) -> Option<(Duration, Times)> {
        let ((since, first), (until, last)) = (self.first_times?, self.last_times?);
        let gained =
            Times { ran: last.ran.saturating_sub(first.ran), waited: last.waited.saturating_sub(first.waited) };
        Some((until - since, gained))
    }

    /// Notes what waits.
    pub(super) fn note_waiting(&mut self, tasks: usize, drivers: bool) {
        self.tasks_waiting = self.tasks_waiting.max(tasks);
        self.drivers_waited |= drivers;
    }

    pub(super) fn age(&self) -> Duration {
        self.age
    }

    pub(super) fn lasted(&self) -> Duration {
        self.lasted
    }

    pub(super) fn tasks_waiting(&self) -> usize {
        self.tasks_waiting
    }

    pub(super) fn drivers_waited(&self) -> bool {
        self.drivers_waited
    }

    pub(super) fn anything_waited(&self) -> bool {
        self.tasks_waiting > 0 || self.drivers_waited
    }

    /// Whether it is still where it was at the last sample.
    pub(super) fn is_at(&self, steps: u64) -> bool {
        self.steps == Some(steps)
    }

    /// Whether it has had so much time at least since the first reading. If nothing is known of its thread, by the
    /// clock.
    pub(super) fn has_had(&self, limit: Duration) -> bool {
        (if self.first_times.is_some() { self.unpreempted } else { self.age }) >= limit
    }

    pub(super) fn has_reading(&self) -> bool {
        self.asleep + self.running > 0
    }

    /// Whether more threads would find a processor to run on while this one is in its poll. If nothing is known of it,
    /// that is assumed. (It may have had to wait for a processor before it could go to sleep.)
    pub(super) fn is_asleep(&self) -> bool {
        self.asleep >= self.running
    }

    /// Whether it is the poll that takes so long, and not the operating system that lets the thread wait for a
    /// processor: of a thread that is not asleep, whether it has run for a [fair part](FAIR_SHARE_DIVISOR) of the time
    /// since the first reading, or for the threshold. After [`LONG_BLOCK`] the answer is yes.
    pub(super) fn is_long_poll(&self, threshold: Duration) -> bool {
        match self.span() {
            Some((span, gained)) if !self.is_asleep() && self.age < LONG_BLOCK => {
                !span.is_zero() && (gained.ran * FAIR_SHARE_DIVISOR >= span || gained.ran >= threshold)
            }
            _ => true,
        }
    }

    /// Whether that is certain enough to be reported. One look at a thread that happened to be asleep is enough to
    /// help, but it may have waited for a processor until then: for a fair part of the time it must not have.
    pub(super) fn is_proven(&self, threshold: Duration) -> bool {
        match self.span() {
            Some((span, gained)) if self.age < LONG_BLOCK => {
                let not_waited = span.saturating_sub(gained.waited);
                !span.is_zero() && not_waited * FAIR_SHARE_DIVISOR >= span && self.is_long_poll(threshold)
            }
            _ => true,
        }
    }

    pub(super) fn activity(&self) -> Activity {
        match (self.has_reading(), self.is_asleep()) {
            (false, _) => Activity::Unknown,
            (true, true) => Activity::Sleeping,
            (true, false) => Activity::Burning,
        }
    }
}

/// While a worker that could run gets no processor, those that sleep in their polls may wait for a lock that it holds
/// (the memory allocator's, say), and a thread more would get no processor either. So they do not count as stuck
/// meanwhile, for the [`LONGEST_EXCUSE`], unless they have counted as stuck before. When that worker has got on, and
/// has waited for a processor, they begin anew; if it has computed they count at once.
///
/// A process that has used up its quota stands still like that for tens of milliseconds, over and over.
///
/// `read` tells the times of a worker's thread.
pub(super) fn excuse_sleepers(
    progress: &mut [Progress],
    samplers: &mut [Sampler],
    threshold: Duration,
    read: impl Fn(usize) -> Option<Times>,
) {
    let (mut lacks_one, mut has_got_on) = (false, false);
    for (number, (how, sampler)) in progress.iter().zip(samplers.iter_mut()).enumerate() {
        sampler.lacks_one = *how == Progress::Preempted && sampler.lacks_processor(threshold);
        lacks_one |= sampler.lacks_one;
        let is_in_another = matches!(how, Progress::Moving | Progress::Away);
        has_got_on |= is_in_another && sampler.has_lacked(|| read(number));
    }
    for (how, sampler) in progress.iter_mut().zip(samplers) {
        let is_excused = (lacks_one || has_got_on) && sampler.may_be_excused();
        if matches!(how, Progress::Slow | Progress::Stuck) && is_excused {
            *how = Progress::Preempted;
            if !lacks_one {
                sampler.start_anew();
            }
        }
        sampler.was_stuck |= *how == Progress::Stuck;
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
