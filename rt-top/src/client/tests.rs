//! The client, beside servers that answer in many ways.

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
