//! Unix streams and datagrams: bytes and messages arrive, ends are told, and nothing is lost with an operation that is
//! given up.
//!
//! Mutations that these tests are for: readiness that is cleared after a short read (of a stream, descriptors can stop
//! one); an accept that takes a connection and is dropped with it; a half whose drop does not end the stream, or ends
//! it though it was forgotten; a sender that is not woken when there is room.

use std::io::{ErrorKind, IoSlice};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use rt::io::{AsyncReadExt, AsyncWriteExt};
use rt::net::{UnixDatagram, UnixListener, UnixSocket, UnixStream};
use rt::time::timeout;

use rt_test_util::*;

/// A directory for sockets, removed when dropped.
pub(super) struct Directory(PathBuf);

impl Directory {
    pub(super) fn new() -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let name = format!("rt-test-{}-{}", std::process::id(), NUMBER.fetch_add(1, SeqCst));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(super) fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn two_tasks_move_many_bytes_both_ways_through_halves_that_go_together_again() {
    let _watchdog = watchdog();
    const TOTAL: usize = 3 << 20;
    fn byte_at(at: usize) -> u8 {
        (at.wrapping_mul(31) ^ (at >> 8)) as u8
    }
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let (one, other) = UnixStream::pair().unwrap();
            let mut ends = Vec::new();
            for stream in [one, other] {
                let (mut reader, mut writer) = stream.into_split();
                let writing = rt::spawn(async move {
                    let bytes: Vec<_> = (0..TOTAL).map(byte_at).collect();
                    for piece in bytes.chunks(77_777) {
                        writer.write_all(piece).await.unwrap();
                    }
                    writer
                });
                let reading = rt::spawn(async move {
                    let (mut at, mut buffer) = (0, vec![0; 50_000]);
                    while at < TOTAL {
                        let n = reader.read(&mut buffer).await.unwrap();
                        for (offset, byte) in buffer[..n].iter().enumerate() {
                            assert_eq!(*byte, byte_at(at + offset));
                        }
                        at += n;
                    }
                    reader
                });
                ends.push((reading, writing));
            }
            let mut streams = Vec::new();
            for (reading, writing) in ends {
                streams.push(reading.await.unwrap().reunite(writing.await.unwrap()).unwrap());
            }
            // Reunited, they are as they were: nothing was shut down.
            let (mut other, mut one) = (streams.pop().unwrap(), streams.pop().unwrap());
            one.write_all(b"!").await.unwrap();
            assert_eq!(other.read_u8().await.unwrap(), b'!');
            let (reader, _writer) = one.into_split();
            let (_reader, writer) = other.into_split();
            assert!(reader.reunite(writer).unwrap_err().to_string().contains("not of the same stream"));
        });
    });
}

#[test]
fn a_direction_ends_by_itself_and_dropping_ends_both() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let (mut one, mut other) = UnixStream::pair().unwrap();
            // A read that waits is told of the end.
            let reading = rt::spawn(async move {
                let mut text = String::new();
                other.read_to_string(&mut text).await.unwrap();
                (text, other)
            });
            one.write_all(b"all there is").await.unwrap();
            one.shutdown().await.unwrap();
            one.shutdown().await.unwrap();
            let (text, mut other) = reading.await.unwrap();
            assert_eq!(text, "all there is");
            assert_eq!(one.write_all(b"more").await.unwrap_err().kind(), ErrorKind::BrokenPipe);
            // The other direction goes on.
            other.write_all(b"answer").await.unwrap();
            let mut answer = [0; 6];
            one.read_exact(&mut answer).await.unwrap();
            drop(other);
            assert_eq!(one.read(&mut answer).await.unwrap(), 0);
            one.shutdown().await.unwrap();

            // Of the owned halves, the writer ends its direction unless it is forgotten.
            let (one, mut other) = UnixStream::pair().unwrap();
            let (reader, writer) = one.into_split();
            writer.forget();
            assert!(poll_once(std::pin::pin!(other.read(&mut answer))).await.is_pending());
            drop(reader);
            assert_eq!(other.read(&mut answer).await.unwrap(), 0);
            let (one, mut other) = UnixStream::pair().unwrap();
            let (_reader, writer) = one.into_split();
            drop(writer);
            assert_eq!(other.read(&mut answer).await.unwrap(), 0);
            other.write_all(b"still").await.unwrap();
        });
    });
}

