//! [`Response`]: an answer, as the bytes that go out.

use crate::request::Refusal;

/// An answer to a request.
pub(crate) struct Response {
    status: &'static str,
    content_type: &'static str,
    body: Vec<u8>,
    /// What a browser may do for it.
    policy: String,
    extra: String,
}

/// For every answer: none is to be kept, or to be taken for something else; and where the token is in the address no
/// other server is told of it.
const HEADERS: &str = "Cache-Control: no-store\r\n\
    Connection: close\r\n\
    Referrer-Policy: no-referrer\r\n\
    X-Content-Type-Options: nosniff\r\n";

/// For every answer but the page: it loads nothing, and is shown inside no other page.
const NOTHING: &str = "default-src 'none'; frame-ancestors 'none'";

impl Response {
    pub(crate) fn ok(content_type: &'static str, body: impl Into<Vec<u8>>) -> Self {
        Self { status: "200 OK", content_type, body: body.into(), policy: NOTHING.into(), extra: String::new() }
    }

    pub(crate) fn json(text: String) -> Self {
        Self::ok("application/json", text)
    }

    /// An answer that is not what the client wanted, with a line that says why.
    pub(crate) fn plain(status: &'static str, line: &str) -> Self {
        let body = format!("{line}\n").into_bytes();
        Self { status, ..Self::ok("text/plain; charset=utf-8", body) }
    }

    /// An answer could not be made.
    pub(crate) fn failure() -> Self {
        Self::plain("500 Internal Server Error", "the answer could not be made: the program's stderr may say why")
    }

    /// With a further header, which ends its line.
    pub(crate) fn with(mut self, header: &str) -> Self {
        self.extra.push_str(header);
        self
    }

    /// With a content security policy of its own.
    pub(crate) fn with_policy(self, policy: String) -> Self {
        Self { policy, ..self }
    }

    pub(crate) fn refusal(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Malformed => Self::plain("400 Bad Request", "this is no HTTP/1 request"),
            Refusal::TooLong => Self::plain("431 Request Header Fields Too Large", "the request is too long"),
            Refusal::Method => {
                Self::plain("405 Method Not Allowed", "there is only GET and HEAD").with("Allow: GET, HEAD\r\n")
            }
            Refusal::Token => Self::plain(
                "401 Unauthorized",
                "a token is needed: RT_INSPECT_TOKEN, or what the program has written to stderr at its start; show it \
                 as ?token=... or in the header Authorization: Bearer ...",
            )
            .with("WWW-Authenticate: Bearer\r\n"),
            Refusal::Site => Self::plain("403 Forbidden", "this is not for pages of other servers"),
            Refusal::Host => Self::plain(
                "421 Misdirected Request",
                "without a token, ask for this by its address or as localhost, not by another name",
            ),
        }
    }

    /// The bytes that go out.
    pub(crate) fn into_bytes(self, is_head: bool) -> Vec<u8> {
        let mut bytes = format!(
            "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nContent-Security-Policy: {}\r\n{HEADERS}{}\r\n",
            self.status,
            self.content_type,
            self.body.len(),
            self.policy,
            self.extra
        )
        .into_bytes();
        if !is_head {
            bytes.extend(self.body);
        }
        bytes
    }
}

/// The head of a stream of events, which ends with the connection.
pub(crate) fn event_stream_head() -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n{HEADERS}\r\n").into_bytes()
}

/// One event. The text must be a single line.
pub(crate) fn event(text: &str) -> Vec<u8> {
    debug_assert!(!text.contains(['\n', '\r']), "a line of an event ends there");
    format!("data: {text}\n\n").into_bytes()
}
