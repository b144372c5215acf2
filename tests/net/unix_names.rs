//! The names of Unix sockets, and what is made of a name before anything is asked of the system.

use std::io::ErrorKind;

use rt::net::{UnixDatagram, UnixListener, UnixSocket, UnixStream};
use rt_test_util::*;

use super::unix_sockets::Directory;

#[test]
fn names_are_paths_and_on_linux_abstract_ones() {
    let _watchdog = watchdog();
    current().block_on(async {
        let directory = Directory::new();
        let socket = UnixSocket::new_stream().unwrap();
        socket.bind(directory.join("client")).unwrap();
        let listener = UnixListener::bind(directory.join("server")).unwrap();
        assert_eq!(UnixListener::bind(directory.join("server")).unwrap_err().kind(), ErrorKind::AddrInUse);
        let client = socket.connect(directory.join("server")).await.unwrap();
        let (server, from) = listener.accept().await.unwrap();
        assert_eq!(from.as_pathname(), Some(&*directory.join("client")));
        assert_eq!(server.peer_addr().unwrap().as_pathname(), from.as_pathname());
        assert_eq!(client.peer_addr().unwrap().as_pathname(), Some(&*directory.join("server")));
        let again = UnixStream::connect_addr(&listener.local_addr().unwrap()).await.unwrap();
        assert!(again.local_addr().unwrap().is_unnamed());
        drop(listener);
        let gone = UnixStream::connect(directory.join("server")).await.unwrap_err();
        assert_eq!(gone.kind(), ErrorKind::ConnectionRefused);
        assert_eq!(UnixStream::connect(directory.join("none")).await.unwrap_err().kind(), ErrorKind::NotFound);
        assert!(UnixSocket::new_datagram().unwrap().listen(1).is_err());
        assert!(UnixSocket::new_datagram().unwrap().connect(directory.join("server")).await.is_err());
        assert!(UnixSocket::new_stream().unwrap().datagram().is_err());

        #[cfg(target_os = "linux")]
        {
            let unnamed = UnixDatagram::unbound().unwrap().local_addr().unwrap();
            assert!(unnamed.is_unnamed());
            assert_eq!(UnixStream::connect_addr(&unnamed).await.unwrap_err().kind(), ErrorKind::InvalidInput);
            let listener = UnixListener::bind_addr(&unnamed).unwrap();
            // The system has picked a name.
            let picked = listener.local_addr().unwrap();
            assert!(picked.as_abstract_name().is_some(), "{picked:?}");
            drop(UnixStream::connect_addr(&picked).await.unwrap());

            let name = format!("\0rt-test\0{}", std::process::id());
            let listener = UnixListener::bind(&name).unwrap();
            assert_eq!(listener.local_addr().unwrap().as_abstract_name(), Some(&name.as_bytes()[1..]));
            let client = UnixStream::connect(&name).await.unwrap();
            let by_address = UnixStream::connect_addr(&client.peer_addr().unwrap()).await.unwrap();
            assert_eq!(by_address.peer_cred().unwrap().pid(), i32::try_from(std::process::id()).ok());
            drop(listener);
            // The name is free again at once, and nobody else's.
            drop(UnixListener::bind(&name).unwrap());
            let receiver = UnixDatagram::bind(&name).unwrap();
            UnixDatagram::unbound().unwrap().send_to(b"hello", &name).await.unwrap();
            assert_eq!(receiver.recv(&mut [0; 10]).await.unwrap(), 5);
        }
    });
}

#[test]
#[cfg(target_os = "linux")]
fn a_socket_of_packets_can_be_a_datagram_socket() {
    use std::os::fd::{FromRawFd, IntoRawFd};

    let _watchdog = watchdog();
    current().block_on(async {
        let (one, other) = socket2::Socket::pair(socket2::Domain::UNIX, socket2::Type::SEQPACKET, None).unwrap();
        let [one, other] = [one, other].map(|socket| {
            socket.set_nonblocking(true).unwrap();
            // SAFETY: the number is given away by its owner.
            unsafe { UnixSocket::from_raw_fd(socket.into_raw_fd()) }.datagram().unwrap()
        });
        one.send(b"first").await.unwrap();
        one.send(b"second").await.unwrap();
        let mut buffer = [0; 100];
        assert_eq!(other.recv(&mut buffer).await.unwrap(), 5);
        assert_eq!(other.recv(&mut buffer).await.unwrap(), 6);
        drop(one);
        assert_eq!(other.recv(&mut buffer).await.unwrap(), 0);
    });
}

#[test]
#[cfg(target_os = "linux")]
fn an_attempt_to_connect_that_is_not_polled_has_no_descriptor() {
    in_own_process(|| {
        current().block_on(async {
            let listener = UnixListener::bind(format!("\0rt-test-unpolled-{}", std::process::id())).unwrap();
            let address = listener.local_addr().unwrap();
            let before = descriptor_count();
            let attempts = (UnixStream::connect("/nowhere"), UnixStream::connect_addr(&address));
            assert_eq!(descriptor_count(), before);
            attempts.1.await.unwrap();
            assert_eq!(attempts.0.await.unwrap_err().kind(), ErrorKind::NotFound);
        });
    });
}

#[test]
fn a_path_with_a_zero_byte_is_refused_by_all_that_take_one() {
    let _watchdog = watchdog();
    current().block_on(async {
        let directory = Directory::new();
        let path = directory.join("cut\0off");
        let refused = |error: std::io::Error| assert_eq!(error.kind(), ErrorKind::InvalidInput, "{error}");
        refused(UnixListener::bind(&path).unwrap_err());
        refused(UnixDatagram::bind(&path).unwrap_err());
        refused(UnixSocket::new_stream().unwrap().bind(&path).unwrap_err());
        assert!(!directory.join("cut").exists());

        let listener = UnixListener::bind(directory.join("cut")).unwrap();
        refused(UnixStream::connect(&path).await.unwrap_err());
        refused(UnixSocket::new_stream().unwrap().connect(&path).await.unwrap_err());
        drop(listener);
        std::fs::remove_file(directory.join("cut")).unwrap();

        let receiver = UnixDatagram::bind(directory.join("cut")).unwrap();
        let sender = UnixDatagram::unbound().unwrap();
        refused(sender.connect(&path).unwrap_err());
        refused(sender.send_to(b"x", &path).await.unwrap_err());
        refused(sender.try_send_to(b"x", &path).unwrap_err());
        refused(std::future::poll_fn(|cx| sender.poll_send_to(cx, b"x", &path)).await.unwrap_err());
        assert_eq!(receiver.try_recv(&mut [0; 1]).unwrap_err().kind(), ErrorKind::WouldBlock);
    });
}
