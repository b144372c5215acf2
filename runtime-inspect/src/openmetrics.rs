//! `/metrics`: OpenMetrics, or Prometheus' older text format for a client that does not ask for it.

use std::fmt::Write;
use std::time::Duration;

use runtime_core::metrics::Histogram;
use runtime_core::runtime::{Handle, RuntimeMetrics};

use crate::registry::Shared;
use crate::response::Response;

pub(crate) fn response(shared: &Shared, is_open: bool) -> Response {
    let readings = shared.read_runtimes();
    let mut text = Text { out: String::new(), is_open };
    // Dropped before the readings, as it must be.
    let runtimes: Vec<(String, RuntimeMetrics)> =
        readings.iter().map(|runtime| (labels(runtime), runtime.metrics())).collect();
    text.totals(&runtimes);
    text.per_worker(&runtimes);
    if is_open {
        text.out.push_str("# EOF\n");
        Response::ok("application/openmetrics-text; version=1.0.0; charset=utf-8", text.out)
    } else {
        Response::ok("text/plain; version=0.0.4; charset=utf-8", text.out)
    }
}

fn labels(handle: &Handle) -> String {
    let name = handle.name().unwrap_or_default().replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("runtime=\"{}\",name=\"{name}\"", handle.id())
}

struct Text {
    out: String,
    is_open: bool,
}

type Runtimes = [(String, RuntimeMetrics)];

