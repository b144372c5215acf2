//! [`Client`]: asks a server, by HTTP.
//!
//! A client of its own, over a socket of the standard library: all that is needed is a `GET` to a server that closes
//! the connection after its answer. The head of the answer is read by `httparse`. What it adds to a library is limits
//! that hold: of the whole time, not of each read, and of the length.

#[cfg(test)]
mod tests;

use std::fmt;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// How long the server may take to accept.
const CONNECT_TIME: Duration = Duration::from_secs(5);
/// How long an answer may take, from the connection to its last byte.
const ANSWER_TIME: Duration = Duration::from_secs(10);
/// The longest head of an answer.
const MAX_HEAD: usize = 16 * 1024;
/// The longest answer. A server lists ten thousand tasks of a runtime at most, of some hundred bytes each.
const MAX_BODY: usize = 64 * 1024 * 1024;
const MAX_HEADERS: usize = 64;

/// A server, and how to ask it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Client {
    addresses: Vec<SocketAddr>,
    token: Option<String>,
    answer_time: Duration,
}

/// Why there is no answer.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Nobody listens there, or it cannot be reached.
    Unreachable(SocketAddr, io::Error),
    /// The connection broke, or the time is over.
    Broken(io::Error),
    /// It is no answer that is understood here.
    Strange(String),
    /// The server does not want to: its status, and the first line of what it says.
    Refused(u16, String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable(address, error) => write!(
                f,
                "nobody answers at {address}: {error}; was the program started with RT_INSPECT, or built with \
                 Builder::inspect?"
            ),
            Self::Broken(error) if is_timeout(error) => {
                f.write_str("the server has not answered in time; it may be another program's")
            }
            Self::Broken(error) => write!(f, "the server has broken off: {error}"),
            Self::Strange(what) => write!(f, "this is not the inspecting server of a program on rt: {what}"),
            Self::Refused(401, _) => f.write_str(
                "the server wants a token that it was not shown: set RT_INSPECT_TOKEN, or pass --token, as the program \
                 was told or has written to stderr when it began",
            ),
            Self::Refused(status, line) => write!(f, "the server says {status}: {line}"),
        }
    }
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock)
}

impl Client {
    /// One that asks at the first of the addresses that can be connected to.
    pub(crate) fn new(addresses: Vec<SocketAddr>, token: Option<String>) -> Self {
        Self { addresses, token, answer_time: ANSWER_TIME }
    }

    #[cfg(test)]
    pub(crate) fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    #[cfg(test)]
    pub(crate) fn token(&self) -> Option<&str> {
        self.token.as_deref()
    }

    /// The address, for the user.
    pub(crate) fn place(&self) -> String {
        self.addresses.first().map(ToString::to_string).unwrap_or_default()
    }

    /// The body of the answer.
    pub(crate) fn get(&self, path: &str) -> Result<Vec<u8>, Failure> {
        let (mut stream, address) = self.connect()?;
        let deadline = Instant::now() + self.answer_time;
        let authorization = match &self.token {
            Some(token) => format!("Authorization: Bearer {token}\r\n"),
            None => String::new(),
        };
        // Of version 1.0, to which no server answers in pieces. The host is the address, as a server without a token
        // wants it.
        let request = format!("GET {path} HTTP/1.0\r\nHost: {address}\r\n{authorization}\r\n");
        stream.set_write_timeout(Some(self.answer_time)).map_err(Failure::Broken)?;
        stream.write_all(request.as_bytes()).map_err(Failure::Broken)?;
        read_answer(&mut Limited { stream, deadline })
    }

    fn connect(&self) -> Result<(TcpStream, SocketAddr), Failure> {
        let mut failure = Failure::Strange("it has no address".to_owned());
        for address in &self.addresses {
            match TcpStream::connect_timeout(address, CONNECT_TIME) {
                Ok(stream) => return Ok((stream, *address)),
                Err(error) => failure = Failure::Unreachable(*address, error),
            }
        }
        Err(failure)
    }
}

/// A connection that is read until a moment, and not after.
struct Limited {
    stream: TcpStream,
    deadline: Instant,
}

impl Read for Limited {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.stream.set_read_timeout(Some(left))?;
        self.stream.read(buffer)
    }
}

/// What is needed of an answer's head.
struct Head {
    status: u16,
    /// Where the body begins.
    end: usize,
    length: Option<usize>,
}

fn read_answer(connection: &mut impl Read) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let head = loop {
        if let Some(head) = parse_head(&bytes)? {
            break head;
        }
        if bytes.len() >= MAX_HEAD {
            return Err(Failure::Strange("its answer has no end of its head".to_owned()));
        }
        if read_some(connection, &mut bytes)? == 0 {
            let how = if bytes.is_empty() { "it says nothing" } else { "its answer has no end of its head" };
            return Err(Failure::Strange(how.to_owned()));
        }
    };
    let too_long = || Failure::Strange(format!("its answer is longer than {} MiB", MAX_BODY >> 20));
    if head.length.is_some_and(|length| length > MAX_BODY) {
        return Err(too_long());
    }
    let mut body = bytes.split_off(head.end);
    while head.length.is_none_or(|length| body.len() < length) && read_some(connection, &mut body)? > 0 {
        if body.len() > MAX_BODY {
            return Err(too_long());
        }
    }
    if let Some(length) = head.length {
        if body.len() < length {
            return Err(Failure::Broken(io::ErrorKind::UnexpectedEof.into()));
        }
        body.truncate(length);
    }
    if head.status != 200 {
        let text = String::from_utf8_lossy(&body);
        return Err(Failure::Refused(head.status, crate::text::clean(text.lines().next().unwrap_or_default())));
    }
    Ok(body)
}

fn read_some(connection: &mut impl Read, into: &mut Vec<u8>) -> Result<usize, Failure> {
    let mut buffer = [0; 16 * 1024];
    loop {
        match connection.read(&mut buffer) {
            Ok(n) => {
                into.extend(&buffer[..n]);
                return Ok(n);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(Failure::Broken(error)),
        }
    }
}

fn parse_head(bytes: &[u8]) -> Result<Option<Head>, Failure> {
    let strange = |what: &str| Failure::Strange(what.to_owned());
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut response = httparse::Response::new(&mut headers);
    let end = match response.parse(bytes) {
        Ok(httparse::Status::Complete(end)) => end,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(error) => return Err(strange(&format!("it does not answer in HTTP/1 ({error})"))),
    };
    let mut length = None;
    for header in response.headers.iter() {
        if header.name.eq_ignore_ascii_case("transfer-encoding") {
            return Err(strange("it answers in pieces"));
        }
        if header.name.eq_ignore_ascii_case("content-length") {
            let text = std::str::from_utf8(header.value).unwrap_or_default();
            length = Some(text.trim().parse().map_err(|_| strange("its answer has no length"))?);
        }
    }
    Ok(Some(Head { status: response.code.unwrap_or_default(), end, length }))
}
