//! Which request gets which answer.

use crate::recording::Wanted;
use crate::registry::Shared;
use crate::request::{Refusal, Request};
use crate::response::{Response, event, event_stream_head};
use crate::{openmetrics, page, tasks, views};

/// An answer.
pub(crate) enum Answer {
    /// All of it, as the bytes that go out.
    Whole(Vec<u8>),
    /// The beginning of a stream of events.
    Events(Vec<u8>),
    /// A trace, when it has been recorded.
    Trace(Wanted),
}

impl Answer {
    /// An answer could not be made.
    pub(crate) fn failure() -> Self {
        Self::Whole(Response::failure().into_bytes(false))
    }
}

pub(crate) fn answer(shared: &Shared, request: Result<Request, Refusal>) -> Answer {
    let request = match request {
        Ok(request) => request,
        Err(refusal) => return Answer::Whole(Response::refusal(refusal).into_bytes(false)),
    };
    if let Err(refusal) = request.authorize(shared.token.as_ref()) {
        return Answer::Whole(Response::refusal(refusal).into_bytes(request.is_head));
    }
    let response = match &*request.path {
        "/" => page::response(),
        "/metrics" => openmetrics::response(shared, request.accepts_openmetrics),
        "/workers" => Response::json(views::workers(shared)),
        "/tasks" => tasks::response(shared, &request),
        "/blocked" => Response::json(views::blocked(shared)),
        "/events" if !request.is_head => {
            let mut bytes = event_stream_head();
            bytes.extend(next_event(shared));
            return Answer::Events(bytes);
        }
        "/trace" if !request.is_head => match Wanted::parse(shared, &request) {
            Ok(wanted) => return Answer::Trace(wanted),
            Err(response) => response,
        },
        #[cfg(test)]
        "/panic" => panic!("a test has asked for it"),
        #[cfg(test)]
        "/large" => Response::plain("200 OK", &"large ".repeat(1 << 20)),
        _ => Response::plain("404 Not Found", "there is /, /metrics, /workers, /tasks, /blocked, /events and /trace"),
    };
    Answer::Whole(response.into_bytes(request.is_head))
}

/// What clients of `/events` are told each second.
pub(crate) fn next_event(shared: &Shared) -> Vec<u8> {
    event(&views::workers(shared))
}
