//! [`Backlog`]: whether the jobs that wait will soon be done by the threads that are at work, so that it does not pay to wake
//! another.
//!
//! To wake a thread takes longer than a hundred short jobs, and puts the threads that are up off their processors. So it is
//! noted how long jobs take: an average, to which no single job adds much, because the thread may have lost its processor in it.
//!
//! That is a guess. The job at hand may be the first long one. So whoever goes by it has somebody look after it (`crew.rs`, the
//! watch), who says so if it was wrong.

use std::time::Duration;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Backlog {
    /// How long a job takes.
    typical: Duration,
    /// How many jobs threads have begun.
    begun: u64,
}

impl Backlog {
    /// A thread begins a job.
    pub(super) fn note_begun(&mut self) {
        self.begun += 1;
    }

    /// How many have been begun, ever.
    pub(super) fn begun(&self) -> u64 {
        self.begun
    }

    /// A job has taken so long.
    pub(super) fn note(&mut self, took: Duration) {
        let most = 2 * self.typical + Duration::from_micros(1);
        self.typical = if took > self.typical { took.min(most) } else { self.typical - (self.typical - took) / 8 };
    }

    /// No job was begun for so long, and jobs wait.
    pub(super) fn note_stuck(&mut self, time: Duration) {
        self.typical = time;
    }

    /// Whether so many threads are expected to begin so many jobs in less than the given time.
    pub(super) fn is_soon_begun(&self, jobs: usize, threads: usize, limit: Duration) -> bool {
        let all = u32::try_from(jobs).ok().and_then(|jobs| self.typical.checked_mul(jobs));
        threads > 0 && all.is_some_and(|all| all / u32::try_from(threads).unwrap_or(u32::MAX) < limit)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const MICRO: Duration = Duration::from_micros(1);

    #[test]
    fn a_few_long_jobs_change_the_picture_and_one_does_not() {
        let mut backlog = Backlog::default();
        let is_soon = |backlog: &Backlog| backlog.is_soon_begun(1, 1, 20 * MICRO);
        let how_many = |backlog: &mut Backlog, took: Duration| {
            let before = is_soon(backlog);
            (1..).find(|_| {
                backlog.note(took);
                is_soon(backlog) != before
            })
        };
        (0..10).for_each(|_| backlog.note(MICRO));
        assert_eq!(how_many(&mut backlog, 1000 * MICRO), Some(4), "3, 7, 15, 31");
        assert_eq!(how_many(&mut backlog, MICRO), Some(4));
        backlog.note_stuck(1000 * MICRO);
        assert!(!is_soon(&backlog));
        assert_eq!(how_many(&mut backlog, MICRO), Some(30), "seven eighths to the power of thirty are a fiftieth");
    }

    #[test]
    fn many_short_jobs_are_worth_another_thread() {
        let mut backlog = Backlog::default();
        backlog.note(MICRO);
        let is_soon = |jobs, threads| backlog.is_soon_begun(jobs, threads, 20 * MICRO);
        assert!(is_soon(19, 1));
        assert!(!is_soon(20, 1));
        assert!(is_soon(39, 2));
        assert!(!is_soon(1, 0), "nobody begins any");
        assert!(!is_soon(usize::MAX, 1));
        assert!(!Backlog::default().is_soon_begun(0, 1, Duration::ZERO), "there is no less than that");
    }
}
