//! Reads that run short with more behind them: no read waits for what is already there.
//!
//! In each test all bytes are in the kernel before the first read, so no event will come for those that the read
//! leaves. A reader that takes the short read for the last one hangs, and the watchdog ends it.
//!
//! Mutations that these tests are for: `Word::with_event` does not become wary; `be_wary` or `lend` does nothing, or
//! one of the ways on which a descriptor gets out does not call it; a stream or listener that is not one of TCP, or may
//! not be, is taken for one; a read of a Unix stream, or of a TCP stream that is lent, does not look whether anything
//! came with the bytes; `note_transfer` does not ask whether the word is wary; operations through `AsyncFd`, `async_io`
//! or `peek` take a short transfer for the last.

mod left_behind;
mod messages;
mod unix_streams;
mod urgent_marks;
mod wary_streams;

use std::io::{self, ErrorKind, IoSliceMut, Write};
use std::net::TcpStream as StdStream;
use std::os::fd::AsRawFd;

use nix::libc;
use rt::io::{AsyncReadExt, Interest};
use rt::net::{TcpListener, TcpStream};

/// An accepted connection, whose other end is not the runtime's.
async fn accepted() -> (TcpStream, StdStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let theirs = StdStream::connect(listener.local_addr().unwrap()).unwrap();
    theirs.set_nodelay(true).unwrap();
    (listener.accept().await.unwrap().0, theirs)
}

/// Reads `wanted` bytes, in all the ways that there are, each with room for more than will come.
async fn read_in_turns(stream: &mut TcpStream, wanted: usize) -> Vec<u8> {
    let mut got = Vec::new();
    let mut buffer = [0; 64];
    while got.len() < wanted {
        let turn = got.len() % 3;
        let read = match turn {
            0 => stream.read(&mut buffer).await,
            way => loop {
                stream.readable().await.unwrap();
                let attempt = if way == 1 {
                    let (one, two) = buffer.split_at_mut(32);
                    stream.try_read_vectored(&mut [IoSliceMut::new(one), IoSliceMut::new(two)])
                } else {
                    stream.try_read(&mut buffer)
                };
                match attempt {
                    Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                    read => break read,
                }
            },
        };
        got.extend_from_slice(&buffer[..read.unwrap()]);
    }
    got
}

/// Whether a stream always asks the system once more after a read that ran short. (One that does not may have to now
/// and then: the event of what it has read comes after that read, if it was still ready from before.)
async fn asks_after_a_short_read(ours: &TcpStream, theirs: &mut impl Write) -> bool {
    for _ in 0..100 {
        if !asks_after_this_short_read(ours, theirs).await {
            return false;
        }
    }
    true
}

async fn asks_after_this_short_read(ours: &TcpStream, theirs: &mut impl Write) -> bool {
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
