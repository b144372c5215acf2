//! Datagrams over UDP: each is received once, whole; none is lost with a receive that is given up.
//!
//! Mutations that these tests are for: readiness that is cleared after a short read (a datagram always is one, and more
//! may be there); a receive that takes a datagram and is then dropped with it; an error that is kept or lost.

use std::collections::HashSet;
use std::future::poll_fn;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use rt::io::{Interest, ReadBuf};
use rt::net::UdpSocket;
use rt::time::timeout;

use rt_test_util::*;

async fn bound() -> (UdpSocket, SocketAddr) {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let address = socket.local_addr().unwrap();
    (socket, address)
}

/// Two that are connected to each other.
async fn connected() -> (UdpSocket, UdpSocket) {
    let ((one, at), (other, at_other)) = (bound().await, bound().await);
    one.connect(at_other).await.unwrap();
    other.connect(at).await.unwrap();
    (one, other)
}

#[test]
fn what_was_there_before_the_first_receive_is_all_received_on_one_event() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let receiver = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
            receiver.set_nonblocking(true).unwrap();
            let sender = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
            for n in 0..20u8 {
                sender.send_to(&[n; 3], receiver.local_addr().unwrap()).unwrap();
            }
            // Registered only now: there is one event, for all of them.
            let receiver = UdpSocket::from_std(receiver).unwrap();
            let mut buffer = [0; 100];
            for n in 0..20u8 {
                match n % 4 {
                    0 => assert_eq!(receiver.recv(&mut buffer).await.unwrap(), 3),
                    1 => assert_eq!(receiver.recv_from(&mut buffer).await.unwrap().0, 3),
                    2 => {
                        let mut read = ReadBuf::new(&mut buffer);
                        poll_fn(|cx| receiver.poll_recv_from(cx, &mut read)).await.unwrap();
                        assert_eq!(read.filled().len(), 3);
                    }
                    _ => {
                        receiver.readable().await.unwrap();
                        assert_eq!(receiver.try_recv(&mut buffer).unwrap(), 3);
                    }
                }
                assert_eq!(buffer[..3], [n; 3]);
            }
            assert_eq!(receiver.try_recv(&mut buffer).unwrap_err().kind(), ErrorKind::WouldBlock);
        });
    });
}

#[test]
fn a_receive_that_is_given_up_loses_no_datagram() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let (receiver, address) = bound().await;
            let sender = rt::spawn(async move {
                let (sender, _) = bound().await;
                for n in 0..100u8 {
                    sender.send_to(&[n], address).await.unwrap();
                    if n % 8 == 0 {
                        rt::time::sleep(Duration::from_micros(300)).await;
                    }
                }
            });
            let receiver = Arc::new(receiver);
            let mut seen = Vec::new();
            for attempt in 0.. {
                let received = match attempt % 3 {
                    0 => {
                        let mut byte = [0];
                        let outcome = poll_once(std::pin::pin!(receiver.recv(&mut byte))).await;
                        match outcome {
                            Poll::Ready(outcome) => Some((outcome.unwrap(), byte[0])),
                            Poll::Pending => None,
                        }
                    }
                    1 => {
                        let mut byte = [0];
                        let outcome = timeout(Duration::from_micros(200), receiver.recv_from(&mut byte)).await;
                        outcome.ok().map(|outcome| (outcome.unwrap().0, byte[0]))
                    }
                    _ => {
                        let receiver = receiver.clone();
                        let task = rt::spawn(async move {
                            let mut byte = [0];
                            (receiver.recv(&mut byte).await.unwrap(), byte[0])
                        });
                        rt::task::yield_now().await;
                        task.abort();
                        // If it was quicker than the abort, the datagram is in the output.
                        task.await.ok()
                    }
                };
                if let Some((length, byte)) = received {
                    assert_eq!(length, 1);
                    seen.push(byte);
                    if seen.len() == 100 {
                        break;
                    }
                }
            }
            assert_eq!(seen, (0..100).collect::<Vec<_>>());
            sender.await.unwrap();
        });
    });
}

