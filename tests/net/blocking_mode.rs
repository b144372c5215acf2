//! Sockets in blocking mode: their operations would block the worker, so they are refused, also when the mode was
//! changed later.
//!
//! Mutations that these tests are for: one of the ways on which a socket comes from outside does not ask; a socket of
//! ours is not asked though its descriptor was lent.

use std::io::ErrorKind;
use std::net::{TcpListener as StdListener, TcpStream as StdStream};

use rt::net::{TcpListener, TcpSocket, TcpStream};
use rt_test_util::*;
use socket2::{Domain, SockRef, Socket, Type};

fn unconnected() -> StdStream {
    Socket::new(Domain::IPV4, Type::STREAM, None).unwrap().into()
}

#[test]
fn foreign_sockets_in_blocking_mode_are_refused() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let listener = StdListener::bind("127.0.0.1:0").unwrap();
            let address = listener.local_addr().unwrap();
            let stream = StdStream::connect(address).unwrap();
            assert_eq!(TcpStream::from_std(stream).unwrap_err().kind(), ErrorKind::InvalidInput);
            let refused = TcpSocket::from_std_stream(unconnected()).connect(address).await;
            assert_eq!(refused.unwrap_err().kind(), ErrorKind::InvalidInput);
            let refused = TcpSocket::from_std_stream(unconnected()).listen(8);
            assert_eq!(refused.unwrap_err().kind(), ErrorKind::InvalidInput);
            assert_eq!(TcpListener::from_std(listener).unwrap_err().kind(), ErrorKind::InvalidInput);
        });
    });
}

/// A descriptor that one socket gives away and another one takes, as some HTTP clients do.
#[cfg(unix)]
#[test]
fn a_socket_that_is_handed_over_as_a_descriptor_connects_unless_it_would_block() {
    use std::os::fd::{FromRawFd, IntoRawFd};

    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            // SAFETY: each number is given away by its owner.
            let (ours, foreign) = unsafe {
                let ours = TcpSocket::new_v4().unwrap();
                ours.set_keepalive(true).unwrap();
                (TcpSocket::from_raw_fd(ours.into_raw_fd()), TcpSocket::from_raw_fd(unconnected().into_raw_fd()))
            };
            assert!(ours.keepalive().unwrap(), "it is the same socket");
            let (stream, accepted) = rt::join!(ours.connect(address), listener.accept());
            assert_eq!(stream.unwrap().local_addr().unwrap(), accepted.unwrap().1);
            assert_eq!(foreign.connect(address).await.unwrap_err().kind(), ErrorKind::InvalidInput);
        });
    });
}

#[test]
fn a_socket_that_was_put_into_blocking_mode_is_refused() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let listener = StdListener::bind("127.0.0.1:0").unwrap();
            let address = listener.local_addr().unwrap();
            for nonblocking in [false, true] {
                let socket = || {
                    let socket = TcpSocket::new_v4().unwrap();
                    SockRef::from(&socket).set_nonblocking(nonblocking).unwrap();
                    socket
                };
                let refused = (!nonblocking).then_some(ErrorKind::InvalidInput);
                assert_eq!(socket().connect(address).await.err().map(|error| error.kind()), refused);
                assert_eq!(socket().listen(8).err().map(|error| error.kind()), refused);
            }
        });
    });
}