#[test]
fn a_writer_that_waits_is_told_that_the_other_side_is_gone() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let (mut one, other) = UnixStream::pair().unwrap();
            let waiting = Signal::new();
            let tell = waiting.clone();
            let writing = rt::spawn(async move {
                let bytes = vec![0; 64 << 20];
                let mut write = std::pin::pin!(one.write_all(&bytes));
                assert!(poll_once(write.as_mut()).await.is_pending());
                tell.set();
                write.await
            });
            waiting.wait().await;
            drop(other);
            let kind = writing.await.unwrap().unwrap_err().kind();
            assert!(matches!(kind, ErrorKind::BrokenPipe | ErrorKind::ConnectionReset), "{kind:?}");
        });
    });
}

/// A read stops where descriptors came with the bytes, short of the bytes behind them, and there is no other event.
#[test]
#[cfg(target_os = "linux")]
fn a_read_that_descriptors_cut_short_leaves_the_rest_to_be_read() {
    use std::os::fd::AsRawFd;

    use nix::sys::socket::{ControlMessage, MsgFlags, sendmsg};

    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let (ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
            ours.set_nonblocking(true).unwrap();
            let descriptors = [theirs.as_raw_fd()];
            let message = [ControlMessage::ScmRights(&descriptors)];
            for _ in 0..5 {
                let bytes = [IoSlice::new(b"ab")];
                sendmsg::<()>(theirs.as_raw_fd(), &bytes, &message, MsgFlags::empty(), None).unwrap();
            }
            // Registered only now: there is one event, for all of it.
            let mut stream = UnixStream::from_std(ours).unwrap();
            let mut total = 0;
            let mut buffer = [0; 100];
            while total < 10 {
                total += stream.read(&mut buffer).await.unwrap();
            }
        });
    });
}

#[test]
fn an_accept_that_is_given_up_loses_no_connection() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let directory = Directory::new();
            let path = directory.join("socket");
            let listener = UnixListener::bind(&path).unwrap();
            assert_eq!(listener.local_addr().unwrap().as_pathname(), Some(&*path));
            let clients = rt::spawn(async move {
                let mut clients = Vec::new();
                for n in 0..100u8 {
                    let mut client = UnixStream::connect(&path).await.unwrap();
                    client.write_all(&[n]).await.unwrap();
                    clients.push(client);
                    if n % 8 == 0 {
                        rt::time::sleep(Duration::from_micros(300)).await;
                    }
                }
                clients
            });
            let mut seen = Vec::new();
            let mut attempt = 0;
            while seen.len() < 100 {
                attempt += 1;
                let accepted = match attempt % 2 {
                    0 => match poll_once(std::pin::pin!(listener.accept())).await {
                        std::task::Poll::Ready(accepted) => accepted.unwrap(),
                        std::task::Poll::Pending => continue,
                    },
                    _ => match timeout(Duration::from_micros(200), listener.accept()).await {
                        Ok(accepted) => accepted.unwrap(),
                        Err(_) => continue,
                    },
                };
                let (mut server, peer) = accepted;
                assert!(peer.is_unnamed());
                seen.push(server.read_u8().await.unwrap());
            }
            assert_eq!(seen, (0..100).collect::<Vec<_>>());
            drop(clients.await.unwrap());
        });
    });
}