#[test]
fn of_many_tasks_that_receive_on_one_socket_each_gets_its_datagrams_and_none_gets_anothers() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let (receiver, address) = bound().await;
            let receiver = Arc::new(receiver);
            let tasks: Vec<_> = (0..8)
                .map(|_| {
                    let receiver = receiver.clone();
                    rt::spawn(async move {
                        let mut seen = Vec::new();
                        loop {
                            let mut byte = [0; 4];
                            let (length, _) = receiver.recv_from(&mut byte).await.unwrap();
                            if length == 0 {
                                return seen;
                            }
                            seen.push(u32::from_be_bytes(byte));
                        }
                    })
                })
                .collect();
            let (sender, _) = bound().await;
            for n in 0..120u32 {
                sender.send_to(&n.to_be_bytes(), address).await.unwrap();
                if n % 16 == 0 {
                    rt::task::yield_now().await;
                }
            }
            // An empty datagram for each ends it: it is a datagram like any other.
            for _ in 0..8 {
                sender.send_to(&[], address).await.unwrap();
            }
            let mut all = Vec::new();
            for task in tasks {
                all.extend(task.await.unwrap());
            }
            assert_eq!(all.len(), all.iter().collect::<HashSet<_>>().len(), "one was received twice");
            all.sort_unstable();
            assert_eq!(all, (0..120).collect::<Vec<_>>());
        });
    });
}

#[test]
fn every_form_of_receiving_and_sending_moves_the_same_bytes() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let (one, other) = connected().await;
            let (at_one, at_other) = (one.local_addr().unwrap(), other.local_addr().unwrap());
            assert_eq!(one.peer_addr().unwrap(), at_other);

            assert_eq!(one.send(b"send").await.unwrap(), 4);
            assert_eq!(one.try_send(b"try_send").unwrap(), 8);
            assert_eq!(poll_fn(|cx| one.poll_send(cx, b"poll_send")).await.unwrap(), 9);
            let mut vector = Vec::new();
            assert_eq!(other.recv_buf(&mut vector).await.unwrap(), 4);
            other.readable().await.unwrap();
            assert_eq!(other.try_recv_buf(&mut vector).unwrap(), 8);
            assert_eq!(other.recv_buf_from(&mut vector).await.unwrap(), (9, at_one));
            assert_eq!(vector, b"sendtry_sendpoll_send");

            let (stranger, at_stranger) = bound().await;
            let (listener, at_listener) = bound().await;
            assert_eq!(stranger.send_to(b"send_to", at_listener).await.unwrap(), 7);
            assert_eq!(stranger.try_send_to(b"try", at_listener).unwrap(), 3);
            assert_eq!(poll_fn(|cx| stranger.poll_send_to(cx, b"poll", at_listener)).await.unwrap(), 4);
            let mut buffer = [0; 100];
            assert_eq!(listener.peek(&mut buffer).await.unwrap(), 7);
            assert_eq!(listener.peek_from(&mut buffer).await.unwrap(), (7, at_stranger));
            assert_eq!(listener.peek_sender().await.unwrap(), at_stranger);
            assert_eq!(listener.try_peek(&mut buffer).unwrap(), 7);
            assert_eq!(listener.try_peek_from(&mut buffer).unwrap(), (7, at_stranger));
            assert_eq!(listener.try_peek_sender().unwrap(), at_stranger);
            assert_eq!(listener.recv_from(&mut buffer).await.unwrap(), (7, at_stranger));
            assert_eq!(&buffer[..7], b"send_to");
            let mut memory = [std::mem::MaybeUninit::uninit(); 100];
            let mut read = ReadBuf::uninit(&mut memory);
            poll_fn(|cx| listener.poll_peek(cx, &mut read)).await.unwrap();
            poll_fn(|cx| listener.poll_recv(cx, &mut read)).await.unwrap();
            assert_eq!(read.filled(), b"trytry");
            assert_eq!(poll_fn(|cx| listener.poll_peek_sender(cx)).await.unwrap(), at_stranger);
            let mut vector = Vec::with_capacity(10);
            assert_eq!(listener.try_recv_buf_from(&mut vector).unwrap(), (4, at_stranger));
            assert_eq!(vector, b"poll");
            for outcome in [listener.try_recv(&mut buffer), listener.try_peek(&mut buffer)] {
                assert_eq!(outcome.unwrap_err().kind(), ErrorKind::WouldBlock);
            }
        });
    });
}

