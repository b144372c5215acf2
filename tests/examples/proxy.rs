//! The proxy, in front of a listener of the test's own.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};

use crate::program::Program;

fn proxy(options: &[&str]) -> (TcpListener, Program) {
    let target = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = target.local_addr().unwrap().to_string();
    (target, Program::start("proxy", &[options, &["127.0.0.1:0", &address]].concat()))
}

#[test]
fn each_side_reads_what_the_other_sends_also_after_a_half_close() {
    let (target, mut proxy) = proxy(&[]);
    let mut client = TcpStream::connect(proxy.address()).unwrap();
    let (mut server, _) = target.accept().unwrap();
    client.write_all(b"question").unwrap();
    client.shutdown(Shutdown::Write).unwrap();

    let mut question = String::new();
    server.read_to_string(&mut question).unwrap();
    assert_eq!(question, "question");
    server.write_all(b"answer").unwrap();
    drop(server);
    let mut answer = String::new();
    client.read_to_string(&mut answer).unwrap();
    assert_eq!(answer, "answer");
    proxy.line("closed after 8 bytes there and 6 back");
}

#[test]
fn after_ctrl_c_open_connections_finish_and_new_ones_are_refused() {
    let (target, mut proxy) = proxy(&["--grace", "60"]);
    let address = proxy.address();
    let mut client = TcpStream::connect(address).unwrap();
    let (mut server, _) = target.accept().unwrap();

    proxy.interrupt();
    proxy.line("ending; 1 connections are open");
    assert!(TcpStream::connect(address).is_err());
    server.write_all(b"still there").unwrap();
    drop(server);
    let mut answer = String::new();
    client.read_to_string(&mut answer).unwrap();
    assert_eq!(answer, "still there");
    drop(client);
    let (printed, status) = proxy.end();
    assert!(status.success() && printed.contains("all connections have ended"), "{printed}");
}

#[test]
fn connections_on_which_nobody_sends_are_ended() {
    let (target, mut proxy) = proxy(&["--idle-timeout", "0.2"]);
    let mut client = TcpStream::connect(proxy.address()).unwrap();
    let (mut server, _) = target.accept().unwrap();
    assert_eq!(client.read(&mut [0]).unwrap(), 0);
    assert_eq!(server.read(&mut [0]).unwrap(), 0);
    proxy.line("nobody has sent anything for too long");
}

#[test]
fn wrong_arguments_are_explained() {
    for arguments in
        [&[][..], &["--nonsense"], &["--grace"], &["--grace", "-1", "a", "b"], &["--connections", "0", "a", "b"]]
    {
        let (_, status) = Program::start("proxy", arguments).end();
        assert_eq!(status.code(), Some(2), "{arguments:?}");
    }
}
