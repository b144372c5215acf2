//! The UDP relay, in front of a socket of the test's own.

use std::net::UdpSocket;
use std::time::Duration;

use crate::program::Program;

fn socket() -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    socket
}

#[test]
fn each_peer_gets_the_answers_to_its_own_datagrams() {
    let target = socket();
    let mut relay = Program::start("udp_relay", &["127.0.0.1:0", &target.local_addr().unwrap().to_string()]);
    let address = relay.address();
    let peers = [socket(), socket()];
    let mut buffer = [0; 100];
    for round in 0..3 {
        for (number, peer) in peers.iter().enumerate() {
            peer.send_to(format!("{round} {number}").as_bytes(), address).unwrap();
            let (length, from) = target.recv_from(&mut buffer).unwrap();
            assert_eq!(buffer[..length], *format!("{round} {number}").as_bytes());
            target.send_to(format!("answer {number}").as_bytes(), from).unwrap();
            let length = peer.recv(&mut buffer).unwrap();
            assert_eq!(buffer[..length], *format!("answer {number}").as_bytes());
        }
    }
    relay.interrupt();
    let (printed, status) = relay.end();
    assert!(status.success() && printed.contains("ending; 2 sessions"), "{printed}");
}

#[test]
fn a_silent_peer_is_forgotten_and_served_again_when_it_comes_back() {
    let target = socket();
    let mut relay = Program::start("udp_relay", &["127.0.0.1:0", &target.local_addr().unwrap().to_string(), "1"]);
    let (address, peer) = (relay.address(), socket());
    for _ in 0..2 {
        peer.send_to(b"?", address).unwrap();
        target.recv_from(&mut [0; 10]).unwrap();
        relay.line("forgotten");
    }
}
