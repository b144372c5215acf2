//! What the server says, as it says it: the JSON of `/workers`, `/tasks` and `/blocked`.
//!
//! What is missing is zero, empty or absent, and what is not known here is passed over, so that programs with an older
//! or a newer rt can be looked into. Only that there are `runtimes` is asked for: else it is no server of rt's.

use serde::Deserialize;

/// An answer: something of each runtime of the process.
#[derive(Debug, Deserialize)]
pub(crate) struct Answer<T> {
    #[serde(default)]
    pub(crate) pid: u64,
    pub(crate) runtimes: Vec<T>,
}

/// Of `/workers`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Workers {
    pub(crate) id: String,
    pub(crate) name: Option<String>,
    pub(crate) totals: Counts,
    pub(crate) alive_tasks: u64,
    pub(crate) global_queue_depth: u64,
    pub(crate) blocked: u64,
    pub(crate) dropped_reports: u64,
    pub(crate) spare_threads: u64,
    pub(crate) blocking_threads: u64,
    pub(crate) idle_blocking_threads: u64,
    pub(crate) blocking_queue_depth: u64,
    /// How often each power of two nanoseconds was met.
    pub(crate) poll_times: Vec<u64>,
    pub(crate) wake_to_poll_times: Vec<u64>,
    pub(crate) workers: Vec<Worker>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Worker {
    pub(crate) worker: u64,
    pub(crate) activity: String,
    /// In whose poll it is.
    pub(crate) task: Option<Polled>,
    pub(crate) queue_depth: u64,
    pub(crate) counts: Counts,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Polled {
    pub(crate) id: String,
    pub(crate) name: Option<String>,
    pub(crate) spawned_at: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Counts {
    pub(crate) polls: u64,
    pub(crate) spurious_polls: u64,
    pub(crate) spawns: u64,
    pub(crate) completions: u64,
    pub(crate) busy_nanos: u64,
    pub(crate) searching_nanos: u64,
    pub(crate) parked_nanos: u64,
    pub(crate) steals: u64,
}

/// Of `/tasks`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Tasks {
    pub(crate) id: String,
    /// There may be more than are listed.
    pub(crate) alive_tasks: u64,
    pub(crate) tasks: Vec<Task>,
    /// Of all tasks, also of those that are not listed.
    pub(crate) sites: Vec<Site>,
}

/// A place in the program, and what there is of all tasks that were spawned there.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Site {
    pub(crate) spawned_at: String,
    pub(crate) tasks: u64,
    pub(crate) running: u64,
    pub(crate) queued: u64,
    pub(crate) polls: u64,
    pub(crate) total_poll_nanos: u64,
    pub(crate) longest_poll_nanos: u64,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Task {
    pub(crate) id: String,
    pub(crate) name: Option<String>,
    pub(crate) spawned_at: String,
    /// `running`, `queued` or `waiting`.
    pub(crate) state: String,
    /// How long it has been in that state, if that is known.
    pub(crate) for_nanos: Option<u64>,
    pub(crate) waits_for: Option<String>,
    pub(crate) polls: u64,
    pub(crate) total_poll_nanos: u64,
    pub(crate) longest_poll_nanos: u64,
    pub(crate) wakes: u64,
    pub(crate) spurious_polls: u64,
}

/// Of `/blocked`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Blocked {
    pub(crate) id: String,
    pub(crate) reports: Vec<Report>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Report {
    pub(crate) at_unix_seconds: u64,
    /// All that there is to say, as it is written to stderr.
    pub(crate) line: String,
}
