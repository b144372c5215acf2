//! The chat, with people on both kinds of sockets.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::{env, process};

use crate::program::Program;

/// A connection that is read line by line.
struct Person<S> {
    stream: BufReader<S>,
}

impl<S: std::io::Read> Person<S>
where
    for<'a> &'a S: Write,
{
    fn new(stream: S, name: &str) -> Self {
        let person = Self { stream: BufReader::new(stream) };
        person.say(name);
        person
    }

    fn say(&self, text: &str) {
        writeln!(self.stream.get_ref(), "{text}").unwrap();
    }

    /// The next line; empty at the end.
    fn hears(&mut self) -> String {
        let mut line = String::new();
        self.stream.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }
}

#[test]
fn people_on_both_kinds_of_sockets_hear_each_other_and_the_end() {
    let path = env::temp_dir().join(format!("rt-chat-{}.sock", process::id()));
    let mut chat = Program::start("chat", &["127.0.0.1:0", path.to_str().unwrap()]);
    let address = chat.address();
    chat.line("listening on ");

    let mut anna = Person::new(TcpStream::connect(address).unwrap(), "anna");
    assert_eq!(anna.hears(), "* welcome, anna");
    let mut ben = Person::new(UnixStream::connect(&path).unwrap(), "ben");
    assert_eq!(ben.hears(), "* welcome, ben");
    assert_eq!(anna.hears(), "* ben is here");

    ben.say("hello");
    assert_eq!(anna.hears(), "ben: hello");
    anna.say("hello, ben");
    assert_eq!(ben.hears(), "anna: hello, ben");

    let carl = Person::new(TcpStream::connect(address).unwrap(), "carl");
    assert_eq!((anna.hears(), ben.hears()), ("* carl is here".into(), "* carl is here".into()));
    carl.say(&"x".repeat(5000));
    assert_eq!(anna.hears(), "* carl is gone: the line is too long");
    assert_eq!(ben.hears(), "* carl is gone: the line is too long");

    chat.interrupt();
    assert_eq!((anna.hears(), ben.hears()), ("* the chat has ended".into(), "* the chat has ended".into()));
    assert_eq!((anna.hears(), ben.hears()), (String::new(), String::new()));
    let (_, status) = chat.end();
    assert!(status.success());
    assert!(!path.exists(), "the socket's name is left behind");
}
