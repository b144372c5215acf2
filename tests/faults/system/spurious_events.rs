//! Readiness that does not hold: another user was quicker, or the event meant nothing. The operation waits on, without
//! going round and round, and gets what comes next.
//!
//! Mutations that these tests are for: *would block* handed to the caller of an operation that waits; readiness that is
//! kept after it (a busy loop), or taken back although another event has come (a hang).

use std::io::{ErrorKind, Read, Write};
use std::net::TcpListener as StdListener;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::pin::pin;
use std::thread;

use rt::io::unix::AsyncFd;
use rt::io::{AsyncReadExt, AsyncWriteExt, Interest};
use rt::net::{TcpListener, TcpStream};
use rt::runtime::Handle;
use rt_test_util::*;

/// Another descriptor of the same socket, which rt knows nothing of.
fn copy_of(stream: &TcpStream) -> std::net::TcpStream {
    stream.as_fd().try_clone_to_owned().unwrap().into()
}

#[test]
fn an_operation_that_is_refused_each_time_is_tried_once_an_event() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let (ours, mut theirs) = UnixStream::pair().unwrap();
            ours.set_nonblocking(true).unwrap();
            let ours = AsyncFd::with_interest(ours, Interest::READABLE).unwrap();
            let tries = std::cell::Cell::new(0);
            let mut read = pin!(ours.async_io(Interest::READABLE, |mut socket| {
                tries.set(tries.get() + 1);
                if tries.get() < 50 { Err(ErrorKind::WouldBlock.into()) } else { socket.read(&mut [0; 100]) }
            }));
            for events in 1..50 {
                theirs.write_all(b"x").unwrap();
                while tries.get() < events {
                    assert!(poll_once(read.as_mut()).await.is_pending());
                    rt::task::yield_now().await;
                }
                for _ in 0..10 {
                    assert!(poll_once(read.as_mut()).await.is_pending());
                    rt::task::yield_now().await;
                }
                assert_eq!(tries.get(), events);
            }
            theirs.write_all(b"x").unwrap();
            assert_eq!(read.await.unwrap(), 50);
        });
    });
}

#[test]
fn a_read_whose_bytes_were_taken_by_another_waits_for_the_next() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let (mut client, mut server) = tcp_pair().await;
            let mut thief = copy_of(&client);
            for n in 0..100u8 {
                server.write_all(b"stolen").await.unwrap();
                client.readable().await.unwrap();
                let mut stolen = [0; 6];
                thief.read_exact(&mut stolen).unwrap();
                assert_eq!(&stolen, b"stolen");
                let mut bytes = [0; 100];
                let mut read = pin!(client.read(&mut bytes));
                assert!(poll_once(read.as_mut()).await.is_pending());
                server.write_all(&[n; 7]).await.unwrap();
                assert_eq!(read.await.unwrap(), 7);
                assert_eq!(bytes[..7], [n; 7]);
            }
        });
    });
}

#[test]
fn a_reader_and_a_thief_on_another_thread_share_all_bytes_and_both_see_the_end() {
    const TOTAL: usize = 40_000;
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let (mut client, mut server) = tcp_pair().await;
            let mut thief = copy_of(&client);
            let stealing = thread::spawn(move || {
                let (mut counts, mut buffer) = ([0u64; 256], [0; 40]);
                loop {
                    match thief.read(&mut buffer) {
                        Ok(0) => return counts,
                        Ok(n) => buffer[..n].iter().for_each(|byte| counts[usize::from(*byte)] += 1),
                        Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
                    }
                    thread::yield_now();
                }
            });
            let reading = rt::spawn(async move {
                let (mut counts, mut buffer) = ([0u64; 256], [0; 60]);
                loop {
                    match client.read(&mut buffer).await.unwrap() {
                        0 => return counts,
                        n => buffer[..n].iter().for_each(|byte| counts[usize::from(*byte)] += 1),
                    }
                }
            });
            let bytes: Vec<u8> = (0..TOTAL).map(|n| n as u8).collect();
            for piece in bytes.chunks(100) {
                server.write_all(piece).await.unwrap();
                rt::task::yield_now().await;
            }
            server.shutdown().await.unwrap();
            let (read, stolen) = (reading.await.unwrap(), stealing.join().unwrap());
            for byte in 0..256 {
                let written = bytes.iter().filter(|other| usize::from(**other) == byte).count();
                assert_eq!(read[byte] + stolen[byte], written as u64, "byte {byte}");
            }
        });
    });
}

