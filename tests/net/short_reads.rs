//! Reads that run short with more behind them: no read waits for what is already there.
//!
//! In each test all bytes are in the kernel before the first read, so no event will come for those that the read
//! leaves. A reader that takes the short read for the last one hangs, and the watchdog ends it.
//!
//! Mutations that these tests are for: `Word::with_event` does not become wary; `be_wary` does nothing, or one of the
//! ways on which a descriptor gets out does not call it; a listener that is not one of TCP, or may not be, is taken for
//! one; `note_transfer` does not ask whether the word is wary; operations through `AsyncFd`, `async_io` or `peek` take
//! a short transfer for the last.

use std::io::{self, ErrorKind, IoSliceMut, Read, Write};
use std::net::TcpStream as StdStream;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::pin::pin;
use std::task::Poll;

use nix::libc;
use rt::io::unix::AsyncFd;
use rt::io::{AsyncReadExt, AsyncWriteExt, Interest};
use rt::net::{TcpListener, TcpSocket, TcpStream};
use rt_test_util::*;
use socket2::{Domain, Protocol, SockRef, Socket, Type};

/// An accepted connection, whose other end is not the runtime's.
async fn accepted() -> (TcpStream, StdStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let theirs = StdStream::connect(listener.local_addr().unwrap()).unwrap();
    theirs.set_nodelay(true).unwrap();
    (listener.accept().await.unwrap().0, theirs)
}

fn send_urgent(stream: &StdStream, byte: u8) {
    assert_eq!(SockRef::from(stream).send_out_of_band(&[byte]).unwrap(), 1);
}

/// Takes the urgent byte out, past the runtime. The mark stays where it is.
fn take_urgent(socket: impl AsFd) -> io::Result<u8> {
    let mut byte = [0];
    match SockRef::from(&socket).recv_out_of_band(as_uninit(&mut byte)) {
        Ok(_) => Ok(byte[0]),
        // As the system says that there is none.
        Err(error) if error.kind() == ErrorKind::InvalidInput => Err(ErrorKind::WouldBlock.into()),
        Err(error) => Err(error),
    }
}

fn as_uninit(bytes: &mut [u8]) -> &mut [std::mem::MaybeUninit<u8>] {
    // SAFETY: the same layout, and nobody here writes anything but bytes to it.
    unsafe { &mut *(std::ptr::from_mut(bytes) as *mut [std::mem::MaybeUninit<u8>]) }
}

/// `AAAA`, an urgent byte, and `BBBB`.
fn send_around_a_mark(stream: &mut StdStream) {
    stream.write_all(b"AAAA").unwrap();
    send_urgent(stream, b'!');
    stream.write_all(b"BBBB").unwrap();
}

/// Reads `wanted` bytes, in all the ways that there are, each with room for more than will come.
async fn read_in_turns(stream: &mut TcpStream, wanted: usize) -> Vec<u8> {
    let mut got = Vec::new();
    let mut buffer = [0; 64];
    while got.len() < wanted {
        let turn = got.len() % 3;
        let read = match turn {
            0 => stream.read(&mut buffer).await,
            1 => {
                let (one, two) = buffer.split_at_mut(32);
                stream.read_vectored(&mut [IoSliceMut::new(one), IoSliceMut::new(two)]).await
            }
            _ => loop {
                stream.readable().await.unwrap();
                match stream.try_read(&mut buffer) {
                    Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                    read => break read,
                }
            },
        };
        got.extend_from_slice(&buffer[..read.unwrap()]);
    }
    got
}

#[test]
fn behind_an_urgent_mark_that_nobody_asks_for() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let (mut ours, mut theirs) = accepted().await;
            for _ in 0..3 {
                send_around_a_mark(&mut theirs);
                assert_eq!(read_in_turns(&mut ours, 8).await, b"AAAABBBB");
            }
            // And with two marks at once, of which the system knows the later one.
            theirs.write_all(b"AAAA").unwrap();
            send_urgent(&theirs, b'1');
            send_around_a_mark(&mut theirs);
            assert_eq!(read_in_turns(&mut ours, 13).await, b"AAAA1AAAABBBB");
        });
    });
}

#[test]
fn behind_an_urgent_mark_while_somebody_waits_for_another() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let (mut ours, mut theirs) = accepted().await;
            send_around_a_mark(&mut theirs);
            assert_eq!(ours.async_io(Interest::PRIORITY, || take_urgent(&ours)).await.unwrap(), b'!');
            {
                // In vain, which takes back that there is anything urgent.
                let mut second = pin!(ours.async_io(Interest::PRIORITY, || take_urgent(&ours)));
                assert!(poll_once(second.as_mut()).await.is_pending());
            }
            assert_eq!(read_in_turns(&mut ours, 8).await, b"AAAABBBB");
        });
    });
}

