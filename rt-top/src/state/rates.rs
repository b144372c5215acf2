//! [`Rates`]: what a runtime has done between two samples.

use std::collections::HashMap;

use super::histogram::since;
use crate::fetch::Runtime;
use crate::wire::Counts;

/// How much of a time a worker had work, looked for some, and slept. Together one, or nothing at all.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Shares {
    pub(crate) busy: f64,
    pub(crate) searching: f64,
    pub(crate) parked: f64,
}

/// See the module. What needs an earlier sample is absent where there is none; the shares and the histograms are then
/// since the beginning of the runtime.
#[derive(Debug, Default)]
pub(crate) struct Rates {
    /// Each second.
    pub(crate) polls: Option<f64>,
    pub(crate) spawns: Option<f64>,
    pub(crate) completions: Option<f64>,
    pub(crate) steals: Option<f64>,
    pub(crate) spurious_polls: Option<f64>,
    pub(crate) all: Shares,
    pub(crate) poll_times: Vec<u64>,
    pub(crate) wake_to_poll_times: Vec<u64>,
    workers: HashMap<u64, OfWorker>,
    tasks: HashMap<String, OfTask>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct OfWorker {
    pub(crate) polls: Option<f64>,
    pub(crate) shares: Shares,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct OfTask {
    /// Polls each second.
    pub(crate) polls: f64,
    /// The share of the time in which it was polled.
    pub(crate) busy: f64,
}

impl Rates {
    /// Between what a runtime was some seconds before, and what it is.
    pub(crate) fn between(before: Option<(&Runtime, f64)>, now: &Runtime) -> Self {
        let nothing = Runtime::default();
        let (earlier, seconds) = before.map_or((&nothing, None), |(earlier, seconds)| (earlier, Some(seconds)));
        let rate = |before: u64, now: u64| seconds.map(|seconds| now.saturating_sub(before) as f64 / seconds);
        let (then, totals) = (&earlier.workers.totals, &now.workers.totals);
        Self {
            polls: rate(then.polls, totals.polls),
            spawns: rate(then.spawns, totals.spawns),
            completions: rate(then.completions, totals.completions),
            steals: rate(then.steals, totals.steals),
            spurious_polls: rate(then.spurious_polls, totals.spurious_polls),
            all: Shares::between(then, totals),
            poll_times: since(&earlier.workers.poll_times, &now.workers.poll_times),
            wake_to_poll_times: since(&earlier.workers.wake_to_poll_times, &now.workers.wake_to_poll_times),
            workers: of_workers(earlier, now, rate),
            tasks: seconds.map(|seconds| of_tasks(earlier, now, seconds)).unwrap_or_default(),
        }
    }

    pub(crate) fn of_worker(&self, worker: u64) -> OfWorker {
        self.workers.get(&worker).copied().unwrap_or_default()
    }

    /// Nothing for a task that was not there before.
    pub(crate) fn of_task(&self, id: &str) -> OfTask {
        self.tasks.get(id).copied().unwrap_or_default()
    }
}

impl Shares {
    fn between(before: &Counts, now: &Counts) -> Self {
        let [busy, searching, parked] = [
            now.busy_nanos.saturating_sub(before.busy_nanos),
            now.searching_nanos.saturating_sub(before.searching_nanos),
            now.parked_nanos.saturating_sub(before.parked_nanos),
        ]
        .map(|nanos| nanos as f64);
        let all = busy + searching + parked;
        if all == 0.0 {
            return Self::default();
        }
        Self { busy: busy / all, searching: searching / all, parked: parked / all }
    }
}

fn of_workers(before: &Runtime, now: &Runtime, rate: impl Fn(u64, u64) -> Option<f64>) -> HashMap<u64, OfWorker> {
    let nothing = Counts::default();
    let rates = now.workers.workers.iter().map(|worker| {
        let then = before.workers.workers.iter().find(|before| before.worker == worker.worker);
        let then = then.map_or(&nothing, |then| &then.counts);
        let polls = rate(then.polls, worker.counts.polls);
        (worker.worker, OfWorker { polls, shares: Shares::between(then, &worker.counts) })
    });
    rates.collect()
}

fn of_tasks(before: &Runtime, now: &Runtime, seconds: f64) -> HashMap<String, OfTask> {
    let before: HashMap<&str, _> = before.tasks.iter().map(|task| (&*task.id, task)).collect();
    let rates = now.tasks.iter().filter_map(|task| {
        let then = before.get(&*task.id)?;
        let polls = task.polls.saturating_sub(then.polls) as f64 / seconds;
        let busy = task.total_poll_nanos.saturating_sub(then.total_poll_nanos) as f64 / 1e9 / seconds;
        (polls > 0.0 || busy > 0.0).then(|| (task.id.clone(), OfTask { polls, busy }))
    });
    rates.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{Task, Worker, Workers};

    fn runtime(polls: u64, busy: u64, parked: u64) -> Runtime {
        let counts = Counts { polls, busy_nanos: busy, parked_nanos: parked, ..Counts::default() };
        let worker = Worker { worker: 3, counts: counts.clone(), ..Worker::default() };
        let (workers, poll_times) = (vec![worker], vec![0, polls]);
        let task = Task { id: "5".to_owned(), polls, total_poll_nanos: busy, ..Task::default() };
        Runtime {
            workers: Workers { totals: counts, workers, poll_times, ..Workers::default() },
            tasks: vec![task],
            ..Runtime::default()
        }
    }

    #[test]
    fn rates_are_differences_by_the_time_between() {
        let rates = Rates::between(Some((&runtime(10, 0, 0), 2.0)), &runtime(30, 500_000_000, 1_500_000_000));
        let shares = Shares { busy: 0.25, searching: 0.0, parked: 0.75 };
        assert_eq!((rates.polls, rates.spawns, rates.all), (Some(10.0), Some(0.0), shares));
        assert_eq!(rates.of_worker(3), OfWorker { polls: Some(10.0), shares });
        assert_eq!(rates.of_worker(4), OfWorker::default());
        assert_eq!(rates.of_task("5"), OfTask { polls: 10.0, busy: 0.25 });
        assert_eq!(rates.of_task("6"), OfTask::default());
        assert_eq!(rates.poll_times, [0, 20]);
    }

    #[test]
    fn at_first_there_are_shares_but_no_rates() {
        let rates = Rates::between(None, &runtime(30, 1, 1));
        assert_eq!((rates.polls, rates.all.busy, rates.of_task("5").polls), (None, 0.5, 0.0));
        assert_eq!(rates.poll_times, [0, 30]);
    }

    /// Counters of two moments are not of one: none may make a rate negative or without an end.
    #[test]
    fn what_goes_back_is_nothing() {
        let rates = Rates::between(Some((&runtime(30, 9, 9), 1.0)), &runtime(10, 0, 0));
        assert_eq!((rates.polls, rates.all), (Some(0.0), Shares::default()));
        assert_eq!((rates.of_task("5").polls, rates.poll_times), (0.0, vec![0, 0]));
    }
}
