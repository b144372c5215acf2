//! [`Request`]: what a client asks for, and whether it may.
//!
//! Everything here comes from anybody that can reach the address, and is taken to be hostile. Parsing is `httparse`'s.

use std::net::IpAddr;

use crate::token::Token;

/// The most bytes of a request's head. A browser's has one or two thousand.
pub(crate) const MAX_HEAD: usize = 8 * 1024;

/// The most headers of a request.
const MAX_HEADERS: usize = 64;

/// What a client asks for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) path: String,
    pub(crate) query: String,
    /// Answer without a body: `HEAD`.
    pub(crate) is_head: bool,
    /// A browser asks on behalf of a page of another server, by its own account.
    is_of_another_site: bool,
    /// The client can read OpenMetrics.
    pub(crate) accepts_openmetrics: bool,
    authorization: Option<Vec<u8>>,
    host: Option<String>,
}

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// It is not HTTP, or not of a version that is spoken here.
    Malformed,
    /// Its head is too long.
    TooLong,
    /// Neither `GET` nor `HEAD`.
    Method,
    /// It shows no token, or a wrong one.
    Token,
    /// It is for a host name that this is not, see [`Request::authorize`].
    Host,
    /// It comes from a page of another server.
    Site,
}

impl Request {
    /// Reads a request's head. `None` if it is not complete yet.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Option<Self>, Refusal> {
        let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
        let mut parsed = httparse::Request::new(&mut headers);
        match parsed.parse(bytes) {
            Ok(httparse::Status::Complete(_)) => {}
            Ok(httparse::Status::Partial) if bytes.len() < MAX_HEAD => return Ok(None),
            Ok(httparse::Status::Partial) | Err(httparse::Error::TooManyHeaders) => return Err(Refusal::TooLong),
            Err(_) => return Err(Refusal::Malformed),
        }
        let (Some(method), Some(target)) = (parsed.method, parsed.path) else { return Err(Refusal::Malformed) };
        let is_head = match method {
            "GET" => false,
            "HEAD" => true,
            _ => return Err(Refusal::Method),
        };
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let header = |name: &str| {
            parsed.headers.iter().find(|header| header.name.eq_ignore_ascii_case(name)).map(|header| header.value)
        };
        let text = |name: &str| header(name).map(|value| String::from_utf8_lossy(value).into_owned());
        Ok(Some(Self {
            path: path.to_owned(),
            query: query.to_owned(),
            is_head,
            is_of_another_site: text("sec-fetch-site").is_some_and(|site| site != "same-origin" && site != "none"),
            accepts_openmetrics: text("accept").is_some_and(|accept| accept.contains("application/openmetrics-text")),
            authorization: header("authorization").map(<[u8]>::to_vec),
            host: text("host"),
        }))
    }

    /// The value of a parameter of the query, decoded.
    pub(crate) fn parameter(&self, name: &str) -> Option<Vec<u8>> {
        self.query.split('&').find_map(|pair| {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            (key == name).then(|| decode(value))
        })
    }

    /// The same as text. What is not UTF-8 is replaced.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        self.parameter(name).map(|value| String::from_utf8_lossy(&value).into_owned())
    }

    /// Whether the client may have an answer.
    ///
    /// Where a token is asked for it must be shown, in the header `Authorization: Bearer` or as the parameter `token`.
    /// Where none is, all that can reach the address may ask: the programs on this machine. A page from elsewhere in a
    /// browser on this machine is none of them, though it could have its own host name resolve to this address, and
    /// then read the answers. So without a token the host must be given as an address, or as `localhost`. Nor may such
    /// a page have anything done, such as a trace: it may only lead to the page that is here. (A browser says
    /// that a page asks if the address is a loopback one, but not if it leads there all the same, as `0.0.0.0` does: so
    /// such an address is none here.)
    pub(crate) fn authorize(&self, token: Option<&Token>) -> Result<(), Refusal> {
        if self.is_of_another_site && self.path != "/" {
            return Err(Refusal::Site);
        }
        let Some(token) = token else {
            let is_local = self.host.as_deref().is_none_or(|host| {
                let name = host_name(host);
                name.eq_ignore_ascii_case("localhost") || name.parse().is_ok_and(says_what_it_is)
            });
            return if is_local { Ok(()) } else { Err(Refusal::Host) };
        };
        let in_header = self.authorization.as_deref().and_then(|value| {
            let (scheme, shown) = value.split_at_checked(7)?;
            scheme.eq_ignore_ascii_case(b"bearer ").then(|| token.is(shown.trim_ascii()))
        });
        let is_shown = match in_header {
            Some(is_right) => is_right,
            None => self.parameter("token").is_some_and(|shown| token.is(&shown)),
        };
        if is_shown { Ok(()) } else { Err(Refusal::Token) }
    }
}

/// Whether it is no other name for a loopback address, as `0.0.0.0` and `::ffff:127.0.0.1` are.
fn says_what_it_is(address: IpAddr) -> bool {
    !address.is_unspecified() && address.to_canonical() == address
}

/// The host of a `Host` header, without the port and the brackets around an IPv6 address.
fn host_name(host: &str) -> &str {
    match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or(rest),
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    }
}

