//! [`Reporter`]: tells the user something, on a thread that nobody waits for.
//!
//! What the user is told ends in code that is not ours: a hook, or a write to stderr. Either may block for as long as
//! it likes: stderr may be a pipe that is full and that nobody reads, and its lock may be held by the very task that is
//! to be reported. So no thread of the runtime makes a report itself. It queues a closure here, which never blocks, and
//! a thread of the reporter's own calls it.
//!
//! That thread is started when there is a report and no thread; it makes one report after the other, and ends when none
//! is left. Nobody joins it. It keeps the queue alive and whatever the closures hold, which must not be the runtime: so
//! it may outlive the runtime, and a report that was queued before the end still comes out, unless the process is gone
//! by then.
//!
//! There is a bound. While a report blocks, further ones are queued up to [`MAX_QUEUED_REPORTS`]; those that come then
//! are dropped, and counted, or left to a caller that comes again ([`Reporter::try_report`]). If the thread cannot be
//! started the reports wait until that is tried again: with the next report, when the blocking pool has been able to
//! start a thread, and when the runtime closes.
//!
//! # Protocol
//!
//! Everything is decided under one lock, which is never held while a closure is called or dropped, or a thread is
//! started. The caller that sets `has_thread` starts the thread; the thread clears it in the same critical section in
//! which it finds the queue empty. So a queue that is not empty has a thread, or its last attempt to start one has
//! failed.

use std::collections::VecDeque;
use std::sync::Arc;
use std::thread;

use parking_lot::Mutex;

use crate::task::{contain, discard};

/// The most reports that wait. A program has few places to report, each once.
const MAX_QUEUED_REPORTS: usize = 64;

type Report = Box<dyn FnOnce() + Send>;

/// Calls closures that report something to the user, one after the other, on a thread of its own.
#[derive(Default)]
pub(crate) struct Reporter(Arc<Mutex<Queue>>);

#[derive(Default)]
struct Queue {
    reports: VecDeque<Report>,
    /// A thread makes reports, or somebody is about to start it.
    has_thread: bool,
    dropped: u64,
}

impl Reporter {
    /// Has a report made. `tell` may block, and panic. If there is no room for it, it is dropped, and counted.
    pub(crate) fn report(&self, tell: impl FnOnce() + Send + 'static) {
        if !self.try_report(tell) {
            self.0.lock().dropped += 1;
        }
    }

    /// The same for a caller that comes again with what there is no room for: then it returns false, and does not
    /// count.
    #[must_use]
    pub(crate) fn try_report(&self, tell: impl FnOnce() + Send + 'static) -> bool {
        let report: Report = Box::new(tell);
        let mut queue = self.0.lock();
        if queue.reports.len() == MAX_QUEUED_REPORTS {
            drop(queue);
            // What it has captured is the user's, too, and is dropped without the lock.
            drop(report);
            return false;
        }
        queue.reports.push_back(report);
        drop(queue);
        self.see_to_thread();
        true
    }

    /// Starts the thread if reports wait and there is none. False if the operating system refuses it.
    pub(crate) fn see_to_thread(&self) -> bool {
        let mut queue = self.0.lock();
        if queue.has_thread || queue.reports.is_empty() {
            return true;
        }
        queue.has_thread = true;
        drop(queue);
        let for_thread = Arc::clone(&self.0);
        let started = thread::Builder::new().name("rt-reporter".into()).spawn(move || make_reports(&for_thread));
        if started.is_err() {
            self.0.lock().has_thread = false;
        }
        started.is_ok()
    }

    /// The runtime closes: the last attempt to make the reports that wait because no thread could be started.
    pub(crate) fn close(&self) {
        if !self.see_to_thread() {
            let mut queue = self.0.lock();
            let reports = std::mem::take(&mut queue.reports);
            queue.dropped += reports.len() as u64;
            drop(queue);
            drop(reports);
        }
    }

    /// How many reports were dropped.
    pub(crate) fn dropped(&self) -> u64 {
        self.0.lock().dropped
    }
}

/// The reporter's thread.
fn make_reports(queue: &Mutex<Queue>) {
    loop {
        let report = {
            let mut queue = queue.lock();
            let Some(report) = queue.reports.pop_front() else {
                queue.has_thread = false;
                return;
            };
            report
        };
        discard(contain(report));
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    const LIMIT: Duration = Duration::from_secs(60);

    /// Waits until no thread makes reports.
    fn until_idle(reporter: &Reporter) {
        while reporter.0.lock().has_thread {
            thread::yield_now();
        }
    }

    #[test]
    fn reports_are_made_in_their_order_on_another_thread() {
        let (reporter, (made, reports)) = (Reporter::default(), mpsc::channel());
        for round in 0..3 {
            for number in 0..10 {
                let made = made.clone();
                reporter.report(move || made.send((number, thread::current().id())).unwrap());
            }
            for number in 0..10 {
                let (which, by) = reports.recv_timeout(LIMIT).unwrap();
                assert_eq!(which, number);
                assert_ne!(by, thread::current().id());
            }
            if round == 1 {
                // The next round needs another thread.
                until_idle(&reporter);
            }
        }
        assert_eq!(reporter.dropped(), 0);
    }

    #[test]
    fn beside_one_that_blocks_as_many_wait_as_there_is_room_for_and_the_rest_is_dropped_and_counted() {
        let (reporter, (made, reports)) = (Reporter::default(), mpsc::channel());
        let (go_on, blocked) = mpsc::channel::<()>();
        let (begun, has_begun) = mpsc::channel();
        reporter.report(move || {
            begun.send(()).unwrap();
            blocked.recv().unwrap_err();
        });
        has_begun.recv_timeout(LIMIT).unwrap();
        for number in 0..MAX_QUEUED_REPORTS + 3 {
            let made = made.clone();
            reporter.report(move || made.send(number).unwrap());
        }
        assert_eq!(reporter.dropped(), 3);
        assert!(!reporter.try_report(|| ()), "left to the caller");
        drop(go_on);
        drop(made);
        // To the end, which comes when nobody holds a sender: neither the thread nor what was dropped.
        assert!(reports.iter().eq(0..MAX_QUEUED_REPORTS), "the first, in their order");
        assert_eq!(reporter.dropped(), 3);
    }

    #[test]
    fn one_that_panics_does_not_keep_the_next_from_being_made() {
        let (reporter, (made, reports)) = (Reporter::default(), mpsc::channel());
        reporter.report(|| panic!("of a report"));
        reporter.report(move || made.send(()).unwrap());
        reports.recv_timeout(LIMIT).unwrap();
    }

    #[test]
    fn reports_outlive_the_reporter_and_nobody_waits_for_them() {
        let (reporter, (made, reports)) = (Reporter::default(), mpsc::channel());
        let (go_on, blocked) = mpsc::channel::<()>();
        reporter.report(move || _ = blocked.recv());
        reporter.report(move || made.send(()).unwrap());
        reporter.close();
        drop(reporter);
        drop(go_on);
        reports.recv_timeout(LIMIT).unwrap();
    }

    #[test]
    fn a_reporter_without_a_report_has_no_thread() {
        let reporter = Reporter::default();
        reporter.close();
        assert!(!reporter.0.lock().has_thread);
        reporter.report(|| ());
        until_idle(&reporter);
    }
}
