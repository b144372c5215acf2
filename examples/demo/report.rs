//! The table at the end.

use std::fmt::{self, Display};
use std::thread::available_parallelism;

use indicatif::{BinaryBytes, DecimalBytes, HumanCount};
use rt::runtime::RuntimeMetrics;
use rt::time::Duration;

use crate::digest::Digested;
use crate::distribution::Distribution;
use crate::echo::{CONNECTIONS, Echoed};

/// What the demo has found.
pub(crate) struct Report {
    pub(crate) elapsed: Duration,
    /// The processor time used, where it is known.
    pub(crate) cpu: Option<Duration>,
    /// In bytes, where it is known.
    pub(crate) peak_memory: Option<u64>,
    pub(crate) runtime: RuntimeMetrics,
    pub(crate) echo: Echoed,
    /// How late the timers were.
    pub(crate) timers: Distribution,
    pub(crate) digest: Digested,
}

impl Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cores = available_parallelism().map_or(1, |cores| cores.get());
        let workers = self.runtime.num_workers();
        writeln!(f, "\nAll checks passed, with worker threads: {workers}, processors: {cores}.\n")?;
        self.whole(f, cores)?;
        self.scheduler(f)?;
        self.echo(f)?;
        self.timers(f)?;
        self.digest(f)
    }
}

impl Report {
    fn whole(&self, f: &mut fmt::Formatter<'_>, cores: usize) -> fmt::Result {
        let used = self.cpu.map(|cpu| 100.0 * cpu.as_secs_f64() / (self.elapsed.as_secs_f64() * cores as f64));
        row(f, "total time", format_args!("{:.2} s", self.elapsed.as_secs_f64()))?;
        let shares = used.map(|used| format!("{used:.1} % used, {:.1} % idle or used by others", 100.0 - used));
        row(f, "processors", known(shares))?;
        row(f, "peak memory", known(self.peak_memory.map(BinaryBytes)))
    }

    fn scheduler(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (counts, drivers) = (self.runtime.totals(), self.runtime.drivers());
        let [local, injected] = [counts.local_schedules, counts.injector_schedules].map(HumanCount);
        let queued = HumanCount(counts.local_schedules + counts.injector_schedules);
        let [steals, stolen] = [counts.steals, counts.stolen_tasks].map(HumanCount);
        heading(f, "Scheduler")?;
        row(f, "tasks", HumanCount(counts.spawns))?;
        row(f, "polls", HumanCount(counts.polls))?;
        row(f, "spawned or woken", format_args!("{queued}: {local} onto a worker's own queue, {injected} injected"))?;
        row(f, "steals", format_args!("{steals}, of {stolen} tasks"))?;
        row(f, "budget yields", HumanCount(counts.budget_yields))?;
        row(f, "parks", HumanCount(counts.parks))?;
        row(f, "socket events", HumanCount(drivers.io_events))
    }

    fn echo(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Echoed { elapsed, bytes, round_trips } = &self.echo;
        let messages = round_trips.len() as u64;
        let a_second = |amount: u64| (amount as f64 / elapsed.as_secs_f64()) as u64;
        let (byte_rate, message_rate) = (DecimalBytes(a_second(*bytes)), HumanCount(a_second(messages)));
        let [p50, p99, p999] = [0.5, 0.99, 0.999].map(|share| Milliseconds(round_trips.quantile(share)));
        heading(f, "TCP echo")?;
        row(f, "connections", format_args!("{}, a message in flight on each", HumanCount(CONNECTIONS)))?;
        row(f, "messages", format_args!("{} of 64 B to 64 KiB, every byte compared", HumanCount(messages)))?;
        row(f, "each way", format_args!("{} in {:.2} s", DecimalBytes(*bytes), elapsed.as_secs_f64()))?;
        row(f, "throughput", format_args!("{byte_rate}/s each way, {message_rate} messages/s"))?;
        row(f, "round trip", format_args!("p50 {p50}, p99 {p99}, p99.9 {p999}"))
    }

    fn timers(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [p50, p99] = [0.5, 0.99].map(|share| Milliseconds(self.timers.quantile(share)));
        let max = Milliseconds(self.timers.max());
        heading(f, "Timers")?;
        row(f, "fired", format_args!("{} of 1 to 1,000 ms, none early", HumanCount(self.timers.len() as u64)))?;
        row(f, "lateness", format_args!("p50 {p50}, p99 {p99}, max {max}"))
    }

    fn digest(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Digested { files, bytes, sum } = &self.digest;
        heading(f, "Digests")?;
        let files = HumanCount(*files as u64);
        row(f, "files", format_args!("{files} of {}, each digested twice", DecimalBytes(*bytes)))?;
        row(f, "SHA-256 of all", sum)
    }
}

/// A duration in milliseconds, so that the figures can be compared at a glance.
struct Milliseconds(Duration);

impl Display for Milliseconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.2} ms", 1e3 * self.0.as_secs_f64())
    }
}

fn heading(f: &mut fmt::Formatter<'_>, heading: &str) -> fmt::Result {
    writeln!(f, "\n{heading}")
}

fn row(f: &mut fmt::Formatter<'_>, name: &str, value: impl Display) -> fmt::Result {
    writeln!(f, "  {name:<18}{value}")
}

/// A figure, or the admission that there is none.
fn known(figure: Option<impl Display>) -> String {
    figure.map_or_else(|| "not known on this system".into(), |figure| figure.to_string())
}
