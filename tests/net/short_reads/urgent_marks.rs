//! An urgent byte marks a place in the stream, at which each read ends.

use std::io::{self, ErrorKind, Write};
use std::net::TcpStream as StdStream;
use std::os::fd::AsFd;
use std::pin::pin;

use rt::io::{AsyncReadExt, Interest};
use rt::net::TcpStream;
use rt_test_util::*;
use socket2::SockRef;

use super::{accepted, read_in_turns};

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
            let (mut reader, _writer) = ours.split();
            reader.read_exact(&mut all[..8]).await.unwrap();
            assert_eq!(&all[..8], b"AAAABBBB");
            send_around_a_mark(&mut theirs);
            let (mut reader, writer) = ours.into_split();
            let stream: &TcpStream = writer.as_ref();
            assert_eq!(stream.async_io(Interest::PRIORITY, || take_urgent(stream)).await.unwrap(), b'!');
            let mut got = 0;
            while got < 8 {
                got += reader.read(&mut all[got..]).await.unwrap();
            }
            assert_eq!(&all[..8], b"AAAABBBB");
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
