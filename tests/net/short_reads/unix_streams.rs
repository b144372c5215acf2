//! Reads of Unix streams end behind descriptors, at urgent marks and, if they are sequenced packets, behind each
//! packet.
#![cfg(target_os = "linux")]

use std::io::{ErrorKind, IoSlice, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, IntoRawFd, OwnedFd};
use std::os::unix::net::UnixStream as StdStream;
use std::pin::pin;

use nix::sys::socket::{AddressFamily, ControlMessage, MsgFlags, SockFlag, SockType, sendmsg, socketpair};
use rt::io::{AsyncRead, AsyncReadExt, Interest};
use rt::net::{UnixListener, UnixSocket, UnixStream};
use rt::runtime::{Handle, RuntimeFlavor};
use rt_test_util::*;
use socket2::{Domain, SockAddr, SockRef, Socket, Type};

/// An accepted connection, whose descriptor nobody else knows; and its other end.
async fn accepted() -> (UnixStream, Socket) {
    let (listener, address) = listener(Type::STREAM);
    let theirs = connected(Type::STREAM, &address);
    (UnixListener::from_std(listener).unwrap().accept().await.unwrap().0, theirs)
}

/// A listener with a name that the system has made up, and that name.
fn listener(kind: Type) -> (std::os::unix::net::UnixListener, SockAddr) {
    let socket = Socket::new(Domain::UNIX, kind, None).unwrap();
    // Nothing but the family: the system makes a name in the abstract namespace.
    nix::sys::socket::bind(socket.as_raw_fd(), &nix::sys::socket::UnixAddr::new_unnamed()).unwrap();
    socket.listen(8).unwrap();
    socket.set_nonblocking(true).unwrap();
    let address = socket.local_addr().unwrap();
    (socket.into(), address)
}

fn connected(kind: Type, address: &SockAddr) -> Socket {
    let socket = Socket::new(Domain::UNIX, kind, None).unwrap();
    socket.connect(address).unwrap();
    socket
}

async fn read_all(stream: &mut (impl AsyncRead + Unpin), wanted: usize) -> Vec<u8> {
    let mut got = Vec::new();
    let mut buffer = [0; 64];
    while got.len() < wanted {
        let count = stream.read(&mut buffer).await.unwrap();
        got.extend_from_slice(&buffer[..count]);
    }
    got
}

fn send_with_descriptor(socket: impl AsFd, bytes: &[u8]) {
    let number = socket.as_fd().as_raw_fd();
    let descriptors = [number];
    let message = [ControlMessage::ScmRights(&descriptors)];
    let sent = sendmsg::<()>(number, &[IoSlice::new(bytes)], &message, MsgFlags::empty(), None).unwrap();
    assert_eq!(sent, bytes.len());
}

/// Whether the stream is known to be empty after a read that ran short, without another look at it.
async fn short_read_proves(stream: &mut UnixStream, mut theirs: &Socket) -> bool {
    // The event of what is read may come after the read, if the stream was still ready from before: not always.
    for _ in 0..100 {
        theirs.write_all(b"hello").unwrap();
        assert_eq!(read_all(stream, 5).await, b"hello");
        let mut asks = false;
        let refused = stream.try_io(Interest::READABLE, || -> std::io::Result<()> {
            asks = true;
            Err(ErrorKind::WouldBlock.into())
        });
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::WouldBlock);
        if !asks {
            return true;
        }
    }
    false
}

#[test]
fn a_short_read_empties_a_stream_until_a_descriptor_has_come() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let (mut ours, theirs) = accepted().await;
            assert!(short_read_proves(&mut ours, &theirs).await);
            for _ in 0..5 {
                send_with_descriptor(&theirs, b"ab");
            }
            assert_eq!(read_all(&mut ours, 10).await, b"ababababab");
            assert!(!short_read_proves(&mut ours, &theirs).await);
        });
    });
}

#[test]
fn an_urgent_mark() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            for _ in 0..5 {
                let (mut ours, mut theirs) = accepted().await;
                // A new stream is taken for readable; from here on the reader waits for an event.
                assert!(short_read_proves(&mut ours, &theirs).await);
                theirs.write_all(b"ab").unwrap();
                match theirs.send_out_of_band(b"!") {
                    Err(error) if error.raw_os_error() == Some(nix::libc::EOPNOTSUPP) => return,
                    sent => assert_eq!(sent.unwrap(), 1),
                }
                theirs.write_all(b"cd").unwrap();
                assert_eq!(read_all(&mut ours, 4).await, b"abcd");
                // Else the event may have come before the mark, and the next one after it was read.
                if Handle::current().runtime_flavor() == RuntimeFlavor::CurrentThread {
                    assert!(!short_read_proves(&mut ours, &theirs).await);
                }
            }
        });
    });
}

/// A type of the standard library does not say that it is of sequenced packets.
#[test]
fn packets() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let (listener, address) = listener(Type::SEQPACKET);
            let listener = UnixListener::from_std(listener).unwrap();
            let send = |socket: BorrowedFd<'_>| {
                for packet in [b"ab", b"cd", b"ef", b"gh"] {
                    assert_eq!(SockRef::from(&socket).send(packet).unwrap(), 2);
                }
            };
            let theirs = connected(Type::SEQPACKET, &address);
            send(theirs.as_fd());
            let mut ours = listener.accept().await.unwrap().0;
            assert_eq!(read_all(&mut ours, 8).await, b"abcdefgh");
            send(ours.as_fd());

            let pair = || {
                let flags = SockFlag::SOCK_NONBLOCK;
                socketpair(AddressFamily::Unix, SockType::SeqPacket, None, flags).unwrap()
            };
            let (one, other): (OwnedFd, OwnedFd) = pair();
            send(other.as_fd());
            let mut ours = UnixStream::from_std(StdStream::from(one)).unwrap();
            assert_eq!(read_all(&mut ours, 8).await, b"abcdefgh");
        });
    });
}

/// Other code may have done anything to a descriptor that it knows, or knew.
#[test]
fn a_stream_that_others_know_is_asked_again() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let (mut ours, theirs) = accepted().await;
            let _ = ours.as_raw_fd();
            assert!(!short_read_proves(&mut ours, &theirs).await);

            let (ours, theirs) = accepted().await;
            let mut ours = UnixStream::from_std(ours.into_std().unwrap()).unwrap();
            assert!(!short_read_proves(&mut ours, &theirs).await);

            let (listener, address) = listener(Type::STREAM);
            let socket = Socket::new(Domain::UNIX, Type::STREAM, None).unwrap();
            socket.set_nonblocking(true).unwrap();
            // SAFETY: the number is given away.
            let socket = unsafe { UnixSocket::from_raw_fd(socket.into_raw_fd()) };
            let name = address.as_abstract_namespace().expect("the system has made one up");
            let path = [&[0], name].concat();
            let path = <std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(&path);
            let mut ours = pin!(socket.connect(path)).await.unwrap();
            let theirs = Socket::from(OwnedFd::from(listener.accept().unwrap().0));
            assert!(!short_read_proves(&mut ours, &theirs).await);
        });
    });
}
