//! What clients must not be able to do.

use std::io::{Read, Write};
use std::net::Shutdown;

use rt_test_util::eventually;

use crate::client::{connect, inspected, json, send};

#[test]
fn a_bad_request_gets_an_error_and_harms_nobody() {
    let (_runtime, address) = inspected(3, 1);
    let long = [b"GET /".to_vec(), vec![b'a'; 100_000], b" HTTP/1.1\r\n\r\n".to_vec()].concat();
    for (request, status) in [
        (&b"POST / HTTP/1.1\r\n\r\n"[..], "405"),
        (b"GET /nothing HTTP/1.1\r\n\r\n", "404"),
        (b"GET /../../etc/passwd HTTP/1.1\r\n\r\n", "404"),
        (b"GET / HTTP/1.1\r\nHost: example.org\r\n\r\n", "421"),
        (b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n", "400"),
        (b"GET / HTTP/9\r\n\r\n", "400"),
        (b"\0\0\0\0", "400"),
    ] {
        let answer = send(address, request);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
    }
    // Whether the client still gets to read the refusal, the system decides.
    send(address, &long);
    for (request, status) in [
        (&b"HEAD /workers HTTP/1.1\r\n\r\n"[..], "200"),
        (b"HEAD /nothing HTTP/1.1\r\n\r\n", "404"),
        (b"HEAD / HTTP/1.1\r\nHost: example.org\r\n\r\n", "421"),
    ] {
        let head = send(address, request);
        assert!(head.starts_with(&format!("HTTP/1.1 {status} ")) && head.ends_with("\r\n\r\n"), "{head}");
    }
    json(address, "/workers");
}

#[test]
fn clients_that_say_nothing_keep_out_nobody() {
    let (_runtime, address) = inspected(4, 1);
    let mut silent = Vec::new();
    for number in 0..1_000 {
        let mut stream = connect(address);
        if number % 2 == 0 {
            stream.write_all(b"GET / HT").unwrap();
        }
        silent.push(stream);
        if number % 100 == 0 {
            json(address, "/workers");
        }
    }
    json(address, "/workers");
}

#[test]
fn events_come_and_a_client_that_reads_none_keeps_out_nobody() {
    let (_runtime, address) = inspected(5, 1);
    let mut slow = connect(address);
    slow.write_all(b"GET /events HTTP/1.1\r\n\r\n").unwrap();
    let mut quick = connect(address);
    quick.write_all(b"GET /events HTTP/1.1\r\n\r\n").unwrap();
    let mut text = String::new();
    let mut buffer = [0; 4096];
    while text.matches("data: {").count() < 3 {
        let n = quick.read(&mut buffer).unwrap();
        assert!(n > 0, "the stream has ended: {text}");
        text.push_str(&String::from_utf8_lossy(&buffer[..n]));
    }
    assert!(text.contains("text/event-stream"));
    json(address, "/workers");
}

#[test]
fn a_client_that_has_said_all_gets_its_answer() {
    let (_runtime, address) = inspected(7, 1);
    for (request, status) in [
        (&b"GET /workers HTTP/1.1\r\n\r\n"[..], "200"),
        (b"GET /tasks HTTP/1.1\r\n\r\n", "200"),
        (b"GET /trace?secs=0.05 HTTP/1.1\r\n\r\n", "200"),
        (b"POST / HTTP/1.1\r\n\r\n", "405"),
    ] {
        // In one go, and in two: the end may come with the request, or by itself.
        for parts in [vec![request], request.chunks(5).collect()] {
            let mut stream = connect(address);
            for part in parts {
                stream.write_all(part).unwrap();
            }
            stream.shutdown(Shutdown::Write).unwrap();
            let mut answer = Vec::new();
            stream.read_to_end(&mut answer).unwrap();
            assert!(answer.starts_with(format!("HTTP/1.1 {status} ").as_bytes()), "{}", answer.escape_ascii());
        }
    }
    // One that has asked for nothing gets nothing, at once.
    let mut stream = connect(address);
    stream.write_all(b"GET / HTTP").unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    assert_eq!(stream.read_to_end(&mut Vec::new()).unwrap(), 0);
}

#[test]
fn streams_have_a_bound_and_keep_out_nobody() {
    let (_runtime, address) = inspected(8, 1);
    let (mut streams, mut refused) = (Vec::new(), 0);
    for _ in 0..200 {
        let mut stream = connect(address);
        stream.write_all(b"GET /events HTTP/1.1\r\n\r\n").unwrap();
        let mut status = [0; 12];
        stream.read_exact(&mut status).unwrap();
        match &status {
            b"HTTP/1.1 200" => streams.push(stream),
            b"HTTP/1.1 503" => refused += 1,
            other => panic!("{}", other.escape_ascii()),
        }
        json(address, "/workers");
    }
    assert_eq!((streams.len(), refused), (32, 168));
    assert!(send(address, b"GET /trace?secs=60 HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 503 "));
    // A place is free again when a client is gone. The server hears of it with the next event.
    streams.pop();
    eventually(|| {
        let mut stream = connect(address);
        stream.write_all(b"GET /events HTTP/1.1\r\n\r\n").unwrap();
        let mut status = [0; 12];
        stream.read_exact(&mut status).unwrap();
        &status == b"HTTP/1.1 200"
    });
}
