//! What a connection over loopback does not come to by itself: a lack of room, and refusals.

use std::future::poll_fn;
use std::io::{self, IoSliceMut};
use std::net::UdpSocket;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Waker};

use quinn::udp::{RecvMeta, Transmit};
use quinn::{AsyncUdpSocket, UdpPoller};
use rt::io::Interest;

use super::Socket;

fn is_pending(poller: &mut Pin<Box<dyn UdpPoller>>) -> bool {
    poller.as_mut().poll_writable(&mut Context::from_waker(Waker::noop())).is_pending()
}

#[rt::test]
async fn all_who_wait_for_room_are_woken() {
    let _watchdog = rt_test_util::watchdog();
    let raw = UdpSocket::bind("127.0.0.1:0").unwrap();
    let sender = raw.try_clone().unwrap();
    let socket = Arc::new(Socket::new(raw).unwrap());
    socket.io.writable().await.unwrap();
    let full: io::Result<()> = socket.io.try_io(Interest::WRITABLE, || Err(io::ErrorKind::WouldBlock.into()));
    assert!(full.is_err());

    let mut pollers: Vec<_> = (0..3).map(|_| socket.clone().create_io_poller()).collect();
    assert!(pollers.iter_mut().all(is_pending));
    let waiting: Vec<_> = pollers
        .into_iter()
        .map(|mut poller| {
            rt::spawn(async move {
                poll_fn(|cx| poller.as_mut().poll_writable(cx)).await.unwrap();
                poller
            })
        })
        .collect();
    rt::task::yield_now().await;
    // When the kernel is done with the datagram, there is room again.
    sender.send_to(b"x", sender.local_addr().unwrap()).unwrap();
    for waits in waiting {
        // It can be asked again.
        assert!(!is_pending(&mut waits.await.unwrap()));
    }
}

#[rt::test]
async fn a_refusal_does_not_end_receiving() {
    let _watchdog = rt_test_util::watchdog();
    let gone = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let raw = UdpSocket::bind("127.0.0.1:0").unwrap();
    raw.connect(gone).unwrap();
    let socket = Socket::new(raw).unwrap();
    socket.io.writable().await.unwrap();
    let transmit = Transmit { destination: gone, ecn: None, contents: b"x", segment_size: None, src_ip: None };
    socket.try_send(&transmit).unwrap();

    let back = UdpSocket::bind(gone).unwrap();
    back.send_to(b"hello", socket.local_addr().unwrap()).unwrap();
    let (mut memory, mut meta) = ([0; 64], [RecvMeta::default()]);
    let received = poll_fn(|cx| socket.poll_recv(cx, &mut [IoSliceMut::new(&mut memory)], &mut meta)).await;
    assert_eq!(received.unwrap(), 1);
    assert_eq!(&memory[..meta[0].len], b"hello");
}
