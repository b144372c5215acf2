//! [`TraceConfig`]: what the flight recorder is started with.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::recorder::MAX_SIZE_LOG;

/// The default of `TraceConfig::events`, for which a worker needs 1 MiB.
const DEFAULT_EVENTS: usize = 1 << 16;

/// How a runtime's flight recorder records: see [`Trace::start`](super::Trace::start) and `Builder::trace`.
///
/// # Example
///
/// ```
/// use rt::runtime::trace::TraceConfig;
/// let file = std::env::temp_dir().join("my-app.pftrace");
/// let runtime = rt::runtime::Builder::new_multi_thread()
///     .trace(TraceConfig::new().events(100_000).file(file).on_panic(true).on_blocked(true))
///     .build()
///     .unwrap();
/// assert!(runtime.handle().trace().is_running());
/// ```
#[derive(Clone, Debug)]
pub struct TraceConfig {
    events: usize,
    pub(super) file: Option<PathBuf>,
    pub(super) on_panic: bool,
    pub(super) on_blocked: bool,
    pub(super) slow_poll: Option<Duration>,
}

impl TraceConfig {
    /// The defaults.
    pub fn new() -> Self {
        Self { events: DEFAULT_EVENTS, file: None, on_panic: false, on_blocked: false, slow_poll: None }
    }

    /// How many events each thread keeps (65,536), rounded up to a power of two, 16 at least. An event takes 16 bytes,
    /// so that is 1 MiB for each worker, each spare worker that is ever needed, each of four callers of `block_on`, and
    /// each of four lanes that all other threads share. (Of the last two kinds the system gives the memory when there
    /// are events.) It is allocated when the recorder is started, or when the spare worker is, and not in between.
    ///
    /// The memory is kept until the runtime is gone, also if the recorder is stopped, and used again when it is started
    /// with the same number.
    ///
    /// # Panics
    ///
    /// If it is more than 2^30.
    ///
    /// # Example
    ///
    /// ```
    /// let config = rt::runtime::trace::TraceConfig::new().events(1 << 20);
    /// # drop(config);
    /// ```
    #[must_use]
    #[track_caller]
    pub fn events(mut self, events: usize) -> Self {
        assert!(events <= 1 << MAX_SIZE_LOG, "a thread can keep 2^{MAX_SIZE_LOG} events at most, not {events}");
        self.events = events;
        self
    }

    /// Where [`on_panic`](Self::on_panic), [`on_blocked`](Self::on_blocked) and [`on_slow_poll`](Self::on_slow_poll)
    /// have the trace written to. A path that ends in `.json` makes it Chrome's JSON, any other one Perfetto's.
    ///
    /// A file that is there already is left as it is: so the first trace is kept, and a disk is not filled. Take it
    /// away to get the next one. A line on stderr tells when an older file has kept the first trace from being written.
    ///
    /// # Example
    ///
    /// ```
    /// let config = rt::runtime::trace::TraceConfig::new().file("/var/tmp/my-app.json").on_panic(true);
    /// # drop(config);
    /// ```
    #[must_use]
    pub fn file(mut self, path: impl AsRef<Path>) -> Self {
        self.file = Some(path.as_ref().to_path_buf());
        self
    }

    /// Whether a task that panics has the [file](Self::file) written (no). It is written on a thread of its own, a
    /// moment later. If it cannot be, a line on stderr says why.
    #[must_use]
    pub fn on_panic(mut self, on_panic: bool) -> Self {
        self.on_panic = on_panic;
        self
    }

    /// Whether a task that blocks its worker has the [file](Self::file) written (no): as `Builder::on_blocked` reports
    /// it, so once for each place where such tasks are spawned, and not if `Builder::rescue_blocked` is switched off.
    /// Likewise on a thread of its own.
    #[must_use]
    pub fn on_blocked(mut self, on_blocked: bool) -> Self {
        self.on_blocked = on_blocked;
        self
    }

    /// From how long a poll of a task has the [file](Self::file) written (never). That is found out when the poll is
    /// over, on every kind of runtime, in every such poll. Likewise on a thread of its own, so the trace goes on a
    /// little beyond that poll.
    ///
    /// # Example
    ///
    /// ```
    /// use std::time::Duration;
    /// # let path = "/var/tmp/my-app.pftrace";
    /// let config = rt::runtime::trace::TraceConfig::new().file(path).on_slow_poll(Duration::from_millis(2));
    /// # drop(config);
    /// ```
    #[must_use]
    pub fn on_slow_poll(mut self, limit: Duration) -> Self {
        self.slow_poll = Some(limit);
        self
    }

    /// The binary logarithm of the number of places in a ring.
    pub(super) fn size_log(&self) -> usize {
        self.events.max(16).next_power_of_two().ilog2() as usize
    }
}

impl Default for TraceConfig {
    fn default() -> Self {
        Self::new()
    }
}
