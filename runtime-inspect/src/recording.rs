//! [`Recording`]: `/trace`, which has a runtime's flight recorder run for some seconds and sends what it has recorded.
//!
//! One at a time for each server: a trace takes megabytes while it is written and sent. The server's thread has the
//! recorder held; meanwhile it serves others, and looks at the time. The trace is written by a thread of its own, since
//! that may take longer than others should wait for an answer.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use runtime_core::trace::{Trace, TraceConfig, TraceHold, TraceSnapshot};

use crate::registry::Shared;
use crate::request::Request;
use crate::response::Response;

/// The longest time that may be asked for. Rings keep the last events only, so more would show nothing more.
const MAX_SECONDS: f64 = 60.0;

/// The most events of a thread that may be asked for: 16 MiB for each.
const MAX_EVENTS: usize = 1 << 20;

/// The most that may be asked for of all workers together: 256 MiB, which the runtime keeps, and several times as much
/// while they are written. (By default there may be more, if there are hundreds of workers.)
const MAX_EVENTS_OF_ALL: usize = 1 << 24;

/// What a client has asked for.
pub(crate) struct Wanted {
    trace: Trace,
    duration: Duration,
    config: TraceConfig,
    format: Format,
}

#[derive(Clone, Copy)]
enum Format {
    Perfetto,
    Chrome,
}

/// The recorder runs, or the trace is being written.
pub(crate) struct Recording {
    /// The number of the connection that it is for.
    client: u64,
    ends: Instant,
    /// Until it is being written. Dropped before that if the client is gone, or the server ends.
    source: Option<(Source, Format)>,
}

/// Where the trace comes from.
enum Source {
    /// The recorder runs for it.
    Held(TraceHold),
    /// What there is.
    AsItIs(Trace),
}

/// An answer that was made on another thread.
pub(crate) struct Written {
    pub(crate) client: u64,
    pub(crate) answer: Vec<u8>,
}

impl Wanted {
    /// Reads the parameters of the request.
    pub(crate) fn parse(shared: &Shared, request: &Request) -> Result<Self, Response> {
        let bad = |line: &str| Err(Response::plain("400 Bad Request", line));
        let seconds = request.text("secs").map_or(Ok(1.0), |text| text.parse::<f64>());
        let Some(seconds) = seconds.ok().filter(|seconds| (0.0..=MAX_SECONDS).contains(seconds)) else {
            return bad("secs must be a number of seconds, from 0 to 60");
        };
        let format = match request.text("format").as_deref() {
            None | Some("perfetto") => Format::Perfetto,
            Some("chrome") => Format::Chrome,
            Some(_) => return bad("format must be perfetto or chrome"),
        };
        let wanted = request.text("runtime");
        let runtimes = shared.read_runtimes();
        let runtime = runtimes.iter().find(|runtime| match &wanted {
            Some(text) => runtime.id().to_string() == *text || runtime.name() == Some(text),
            None => true,
        });
        let Some(runtime) = runtime else { return Err(Response::plain("404 Not Found", "there is no such runtime")) };
        let mut config = TraceConfig::new();
        if let Some(text) = request.text("events") {
            // What is asked for is rounded up to a power of two.
            let share = MAX_EVENTS_OF_ALL.checked_div(runtime.metrics().num_workers()).unwrap_or(MAX_EVENTS);
            let most = 1_usize << share.clamp(1, MAX_EVENTS).ilog2();
            match text.parse() {
                Ok(events) if events <= most => config = config.events(events),
                _ => return bad(&format!("events must be how many events each thread keeps, {most} at most")),
            }
        }
        Ok(Self { trace: runtime.trace(), duration: Duration::from_secs_f64(seconds), config, format })
    }
}

impl Recording {
    /// Has the recorder run.
    pub(crate) fn start(client: u64, wanted: Wanted, now: Instant) -> Self {
        let Wanted { trace, duration, config, format } = wanted;
        let source = if duration.is_zero() { Source::AsItIs(trace) } else { Source::Held(trace.hold(config)) };
        Self { client, ends: now + duration, source: Some((source, format)) }
    }

    /// When the trace is to be written. `None` if it is being written already.
    pub(crate) fn ends(&self) -> Option<Instant> {
        self.source.as_ref().map(|_| self.ends)
    }

    pub(crate) fn is_of(&self, client: u64) -> bool {
        self.client == client
    }

    /// Has the trace written, and lets go of the recorder. `Err` has the client if no thread can be had for that.
    pub(crate) fn write(&mut self, shared: &Arc<Shared>) -> Result<(), u64> {
        let Some((source, format)) = self.source.take() else { return Ok(()) };
        let (shared, client) = (Arc::clone(shared), self.client);
        let write = move || {
            let written = catch_unwind(AssertUnwindSafe(|| format.response(&source.take())));
            let response = written.unwrap_or_else(|_| Response::failure());
            shared.hand_over(Written { client, answer: response.into_bytes(false) });
        };
        thread::Builder::new().name("rt-inspect-trace".into()).spawn(write).map(drop).map_err(|_| client)
    }
}

impl Source {
    fn take(self) -> TraceSnapshot {
        match self {
            Self::Held(hold) => hold.snapshot(),
            Self::AsItIs(trace) => trace.snapshot(),
        }
    }
}

impl Format {
    fn response(self, snapshot: &TraceSnapshot) -> Response {
        let mut bytes = Vec::new();
        let (written, content_type, extension) = match self {
            Self::Perfetto => (snapshot.write_perfetto(&mut bytes), "application/octet-stream", "pftrace"),
            Self::Chrome => (snapshot.write_chrome_json(&mut bytes), "application/json", "json"),
        };
        match written {
            Ok(()) => {
                let file = format!("rt-{}.{extension}", std::process::id());
                Response::ok(content_type, bytes)
                    .with(&format!("Content-Disposition: attachment; filename=\"{file}\"\r\n"))
            }
            Err(_) => Response::failure(),
        }
    }
}