#[test]
fn what_does_not_fit_is_cut_off_and_the_next_datagram_is_whole() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let (one, other) = connected().await;
            one.send(&[1; 60_000]).await.unwrap();
            one.send(b"next").await.unwrap();
            let mut buffer = [0; 10];
            if cfg!(unix) {
                assert_eq!(other.recv(&mut buffer).await.unwrap(), 10);
            } else {
                other.recv(&mut buffer).await.unwrap_err();
            }
            assert_eq!(other.recv(&mut buffer).await.unwrap(), 4);
            assert_eq!(&buffer[..4], b"next");
            // Longer than any datagram can be.
            one.send(&[0; 100_000]).await.unwrap_err();
        });
    });
}

/// What comes back when nobody is there is told once, to a receiver that waits; then the socket goes on.
#[test]
#[cfg(target_os = "linux")]
fn a_refusal_is_told_to_who_waits_and_only_once() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let (client, _) = bound().await;
            let (nobody, address) = bound().await;
            drop(nobody);
            client.connect(address).await.unwrap();
            let mut buffer = [0; 10];
            for _ in 0..10 {
                let mut receive = std::pin::pin!(client.recv(&mut buffer));
                assert!(poll_once(receive.as_mut()).await.is_pending());
                client.send(b"?").await.unwrap();
                assert_eq!(receive.await.unwrap_err().kind(), ErrorKind::ConnectionRefused);
            }
            assert!(client.take_error().unwrap().is_none());
            // Somebody is there now.
            let server = UdpSocket::bind(address).await.unwrap();
            client.send(b"hello").await.unwrap();
            let (length, from) = server.recv_from(&mut buffer).await.unwrap();
            server.send_to(b"answer", from).await.unwrap();
            assert_eq!((length, client.recv(&mut buffer).await.unwrap()), (5, 6));
        });
    });
}

#[test]
fn operations_of_ones_own_are_tried_until_they_work() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let (one, other) = connected().await;
            let raw = socket2::SockRef::from(&other).try_clone().unwrap();
            let receive = || {
                let mut buffer = [std::mem::MaybeUninit::uninit(); 10];
                raw.recv(&mut buffer)
            };
            {
                let mut operation = std::pin::pin!(other.async_io(Interest::READABLE, receive));
                assert!(poll_once(operation.as_mut()).await.is_pending());
                one.send(b"hello").await.unwrap();
                assert_eq!(operation.await.unwrap(), 5);
            }
            // Not known to be empty until it was tried once more.
            while other.try_io(Interest::READABLE, receive).is_ok() {}
            let refused = other.try_io(Interest::READABLE, || -> std::io::Result<()> { unreachable!("it is empty") });
            assert_eq!(refused.unwrap_err().kind(), ErrorKind::WouldBlock);
        });
    });
}

#[test]
fn options_are_what_they_were_set_to() {
    let _watchdog = watchdog();
    current().block_on(async {
        let (socket, _) = bound().await;
        socket.set_broadcast(true).unwrap();
        assert!(socket.broadcast().unwrap());
        socket.set_ttl(9).unwrap();
        assert_eq!(socket.ttl().unwrap(), 9);
        socket.set_multicast_loop_v4(false).unwrap();
        assert!(!socket.multicast_loop_v4().unwrap());
        socket.set_multicast_ttl_v4(7).unwrap();
        assert_eq!(socket.multicast_ttl_v4().unwrap(), 7);
        #[cfg(target_os = "linux")]
        {
            socket.set_tos_v4(0x10).unwrap();
            assert_eq!(socket.tos_v4().unwrap(), 0x10);
            assert_eq!(socket.device().unwrap(), None);
        }
        assert!(socket.join_multicast_v4("127.0.0.1".parse().unwrap(), "0.0.0.0".parse().unwrap()).is_err());
    });
}
