//! [`Backlog`]: whether the jobs that wait will soon be begun by a thread that is at work, so that it does not pay to wake
//! another.
//!
//! To wake a thread takes longer than a hundred short jobs, and puts the threads that are up off their processors. So it is
//! noted how long jobs take: an average, to which no single job adds much, because the thread may have lost its processor in it.
//!
//! Only the thread with the job that was begun last counts, and only as long as it has not been at it for long: others may be in
//! jobs that never end.
//!
//! That is a guess. The job at hand may be the first long one. So whoever goes by it has somebody look after it (`crew.rs`, the
//! watch), who says so if it was wrong.

use std::time::{Duration, Instant};

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Backlog {
    /// How long a job takes.
    typical: Duration,
    /// How many jobs threads have begun.
    begun: u64,
    /// When the last of these was begun, if it has not ended.
    at_it_since: Option<Instant>,
}

impl Backlog {
    /// A thread begins a job. Returns the job's number.
    pub(super) fn note_begun(&mut self, now: Instant) -> u64 {
        self.begun += 1;
        self.at_it_since = Some(now);
        self.begun
    }

    /// How many have been begun, ever.
    pub(super) fn begun(&self) -> u64 {
        self.begun
    }

    /// The job of this number has ended, and has taken so long.
    pub(super) fn note_ended(&mut self, number: u64, took: Duration) {
        if number == self.begun {
            self.at_it_since = None;
        }
        let most = 2 * self.typical + Duration::from_micros(1);
        self.typical = if took > self.typical { took.min(most) } else { self.typical - (self.typical - took) / 8 };
    }

    /// Jobs that were expected to be begun soon have waited for so long.
    pub(super) fn note_stuck(&mut self, time: Duration) {
        self.typical = self.typical.max(time);
    }

    /// Whether so many jobs are expected to be begun in less than the given time.
    pub(super) fn is_soon_begun(&self, jobs: usize, limit: Duration, now: impl FnOnce() -> Instant) -> bool {
        let all = u32::try_from(jobs).ok().and_then(|jobs| self.typical.checked_mul(jobs));
        all.is_some_and(|all| all < limit)
            && self.at_it_since.is_some_and(|since| now().saturating_duration_since(since) < limit)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const MICRO: Duration = Duration::from_micros(1);
    const LIMIT: Duration = Duration::from_micros(20);

    fn do_job(backlog: &mut Backlog, took: Duration) {
        let number = backlog.note_begun(Instant::now());
        backlog.note_ended(number, took);
    }

    /// Whether that is so when a thread has just begun a job.
    fn is_soon_begun(backlog: &mut Backlog, jobs: usize) -> bool {
        let now = Instant::now();
        backlog.note_begun(now);
        backlog.is_soon_begun(jobs, LIMIT, || now)
    }

    /// After how many jobs of such a length one more is not expected soon, or is expected soon again.
    fn jobs_until_it_changes(backlog: &mut Backlog, took: Duration) -> Option<u32> {
        let before = is_soon_begun(backlog, 1);
        (1..100).find(|_| {
            do_job(backlog, took);
            is_soon_begun(backlog, 1) != before
        })
    }

    #[test]
    fn a_few_long_jobs_change_the_picture_and_one_does_not() {
        let mut backlog = Backlog::default();
        (0..10).for_each(|_| do_job(&mut backlog, MICRO));
        assert_eq!(jobs_until_it_changes(&mut backlog, 1000 * MICRO), Some(4), "3, 7, 15, 31");
        assert_eq!(jobs_until_it_changes(&mut backlog, MICRO), Some(4));
        backlog.note_stuck(1000 * MICRO);
        assert!(!is_soon_begun(&mut backlog, 1));
        let until_it_changes = jobs_until_it_changes(&mut backlog, MICRO);
        assert_eq!(until_it_changes, Some(30), "seven eighths to the power of thirty are a fiftieth");
    }

    #[test]
    fn many_short_jobs_are_worth_another_thread() {
        let mut backlog = Backlog::default();
        do_job(&mut backlog, MICRO);
        assert!(is_soon_begun(&mut backlog, 19));
        assert!(!is_soon_begun(&mut backlog, 20));
        assert!(!is_soon_begun(&mut backlog, usize::MAX));
        let now = Instant::now();
        assert!(!Backlog::default().is_soon_begun(0, Duration::ZERO, || now), "there is no less than that");
    }

    #[test]
    fn threads_that_are_long_at_their_jobs_do_not_count() {
        let mut backlog = Backlog::default();
        let began = Instant::now();
        let _endless = backlog.note_begun(began);
        assert!(backlog.is_soon_begun(1, LIMIT, || began));
        assert!(!backlog.is_soon_begun(1, LIMIT, || began + LIMIT));
        do_job(&mut backlog, MICRO);
        assert!(!backlog.is_soon_begun(1, LIMIT, || began), "nobody else is at work any more");
    }
}
