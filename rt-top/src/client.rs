//! [`Client`]: asks a server, by HTTP.
//!
//! A client of its own, over a socket of the standard library: all that is needed is a `GET` to a server that closes
//! the connection after its answer. The head of the answer is read by `httparse`. What it adds to a library is limits
//! that hold: of the whole time, not of each read, and of the length.

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
/// The longest answer. Ten thousand tasks, which is what a server lists of a runtime at most, take a fourth of it if
/// each has a kilobyte.
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
                "the server wants another token: set RT_INSPECT_TOKEN, or pass --token, as the program was told or \
                 has written to stderr when it began",
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

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    /// Bytes that come one by one.
    struct Slow<'a>(&'a [u8]);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let n = self.0.len().min(1);
            buffer[..n].copy_from_slice(&self.0[..n]);
            self.0 = &self.0[n..];
            Ok(n)
        }
    }

    fn answer(text: &str) -> Result<String, Failure> {
        read_answer(&mut Slow(text.as_bytes())).map(|body| String::from_utf8(body).unwrap())
    }

    #[test]
    fn a_body_ends_with_its_length_or_with_the_connection() {
        assert_eq!(answer("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}").unwrap(), "{}");
        assert_eq!(answer("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}more").unwrap(), "{}");
        assert_eq!(answer("HTTP/1.0 200 OK\r\n\r\n{}").unwrap(), "{}");
        assert_eq!(answer("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n").unwrap(), "");
    }

    #[test]
    fn what_is_cut_off_or_no_answer_is_an_error() {
        for text in [
            "",
            "SSH-2.0-OpenSSH_9.2\r\n",
            "HTTP/1.1 200 OK\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n{}",
            "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n{}",
            "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n{}",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
        ] {
            assert!(answer(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_refusal_says_what_the_server_says() {
        let refused = answer("HTTP/1.1 421 Misdirected\r\n\r\nnot \u{1b}[31mhere\nmore").unwrap_err().to_string();
        assert_eq!(refused, "the server says 421: not \u{fffd}[31mhere");
        let refused = answer("HTTP/1.1 401 Unauthorized\r\n\r\n").unwrap_err().to_string();
        assert!(refused.contains("token"), "{refused}");
    }

    /// A body without an end is not read without an end.
    #[test]
    fn there_is_a_limit_to_the_length() {
        let mut endless = io::Cursor::new(b"HTTP/1.1 200 OK\r\n\r\n").chain(io::repeat(b'x'));
        assert!(matches!(read_answer(&mut endless), Err(Failure::Strange(_))));
        let mut endless = io::Cursor::new(b"HTTP/1.1 200 OK\r\nA: ").chain(io::repeat(b'x'));
        assert!(matches!(read_answer(&mut endless), Err(Failure::Strange(_))));
    }

    /// A server that says a part, and then nothing more.
    #[test]
    fn there_is_a_limit_to_the_time() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = Client::new(vec![listener.local_addr().unwrap()], None);
        client.answer_time = Duration::from_millis(50);
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{").unwrap();
            // Until the client has gone.
            while stream.read(&mut [0; 1024]).is_ok_and(|n| n > 0) {}
        });
        let failure = client.get("/tasks").unwrap_err();
        assert!(matches!(&failure, Failure::Broken(error) if is_timeout(error)), "{failure:?}");
        server.join().unwrap();
    }

    /// The limit is of all reads together: one whose time is over is not begun.
    #[test]
    fn bytes_that_trickle_in_do_not_put_the_limit_off() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut sender, _) = listener.accept().unwrap();
        sender.write_all(b"HTTP").unwrap();
        let mut limited = Limited { stream, deadline: Instant::now() };
        assert_eq!(limited.read(&mut [0; 4]).unwrap_err().kind(), io::ErrorKind::TimedOut);
    }

    #[test]
    fn it_shows_the_token_and_asks_by_address() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = Vec::new();
            while !request.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                stream.read_exact(&mut byte).unwrap();
                request.push(byte[0]);
            }
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}").unwrap();
            String::from_utf8(request).unwrap()
        });
        let client = Client::new(vec![address], Some("s3cret".to_owned()));
        assert_eq!(client.get("/tasks").unwrap(), b"{}");
        let expected = format!("GET /tasks HTTP/1.0\r\nHost: {address}\r\nAuthorization: Bearer s3cret\r\n\r\n");
        assert_eq!(server.join().unwrap(), expected);
    }
}