/// As above, but the descriptor stays with the stream: all that speaks of the mark is the event.
#[test]
fn behind_an_urgent_mark_that_somebody_has_asked_for() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let (mut ours, mut theirs) = accepted().await;
            send_around_a_mark(&mut theirs);
            assert!(ours.ready(Interest::PRIORITY).await.unwrap().is_priority());
            {
                let refused = || -> io::Result<()> { Err(ErrorKind::WouldBlock.into()) };
                let mut waits = pin!(ours.async_io(Interest::PRIORITY, refused));
                assert!(poll_once(waits.as_mut()).await.is_pending());
            }
            assert_eq!(read_in_turns(&mut ours, 8).await, b"AAAABBBB");
        });
    });
}

#[test]
fn behind_an_urgent_mark_in_halves() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let (mut ours, mut theirs) = accepted().await;
            let mut all = [0; 64];
            send_around_a_mark(&mut theirs);
            take_urgent(&ours).unwrap();
            let (mut reader, _writer) = ours.split();
            reader.read_exact(&mut all[..8]).await.unwrap();
            assert_eq!(&all[..8], b"AAAABBBB");
            send_around_a_mark(&mut theirs);
            let (mut reader, writer) = ours.into_split();
            let stream: &TcpStream = writer.as_ref();
            take_urgent(stream).unwrap();
            let mut got = 0;
            while got < 8 {
                got += reader.read(&mut all[got..]).await.unwrap();
            }
            assert_eq!(&all[..8], b"AAAABBBB");
        });
    });
}

/// No event ever tells of urgent data that was taken out before the driver looked.
#[test]
fn behind_an_urgent_mark_of_which_no_event_tells() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            // Between the registration and the first event.
            let (mut ours, mut theirs) = accepted().await;
            send_around_a_mark(&mut theirs);
            assert_eq!(take_urgent(&ours).unwrap(), b'!');
            assert_eq!(read_in_turns(&mut ours, 8).await, b"AAAABBBB");

            // Before the registration.
            let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            let mut theirs = StdStream::connect(listener.local_addr().unwrap()).unwrap();
            let (ours, _) = listener.accept().unwrap();
            send_around_a_mark(&mut theirs);
            assert_eq!(take_urgent(&ours).unwrap(), b'!');
            ours.set_nonblocking(true).unwrap();
            let mut ours = TcpStream::from_std(ours).unwrap();
            assert_eq!(read_in_turns(&mut ours, 8).await, b"AAAABBBB");

            // By a copy of the descriptor that was made when it was not connected yet.
            let socket = TcpSocket::new_v4().unwrap();
            let copy = socket.as_fd().try_clone_to_owned().unwrap();
            let mut ours = socket.connect(listener.local_addr().unwrap()).await.unwrap();
            let (mut theirs, _) = listener.accept().unwrap();
            send_around_a_mark(&mut theirs);
            assert_eq!(take_urgent(&copy).unwrap(), b'!');
            assert_eq!(read_in_turns(&mut ours, 8).await, b"AAAABBBB");
        });
    });
}

#[test]
fn urgent_data_in_line() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let (mut ours, mut theirs) = accepted().await;
            SockRef::from(&ours).set_out_of_band_inline(true).unwrap();
            send_around_a_mark(&mut theirs);
            assert_eq!(read_in_turns(&mut ours, 9).await, b"AAAA!BBBB");
        });
    });
}

/// Whether a stream always asks the system once more after a read that ran short. (One that does not may have to now
/// and then: the event of what it has read comes after that read, if it was still ready from before.)
async fn asks_after_a_short_read(ours: &TcpStream, theirs: &mut StdStream) -> bool {
    for _ in 0..100 {
        if !asks_after_this_short_read(ours, theirs).await {
            return false;
        }
    }
    true
}

async fn asks_after_this_short_read(ours: &TcpStream, theirs: &mut StdStream) -> bool {
    theirs.write_all(b"hello").unwrap();
    let mut buffer = [0; 64];
    let mut reader = ours;
    assert_eq!(reader.read(&mut buffer).await.unwrap(), 5);
    let mut asks = false;
    let refused = ours.try_io(Interest::READABLE, || -> io::Result<()> {
        asks = true;
        Err(ErrorKind::WouldBlock.into())
    });
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::WouldBlock);
    asks
}

/// A stream that nobody else knows spares that call, and what it has methods for does not change this.
#[test]
fn a_stream_that_is_lent_to_nobody_takes_a_short_read_for_the_last() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let (ours, mut theirs) = accepted().await;
            assert!(!asks_after_a_short_read(&ours, &mut theirs).await);
            ours.set_nodelay(true).unwrap();
            ours.set_linger(ours.linger().unwrap()).unwrap();
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

