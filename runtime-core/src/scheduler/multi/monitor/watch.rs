//! What the monitor has seen of one worker, sample by sample.

use std::time::Duration;

use crate::blocked::{Activity, Reading, Stack, Times};
use crate::scheduler::multi::slot::Doing;

/// On a machine so busy that a thread gets next to no processor time, a long poll cannot be told from a short one. No
/// longer than this is anybody let wait for the proof that it is long.
pub(super) const BENEFIT_OF_DOUBT: Duration = Duration::from_secs(1);

/// A thread that had the processor for one part in this many of the time was not kept from running.
const FAIR_PART: u32 = 4;

/// The time between two samples.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passed {
    pub(super) real: Duration,
    /// No more than was to be expected: if the monitor itself had to wait for a processor, so had the workers.
    pub(super) counted: Duration,
}

/// What a sample sees of a worker.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    /// What it has counted: polls, and whatever else it does.
    pub(super) steps: u64,
    /// It sleeps, has no thread, or has stepped aside.
    pub(super) is_away: bool,
    /// If it has got up for the poll that it is in: how long ago.
    pub(super) got_up: Option<Duration>,
}

/// How a worker is getting on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// Not to be watched now.
    Away,
    /// It is in another poll than last time.
    Moving,
    /// In the same poll, but the operating system lets its thread wait for a processor.
    Excused,
    /// In the same poll as at the last sample.
    Slow,
    /// In the same poll for longer than the threshold.
    Stuck,
}

/// A worker that was blocked while something waited.
#[derive(Clone, Debug)]
pub(super) struct Event {
    pub(super) doing: Doing,
    pub(super) is_reported: bool,
    pub(super) stack: Option<Stack>,
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Watch {
    /// The count when this poll was first seen; `None` while away.
    steps: Option<u64>,
    /// For how long it has been seen, not counting what the monitor itself may have missed.
    age: Duration,
    /// For how long it has been seen by the clock: a little less than it has lasted.
    lasted: Duration,
    asleep: u32,
    running: u32,
    /// The first reading of the thread's times in this poll and when that was, and the latest.
    first_times: Option<(Duration, Times)>,
    last_times: Option<(Duration, Times)>,
    /// How long between the two it has run, or slept, and not waited for a processor. No more than is certain.
    own: Duration,
    /// What waited meanwhile: the most tasks at a time, and whether timers and sockets did.
    tasks_waiting: usize,
    drivers_waited: bool,
    pub(super) event: Option<Event>,
}

impl Watch {
    /// Takes a sample. If it ends an event, that is returned with what was seen of the poll.
    pub(super) fn look(
        &mut self,
        seen: Seen,
        passed: Passed,
        threshold: Duration,
    ) -> (Progress, Option<(Self, Event)>) {
        let steps = (!seen.is_away).then_some(seen.steps);
        if steps.is_some() && steps == self.steps {
            self.age += passed.counted;
            self.lasted += passed.real;
            return (if self.age >= threshold { Progress::Stuck } else { Progress::Slow }, None);
        }
        // That was after the last look, if the clock that it read is the monitor's.
        let got_up = seen.got_up.unwrap_or_default();
        let (age, lasted) = (got_up.min(passed.counted), got_up.min(passed.real));
        let mut before = std::mem::replace(self, Self { steps, age, lasted, ..Self::default() });
        let ended = before.event.take().map(|event| (before, event));
        (if seen.is_away { Progress::Away } else { Progress::Moving }, ended)
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
            self.own += if reading.is_asleep {
                (self.age - since).saturating_sub(times.waited.saturating_sub(last.waited))
            } else {
                times.ran.saturating_sub(last.ran)
            };
        }
        self.last_times = reading.times.map(|times| (self.age, times));
        self.first_times = self.first_times.or(self.last_times);
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
        (if self.first_times.is_some() { self.own } else { self.age }) >= limit
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
    /// processor: of a thread that is not asleep, whether it has run for a [fair part](FAIR_PART) of the time since the
    /// first reading, or for the threshold. After [`BENEFIT_OF_DOUBT`] the answer is yes.
    pub(super) fn is_its_own_doing(&self, threshold: Duration) -> bool {
        match self.span() {
            Some((span, gained)) if !self.is_asleep() && self.age < BENEFIT_OF_DOUBT => {
                !span.is_zero() && (gained.ran * FAIR_PART >= span || gained.ran >= threshold)
            }
            _ => true,
        }
    }

