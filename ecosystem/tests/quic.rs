//! quinn: a transfer over UDP, through a relay that loses datagrams.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use ecosystem::Certificate;
use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn::{ClientConfig, Connection, Endpoint, ServerConfig};
use tokio::net::UdpSocket;

/// Passes datagrams on between one client and the server, but for every tenth in each direction.
async fn lossy_relay(server: SocketAddr) -> (SocketAddr, Arc<AtomicUsize>) {
    let outer = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let inner = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    inner.connect(server).await.unwrap();
    let address = outer.local_addr().unwrap();
    let lost = Arc::new(AtomicUsize::new(0));
    let lost_in_relay = lost.clone();
    tokio::spawn(async move {
        let (mut there, mut back) = (vec![0; 65536], vec![0; 65536]);
        let (mut counts, mut client) = ([0usize; 2], None);
        let mut loses = |direction: usize| {
            counts[direction] += 1;
            let loses = counts[direction] % 10 == 9;
            lost_in_relay.fetch_add(usize::from(loses), Relaxed);
            loses
        };
        loop {
            // A send that fails is a loss, too.
            tokio::select! {
                Ok((length, from)) = outer.recv_from(&mut there) => {
                    client = Some(from);
                    if !loses(0) {
                        let _ = inner.send(&there[..length]).await;
                    }
                }
                Ok(length) = inner.recv(&mut back) => {
                    if let (Some(client), false) = (client, loses(1)) {
                        let _ = outer.send_to(&back[..length], client).await;
                    }
                }
            }
        }
    });
    (address, lost)
}

fn endpoints() -> (Endpoint, Endpoint) {
    let certificate = Certificate::new();
    let server = QuicServerConfig::try_from(certificate.server(&["echo"])).unwrap();
    let server = Endpoint::server(ServerConfig::with_crypto(Arc::new(server)), "127.0.0.1:0".parse().unwrap()).unwrap();
    let mut client = Endpoint::client("127.0.0.1:0".parse().unwrap()).unwrap();
    let config = QuicClientConfig::try_from(certificate.client(&["echo"])).unwrap();
    client.set_default_client_config(ClientConfig::new(Arc::new(config)));
    (server, client)
}

/// Sends back what it gets on each stream.
async fn echo(server: Endpoint) {
    while let Some(connecting) = server.accept().await {
        tokio::spawn(async move {
            let connection = connecting.await.unwrap();
            while let Ok((mut send, mut receive)) = connection.accept_bi().await {
                tokio::spawn(async move {
                    tokio::io::copy(&mut receive, &mut send).await.unwrap();
                    send.finish().unwrap();
                });
            }
        });
    }
}

async fn there_and_back(connection: &Connection, data: Vec<u8>) {
    let (mut send, mut receive) = connection.open_bi().await.unwrap();
    let sent = async {
        send.write_all(&data).await.unwrap();
        send.finish().unwrap();
    };
    let (received, ()) = tokio::join!(receive.read_to_end(data.len()), sent);
    assert!(received.unwrap() == data);
}

fn data(length: usize, seed: usize) -> Vec<u8> {
    (0..length).map(|n| (n.wrapping_mul(2654435761) >> 13) as u8 ^ seed as u8).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_streams_of_one_connection() {
    let (server, client) = endpoints();
    let address = server.local_addr().unwrap();
    tokio::spawn(echo(server));
    let connection = client.connect(address, "localhost").unwrap().await.unwrap();
    let streams = (0..50).map(|n| there_and_back(&connection, data(100_000, n)));
    futures::future::join_all(streams).await;

    connection.close(7u32.into(), b"enough");
    client.wait_idle().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_missing_where_datagrams_are_lost() {
    let (server, client) = endpoints();
    let (relay, lost) = lossy_relay(server.local_addr().unwrap()).await;
    tokio::spawn(echo(server));
    let connection = client.connect(relay, "localhost").unwrap().await.unwrap();
    there_and_back(&connection, data(1_000_000, 0)).await;
    assert!(lost.load(Relaxed) > 50, "{lost:?}");
    assert!(connection.stats().path.lost_packets > 0);
}
