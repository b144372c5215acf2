//! An echo server under random sizes, many connections and abrupt closes: every byte comes back, in order, or the
//! connection ends with an error; no task waits for ever.
//!
//! Mutations that these tests are for: readiness that is cleared although an event came meanwhile (a hang); an event
//! delivered to the token's next owner; a write that is taken for complete.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;

use rt::io::{AsyncReadExt, AsyncWriteExt};
use rt::net::{TcpListener, TcpStream};
use rt_test_util::*;

/// Echoes until the peer is done, with buffers of a size that varies from connection to connection.
async fn serve(listener: TcpListener, served: Arc<AtomicUsize>) {
    loop {
        let Ok((mut socket, _)) = listener.accept().await else { return };
        let number = served.fetch_add(1, SeqCst);
        rt::spawn(async move {
            let mut buffer = vec![0; 1 + number * 37 % 5000];
            loop {
                let n = socket.read(&mut buffer).await?;
                if n == 0 {
                    return io::Result::Ok(());
                }
                socket.write_all(&buffer[..n]).await?;
            }
        });
    }
}

/// Bytes that tell where in the stream they stand.
fn byte_at(seed: usize, at: usize) -> u8 {
    (at.wrapping_mul(31) ^ (at >> 8) ^ seed) as u8
}

/// Sends `total` bytes in random pieces while it reads them back, and checks each.
async fn converse(address: SocketAddr, seed: usize, total: usize) -> io::Result<()> {
    let (mut reader, mut writer) = TcpStream::connect(address).await?.into_split();
    let sender = rt::spawn(async move {
        let mut random = Random::new(seed as u64);
        let mut sent = 0;
        while sent < total {
            let n = (1 + random.below(9000) as usize).min(total - sent);
            let piece: Vec<_> = (sent..sent + n).map(|at| byte_at(seed, at)).collect();
            writer.write_all(&piece).await?;
            sent += n;
            if random.below(4) == 0 {
                rt::task::yield_now().await;
            }
        }
        writer.shutdown().await
    });
    let (mut at, mut random) = (0, Random::new(!seed as u64));
    let mut buffer = vec![0; 10_000];
    loop {
        let want = 1 + random.below(10_000) as usize;
        let n = reader.read(&mut buffer[..want]).await?;
        if n == 0 {
            break;
        }
        for (offset, byte) in buffer[..n].iter().enumerate() {
            assert_eq!(*byte, byte_at(seed, at + offset), "connection {seed}, byte {}", at + offset);
        }
        at += n;
    }
    assert_eq!(at, total, "connection {seed}");
    sender.await.unwrap()
}

#[test]
fn every_byte_comes_back_in_order_on_many_connections() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let served = Arc::new(AtomicUsize::new(0));
            rt::spawn(serve(listener, served.clone()));
            let clients: Vec<_> = (0..60).map(|n| rt::spawn(converse(address, n, 1 + n * n * 40))).collect();
            for client in clients {
                client.await.unwrap().unwrap();
            }
            assert_eq!(served.load(SeqCst), 60);
        });
    });
}

#[test]
fn more_than_the_sockets_buffers_hold_goes_through() {
    let _watchdog = watchdog();
    for runtime in [current(), multi(2)] {
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            // (The number decides how large the server's buffer is.)
            rt::spawn(serve(listener, Arc::new(AtomicUsize::new(1000))));
            // Both sides have to wait to write, and to read, over and over.
            converse(address, 1, 12 << 20).await.unwrap();
        });
    }
}

#[test]
fn abrupt_closes_end_their_own_connection_only() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let server = rt::spawn(serve(listener, Arc::default()));
            let clients: Vec<_> = (0..80)
                .map(|n| {
                    rt::spawn(async move {
                        if n % 4 == 3 {
                            return converse(address, n, 20_000).await;
                        }
                        let mut socket = TcpStream::connect(address).await?;
                        socket.write_all(&vec![1; n * 100]).await?;
                        match n % 4 {
                            // Unread answers, a reset, an abort in the middle of a read.
                            0 => drop(socket),
                            1 => {
                                socket.set_zero_linger()?;
                                drop(socket);
                            }
                            _ => {
                                let mut buffer = vec![0; 1 << 20];
                                let read = rt::spawn(async move { socket.read_exact(&mut buffer).await });
                                rt::task::yield_now().await;
                                read.abort();
                            }
                        }
                        Ok(())
                    })
                })
                .collect();
            for client in clients {
                client.await.unwrap().unwrap();
            }
            server.abort();
            assert!(server.await.unwrap_err().is_cancelled());
            // All the server's tasks have seen the ends of their connections, and let go of them.
            while runtime.handle().metrics().drivers().io_registered > 0 {
                rt::task::yield_now().await;
            }
        });
    });
}

#[test]
fn sockets_that_come_and_go_quickly_get_only_their_own_events() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let server = rt::spawn(async move {
                for n in 0..400u32 {
                    let (mut socket, _) = listener.accept().await.unwrap();
                    socket.write_all(&n.to_be_bytes()).await.unwrap();
                }
            });
            for n in 0..400u32 {
                let mut socket = TcpStream::connect(address).await.unwrap();
                let mut number = [0; 4];
                socket.read_exact(&mut number).await.unwrap();
                assert_eq!(u32::from_be_bytes(number), n);
                assert_eq!(socket.read(&mut number).await.unwrap(), 0);
            }
            server.await.unwrap();
        });
    });
}
