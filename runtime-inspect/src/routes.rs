//! Which request gets which answer.

use crate::registry::Shared;
use crate::request::{Refusal, Request};
use crate::response::{Response, event, event_stream_head};
use crate::{openmetrics, views};

/// An answer, as the bytes that go out.
pub(crate) enum Answer {
    /// All of it.
    Whole(Vec<u8>),
    /// The beginning of a stream of events.
    Events(Vec<u8>),
}

pub(crate) fn answer(shared: &Shared, request: Result<Request, Refusal>) -> Answer {
    let request = request.and_then(|request| request.authorize(shared.token.as_ref()).map(|()| request));
    let request = match request {
        Ok(request) => request,
        Err(refusal) => return Answer::Whole(Response::refusal(refusal).into_bytes(false)),
    };
    let response = match &*request.path {
        "/metrics" => openmetrics::response(shared, request.accepts_openmetrics),
        "/workers" => Response::json(views::workers(shared)),
        "/tasks" => Response::json(views::tasks(shared)),
        "/blocked" => Response::json(views::blocked(shared)),
        "/events" if !request.is_head => {
            let mut bytes = event_stream_head();
            bytes.extend(next_event(shared));
            return Answer::Events(bytes);
        }
        "/" => Response::plain("200 OK", "there is /metrics, /workers, /tasks, /blocked and /events"),
        _ => Response::plain("404 Not Found", "there is /, /metrics, /workers, /tasks, /blocked and /events"),
    };
    Answer::Whole(response.into_bytes(request.is_head))
}

/// What clients of `/events` are told each second.
pub(crate) fn next_event(shared: &Shared) -> Vec<u8> {
    event(&views::workers(shared))
}
