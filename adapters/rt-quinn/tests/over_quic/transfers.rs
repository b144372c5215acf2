//! Bytes arrive, all of them, in order, and in as few calls as the system allows.

use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use quinn::udp::UdpSocketState;
use quinn::{Connection, RecvStream, SendStream, TransportConfig};
use rt_test_util::watchdog;

use crate::peers::{Peers, Watched};

const MIB: usize = 1 << 20;

/// Not the same everywhere, and not the same in both directions.
fn bytes(length: usize, seed: usize) -> Vec<u8> {
    (0..length).map(|n| (n / 251 + n * seed) as u8).collect()
}

async fn send(mut stream: SendStream, length: usize, seed: usize) {
    stream.write_all(&bytes(length, seed)).await.unwrap();
    stream.finish().unwrap();
}

async fn receive(mut stream: RecvStream, length: usize, seed: usize) {
    // `assert_eq` would print them all.
    assert!(stream.read_to_end(2 * length).await.unwrap() == bytes(length, seed), "other bytes have arrived");
}

/// Sends as much both ways at the same time on one stream. Returns when all has arrived.
async fn exchange(server: &Connection, client: &Connection, length: usize) {
    let (sender, receiver) = client.open_bi().await.unwrap();
    let mut tasks = vec![rt::spawn(send(sender, length, 3)), rt::spawn(receive(receiver, length, 5))];
    let (sender, receiver) = server.accept_bi().await.unwrap();
    tasks.extend([rt::spawn(send(sender, length, 5)), rt::spawn(receive(receiver, length, 3))]);
    for task in tasks {
        task.await.unwrap();
    }
}

#[rt::test]
async fn ten_mebibytes_go_both_ways_at_once_on_one_thread() {
    let _watchdog = watchdog();
    let peers = Peers::new(TransportConfig::default());
    let (server, client) = peers.connect().await;
    exchange(&server, &client, 10 * MIB).await;
}

#[rt::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_mebibytes_go_both_ways_at_once_on_workers() {
    let _watchdog = watchdog();
    let peers = Peers::new(TransportConfig::default());
    let (server, client) = peers.connect().await;
    exchange(&server, &client, 10 * MIB).await;
}

#[rt::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_streams_of_many_connections_get_their_own_bytes_back() {
    const CONNECTIONS: usize = 4;
    const STREAMS: usize = 200;
    const LENGTH: usize = 5_000;

    let _watchdog = watchdog();
    // Half of the streams have to wait for others to end.
    let mut transport = TransportConfig::default();
    transport.max_concurrent_bidi_streams((STREAMS as u32 / 2).into());
    let peers = Peers::new(transport);
    let mut connections = Vec::new();
    let mut tasks = Vec::new();
    for connection in 0..CONNECTIONS {
        let (server, client) = peers.connect().await;
        tasks.push(rt::spawn(async move {
            for _ in 0..STREAMS {
                let (mut sender, mut receiver) = server.accept_bi().await.unwrap();
                rt::spawn(async move {
                    let received = receiver.read_to_end(2 * LENGTH).await.unwrap();
                    sender.write_all(&received).await.unwrap();
                    sender.finish().unwrap();
                    // Until the other side has it, or does not want it.
                    let _ = sender.stopped().await;
                });
            }
            // It has all that it was to get, and stays for those who are still sending.
            server.closed().await;
        }));
        let streams: Vec<_> = (0..STREAMS)
            .map(|stream| {
                let client = client.clone();
                let seed = connection * STREAMS + stream;
                rt::spawn(async move {
                    let (sender, receiver) = client.open_bi().await.unwrap();
                    send(sender, LENGTH, seed).await;
                    receive(receiver, LENGTH, seed).await;
                })
            })
            .collect();
        connections.push((client, streams));
    }
    for (client, streams) in connections {
        for stream in streams {
            stream.await.unwrap();
        }
        client.close(0_u32.into(), b"");
    }
    for task in tasks {
        task.await.unwrap();
    }
}

#[rt::test]
async fn many_datagrams_go_in_one_call_where_the_system_can() {
    let _watchdog = watchdog();
    let runtime = Watched::default();
    let seen = runtime.seen.clone();
    let peers = Peers::on(Arc::new(runtime), TransportConfig::default());
    let (server, client) = peers.connect().await;
    exchange(&server, &client, MIB).await;
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let can_segment = UdpSocketState::new((&socket).into()).unwrap().max_gso_segments() > 1;
    assert_eq!(seen.segmented.load(Relaxed) > 0, can_segment, "{seen:?}");
}

#[rt::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_arrives_though_the_socket_is_full_now_and_then() {
    let _watchdog = watchdog();
    let runtime = Watched { full_every: Some(5), ..Watched::default() };
    let seen = runtime.seen.clone();
    let peers = Peers::on(Arc::new(runtime), TransportConfig::default());
    for (server, client) in [peers.connect().await, peers.connect().await] {
        exchange(&server, &client, MIB).await;
    }
    assert!(seen.waits.load(Relaxed) > 0);
}
