//! A client, and a runtime that is looked into.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use rt::runtime::{Builder, Runtime};
use serde_json::Value;

/// Each test has a server of its own, by an address of its own.
pub(crate) fn inspected(host: u8, workers: usize) -> (Runtime, SocketAddr) {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(workers).max_spare_workers(0).enable_all().on_blocked(|_| {});
    let runtime = builder.inspect(([127, 0, 30, host], 0).into()).name(format!("test {host}")).build().unwrap();
    let address = runtime.inspect_address().unwrap();
    (runtime, address)
}

pub(crate) fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    // A server that does not answer fails the test instead of holding it up.
    stream.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
    stream
}

pub(crate) fn send(address: SocketAddr, request: &[u8]) -> String {
    let mut stream = connect(address);
    // A server that refuses early may close before all was sent.
    let _ = stream.write_all(request);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

pub(crate) fn get(address: SocketAddr, path: &str) -> String {
    send(address, format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes())
}

pub(crate) fn json(address: SocketAddr, path: &str) -> Value {
    let answer = get(address, path);
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
}