#[test]
fn a_connection_belongs_to_the_runtime_that_has_accepted_it() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let directory = Directory::new();
        let path = directory.join("socket");
        let listener = runtime.block_on(async { UnixListener::bind(&path) }).unwrap();
        let end = Signal::new();
        let ended = end.clone();
        let driving = std::thread::spawn(move || runtime.block_on(ended.wait()));
        let other = current();
        let (client, accepted) = other.block_on(async { rt::join!(UnixStream::connect(&path), listener.accept()) });
        end.set();
        driving.join().unwrap();
        other.block_on(async {
            client.unwrap().write_all(b"x").await.unwrap();
            assert_eq!(accepted.unwrap().0.read_u8().await.unwrap(), b'x');
        });
    });
}

/// Sockets of sequenced packets are neither streams nor datagrams, and can be used as either.
/// What the system would take for its end is there, and must be neither bound nor reached.
/// Linux does not say when there is room in a listener's queue: a client is told at once that there is none.
#[test]
#[cfg(target_os = "linux")]
fn a_listener_that_is_full_says_so_and_takes_connections_again_when_it_is_not() {
    let _watchdog = watchdog();
    current().block_on(async {
        let name = format!("\0rt-test-full-{}", std::process::id());
        let socket = UnixSocket::new_stream().unwrap();
        socket.bind(&name).unwrap();
        let listener = socket.listen(1).unwrap();
        let mut clients = Vec::new();
        let refused = loop {
            match UnixStream::connect(&name).await {
                Ok(client) => clients.push(client),
                Err(error) => break error,
            }
        };
        assert_eq!(refused.kind(), ErrorKind::WouldBlock);
        for _ in 0..clients.len() {
            listener.accept().await.unwrap();
        }
        UnixStream::connect(&name).await.unwrap();
    });
}

#[test]
fn a_sender_waits_for_room_and_all_messages_arrive_in_order() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let (one, other) = UnixDatagram::pair().unwrap();
            let sent = Arc::new(AtomicUsize::new(0));
            let count = sent.clone();
            let sending = rt::spawn(async move {
                for n in 0..2000u32 {
                    one.send(&n.to_be_bytes()).await.unwrap();
                    count.fetch_add(1, SeqCst);
                }
                loop {
                    if let Err(error) = one.try_send(b"x") {
                        return error.kind();
                    }
                }
            });
            let mut buffer = [0; 64];
            for n in 0..2000u32 {
                assert_eq!(other.recv(&mut buffer).await.unwrap(), 4);
                assert_eq!(buffer[..4], n.to_be_bytes());
            }
            assert_eq!(sending.await.unwrap(), ErrorKind::WouldBlock);
            // Its other end is gone: who waits is told that no more will come only by a stream; here, nothing.
            while other.try_recv(&mut buffer).is_ok() {}
            assert_eq!(other.try_recv(&mut buffer).unwrap_err().kind(), ErrorKind::WouldBlock);
            assert_eq!(other.send(b"?").await.unwrap_err().kind(), ErrorKind::ConnectionRefused);
        });
    });
}

