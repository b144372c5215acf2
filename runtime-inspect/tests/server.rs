//! The server as its clients see it.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc;
use std::time::Duration;

use rt::runtime::{Builder, Runtime};
use serde_json::Value;

/// Each test has a server of its own, by an address of its own.
fn inspected(host: u8, workers: usize) -> (Runtime, SocketAddr) {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(workers).max_spare_workers(0).enable_all().on_blocked(|_| {});
    let runtime = builder.inspect(([127, 0, 30, host], 0).into()).name(format!("test {host}")).build().unwrap();
    let address = runtime.inspect_address().unwrap();
    (runtime, address)
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    // A server that does not answer fails the test instead of holding it up.
    stream.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
    stream
}

fn send(address: SocketAddr, request: &[u8]) -> String {
    let mut stream = connect(address);
    // A server that refuses early may close before all was sent.
    let _ = stream.write_all(request);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

fn get(address: SocketAddr, path: &str) -> String {
    send(address, format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes())
}

fn json(address: SocketAddr, path: &str) -> Value {
    let answer = get(address, path);
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
}

#[test]
fn it_answers_while_every_worker_is_stuck_and_names_the_tasks() {
    let (runtime, address) = inspected(1, 2);
    let (begun, has_begun) = mpsc::channel();
    let ends: Vec<_> = (0..2)
        .map(|_| {
            let (begun, (end, ended)) = (begun.clone(), mpsc::channel::<()>());
            runtime.spawn(async move {
                begun.send(()).unwrap();
                let _ = ended.recv();
            });
            end
        })
        .collect();
    for _ in &ends {
        has_begun.recv().unwrap();
    }
    for worker in json(address, "/workers")["runtimes"][0]["workers"].as_array().unwrap() {
        assert_eq!(worker["activity"], "polling", "{worker}");
        assert!(worker["task"]["spawned_at"].as_str().unwrap().contains("server.rs"), "{worker}");
    }
    let tasks = json(address, "/tasks");
    assert_eq!(tasks["runtimes"][0]["name"], "test 1");
    assert!(json(address, "/blocked")["runtimes"][0]["reports"].is_array());
    assert!(get(address, "/metrics").contains("rt_tasks_spawned_total{runtime="));
    drop(ends);
}

#[test]
fn metrics_are_openmetrics_for_a_client_that_asks_for_it() {
    let (_runtime, address) = inspected(2, 1);
    let request = b"GET /metrics HTTP/1.1\r\nAccept: application/openmetrics-text; version=1.0.0\r\n\r\n";
    let answer = send(address, request);
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.contains("application/openmetrics-text"), "{head}");
    assert!(body.ends_with("# EOF\n"));
    let mut families = std::collections::BTreeSet::new();
    let mut kind = String::new();
    for line in body.lines().filter(|line| *line != "# EOF") {
        if let Some(family) = line.strip_prefix("# TYPE ") {
            let (name, its_kind) = family.split_once(' ').unwrap();
            assert!(families.insert(name.to_owned()), "{name} twice");
            kind = format!("{name} {its_kind}");
        } else if !line.starts_with("# HELP ") {
            let (name, its_kind) = kind.split_once(' ').unwrap();
            let suffix = line.strip_prefix(name).unwrap_or_else(|| panic!("{line} is not of {name}"));
            let (suffix, rest) = suffix.split_once('{').unwrap();
            let suffixes: &[&str] = match its_kind {
                "counter" => &["_total"],
                "histogram" => &["_bucket", "_count"],
                _ => &[""],
            };
            assert!(suffixes.contains(&suffix), "{line}");
            rest.rsplit_once("} ").unwrap().1.parse::<f64>().unwrap();
        }
    }
    assert!(!get(address, "/metrics").contains("# EOF"));
}

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
    let head = send(address, b"HEAD /workers HTTP/1.1\r\n\r\n");
    assert!(head.starts_with("HTTP/1.1 200 OK") && head.ends_with("\r\n\r\n"), "{head}");
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
fn one_server_lists_all_runtimes_and_ends_with_the_last() {
    let (one, address) = inspected(6, 1);
    let (other, same) = inspected(6, 1);
    assert_eq!(address, same);
    assert_eq!(json(address, "/workers")["runtimes"].as_array().unwrap().len(), 2);
    let id = other.handle().id().to_string();
    drop(one);
    let left = json(address, "/workers");
    assert_eq!((left["runtimes"].as_array().unwrap().len(), left["runtimes"][0]["id"].as_str()), (1, Some(&*id)));
    let weak = other.handle().downgrade();
    drop(other);
    while TcpStream::connect(address).is_ok() {
        std::thread::yield_now();
    }
    assert!(weak.upgrade().is_none(), "the server keeps a runtime");
}

#[test]
fn from_another_machine_a_token_is_needed() {
    let runtime = Builder::new_current_thread().inspect(([0, 0, 0, 0], 0).into()).build().unwrap();
    let address = SocketAddr::from(([127, 0, 0, 1], runtime.inspect_address().unwrap().port()));
    for path in ["/", "/workers", "/metrics", "/events", "/nothing", "/?token=", "/?token=guess"] {
        let answer = get(address, path);
        assert!(answer.starts_with("HTTP/1.1 401 "), "{path}: {answer}");
    }
}

#[test]
fn an_address_that_is_taken_is_an_error_of_the_builder() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let error = Builder::new_multi_thread().worker_threads(1).inspect(address).build().unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::AddrInUse);
    assert!(error.to_string().contains(&address.to_string()), "{error}");
}
