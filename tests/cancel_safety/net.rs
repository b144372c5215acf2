//! Sockets and pipes: an operation that is given up has taken no connection, no datagram and no byte, and sent none.

use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::net::UnixStream as StdUnixStream;
use std::pin::pin;
use std::task::Poll;

use rt::io::unix::AsyncFd;
use rt::io::{AsyncReadExt, AsyncWriteExt, Interest};
use rt::net::unix::pipe;
use rt::net::{TcpListener, TcpStream, UdpSocket, UnixDatagram, UnixListener, UnixStream, lookup_host};
use rt_test_util::tcp_pair;

use super::{begin, give_up, on_each, poll_once};

const ANY: &str = "127.0.0.1:0";

/// Writes until there is no more room, and returns how many bytes that took.
async fn fill(stream: &mut (impl AsyncWriteExt + Unpin)) -> usize {
    let mut written = 0;
    loop {
        let step = poll_once(pin!(stream.write(&[b'.'; 65536]))).await;
        match step {
            Poll::Ready(count) => written += count.unwrap(),
            Poll::Pending => {
                // The budget may have been the reason, or bytes that are still on their way.
                rt::task::yield_now().await;
                match poll_once(pin!(stream.write(&[b'.'; 65536]))).await {
                    Poll::Ready(count) => written += count.unwrap(),
                    Poll::Pending => return written,
                }
            }
        }
    }
}

#[test]
fn an_accept_takes_no_connection() {
    on_each(async || {
        let listener = TcpListener::bind(ANY).await.unwrap();
        let address = listener.local_addr().unwrap();
        give_up(listener.accept()).await;
        let client = TcpStream::connect(address).await.unwrap();
        let (_, from) = listener.accept().await.unwrap();
        assert_eq!(from, client.local_addr().unwrap());

        let directory = tempdir();
        let path = directory.path().join("socket");
        let listener = UnixListener::bind(&path).unwrap();
        give_up(listener.accept()).await;
        let mut client = UnixStream::connect(&path).await.unwrap();
        client.write_all(b"x").await.unwrap();
        assert_eq!(listener.accept().await.unwrap().0.read_u8().await.unwrap(), b'x');
    });
}

#[test]
fn a_connect_is_given_up() {
    on_each(async || {
        let listener = TcpListener::bind(ANY).await.unwrap();
        let address = listener.local_addr().unwrap();
        // The kernel may have made the connection by then; if so, the listener gets it, and finds its end.
        begin(TcpStream::connect(address)).await;
        let mut client = TcpStream::connect(address).await.unwrap();
        client.write_all(b"x").await.unwrap();
        loop {
            let (mut server, from) = listener.accept().await.unwrap();
            if from == client.local_addr().unwrap() {
                assert_eq!(server.read_u8().await.unwrap(), b'x');
                break;
            }
            // Closed, in one way or the other.
            assert!(matches!(server.read(&mut [0]).await, Ok(0) | Err(_)));
        }
    });
}

/// These look the name up in the background.
#[test]
fn a_lookup_leaves_nothing_behind() {
    on_each(async || {
        begin(lookup_host("localhost:80")).await;
        begin(TcpListener::bind("localhost:0")).await;
        begin(UdpSocket::bind("localhost:0")).await;
        let socket = UdpSocket::bind(ANY).await.unwrap();
        if poll_once(pin!(socket.connect("localhost:1"))).await.is_pending() {
            assert_eq!(socket.peer_addr().unwrap_err().kind(), ErrorKind::NotConnected);
        }
        begin(socket.send_to(b"x", "localhost:1")).await;
        assert!(lookup_host("localhost:80").await.unwrap().next().is_some());
    });
}

#[test]
fn a_read_of_a_stream_takes_no_byte() {
    on_each(async || {
        let (mut client, mut server) = tcp_pair().await;
        let mut buffer = [0; 8];
        give_up(server.read(&mut buffer)).await;
        give_up(server.read_u8()).await;
        give_up(server.peek(&mut buffer)).await;
        give_up(server.readable()).await;
        give_up(server.ready(Interest::READABLE)).await;
        give_up(server.async_io(Interest::READABLE, || server.try_read(&mut [0; 8]))).await;
        client.write_all(b"bytes").await.unwrap();
        server.read_exact(&mut buffer[..5]).await.unwrap();
        assert_eq!(&buffer[..5], b"bytes");

        let (mut one, mut other) = UnixStream::pair().unwrap();
        give_up(other.read(&mut buffer)).await;
        give_up(other.readable()).await;
        one.write_all(b"unix").await.unwrap();
        other.read_exact(&mut buffer[..4]).await.unwrap();
        assert_eq!(&buffer[..4], b"unix");

        let (mut sender, mut receiver) = pipe::pipe().unwrap();
        give_up(receiver.read(&mut buffer)).await;
        give_up(receiver.readable()).await;
        sender.write_all(b"pipe").await.unwrap();
        receiver.read_exact(&mut buffer[..4]).await.unwrap();
        assert_eq!(&buffer[..4], b"pipe");
    });
}

