//! The next descriptor gets the number of the one that has just been closed, and its place in the driver's table.
//! Events for the old one, which may be under way at that moment, do not reach the new one.
//!
//! Mutations that these tests are for: an event delivered without a look at the generation; a place that is handed on
//! with the flags, or the waiters, of its predecessor.

use std::io::Write;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream as StdStream;
use std::sync::mpsc;
use std::thread;

use rt::io::unix::AsyncFd;
use rt::io::{AsyncReadExt, AsyncWriteExt, Interest};
use rt::net::unix::pipe;
use rt::net::{TcpListener, TcpStream, UdpSocket, UnixDatagram, UnixStream};

use rt_test_util::*;

fn pair() -> (AsyncFd<StdStream>, StdStream) {
    let (ours, theirs) = StdStream::pair().unwrap();
    ours.set_nonblocking(true).unwrap();
    (AsyncFd::with_interest(ours, Interest::READABLE).unwrap(), theirs)
}

async fn assert_not_readable(fd: &AsyncFd<StdStream>, what: &str) {
    let readable = poll_once(std::pin::pin!(fd.readable())).await;
    assert!(readable.is_pending(), "{what}: nobody wrote, and it is said to be readable");
}

/// The poller knows what a descriptor stands for, and goes on reporting on that after the descriptor was closed, as
/// long as there is a copy of it. So the test can make any number of events for a registration that is gone.
#[test]
fn events_for_a_registration_that_is_gone_wake_nobody() {
    in_own_process(|| {
        on_each_runtime(|runtime| {
            let metrics = runtime.metrics();
            runtime.block_on(async {
                for _ in 0..100 {
                    let (ours, mut ghost) = StdStream::pair().unwrap();
                    let (number, copy) = (ours.as_raw_fd(), ours.try_clone().unwrap());
                    copy.set_nonblocking(true).unwrap();
                    let gone = AsyncFd::<RawFd>::with_interest(number, Interest::READABLE).unwrap();
                    // Closed without its knowledge, so that nothing can take it out of the poller any more.
                    drop(ours);
                    drop(gone);

                    let (heir, mut theirs) = pair();
                    assert_eq!(heir.as_raw_fd(), number);
                    let mut readable = std::pin::pin!(heir.readable());
                    assert!(poll_once(readable.as_mut()).await.is_pending());
                    let events = metrics.drivers().io_events;
                    ghost.write_all(b"boo").unwrap();
                    while metrics.drivers().io_events == events {
                        rt::task::yield_now().await;
                    }
                    assert!(poll_once(readable.as_mut()).await.is_pending(), "woken by a ghost");
                    // What is its own does wake it.
                    theirs.write_all(b"x").unwrap();
                    readable.await.unwrap().clear_ready();
                }
            });
        });
    });
}

/// A crowd is written to at the same time, so that the driver has many events to deliver; meanwhile each of the crowd
/// is dropped and another one is made in its place.
#[test]
fn a_new_descriptor_gets_no_event_of_the_old_one_that_had_its_number() {
    const CROWD: usize = 100;
    in_own_process(|| {
        on_each_runtime(|runtime| {
            // A thread that writes to whatever it is handed, and hands it back: it must not close any meanwhile, for
            // then those numbers would be used again.
            let (crowds, to_write) = mpsc::channel::<Vec<StdStream>>();
            let (written, back) = mpsc::channel();
            let writer = thread::spawn(move || {
                for mut crowd in to_write {
                    for theirs in &mut crowd {
                        // Some have no other end any more.
                        let _ = theirs.write_all(b"old");
                    }
                    written.send(crowd).unwrap();
                }
            });
            runtime.block_on(async {
                let task = rt::spawn(async move {
                    let mut same = 0;
                    for _ in 0..100 {
                        let (crowd, theirs): (Vec<_>, Vec<_>) = (0..CROWD).map(|_| pair()).unzip();
                        crowds.send(theirs).unwrap();
                        let mut silent = Vec::with_capacity(CROWD);
                        for fd in crowd {
                            let number = fd.as_raw_fd();
                            drop(fd);
                            let (successor, theirs) = pair();
                            same += usize::from(successor.as_raw_fd() == number);
                            assert_not_readable(&successor, "at once").await;
                            silent.push((successor, theirs));
                        }
                        rt::task::yield_now().await;
                        for (successor, _theirs) in &silent {
                            assert_not_readable(successor, "later").await;
                        }
                        drop(back.recv().unwrap());
                    }
                    same
                });
                assert!(task.await.unwrap() > 1000, "hardly any number was used again: nothing was tested");
            });
            writer.join().unwrap();
        });
    });
}

