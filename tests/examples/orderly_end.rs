//! The server that comes to an orderly end.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

use crate::program::Program;

struct Client(BufReader<TcpStream>);

impl Client {
    fn say(&self, text: &str) {
        self.0.get_ref().write_all(text.as_bytes()).unwrap();
    }

    /// The next line; empty at the end.
    fn hears(&mut self) -> String {
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }
}

#[test]
fn what_has_begun_is_finished_and_what_is_idle_is_told() {
    let mut server = Program::start("orderly_end", &["127.0.0.1:0"]);
    let address = server.address();
    let [mut idle, mut busy] = [(); 2].map(|()| Client(BufReader::new(TcpStream::connect(address).unwrap())));
    idle.say("hello\n");
    assert_eq!(idle.hears(), "what?");
    idle.say("count 4\na\nb\n");
    assert_eq!((idle.hears(), idle.hears()), ("go on".into(), "2 lines".into()));
    busy.say("count 8\na\nb\n");
    assert_eq!(busy.hears(), "go on");

    server.interrupt();
    assert_eq!(server.line("ending"), "ending, with 2 connections");
    assert_eq!((idle.hears(), idle.hears()), ("bye".into(), String::new()));
    assert!(TcpStream::connect(address).is_err(), "no more connections");
    busy.say("c\nd\n");
    assert_eq!((busy.hears(), busy.hears()), ("4 lines".into(), "bye".into()));
    let (printed, status) = server.end();
    assert!(status.success());
    assert!(printed.ends_with("all connections have ended"), "{printed}");
}

#[test]
fn a_second_interrupt_does_not_wait() {
    let mut server = Program::start("orderly_end", &["127.0.0.1:0"]);
    let address = server.address();
    let mut busy = Client(BufReader::new(TcpStream::connect(address).unwrap()));
    busy.say("count 8\na\nb\n");
    assert_eq!(busy.hears(), "go on");
    server.interrupt();
    server.line("ending, with 1 connections");
    server.interrupt();
    assert_eq!(busy.hears(), "");
    let (printed, status) = server.end();
    assert!(status.success());
    assert!(printed.ends_with("1 connections are cut off"), "{printed}");
}
