//! Which streams take a short read for the last, and which ask the system once more: those that are wary, because they
//! may not be of TCP, or because other code has made more than bytes come on them.

use std::io::{IoSliceMut, Read, Write};
use std::net::TcpStream as StdStream;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use nix::libc;
use rt::io::{AsyncReadExt, AsyncWriteExt};
use rt::net::{TcpListener, TcpSocket, TcpStream};
use rt_test_util::*;
use socket2::{Domain, Protocol, SockRef, Socket, TcpKeepalive, Type};

use super::{accepted, asks_after_a_short_read, read_in_turns, set_option};

/// A stream that nobody else knows spares that call, and what it has methods for does not change this.
#[test]
fn a_stream_that_is_lent_to_nobody_takes_a_short_read_for_the_last() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let (ours, mut theirs) = accepted().await;
            assert!(!asks_after_a_short_read(&ours, &mut theirs).await);
            ours.set_nodelay(true).unwrap();
            ours.set_zero_linger().unwrap();
            assert_eq!(ours.linger().unwrap(), Some(std::time::Duration::ZERO));
            ours.set_quickack(ours.quickack().unwrap()).unwrap();
            ours.set_ttl(ours.ttl().unwrap()).unwrap();
            assert!(ours.take_error().unwrap().is_none());
            assert!(format!("{ours:?}").contains("peer"));
            assert!(!asks_after_a_short_read(&ours, &mut theirs).await);

            let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            let socket = TcpSocket::new_v4().unwrap();
            socket.set_keepalive(true).unwrap();
            let ours = socket.connect(listener.local_addr().unwrap()).await.unwrap();
            assert!(!asks_after_a_short_read(&ours, &mut listener.accept().unwrap().0).await);
        });
    });
}

/// Other code that knows the descriptor sets options, as a rule, or takes the number for a name.
#[test]
fn a_stream_that_others_know_takes_a_short_read_for_the_last() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let (ours, mut theirs) = accepted().await;
            for _ in 0..2 {
                SockRef::from(&ours).set_tcp_keepalive(&TcpKeepalive::new()).unwrap();
                assert!(!asks_after_a_short_read(&ours, &mut theirs).await);
                let _ = ours.as_raw_fd();
                assert!(!asks_after_a_short_read(&ours, &mut theirs).await);
            }
            let ours = TcpStream::from_std(ours.into_std().unwrap()).unwrap();
            assert!(!asks_after_a_short_read(&ours, &mut theirs).await);

            // As HTTP clients make theirs.
            let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP)).unwrap();
            socket.set_nonblocking(true).unwrap();
            let socket = TcpSocket::from_std_stream(socket.into());
            let ours = socket.connect(listener.local_addr().unwrap()).await.unwrap();
            assert!(!asks_after_a_short_read(&ours, &mut listener.accept().unwrap().0).await);
        });
    });
}

/// How many bytes are left comes with the bytes, as the types of records would if the system spoke TLS.
fn have_more_than_bytes_come(socket: &impl AsRawFd, more: bool) {
    set_option(socket, libc::IPPROTO_TCP, libc::TCP_INQ, more.into());
}

#[test]
fn a_stream_on_which_not_only_bytes_come_asks_until_it_is_refused() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let (ours, mut theirs) = accepted().await;
            have_more_than_bytes_come(&ours, true);
            assert!(asks_after_a_short_read(&ours, &mut theirs).await);
            have_more_than_bytes_come(&ours, false);
            assert!(asks_after_a_short_read(&ours, &mut theirs).await, "for good");

            // Before the stream was one of ours, or connected; and by a copy of the descriptor, after that.
            let ours = ours.into_std().unwrap();
            have_more_than_bytes_come(&ours, true);
            let ours = TcpStream::from_std(ours).unwrap();
            assert!(asks_after_a_short_read(&ours, &mut theirs).await);

            let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            let socket = TcpSocket::new_v4().unwrap();
            have_more_than_bytes_come(&socket, true);
            let ours = socket.connect(listener.local_addr().unwrap()).await.unwrap();
            assert!(asks_after_a_short_read(&ours, &mut listener.accept().unwrap().0).await);

            let socket = TcpSocket::new_v4().unwrap();
            let copy = socket.as_fd().try_clone_to_owned().unwrap();
            let ours = socket.connect(listener.local_addr().unwrap()).await.unwrap();
            have_more_than_bytes_come(&copy, true);
            assert!(asks_after_a_short_read(&ours, &mut listener.accept().unwrap().0).await);
        });
    });
}

