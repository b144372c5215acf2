//! [`Recording`]: `/trace`, which has a runtime's flight recorder run for some seconds and sends what it has recorded.
//!
//! One at a time for each server: a trace takes megabytes while it is written and sent, and the recorder is one for all.
//! The server's thread starts the recorder and stops it; meanwhile it serves others, and looks at the time. The trace is
//! written by a thread of its own, since that may take longer than others should wait for an answer.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use runtime_core::trace::{Trace, TraceConfig, TraceSnapshot};

use crate::registry::Shared;
use crate::request::Request;
use crate::response::Response;

/// The longest time that may be asked for. Rings keep the last events only, so more would show nothing more.
const MAX_SECONDS: f64 = 60.0;

/// The most events of a thread that may be asked for: 16 MiB for each.
const MAX_EVENTS: usize = 1 << 20;

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
    wanted: Option<Wanted>,
    /// The recorder did not run before.
    is_ours: bool,
    ends: Instant,
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
        let mut config = TraceConfig::new();
        if let Some(text) = request.text("events") {
            match text.parse() {
                Ok(events) if events <= MAX_EVENTS => config = config.events(events),
                _ => return bad("events must be how many events each thread keeps, 1048576 at most"),
            }
        }
        let wanted = request.text("runtime");
        let runtimes = shared.read_runtimes();
        let runtime = runtimes.iter().find(|runtime| match &wanted {
            Some(text) => runtime.id().to_string() == *text || runtime.name() == Some(text),
            None => true,
        });
        let Some(runtime) = runtime else { return Err(Response::plain("404 Not Found", "there is no such runtime")) };
        Ok(Self { trace: runtime.trace(), duration: Duration::from_secs_f64(seconds), config, format })
    }
}

impl Recording {
    /// Starts the recorder, unless it runs.
    pub(crate) fn start(client: u64, wanted: Wanted, now: Instant) -> Self {
        // Without any time to wait, what is wanted is what there is.
        let is_ours = !wanted.duration.is_zero() && wanted.trace.start(wanted.config.clone());
        Self { client, ends: now + wanted.duration, wanted: Some(wanted), is_ours }
    }

    /// When the recorder is to be stopped. `None` if the trace is being written already.
    pub(crate) fn ends(&self) -> Option<Instant> {
        self.wanted.as_ref().map(|_| self.ends)
    }

    pub(crate) fn is_of(&self, client: u64) -> bool {
        self.client == client
    }

    /// Stops the recorder, if it was started here, and has the trace written. `Err` has the client if no thread can be
    /// had for that.
    pub(crate) fn write(&mut self, shared: &Arc<Shared>) -> Result<(), u64> {
        let Some(Wanted { trace, duration, format, .. }) = self.wanted.take() else { return Ok(()) };
        if self.is_ours {
            trace.stop();
        }
        let (shared, client, is_ours) = (Arc::clone(shared), self.client, self.is_ours);
        let write = move || {
            let written = catch_unwind(AssertUnwindSafe(|| {
                let snapshot = trace.snapshot();
                // One that runs all the time has more than was asked for.
                let has_more = !is_ours && !duration.is_zero();
                format.response(&if has_more { snapshot.last(duration) } else { snapshot })
            }));
            let response = written.unwrap_or_else(|_| Response::failure());
            shared.hand_over(Written { client, answer: response.into_bytes(false) });
        };
        thread::Builder::new().name("rt-inspect-trace".into()).spawn(write).map(drop).map_err(|_| client)
    }
}

impl Drop for Recording {
    /// The client is gone, or the server ends: nobody wants the trace.
    fn drop(&mut self) {
        if let Some(wanted) = &self.wanted
            && self.is_ours
        {
            wanted.trace.stop();
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