/// Decodes what is percent-encoded. What is not properly so stays as it is.
fn decode(text: &str) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let hex = |digit: u8| (digit as char).to_digit(16);
        rest = tail;
        match (first, tail) {
            (b'%', [high, low, after @ ..]) if hex(*high).is_some() && hex(*low).is_some() => {
                let byte = hex(*high).unwrap_or(0) * 16 + hex(*low).unwrap_or(0);
                decoded.push(byte as u8);
                rest = after;
            }
            (b'+', _) => decoded.push(b' '),
            (byte, _) => decoded.push(*byte),
        }
    }
    decoded
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Option<Request>, Refusal> {
        Request::parse(text.as_bytes())
    }

    fn complete(text: &str) -> Request {
        parse(text).unwrap().unwrap()
    }

    #[test]
    fn every_beginning_of_a_request_is_incomplete() {
        let text = "GET /tasks?site=a%20b+c&token=%zz HTTP/1.1\r\nHost: localhost:1\r\nAccept: */*\r\n\r\n";
        for end in 0..text.len() {
            assert_eq!(Request::parse(&text.as_bytes()[..end]), Ok(None), "{}", &text[..end]);
        }
        let request = complete(text);
        assert_eq!((&*request.path, request.is_head, request.accepts_openmetrics), ("/tasks", false, false));
        assert_eq!(request.parameter("site").unwrap(), b"a b c");
        assert_eq!(request.parameter("token").unwrap(), b"%zz");
        assert_eq!(request.parameter("other"), None);
    }

    #[test]
    fn what_is_not_a_request_is_refused() {
        let long_path = format!("GET /{} HTTP/1.1\r\n", "a".repeat(MAX_HEAD));
        let many_headers = format!("GET / HTTP/1.1\r\n{}\r\n", "A: b\r\n".repeat(MAX_HEADERS + 1));
        for (text, refusal) in [
            ("POST / HTTP/1.1\r\n\r\n", Refusal::Method),
            ("DELETE /tasks HTTP/1.1\r\n\r\n", Refusal::Method),
            ("GET / HTTP/2.0\r\n\r\n", Refusal::Malformed),
            ("GET\0/ HTTP/1.1\r\n\r\n", Refusal::Malformed),
            ("\u{16}\u{3}\u{1}\u{2}", Refusal::Malformed),
            ("GET / HTTP/1.1\r\nbad header\r\n\r\n", Refusal::Malformed),
            ("GET / HTTP/1.1\r\nA: \0\r\n\r\n", Refusal::Malformed),
            (&*long_path, Refusal::TooLong),
            (&*many_headers, Refusal::TooLong),
        ] {
            assert_eq!(parse(text), Err(refusal), "{text:?}");
        }
    }

    #[test]
    fn a_token_may_be_in_the_header_or_in_the_address_and_must_be_right() {
        let token = Token::new("s3cret".into());
        for (text, is_allowed) in [
            ("GET /?token=s3cret HTTP/1.1\r\n\r\n", true),
            ("GET /?a=b&token=s3%63ret HTTP/1.1\r\nHost: example.org\r\n\r\n", true),
            ("GET / HTTP/1.1\r\nAuthorization: Bearer s3cret\r\n\r\n", true),
            ("GET / HTTP/1.1\r\nauthorization: bearer s3cret\r\n\r\n", true),
            ("GET / HTTP/1.1\r\n\r\n", false),
            ("GET /?token= HTTP/1.1\r\n\r\n", false),
            ("GET /?token=s3cre HTTP/1.1\r\n\r\n", false),
            ("GET /?tokens=s3cret HTTP/1.1\r\n\r\n", false),
            ("GET / HTTP/1.1\r\nAuthorization: s3cret\r\n\r\n", false),
            ("GET / HTTP/1.1\r\nAuthorization: Basic s3cret\r\n\r\n", false),
            ("GET /?token=s3cret HTTP/1.1\r\nAuthorization: Bearer other\r\n\r\n", false),
        ] {
            assert_eq!(complete(text).authorize(Some(&token)).is_ok(), is_allowed, "{text:?}");
        }
    }

    #[test]
    fn a_page_of_another_server_may_only_lead_here() {
        let token = Token::new("s3cret".into());
        for (path, site, is_allowed) in [
            ("/", "cross-site", true),
            ("/", "none", true),
            ("/trace", "none", true),
            ("/trace", "same-origin", true),
            ("/trace", "cross-site", false),
            ("/trace", "same-site", false),
            ("/workers", "cross-site", false),
        ] {
            let request = complete(&format!("GET {path}?token=s3cret HTTP/1.1\r\nSec-Fetch-Site: {site}\r\n\r\n"));
            let expected = if is_allowed { Ok(()) } else { Err(Refusal::Site) };
            assert_eq!(request.authorize(None), expected, "{path} {site}");
            assert_eq!(request.authorize(Some(&token)), expected, "{path} {site}");
        }
    }

    #[test]
    fn without_a_token_the_host_is_this_machine() {
        for (host, is_allowed) in [
            ("localhost", true),
            ("LOCALHOST:9600", true),
            ("127.0.0.1", true),
            ("127.0.0.1:9600", true),
            ("[::1]:9600", true),
            ("192.168.0.1:9600", true),
            ("example.org", false),
            ("example.org:9600", false),
            ("localhost.example.org:9600", false),
            ("127.0.0.1.example.org", false),
            ("0.0.0.0:9600", false),
            ("[::]:9600", false),
            ("[::ffff:127.0.0.1]:9600", false),
            ("", false),
        ] {
            let text = format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n");
            let expected = if is_allowed { Ok(()) } else { Err(Refusal::Host) };
            assert_eq!(complete(&text).authorize(None), expected, "{host}");
        }
        assert_eq!(complete("GET / HTTP/1.0\r\n\r\n").authorize(None), Ok(()), "a client that is no browser");
    }
}