    /// Whether that is certain enough to be reported. One look at a thread that happened to be asleep is enough to
    /// help, but it may have waited for a processor until then: for a fair part of the time it must not have.
    pub(super) fn is_proven(&self, threshold: Duration) -> bool {
        match self.span() {
            Some((span, gained)) if self.age < BENEFIT_OF_DOUBT => {
                let not_waited = span.saturating_sub(gained.waited);
                !span.is_zero() && not_waited * FAIR_PART >= span && self.is_its_own_doing(threshold)
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

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const THRESHOLD: Duration = Duration::from_millis(10);

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn progress(watch: &mut Watch, steps: u64, passed: u64) -> Progress {
        watch.look(Seen { steps, is_away: false, got_up: None }, at_once(passed), THRESHOLD).0
    }

    fn at_once(passed: u64) -> Passed {
        Passed { real: ms(passed), counted: ms(passed) }
    }

    fn running(ran: u64) -> Reading {
        Reading { is_asleep: false, times: Some(Times { ran: ms(ran), waited: ms(0) }) }
    }

    fn asleep(waited: u64) -> Reading {
        Reading { is_asleep: true, times: Some(Times { ran: ms(1), waited: ms(waited) }) }
    }

    #[test]
    fn a_poll_is_stuck_when_it_was_seen_for_the_threshold() {
        let mut watch = Watch::default();
        assert_eq!(progress(&mut watch, 5, 9), Progress::Moving, "it may have begun just now");
        assert_eq!(progress(&mut watch, 5, 9), Progress::Slow);
        assert_eq!(progress(&mut watch, 5, 1), Progress::Stuck);
        assert_eq!(progress(&mut watch, 6, 1), Progress::Moving);
        assert_eq!(progress(&mut watch, 6, 9), Progress::Slow);
    }

    #[test]
    fn time_that_the_monitor_missed_is_told_but_not_held_against_anybody() {
        let mut watch = Watch::default();
        progress(&mut watch, 5, 1);
        let late = Passed { real: ms(300), counted: ms(2) };
        assert_eq!(watch.look(Seen { steps: 5, is_away: false, got_up: None }, late, THRESHOLD).0, Progress::Slow);
        assert_eq!(watch.lasted(), ms(300));
    }

    #[test]
    fn a_poll_that_somebody_got_up_for_is_as_old_as_that() {
        let mut watch = Watch::default();
        let seen = Seen { steps: 5, is_away: false, got_up: Some(ms(8)) };
        assert_eq!(watch.look(seen, at_once(9), THRESHOLD).0, Progress::Moving, "one look tells nothing");
        assert_eq!(watch.lasted(), ms(8));
        assert_eq!(progress(&mut watch, 5, 1), Progress::Slow);
        assert_eq!(progress(&mut watch, 5, 1), Progress::Stuck);
        let seen = Seen { steps: 6, is_away: false, got_up: Some(ms(300)) };
        let late = Passed { real: ms(200), counted: ms(2) };
        watch.look(seen, late, THRESHOLD);
        assert_eq!((watch.age(), watch.lasted()), (ms(2), ms(200)), "it was not there at the last look");
    }

    #[test]
    fn time_spent_asleep_does_not_count() {
        let mut watch = Watch::default();
        progress(&mut watch, 5, 1);
        let away = Seen { steps: 5, is_away: true, got_up: None };
        assert_eq!(watch.look(away, at_once(500), THRESHOLD).0, Progress::Away);
        assert_eq!(progress(&mut watch, 5, 500), Progress::Moving, "it has got up, and not begun a poll");
        assert_eq!(progress(&mut watch, 5, 9), Progress::Slow);
    }

    #[test]
    fn an_event_ends_with_its_poll_and_is_given_out_once() {
        let mut watch = Watch::default();
        progress(&mut watch, 5, 1);
        progress(&mut watch, 5, 12);
        watch.event = Some(Event { doing: Doing::Foreign, is_reported: false, stack: None });
        let seen = Seen { steps: 6, is_away: false, got_up: None };
        let (_, ended) = watch.look(seen, at_once(1), THRESHOLD);
        assert_eq!(ended.unwrap().0.lasted(), ms(12));
        assert!(watch.look(seen, at_once(1), THRESHOLD).1.is_none());
    }

    #[test]
    fn a_thread_that_gets_no_processor_is_not_to_blame() {
        let mut watch = Watch::default();
        progress(&mut watch, 5, 1);
        progress(&mut watch, 5, 5);
        watch.note(running(100));
        progress(&mut watch, 5, 8);
        watch.note(running(101));
        assert!(!watch.is_its_own_doing(THRESHOLD), "1 ms of 8");
        progress(&mut watch, 5, 8);
        watch.note(running(109));
        assert!(watch.is_its_own_doing(THRESHOLD), "9 ms of 16");
        assert_eq!(watch.activity(), Activity::Burning);
    }

    #[test]
    fn time_spent_waiting_for_a_processor_is_not_its_own() {
        let mut watch = Watch::default();
        progress(&mut watch, 5, 1);
        progress(&mut watch, 5, 3);
        assert!(watch.has_had(ms(3)), "nothing is known of it");
        watch.note(asleep(100));
        assert!(!watch.has_had(ms(1)), "it may have waited until now");
        progress(&mut watch, 5, 4);
        watch.note(Reading { is_asleep: false, ..asleep(100) });
        assert!(!watch.has_had(ms(1)), "it was woken, and waits since");
        progress(&mut watch, 5, 4);
        watch.note(asleep(103));
        assert!(watch.has_had(ms(1)) && !watch.has_had(ms(2)), "it has waited for most of the time");
        progress(&mut watch, 5, 4);
        watch.note(asleep(103));
        assert!(watch.has_had(ms(5)) && !watch.has_had(ms(6)));
    }

    #[test]
    fn on_a_busy_machine_the_proof_takes_longer() {
        let mut watch = Watch::default();
        progress(&mut watch, 5, 1);
        progress(&mut watch, 5, 10);
        watch.note(running(100));
        progress(&mut watch, 5, 500);
        watch.note(running(109));
        assert!(!watch.is_its_own_doing(THRESHOLD));
        watch.note(running(110));
        assert!(watch.is_its_own_doing(THRESHOLD), "as much as the threshold");
        watch.note(running(101));
        progress(&mut watch, 5, 490);
        assert!(watch.is_its_own_doing(THRESHOLD), "no more doubt");
    }

    #[test]
    fn a_thread_asleep_is_to_blame_at_once() {
        let mut watch = Watch::default();
        progress(&mut watch, 5, 1);
        progress(&mut watch, 5, 12);
        assert_eq!(watch.activity(), Activity::Unknown);
        watch.note(asleep(100));
        assert!(watch.is_its_own_doing(THRESHOLD));
        assert_eq!(watch.activity(), Activity::Sleeping);
        assert!(!watch.is_proven(THRESHOLD), "but it is not said so before a second look");
        progress(&mut watch, 5, 4);
        watch.note(asleep(104));
        assert!(!watch.is_proven(THRESHOLD), "it has waited for a processor");
        progress(&mut watch, 5, 4);
        watch.note(asleep(104));
        assert!(watch.is_proven(THRESHOLD));
    }
}