#[test]
fn a_stream_that_others_know_asks_until_it_is_refused() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let (ours, mut theirs) = accepted().await;
            let _ = ours.as_raw_fd();
            assert!(asks_after_a_short_read(&ours, &mut theirs).await);
            assert!(asks_after_a_short_read(&ours, &mut theirs).await, "for good");

            let (ours, mut theirs) = accepted().await;
            let _ = ours.as_fd();
            assert!(asks_after_a_short_read(&ours, &mut theirs).await);
            let ours = TcpStream::from_std(ours.into_std().unwrap()).unwrap();
            assert!(asks_after_a_short_read(&ours, &mut theirs).await);

            let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            let socket = TcpSocket::new_v4().unwrap();
            let _ = socket.as_raw_fd();
            let ours = socket.connect(listener.local_addr().unwrap()).await.unwrap();
            assert!(asks_after_a_short_read(&ours, &mut listener.accept().unwrap().0).await);

            // The slot that such a stream leaves behind makes its next owner no warier.
            drop(ours);
            let (ours, mut theirs) = accepted().await;
            assert!(!asks_after_a_short_read(&ours, &mut theirs).await);
        });
    });
}

/// Both ways a stream that is wary moves as much as any other, and at its end there is the end.
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

fn set_option(socket: &impl AsRawFd, level: libc::c_int, option: libc::c_int, value: libc::c_int) {
    // SAFETY: the option is an int, and that is what is passed.
    let outcome = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            option,
            (&raw const value).cast(),
            size_of_val(&value) as libc::socklen_t,
        )
    };
    assert_eq!(outcome, 0);
}

fn set_low_water(socket: &impl AsRawFd, bytes: libc::c_int) {
    set_option(socket, libc::SOL_SOCKET, libc::SO_RCVLOWAT, bytes);
}

/// Below the low-water mark there is no event; what a read leaves below it must still be read.
#[test]
fn what_is_left_below_the_low_water_mark() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            // The stream inherits it, and is not shared.
            set_low_water(&listener, 64);
            let mut theirs = StdStream::connect(listener.local_addr().unwrap()).unwrap();
            theirs.set_nodelay(true).unwrap();
            let (mut ours, _) = listener.accept().await.unwrap();
            let mut buffer = [0; 256];
            for _ in 0..20 {
                theirs.write_all(&[1; 100]).unwrap();
                ours.read_exact(&mut buffer[..60]).await.unwrap();
                assert_eq!(ours.read(&mut buffer).await.unwrap(), 40);
                theirs.write_all(&[2; 30]).unwrap();
                theirs.write_all(&[3; 34]).unwrap();
                ours.read_exact(&mut buffer[..64]).await.unwrap();
            }
            // The end comes in any case.
            theirs.write_all(b"end").unwrap();
            drop(theirs);
            let mut end = Vec::new();
            ours.read_to_end(&mut end).await.unwrap();
            assert_eq!(end, b"end");
        });
    });
}

#[test]
fn what_was_only_looked_at() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let (mut ours, mut theirs) = accepted().await;
            let mut buffer = [0; 64];
            for _ in 0..20 {
                theirs.write_all(b"0123456789").unwrap();
                // Short, and still all there.
                assert_eq!(ours.peek(&mut buffer).await.unwrap(), 10);
                assert_eq!(std::future::poll_fn(|cx| ours.poll_peek(cx, &mut buffer)).await.unwrap(), 10);
                ours.readable().await.unwrap();
                let mut all = [0; 10];
                for part in all.chunks_mut(3) {
                    ours.read_exact(part).await.unwrap();
                }
                assert_eq!(&all, b"0123456789");
            }
        });
    });
}

/// A connection is accepted at a time, and all came with one event.
#[test]
fn connections_behind_the_first() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let _clients: Vec<_> = (0..10).map(|_| StdStream::connect(address).unwrap()).collect();
            for _ in 0..5 {
                listener.accept().await.unwrap();
                std::future::poll_fn(|cx| listener.poll_accept(cx)).await.unwrap();
            }
            assert!(poll_once(pin!(listener.accept())).await.is_pending());
        });
    });
}

fn read_from(fd: &impl AsFd, buffer: &mut [u8]) -> io::Result<usize> {
    nix::unistd::read(fd, buffer).map_err(io::Error::from)
}

