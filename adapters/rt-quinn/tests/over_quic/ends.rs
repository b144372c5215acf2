//! How connections end: by a word, for lack of one, and with the runtime.

use std::net::UdpSocket;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use quinn::{ConnectionError, TransportConfig, WriteError};
use rt::time::Instant;
use rt_test_util::{current, multi, poll_once, watchdog};

use crate::peers::Peers;

const IDLE: Duration = Duration::from_secs(20);

fn with_idle_timeout() -> TransportConfig {
    let mut transport = TransportConfig::default();
    transport.max_idle_timeout(Some(IDLE.try_into().unwrap()));
    transport
}

#[rt::test]
async fn the_peer_is_told_why_a_connection_was_closed() {
    let _watchdog = watchdog();
    let peers = Peers::new(TransportConfig::default());
    let (server, client) = peers.connect().await;
    client.close(7_u32.into(), b"enough");
    let ConnectionError::ApplicationClosed(close) = server.closed().await else { panic!("it was closed otherwise") };
    assert_eq!((close.error_code, &*close.reason), (7_u32.into(), &b"enough"[..]));
    assert!(matches!(client.closed().await, ConnectionError::LocallyClosed));
    peers.client.wait_idle().await;
    peers.server.wait_idle().await;
}

#[rt::test(start_paused = true)]
async fn a_connection_without_traffic_ends_when_its_time_is_over() {
    let _watchdog = watchdog();
    let peers = Peers::new(with_idle_timeout());
    let (server, client) = peers.connect().await;
    let start = Instant::now();
    assert!(matches!(client.closed().await, ConnectionError::TimedOut));
    assert!(matches!(server.closed().await, ConnectionError::TimedOut));
    // The last datagram was a little earlier.
    assert!(start.elapsed() >= IDLE / 2, "after {:?}", start.elapsed());
}

#[rt::test(start_paused = true)]
async fn a_peer_that_does_not_answer_is_given_up() {
    let _watchdog = watchdog();
    let peers = Peers::new(with_idle_timeout());
    let silent = UdpSocket::bind("127.0.0.1:0").unwrap();
    let start = Instant::now();
    let connecting = peers.client.connect(silent.local_addr().unwrap(), "localhost").unwrap();
    assert!(matches!(connecting.await, Err(ConnectionError::TimedOut)));
    assert!(start.elapsed() >= IDLE / 2, "after {:?}", start.elapsed());
}

#[rt::test(start_paused = true)]
async fn a_peer_that_is_not_there_is_given_up_and_harms_no_other_connection() {
    let _watchdog = watchdog();
    let peers = Peers::new(with_idle_timeout());
    let nobody = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let connecting = peers.client.connect(nobody, "localhost").unwrap();
    assert!(matches!(connecting.await, Err(ConnectionError::TimedOut)));
    let (server, client) = peers.connect().await;
    client.close(0_u32.into(), b"");
    assert!(matches!(server.closed().await, ConnectionError::ApplicationClosed(_)));
}

#[test]
fn what_outlives_the_runtime_can_be_dropped() {
    let _watchdog = watchdog();
    for runtime in [current(), multi(2)] {
        let (peers, server, client, mut sender) = runtime.block_on(async {
            let peers = Peers::new(TransportConfig::default());
            let (server, client) = peers.connect().await;
            let mut sender = client.open_uni().await.unwrap();
            sender.write_all(b"hello").await.unwrap();
            (peers, server, client, sender)
        });
        drop(runtime);
        let other = current();
        assert!(other.block_on(peers.server.accept()).is_none());
        drop((server, client));
        // Nobody sends it any more, so at some point there is no room, and no panic.
        let outcome = other.block_on(async { poll_once(pin!(sender.write_all(&[0; 1 << 20]))).await });
        assert!(matches!(outcome, Poll::Pending | Poll::Ready(Err(WriteError::ConnectionLost(_)))));
        drop(sender);
        drop(peers);
    }
}

#[test]
fn a_runtime_ends_while_connections_of_its_tasks_are_busy() {
    let _watchdog = watchdog();
    for runtime in [current(), multi(2)] {
        runtime.block_on(async {
            let peers = Peers::new(TransportConfig::default());
            let (server, client) = peers.connect().await;
            let mut sender = client.open_uni().await.unwrap();
            rt::spawn(async move { while sender.write_all(&[0; 10_000]).await.is_ok() {} });
            let mut receiver = server.accept_uni().await.unwrap();
            let mut buffer = vec![0; 100_000];
            receiver.read_exact(&mut buffer).await.unwrap();
            rt::spawn(async move {
                while let Ok(Some(_)) = receiver.read(&mut buffer).await {}
                drop((peers, server, client));
            });
        });
        drop(runtime);
    }
}
