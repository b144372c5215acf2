//! What goes wrong in the server itself. Mutations that these tests are for: a panic that is not caught; an `accept`
//! that is not tried again; a line on stderr under the lock; a client that reads slowly, and has to go before nobody.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use rt::runtime::{Builder, Runtime};
use rt_test_util::{eventually, full_stream, in_own_process};
use socket2::{Domain, Socket, Type};

use crate::{Registration, Settings, prepare};

fn served(host: u8) -> (Runtime, Registration) {
    let runtime = Builder::new_current_thread().build().unwrap();
    let settings = Settings { address: ([127, 0, 31, host], 0).into(), token: None };
    let registration = prepare(&settings).unwrap().register(runtime.handle());
    (runtime, registration)
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    // A server that does not answer fails the test instead of holding it up.
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    stream
}

fn get(stream: &mut TcpStream, path: &str) -> String {
    stream.write_all(format!("GET {path} HTTP/1.1\r\n\r\n").as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn an_answer_that_panics_is_an_error_for_its_client_alone() {
    let (_runtime, registration) = served(1);
    let address = registration.address();
    let mut stays = connect(address);
    stays.write_all(b"GET /events HTTP/1.1\r\n\r\n").unwrap();
    for _ in 0..3 {
        let answer = get(&mut connect(address), "/panic");
        assert!(answer.starts_with("HTTP/1.1 500 "), "{answer}");
    }
    assert!(get(&mut connect(address), "/workers").starts_with("HTTP/1.1 200 "));
    let mut text = String::new();
    let mut buffer = [0; 4096];
    while text.matches("data: {").count() < 2 {
        let n = stays.read(&mut buffer).unwrap();
        assert!(n > 0, "the stream of another client has ended: {text}");
        text.push_str(&String::from_utf8_lossy(&buffer[..n]));
    }
}

#[test]
fn clients_that_do_not_read_their_answers_keep_out_nobody() {
    let (_runtime, registration) = served(5);
    let address = registration.address();
    let lazy: Vec<_> = (0..100)
        .map(|_| {
            let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
            // Then an answer that is large does not fit into the system's buffers.
            socket.set_recv_buffer_size(4096).unwrap();
            socket.connect(&address.into()).unwrap();
            let mut stream = TcpStream::from(socket);
            stream.write_all(b"GET /large HTTP/1.1\r\n\r\n").unwrap();
            stream.read_exact(&mut [0; 12]).unwrap();
            stream
        })
        .collect();
    assert!(get(&mut connect(address), "/workers").starts_with("HTTP/1.1 200 "));
    drop(lazy);
}

#[cfg(target_os = "linux")]
mod of_a_process {
    use std::fs::{self, File};
    use std::os::unix::fs::FileExt;
    use std::thread;

    use nix::sys::resource::{Resource, setrlimit};

    use super::*;

    #[test]
    fn the_process_is_watched_from_then_on() {
        in_own_process(|| {
            assert!(!runtime_core::inspect::is_watched());
            drop(served(4));
            assert!(runtime_core::inspect::is_watched());
        });
    }

    /// The status of a thread of this process, as the system shows it, open. Waits until there is one of this name.
    fn status_of(name: &str) -> File {
        loop {
            let mut tasks = fs::read_dir("/proc/self/task").unwrap().map(|entry| entry.unwrap().path());
            let task = tasks.find(|task| fs::read_to_string(task.join("comm")).is_ok_and(|comm| comm.trim() == name));
            if let Some(task) = task {
                return File::open(task.join("status")).unwrap();
            }
            thread::yield_now();
        }
    }

    fn read(status: &File) -> (bool, u64) {
        let mut buffer = [0; 4096];
        let n = status.read_at(&mut buffer, 0).unwrap();
        let text = String::from_utf8_lossy(&buffer[..n]);
        let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).unwrap().trim().to_owned();
        (field("State:").starts_with('S'), field("voluntary_ctxt_switches:").parse().unwrap())
    }

    #[test]
    fn a_client_that_came_without_descriptors_is_accepted_later_without_another_one() {
        in_own_process(|| {
            let (_runtime, registration) = served(2);
            assert!(get(&mut connect(registration.address()), "/").starts_with("HTTP/1.1 200 "));
            let status = status_of("rt-inspect");
            // The server has no client, and sleeps until there is one.
            let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
            setrlimit(Resource::RLIMIT_NOFILE, 256, 256).unwrap();
            let mut files = Vec::new();
            while let Ok(file) = File::open("/dev/null") {
                files.push(file);
            }
            let (_, before) = read(&status);
            // The system takes the connection for the server.
            socket.connect(&registration.address().into()).unwrap();
            // The server has woken up, found no descriptor, and sleeps again.
            eventually(|| {
                let (sleeps, switches) = read(&status);
                sleeps && switches > before
            });
            drop(files);
            let mut stream = TcpStream::from(socket);
            stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
            assert!(get(&mut stream, "/workers").starts_with("HTTP/1.1 200 "));
        });
    }

    #[test]
    fn nobody_waits_for_one_who_is_told_the_address() {
        in_own_process(|| {
            let (full, reader) = full_stream();
            nix::unistd::dup2_stderr(&full).unwrap();
            let told = thread::Builder::new().name("told".into()).spawn(|| drop(served(3))).unwrap();
            // It sleeps in the write, or is still on its way there, which makes the test weaker, not wrong.
            let status = status_of("told");
            eventually(|| read(&status).0);
            // With an address that nobody is to be told: the lock must be free.
            let address = std::net::TcpListener::bind("127.0.31.6:0").unwrap().local_addr().unwrap();
            let settings = Settings { address, token: Some("x".into()) };
            drop(prepare(&settings).unwrap());
            drop(reader);
            drop(told);
        });
    }
}