/// Between the system's refusal and the moment at which rt draws its conclusion, the event comes that matters.
#[test]
fn a_byte_that_comes_while_a_read_is_being_refused_is_not_missed() {
    let _watchdog = watchdog();
    // (On one thread nothing can come meanwhile.)
    for runtime in [multi(2), multi(4)] {
        let metrics = runtime.metrics();
        let reader = runtime.spawn(async move {
            let (ours, mut theirs) = UnixStream::pair().unwrap();
            ours.set_nonblocking(true).unwrap();
            let mut thief = ours.try_clone().unwrap();
            let ours = AsyncFd::with_interest(ours, Interest::READABLE).unwrap();
            for _ in 0..20 {
                theirs.write_all(b"-").unwrap();
                ours.readable().await.unwrap().retain_ready();
                thief.read_exact(&mut [0]).unwrap();
                let (mut byte, mut refused) = ([0], 0);
                let read = ours.async_io(Interest::READABLE, |mut socket| {
                    let outcome = socket.read(&mut byte);
                    if outcome.is_err() {
                        refused += 1;
                        let before = metrics.drivers().io_events;
                        theirs.write_all(b"!").unwrap();
                        eventually(|| metrics.drivers().io_events > before);
                    }
                    outcome
                });
                assert_eq!(read.await.unwrap(), 1);
                assert_eq!((byte, refused), (*b"!", 1));
            }
        });
        runtime.block_on(reader).unwrap();
    }
}

#[test]
fn a_write_whose_room_was_filled_by_another_waits_for_more() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            // Not TCP, where room can come from what is on the way.
            let (ours, mut theirs) = UnixStream::pair().unwrap();
            ours.set_nonblocking(true).unwrap();
            let mut other = ours.try_clone().unwrap();
            let ours = AsyncFd::new(ours).unwrap();
            for _ in 0..20 {
                ours.writable().await.unwrap().retain_ready();
                let mut held = 0;
                let error = loop {
                    match other.write(&[1; 4096]) {
                        Ok(n) => held += n,
                        Err(error) => break error,
                    }
                };
                assert_eq!(error.kind(), ErrorKind::WouldBlock);
                let mut write = pin!(ours.async_io(Interest::WRITABLE, |mut socket| socket.write(b"the last of it")));
                assert!(poll_once(write.as_mut()).await.is_pending());
                theirs.read_exact(&mut vec![0; held]).unwrap();
                assert_eq!(write.await.unwrap(), 14);
                let mut last = [0; 14];
                theirs.read_exact(&mut last).unwrap();
                assert_eq!(&last, b"the last of it");
            }
        });
    });
}

#[test]
fn an_accept_whose_connection_was_taken_by_another_waits_for_the_next() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let thief: StdListener = listener.as_fd().try_clone_to_owned().unwrap().into();
            let metrics = Handle::current().metrics();
            for _ in 0..50 {
                let mut accept = pin!(listener.accept());
                assert!(poll_once(accept.as_mut()).await.is_pending());
                let before = metrics.drivers().io_events;
                let client = TcpStream::connect(address).await.unwrap();
                let stolen = thief.accept().unwrap();
                // The client's event and the listener's: the wake for nothing has come, or will come at any moment.
                while metrics.drivers().io_events < before + 2 {
                    rt::task::yield_now().await;
                }
                for _ in 0..10 {
                    assert!(poll_once(accept.as_mut()).await.is_pending());
                    rt::task::yield_now().await;
                }
                let next = TcpStream::connect(address).await.unwrap();
                let (accepted, peer) = accept.await.unwrap();
                assert_eq!(peer, next.local_addr().unwrap());
                drop((client, stolen, accepted));
            }
        });
    });
}

#[test]
fn a_wake_without_any_event_leaves_a_read_waiting() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let (mut client, mut server) = tcp_pair().await;
            let wakers = Channel::new();
            let give = wakers.clone();
            let reader = rt::spawn(async move {
                let mut bytes = [0; 3];
                let mut read = pin!(client.read_exact(&mut bytes));
                let outcome = std::future::poll_fn(|cx| {
                    give.send(cx.waker().clone());
                    read.as_mut().poll(cx)
                });
                outcome.await.unwrap();
                bytes
            });
            for _ in 0..100 {
                wakers.receive().await.wake();
            }
            assert!(!reader.is_finished());
            server.write_all(b"abc").await.unwrap();
            assert_eq!(&reader.await.unwrap(), b"abc");
        });
    });
}