impl Text {
    /// Counters are of a family without the suffix in OpenMetrics, and with it in the older format.
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        let suffix = if kind == "counter" && !self.is_open { "_total" } else { "" };
        // Writing to a string does not fail.
        let _ = writeln!(self.out, "# HELP {name}{suffix} {help}\n# TYPE {name}{suffix} {kind}");
    }

    fn sample(&mut self, name: &str, labels: &str, value: impl std::fmt::Display) {
        let _ = writeln!(self.out, "{name}{{{labels}}} {value}");
    }

    fn counter(&mut self, runtimes: &Runtimes, name: &str, help: &str, read: impl Fn(&RuntimeMetrics) -> u64) {
        self.family(name, "counter", help);
        for (labels, metrics) in runtimes {
            self.sample(&format!("{name}_total"), labels, read(metrics));
        }
    }

    fn gauge(&mut self, runtimes: &Runtimes, name: &str, help: &str, read: impl Fn(&RuntimeMetrics) -> usize) {
        self.family(name, "gauge", help);
        for (labels, metrics) in runtimes {
            self.sample(name, labels, read(metrics));
        }
    }

    fn totals(&mut self, runtimes: &Runtimes) {
        self.counter(runtimes, "rt_tasks_spawned", "Tasks spawned.", |m| m.totals().spawns);
        self.counter(runtimes, "rt_tasks_completed", "Tasks completed.", |m| m.totals().completions);
        self.counter(runtimes, "rt_spurious_polls", "Polls for nothing.", |m| m.totals().spurious_polls);
        self.counter(runtimes, "rt_blocked_polls", "Polls that blocked a worker.", RuntimeMetrics::blocked_count);
        self.counter(runtimes, "rt_io_events", "Events of sockets.", |m| m.drivers().io_events);
        self.counter(runtimes, "rt_timers_set", "Timers set.", |m| m.drivers().timers_set);
        self.counter(runtimes, "rt_timers_fired", "Timers that fired.", |m| m.drivers().timers_fired);
        self.counter(runtimes, "rt_driver_waits", "Waits in the drivers.", |m| m.totals().driver_waits);
        self.counter(runtimes, "rt_steals", "Takings of others' tasks.", |m| m.totals().steals);
        self.counter(runtimes, "rt_budget_yields", "Polls ended by the budget.", |m| m.totals().budget_yields);
        self.counter(runtimes, "rt_blocking_jobs", "Blocking jobs begun.", RuntimeMetrics::blocking_jobs_run);
        self.counter(runtimes, "rt_dropped_reports", "Reports that were dropped.", RuntimeMetrics::dropped_reports);
        self.gauge(runtimes, "rt_io_descriptors", "Descriptors registered.", |m| m.drivers().io_registered as usize);
        self.gauge(runtimes, "rt_tasks", "Tasks alive.", RuntimeMetrics::num_alive_tasks);
        self.gauge(runtimes, "rt_global_queue_tasks", "Tasks in the global queue.", RuntimeMetrics::global_queue_depth);
        self.gauge(runtimes, "rt_spare_threads", "Spare workers' threads.", RuntimeMetrics::num_spare_threads);
        self.gauge(runtimes, "rt_blocking_threads", "Blocking pool threads.", RuntimeMetrics::num_blocking_threads);
        self.gauge(
            runtimes,
            "rt_blocking_queue_jobs",
            "Blocking jobs that wait.",
            RuntimeMetrics::blocking_queue_depth,
        );
        self.histogram(runtimes, "rt_poll_duration_seconds", "How long polls took.", RuntimeMetrics::poll_times);
        let help = "How long woken tasks waited for their poll.";
        self.histogram(runtimes, "rt_wake_to_poll_seconds", help, RuntimeMetrics::wake_to_poll_times);
        self.histogram(runtimes, "rt_timer_lateness_seconds", "How late timers fired.", RuntimeMetrics::timer_lateness);
    }

    /// Without a sum, which the runtime does not keep, and so in OpenMetrics without a count: there is one if and only
    /// if there is the other, and it is that of the last bucket anyway.
    fn histogram(&mut self, runtimes: &Runtimes, name: &str, help: &str, read: impl Fn(&RuntimeMetrics) -> Histogram) {
        self.family(name, "histogram", help);
        for (labels, metrics) in runtimes {
            let (histogram, mut below) = (read(metrics), 0);
            // From a quarter of a microsecond to a minute; what is shorter or longer is in the first and the last.
            for (bucket, count) in histogram.buckets().iter().enumerate().take(36) {
                below += count;
                if bucket >= 7 {
                    let bound = Histogram::bucket_range(bucket).end.as_secs_f64();
                    self.sample(&format!("{name}_bucket"), &format!("{labels},le=\"{bound}\""), below);
                }
            }
            self.sample(&format!("{name}_bucket"), &format!("{labels},le=\"+Inf\""), histogram.count());
            if !self.is_open {
                // The older format must have both.
                self.sample(&format!("{name}_sum"), labels, "NaN");
                self.sample(&format!("{name}_count"), labels, histogram.count());
            }
        }
    }

    fn per_worker(&mut self, runtimes: &Runtimes) {
        let polls = |m: &RuntimeMetrics, worker| m.worker(worker).unwrap_or_default().polls.to_string();
        self.of_workers(runtimes, "rt_worker_polls", "Polls of a worker.", polls);
        let seconds = |nanos| Duration::from_nanos(nanos).as_secs_f64().to_string();
        self.of_workers(runtimes, "rt_worker_busy_seconds", "Time with work.", |m, worker| {
            seconds(m.worker(worker).unwrap_or_default().busy_nanos)
        });
        self.of_workers(runtimes, "rt_worker_searching_seconds", "Time looking for work.", |m, worker| {
            seconds(m.worker(worker).unwrap_or_default().searching_nanos)
        });
        self.of_workers(runtimes, "rt_worker_parked_seconds", "Time asleep.", |m, worker| {
            seconds(m.worker(worker).unwrap_or_default().parked_nanos)
        });
    }

    fn of_workers(
        &mut self,
        runtimes: &Runtimes,
        name: &str,
        help: &str,
        read: impl Fn(&RuntimeMetrics, usize) -> String,
    ) {
        self.family(name, "counter", help);
        for (labels, metrics) in runtimes {
            for worker in 0..metrics.num_workers() {
                let labels = format!("{labels},worker=\"{worker}\"");
                self.sample(&format!("{name}_total"), &labels, read(metrics, worker));
            }
        }
    }
}