#[test]
fn a_connection_in_the_place_of_one_that_was_aborted_reads_what_is_its_own() {
    in_own_process(|| {
        on_each_runtime(|runtime| {
            runtime.block_on(async {
                let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
                let address = listener.local_addr().unwrap();
                // It sends each one its number, and lets go of it some time later.
                let server = rt::spawn(async move {
                    let mut before = None;
                    for n in 0..1000u32 {
                        let (mut socket, _) = listener.accept().await.unwrap();
                        // Some clients are gone by now.
                        let _ = socket.write_all(&n.to_be_bytes()).await;
                        before = Some(socket);
                    }
                    drop(before);
                });
                let (mut same, mut last) = (0, -1);
                for n in 0..1000u32 {
                    let mut socket = TcpStream::connect(address).await.unwrap();
                    same += usize::from(socket.as_raw_fd() == last);
                    last = socket.as_raw_fd();
                    let reader = rt::spawn(async move {
                        let mut number = [0; 4];
                        socket.read_exact(&mut number).await.map(|_| u32::from_be_bytes(number))
                    });
                    if n % 2 == 0 {
                        // While it waits, while its number is on the way, or when it has come.
                        for _ in 0..n / 2 % 4 {
                            rt::task::yield_now().await;
                        }
                        reader.abort();
                        if let Ok(read) = reader.await {
                            assert_eq!(read.unwrap(), n);
                        }
                    } else {
                        assert_eq!(reader.await.unwrap().unwrap(), n);
                    }
                }
                server.await.unwrap();
                assert!(same > 100, "hardly any number was used again: nothing was tested");
            });
        });
    });
}

/// Sockets and pipes of every kind take over each other's numbers, with events on the way, and each hears only of what
/// is its own.
#[test]
fn a_number_that_goes_from_one_kind_to_another_takes_nothing_along() {
    in_own_process(|| {
        on_each_runtime(|runtime| {
            runtime.block_on(async {
                let mut same = 0;
                let mut last = -1;
                for n in 0..400u32 {
                    let byte = [n as u8];
                    let mut read = [0];
                    let number = match n % 4 {
                        0 => {
                            let (one, mut other) = UnixStream::pair().unwrap();
                            let mut reading = std::pin::pin!(other.read(&mut read));
                            assert!(poll_once(reading.as_mut()).await.is_pending(), "something is left of another");
                            let mut one = one;
                            one.write_all(&byte).await.unwrap();
                            assert_eq!(reading.await.unwrap(), 1);
                            one.as_raw_fd()
                        }
                        1 => {
                            let (one, other) = UnixDatagram::pair().unwrap();
                            {
                                let mut receiving = std::pin::pin!(other.recv(&mut read));
                                assert!(poll_once(receiving.as_mut()).await.is_pending());
                                one.send(&byte).await.unwrap();
                                assert_eq!(receiving.await.unwrap(), 1);
                            }
                            // One more, which nobody hears of.
                            one.send(&byte).await.unwrap();
                            one.as_raw_fd()
                        }
                        2 => {
                            let (mut sender, mut receiver) = pipe::pipe().unwrap();
                            let mut reading = std::pin::pin!(receiver.read(&mut read));
                            assert!(poll_once(reading.as_mut()).await.is_pending());
                            sender.write_all(&byte).await.unwrap();
                            assert_eq!(reading.await.unwrap(), 1);
                            sender.as_raw_fd()
                        }
                        _ => {
                            let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
                            let address = socket.local_addr().unwrap();
                            {
                                let mut receiving = std::pin::pin!(socket.recv(&mut read));
                                assert!(poll_once(receiving.as_mut()).await.is_pending());
                                socket.send_to(&byte, address).await.unwrap();
                                assert_eq!(receiving.await.unwrap(), 1);
                            }
                            socket.send_to(&byte, address).await.unwrap();
                            socket.as_raw_fd()
                        }
                    };
                    assert_eq!(read, byte);
                    same += usize::from(number == last);
                    last = number;
                }
                assert!(same > 100, "hardly any number was used again: nothing was tested");
            });
        });
    });
}