#[test]
fn every_form_of_receiving_and_sending_moves_the_same_messages() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            use std::future::poll_fn;

            let directory = Directory::new();
            let path = directory.join("receiver");
            let receiver = UnixDatagram::bind(&path).unwrap();
            let sender = UnixSocket::new_datagram().unwrap();
            sender.bind(directory.join("sender")).unwrap();
            let sender = sender.datagram().unwrap();
            sender.writable().await.unwrap();
            assert_eq!(sender.send_to(b"send_to", &path).await.unwrap(), 7);
            assert_eq!(sender.try_send_to(b"try", &path).unwrap(), 3);
            assert_eq!(poll_fn(|cx| sender.poll_send_to(cx, b"poll", &path)).await.unwrap(), 4);
            sender.connect(&path).unwrap();
            assert_eq!(sender.send(b"send").await.unwrap(), 4);
            assert_eq!(sender.peer_addr().unwrap().as_pathname(), Some(&*path));

            let mut buffer = [0; 100];
            let (length, from) = receiver.recv_from(&mut buffer).await.unwrap();
            assert_eq!((length, from.as_pathname()), (7, Some(&*directory.join("sender"))));
            let mut vector = Vec::new();
            assert_eq!(receiver.recv_buf_from(&mut vector).await.unwrap().0, 3);
            let mut read = rt::io::ReadBuf::new(&mut buffer);
            let from = poll_fn(|cx| receiver.poll_recv_from(cx, &mut read)).await.unwrap();
            assert_eq!(from.as_pathname(), Some(&*directory.join("sender")));
            assert_eq!(read.filled(), b"poll");
            assert_eq!(receiver.try_recv_buf(&mut vector).unwrap(), 4);
            assert_eq!(vector, b"trysend");
            assert_eq!(receiver.try_recv_from(&mut buffer).unwrap_err().kind(), ErrorKind::WouldBlock);
            sender.shutdown(std::net::Shutdown::Write).unwrap();
            assert_eq!(sender.send(b"more").await.unwrap_err().kind(), ErrorKind::BrokenPipe);
        });
    });
}

/// To try needs no driver.
#[test]
fn what_has_come_can_be_read_after_the_end_of_the_runtime() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let (one, two) = runtime.block_on(async {
            let (one, mut two) = UnixStream::pair().unwrap();
            two.write_all(b"there").await.unwrap();
            (one, two)
        });
        drop(runtime);
        let mut buffer = [0; 8];
        assert_eq!(one.try_read(&mut buffer).unwrap(), 5);
        let error = one.try_read(&mut buffer).unwrap_err();
        assert!(rt::runtime::is_rt_shutdown_err(&error), "{error}");
        assert_eq!(one.try_write(b"x").unwrap(), 1);
        drop(two);
        assert_eq!(one.try_read(&mut buffer).unwrap_err().kind(), std::io::ErrorKind::ConnectionReset);
    });
}

/// Their driver is gone: what waits is told, what comes later too, and dropping them is in order.
#[test]
fn sockets_and_pipes_that_outlive_their_runtime_give_errors() {
    use rt::net::UdpSocket;
    use rt::net::unix::pipe;

    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let directory = Directory::new();
        let (udp, listener, pair, datagrams, pipe) = runtime.block_on(async {
            (
                UdpSocket::bind("127.0.0.1:0").await.unwrap(),
                UnixListener::bind(directory.join("socket")).unwrap(),
                UnixStream::pair().unwrap(),
                UnixDatagram::pair().unwrap(),
                pipe::pipe().unwrap(),
            )
        });
        let other = multi(1);
        let waiting = other.spawn(async move {
            let mut buffer = [0; 8];
            let says = |error: std::io::Error| assert!(error.to_string().contains("shut down"), "{error}");
            let ((mut one, _two), (datagram, _other), (mut sender, mut receiver)) = (pair, datagrams, pipe);
            // They may wait when it ends, or come later.
            says(udp.recv(&mut buffer).await.unwrap_err());
            says(listener.accept().await.unwrap_err());
            says(one.read(&mut buffer).await.unwrap_err());
            says(datagram.recv(&mut buffer).await.unwrap_err());
            says(receiver.read(&mut buffer).await.unwrap_err());
            says(udp.send_to(b"x", udp.local_addr().unwrap()).await.unwrap_err());
            says(one.write(b"x").await.unwrap_err());
            says(datagram.send(b"x").await.unwrap_err());
            says(sender.write(b"x").await.unwrap_err());
            says(udp.readable().await.unwrap_err());
            says(sender.writable().await.unwrap_err());
            says(udp.try_recv(&mut buffer).unwrap_err());
            assert!(udp.into_std().is_ok());
        });
        drop(runtime);
        other.block_on(waiting).unwrap();
    });
}