/// A read into several buffers does not tell what came with the bytes.
#[test]
fn a_stream_that_others_know_asks_after_a_read_into_several_buffers() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            for is_lent in [false, true] {
                let (ours, mut theirs) = accepted().await;
                if is_lent {
                    let _ = ours.as_fd();
                }
                theirs.write_all(b"hello").unwrap();
                ours.readable().await.unwrap();
                let mut buffer = [0; 64];
                let (one, two) = buffer.split_at_mut(2);
                assert_eq!(ours.try_read_vectored(&mut [IoSliceMut::new(one), IoSliceMut::new(two)]).unwrap(), 5);
                assert_eq!(asks_after_a_short_read(&ours, &mut theirs).await, is_lent);
            }
        });
    });
}

/// Of a stream of another protocol than TCP this is never forgotten, and the slot that it leaves behind makes its next
/// owner no warier.
#[test]
fn a_stream_of_another_protocol_asks_until_it_is_refused() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let (one, mut theirs) = std::os::unix::net::UnixStream::pair().unwrap();
            one.set_nonblocking(true).unwrap();
            let ours = TcpStream::from_std(StdStream::from(OwnedFd::from(one))).unwrap();
            assert!(asks_after_a_short_read(&ours, &mut theirs).await);
            assert!(asks_after_a_short_read(&ours, &mut theirs).await, "for good");

            drop(ours);
            let (ours, mut theirs) = accepted().await;
            assert!(!asks_after_a_short_read(&ours, &mut theirs).await);
        });
    });
}

/// Both ways a stream that is lent moves as much as any other, and at its end there is the end.
#[test]
fn a_stream_that_others_know_carries_more_than_the_system_holds() {
    const TOTAL: usize = 8 << 20;
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let (mut ours, mut theirs) = accepted().await;
            let _ = ours.as_raw_fd();
            let echo = std::thread::spawn(move || {
                let mut bytes = vec![0; TOTAL];
                theirs.read_exact(&mut bytes).unwrap();
                theirs.write_all(&bytes).unwrap();
            });
            ours.write_all(&vec![7; TOTAL]).await.unwrap();
            let mut back = Vec::new();
            ours.read_to_end(&mut back).await.unwrap();
            assert!(back.len() == TOTAL && back.iter().all(|&byte| byte == 7));
            echo.join().unwrap();
        });
    });
}

/// A listener of a foreign library, and a connection to it. `None` if the system does not have the protocol.
fn foreign_listener(protocol: Option<Protocol>) -> Option<(TcpListener, StdStream)> {
    let socket = || Socket::new(Domain::IPV4, Type::STREAM, protocol).ok();
    let (listener, theirs) = (socket()?, socket()?);
    listener.bind(&std::net::SocketAddr::from(([127, 0, 0, 1], 0)).into()).unwrap();
    listener.listen(1).unwrap();
    theirs.connect(&listener.local_addr().unwrap()).unwrap();
    if protocol == Some(Protocol::SCTP) {
        set_option(&theirs, libc::IPPROTO_SCTP, libc::SCTP_NODELAY, 1);
    }
    listener.set_nonblocking(true).unwrap();
    Some((TcpListener::from_std(listener.into()).unwrap(), theirs.into()))
}

/// The system reads some of them message by message: those of SCTP.
#[test]
fn connections_of_foreign_listeners_of_any_protocol() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            for protocol in [None, Some(Protocol::SCTP), Some(Protocol::MPTCP)] {
                let Some((listener, mut theirs)) = foreign_listener(protocol) else { continue };
                let (mut ours, _) = listener.accept().await.unwrap();
                theirs.write_all(b"AAAA").unwrap();
                theirs.write_all(b"BBBB").unwrap();
                assert_eq!(read_in_turns(&mut ours, 8).await, b"AAAABBBB");
                let is_doubtful = protocol.is_some();
                assert_eq!(asks_after_a_short_read(&ours, &mut theirs).await, is_doubtful, "{protocol:?}");
            }
        });
    });
}
