//! The JSON of `/workers` and `/blocked`. Its fields are listed in `answers.md`.

use std::time::{Duration, SystemTime};

use runtime_core::metrics::{Counts, Histogram};
use runtime_core::runtime::{PolledTask, RuntimeMetrics, WorkerActivity};

use crate::json::Json;
use crate::observed::Reading;
use crate::registry::Shared;

pub(crate) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// An object with the process, and in `runtimes` an object for each of them, whose further members `each` writes.
pub(crate) fn runtimes(shared: &Shared, mut each: impl FnMut(&mut Json, &Reading)) -> String {
    let mut json = Json::default();
    json.object(|json| {
        json.number("pid", std::process::id());
        json.array_at("runtimes", shared.read_runtimes(), |json, runtime| {
            json.object(|json| {
                json.string("id", runtime.id());
                json.optional_string("name", runtime.name());
                each(json, &runtime);
            });
        });
    });
    json.into_text()
}

pub(crate) fn workers(shared: &Shared) -> String {
    runtimes(shared, |json, runtime| {
        let metrics = runtime.metrics();
        json.object_at("totals", |json| counts(json, &metrics.totals()));
        json.number("alive_tasks", metrics.num_alive_tasks() as u64);
        json.number("global_queue_depth", metrics.global_queue_depth() as u64);
        json.number("blocked", metrics.blocked_count());
        json.number("dropped_reports", metrics.dropped_reports());
        json.number("spare_threads", metrics.num_spare_threads() as u64);
        json.number("blocking_threads", metrics.num_blocking_threads() as u64);
        json.number("idle_blocking_threads", metrics.num_idle_blocking_threads() as u64);
        json.number("blocking_queue_depth", metrics.blocking_queue_depth() as u64);
        histogram(json, "poll_times", &metrics.poll_times());
        histogram(json, "wake_to_poll_times", &metrics.wake_to_poll_times());
        json.array_at("workers", 0..metrics.num_workers(), |json, worker| {
            json.object(|json| one_worker(json, &metrics, worker));
        });
    })
}

fn one_worker(json: &mut Json, metrics: &RuntimeMetrics, worker: usize) {
    json.number("worker", worker as u64);
    match metrics.worker_activity(worker) {
        Some(WorkerActivity::Asleep) => json.string("activity", "asleep"),
        Some(WorkerActivity::Searching) => json.string("activity", "searching"),
        Some(WorkerActivity::OutsideTasks) => json.string("activity", "outside tasks"),
        Some(WorkerActivity::Polling(task)) => {
            json.string("activity", "polling");
            polled(json, &task);
        }
        Some(WorkerActivity::BlockingInPlace(task)) => {
            json.string("activity", "blocking in place");
            polled(json, &task);
        }
        _ => json.string("activity", "awake"),
    }
    json.number("queue_depth", metrics.worker_queue_depth(worker).unwrap_or(0) as u64);
    if let Some(of_worker) = metrics.worker(worker) {
        json.object_at("counts", |json| counts(json, &of_worker));
    }
}

fn polled(json: &mut Json, task: &PolledTask) {
    json.object_at("task", |json| {
        json.string("id", task.id);
        json.optional_string("name", task.name);
        json.string("spawned_at", task.spawned_at);
    });
}

fn counts(json: &mut Json, counts: &Counts) {
    for (name, count) in [
        ("polls", counts.polls),
        ("spurious_polls", counts.spurious_polls),
        ("spawns", counts.spawns),
        ("completions", counts.completions),
        ("parks", counts.parks),
        ("busy_nanos", counts.busy_nanos),
        ("searching_nanos", counts.searching_nanos),
        ("parked_nanos", counts.parked_nanos),
        ("steals", counts.steals),
        ("budget_yields", counts.budget_yields),
    ] {
        json.number(name, count);
    }
}

/// How often each power of two nanoseconds was met, without the empty ones at the end.
fn histogram(json: &mut Json, key: &str, histogram: &Histogram) {
    let used = histogram.buckets().iter().rposition(|count| *count > 0).map_or(0, |last| last + 1);
    json.array_at(key, &histogram.buckets()[..used], |json, count| json.element(*count));
}

pub(crate) fn blocked(shared: &Shared) -> String {
    runtimes(shared, |json, runtime| {
        json.number("blocked", runtime.metrics().blocked_count());
        json.array_at("reports", runtime.reports().read(), |json, report| {
            let blocked = &report.blocked;
            let at = report.at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
            json.object(|json| {
                json.number("at_unix_seconds", at.as_secs());
                json.optional_string("id", blocked.id);
                json.optional_string("name", blocked.name);
                json.optional_string("spawned_at", blocked.spawned_at);
                json.number("nanos", nanos(blocked.duration));
                json.bool("is_over", blocked.is_over);
                json.string("activity", blocked.activity);
                json.number("tasks_waiting", blocked.tasks_waiting as u64);
                json.bool("drivers_waited", blocked.drivers_waited);
                json.string("line", blocked);
            });
        });
    })
}
