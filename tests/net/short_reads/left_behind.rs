//! What an operation leaves behind without a read that ran short: bytes below the low-water mark, bytes that were only
//! looked at, and connections behind the first.

use std::io::Write;
use std::net::TcpStream as StdStream;
use std::os::fd::AsRawFd;
use std::pin::pin;

use nix::libc;
use rt::io::{AsyncReadExt, ReadBuf};
use rt::net::TcpListener;
use rt_test_util::*;

use super::{accepted, set_option};

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
                let peeked = std::future::poll_fn(|cx| ours.poll_peek(cx, &mut ReadBuf::new(&mut buffer))).await;
                assert_eq!(peeked.unwrap(), 10);
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
