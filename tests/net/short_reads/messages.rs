//! Descriptors that are read message by message: each read ends with a message, whatever is behind it.

use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::pin::pin;
use std::task::Poll;

use nix::libc;
use rt::io::Interest;
use rt::io::unix::AsyncFd;
use rt_test_util::*;
use socket2::{Domain, Socket, Type};

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