/// The other side gets what was written before and after, and nothing of what was given up.
#[test]
fn a_write_to_a_stream_sends_no_byte() {
    on_each(async || {
        let (mut writer, mut reader) = UnixStream::pair().unwrap();
        let written = fill(&mut writer).await;
        give_up(writer.write(b"x")).await;
        give_up(writer.write_u8(b'x')).await;
        // Another thread may have found out that there was room before that was filled, and tell it only now.
        begin(writer.writable()).await;
        begin(writer.ready(Interest::WRITABLE)).await;
        give_up(writer.async_io(Interest::WRITABLE, || writer.try_write(b"x"))).await;
        let mut all = vec![0; written];
        reader.read_exact(&mut all).await.unwrap();
        writer.write_all(b"end").await.unwrap();
        drop(writer);
        reader.read_to_end(&mut all).await.unwrap();
        assert!(all[..written].iter().all(|&byte| byte == b'.') && &all[written..] == b"end");

        let (mut writer, mut reader) = pipe::pipe().unwrap();
        let written = fill(&mut writer).await;
        give_up(writer.write(b"x")).await;
        begin(writer.writable()).await;
        let mut all = vec![0; written];
        reader.read_exact(&mut all).await.unwrap();
        writer.write_all(b"end").await.unwrap();
        drop(writer);
        reader.read_to_end(&mut all).await.unwrap();
        assert!(all[..written].iter().all(|&byte| byte == b'.') && &all[written..] == b"end");
    });
}

#[test]
fn a_receive_takes_no_datagram() {
    on_each(async || {
        let socket = UdpSocket::bind(ANY).await.unwrap();
        let mut buffer = [0; 8];
        give_up(socket.recv(&mut buffer)).await;
        give_up(socket.recv_from(&mut buffer)).await;
        give_up(socket.recv_buf(&mut vec![])).await;
        give_up(socket.recv_buf_from(&mut vec![])).await;
        give_up(socket.peek(&mut buffer)).await;
        give_up(socket.peek_from(&mut buffer)).await;
        give_up(socket.peek_sender()).await;
        give_up(socket.readable()).await;
        let sender = UdpSocket::bind(ANY).await.unwrap();
        sender.send_to(b"udp", socket.local_addr().unwrap()).await.unwrap();
        assert_eq!(socket.recv_from(&mut buffer).await.unwrap(), (3, sender.local_addr().unwrap()));

        let (one, other) = UnixDatagram::pair().unwrap();
        give_up(other.recv(&mut buffer)).await;
        give_up(other.recv_from(&mut buffer)).await;
        give_up(other.recv_buf(&mut vec![])).await;
        give_up(other.recv_buf_from(&mut vec![])).await;
        give_up(other.readable()).await;
        one.send(b"unix").await.unwrap();
        assert_eq!(other.recv(&mut buffer).await.unwrap(), 4);
    });
}

#[test]
fn a_send_sends_no_datagram() {
    on_each(async || {
        let (one, other) = UnixDatagram::pair().unwrap();
        let mut sent = 0;
        one.writable().await.unwrap();
        while one.try_send(b"before").is_ok() {
            sent += 1;
            assert!(sent < 1_000_000, "there is always room");
        }
        give_up(one.send(b"given up")).await;
        begin(one.writable()).await;
        let mut buffer = [0; 8];
        for _ in 0..sent {
            assert_eq!(other.recv(&mut buffer).await.unwrap(), 6);
        }
        one.send(b"after").await.unwrap();
        assert_eq!(other.recv(&mut buffer).await.unwrap(), 5);
    });
}

#[test]
fn the_readiness_of_a_descriptor_stays() {
    on_each(async || {
        let (one, mut other) = StdUnixStream::pair().unwrap();
        one.set_nonblocking(true).unwrap();
        let mut fd = AsyncFd::new(one).unwrap();
        let read = |mut stream: &StdUnixStream| -> io::Result<u8> {
            let mut byte = [0];
            stream.read_exact(&mut byte).map(|()| byte[0])
        };
        give_up(fd.readable()).await;
        give_up(fd.readable_mut()).await;
        give_up(fd.ready(Interest::READABLE)).await;
        give_up(fd.async_io(Interest::READABLE, read)).await;
        other.write_all(b"xy").unwrap();
        // Ready, and dropped without a word: that takes nothing.
        drop(fd.readable().await.unwrap());
        drop(fd.readable().await.unwrap());
        assert_eq!(fd.async_io(Interest::READABLE, read).await.unwrap(), b'x');
        assert_eq!(fd.async_io(Interest::READABLE, read).await.unwrap(), b'y');
    });
}

/// A directory of its own for a socket.
fn tempdir() -> super::files::Directory {
    super::files::Directory::new()
}
