//! `/trace`. Mutations that these tests are for: a recorder that goes on after the answer, or is stopped although the
//! program has started it; a thread that waits for the end of a recording; a second recording beside the first.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr};

use rt::runtime::trace::TraceConfig;
use rt_test_util::eventually;

use crate::client::{connect, get, inspected, json, send};

fn trace(address: SocketAddr, query: &str) -> (String, Vec<u8>) {
    let mut stream = connect(address);
    stream.write_all(format!("GET /trace?{query} HTTP/1.1\r\n\r\n").as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let end = answer.windows(4).position(|window| window == b"\r\n\r\n").unwrap() + 4;
    (String::from_utf8(answer[..end].to_vec()).unwrap(), answer.split_off(end))
}

#[test]
fn the_recorder_runs_for_the_trace_and_not_longer() {
    let (runtime, address) = inspected(20, 1);
    let recorder = runtime.handle().trace();
    let busy = runtime.spawn(async {
        loop {
            rt::task::yield_now().await;
        }
    });
    // The worker may have got no processor in so short a time: then once more.
    eventually(|| {
        let (head, body) = trace(address, "secs=0.05&events=256&format=chrome");
        assert!(!recorder.is_running());
        assert!(head.starts_with("HTTP/1.1 200 ") && head.contains(".json\"\r\n"), "{head}");
        let read: serde_json::Value = serde_json::from_slice(&body).unwrap();
        read["traceEvents"].as_array().unwrap().iter().any(|event| event["ph"] == "X" || event["ph"] == "B")
    });
    busy.abort();
}

#[test]
fn others_are_answered_while_it_is_recorded_and_a_second_trace_is_refused() {
    let (runtime, address) = inspected(24, 1);
    let recorder = runtime.handle().trace();
    let mut first = connect(address);
    first.write_all(b"GET /trace?secs=60 HTTP/1.1\r\n\r\n").unwrap();
    eventually(|| recorder.is_running());
    json(address, "/workers");
    assert!(send(address, b"GET /trace?secs=1 HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 503 "));
    json(address, "/tasks");
    assert!(recorder.is_running(), "a server that waits for the end of the recording answers after a minute");
}

#[test]
fn a_recorder_of_the_programs_goes_on() {
    let (runtime, address) = inspected(21, 1);
    let recorder = runtime.handle().trace();
    assert!(recorder.start(TraceConfig::new().events(64)));
    runtime.block_on(async { rt::spawn(async {}).await.unwrap() });
    for query in ["secs=0", "secs=0.05"] {
        let (head, body) = trace(address, query);
        assert!(head.starts_with("HTTP/1.1 200 ") && head.contains(".pftrace\"\r\n"), "{head}");
        assert!(!body.is_empty());
        assert!(recorder.is_running());
    }
}

#[test]
fn a_client_that_is_gone_ends_its_recording() {
    let (runtime, address) = inspected(22, 1);
    let recorder = runtime.handle().trace();
    let client = connect(address);
    (&client).write_all(b"GET /trace?secs=60 HTTP/1.1\r\n\r\n").unwrap();
    eventually(|| recorder.is_running());
    // With a reset: the end alone could come from a client that still waits for the answer.
    socket2::SockRef::from(&client).set_linger(Some(std::time::Duration::ZERO)).unwrap();
    drop(client);
    eventually(|| !recorder.is_running());
    // And so does the end of the runtime.
    let client = connect(address);
    (&client).write_all(b"GET /trace?secs=60 HTTP/1.1\r\n\r\n").unwrap();
    client.shutdown(Shutdown::Write).unwrap();
    eventually(|| recorder.is_running());
    drop(runtime);
    eventually(|| !recorder.is_running());
}

#[test]
fn what_cannot_be_recorded_is_an_error() {
    let (runtime, address) = inspected(23, 1);
    for query in ["secs=-1", "secs=61", "secs=nan", "secs=inf", "secs=", "format=xml", "events=x", "events=1048577"] {
        assert!(get(address, &format!("/trace?{query}")).starts_with("HTTP/1.1 400 "), "{query}");
    }
    assert!(get(address, "/trace?runtime=other").starts_with("HTTP/1.1 404 "));
    assert!(!runtime.handle().trace().is_running());
    // With many workers each has less.
    let (_large, of_many) = inspected(25, 33);
    assert!(get(of_many, "/trace?secs=0&events=262144").starts_with("HTTP/1.1 200 "));
    assert!(get(of_many, "/trace?secs=0&events=262145").starts_with("HTTP/1.1 400 "));
    let id = runtime.handle().id();
    for name in [format!("runtime={id}"), "runtime=test%2023".to_owned(), "events=16".to_owned()] {
        assert!(trace(address, &format!("secs=0.01&{name}")).0.starts_with("HTTP/1.1 200 "), "{name}");
    }
}