/// Reads what is in a descriptor, in pieces as given, each with room for more than it has: in all the ways that
/// `AsyncFd` has.
async fn reads_piece_by_piece(fd: impl Into<OwnedFd>, pieces: &[&[u8]]) {
    let fd = AsyncFd::with_interest(fd.into(), Interest::READABLE).unwrap();
    let mut buffer = [0; 64];
    for (number, &piece) in pieces.iter().enumerate() {
        let read = match number % 3 {
            0 => fd.async_io(Interest::READABLE, |fd| read_from(fd, &mut buffer)).await,
            1 => loop {
                let mut guard = fd.readable().await.unwrap();
                if let Ok(read) = guard.try_io(|fd| read_from(fd.get_ref(), &mut buffer)) {
                    break read;
                }
            },
            _ => loop {
                fd.readable().await.unwrap().retain_ready();
                match fd.try_io(Interest::READABLE, |fd| read_from(fd, &mut buffer)) {
                    Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                    read => break read,
                }
            },
        };
        assert_eq!(&buffer[..read.unwrap()], piece, "piece {number}");
    }
    // And only now there is nothing more.
    let mut more = pin!(fd.async_io(Interest::READABLE, |fd| read_from(fd, &mut buffer)));
    match poll_once(more.as_mut()).await {
        Poll::Pending => {}
        Poll::Ready(more) => panic!("{more:?}"),
    }
}

const PACKETS: [&[u8]; 7] = [b"a", b"bb", b"ccc", b"d", b"ee", b"fff", b"g"];

#[test]
fn packets_of_sockets() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            for kind in [Type::SEQPACKET, Type::DGRAM] {
                let (ours, theirs) = Socket::pair(Domain::UNIX, kind, None).unwrap();
                ours.set_nonblocking(true).unwrap();
                for packet in PACKETS {
                    theirs.send(packet).unwrap();
                }
                reads_piece_by_piece(ours, &PACKETS).await;
            }
        });
    });
}

#[test]
fn packets_of_a_pipe() {
    use nix::fcntl::OFlag;
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let (ours, theirs) = nix::unistd::pipe2(OFlag::O_DIRECT | OFlag::O_NONBLOCK).unwrap();
            for packet in PACKETS {
                nix::unistd::write(&theirs, packet).unwrap();
            }
            reads_piece_by_piece(ours, &PACKETS).await;
        });
    });
}

/// Reads of a Unix stream stop at each message that carries descriptors.
#[test]
fn messages_that_carry_descriptors() {
    use nix::sys::socket::{ControlMessage, MsgFlags, sendmsg};
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let (ours, theirs) = Socket::pair(Domain::UNIX, Type::STREAM, None).unwrap();
            ours.set_nonblocking(true).unwrap();
            for packet in PACKETS {
                let (bytes, fds) = ([io::IoSlice::new(packet)], [theirs.as_raw_fd()]);
                let rights = [ControlMessage::ScmRights(&fds)];
                sendmsg::<()>(theirs.as_raw_fd(), &bytes, &rights, MsgFlags::empty(), None).unwrap();
            }
            reads_piece_by_piece(ours, &PACKETS).await;
        });
    });
}

/// The master of a pseudo-terminal in packet mode reads either a control byte or data, never both; the slave reads
/// lines.
#[test]
fn control_bytes_and_lines_of_a_pseudo_terminal() {
    use nix::sys::termios::{FlushArg, tcflush};
    const TIOCPKT_DATA: u8 = 0;
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let nix::pty::OpenptyResult { master, slave } = nix::pty::openpty(None, None).unwrap();
            let on: libc::c_int = 1;
            // SAFETY: both requests read one int.
            let outcome = unsafe {
                libc::ioctl(master.as_raw_fd(), libc::TIOCPKT, &raw const on)
                    | libc::ioctl(master.as_raw_fd(), libc::FIONBIO, &raw const on)
                    | libc::ioctl(slave.as_raw_fd(), libc::FIONBIO, &raw const on)
            };
            assert_eq!(outcome, 0);
            tcflush(&slave, FlushArg::TCIFLUSH).unwrap();
            nix::unistd::write(&slave, b"data").unwrap();
            let control = 1; // TIOCPKT_FLUSHREAD
            let data = [&[TIOCPKT_DATA], &b"data"[..]].concat();
            // The slave's other side first: the master's descriptor ends with it.
            nix::unistd::write(&master, b"a\nbb\nccc\n").unwrap();
            reads_piece_by_piece(slave.try_clone().unwrap(), &[b"a\n", b"bb\n", b"ccc\n"]).await;
            let echo = [&[TIOCPKT_DATA], &b"a\r\nbb\r\nccc\r\n"[..]].concat();
            let all = [&data[..], &echo[1..]].concat();
            let fd = AsyncFd::with_interest(master, Interest::READABLE).unwrap();
            let (mut buffer, mut got) = ([0; 64], Vec::new());
            let first = fd.async_io(Interest::READABLE, |fd| read_from(fd, &mut buffer)).await.unwrap();
            assert_eq!(buffer[..first], [control]);
            while got.len() < all.len() - 1 {
                let n = fd.async_io(Interest::READABLE, |fd| read_from(fd, &mut buffer)).await.unwrap();
                assert_eq!(buffer[0], TIOCPKT_DATA);
                got.extend_from_slice(&buffer[1..n]);
            }
            assert_eq!(got, all[1..]);
        });
    });
}
