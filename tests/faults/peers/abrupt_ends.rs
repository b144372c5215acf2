//! Twenty thousand connections that end abruptly, by either side and at any point, leave nothing behind.
//!
//! Mutations that this is for: a registration, a task or a descriptor that is kept when its connection ends in an
//! unusual way; a connection's end that is told to another one.

use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, SocketAddr};

use rt::io::{AsyncReadExt, AsyncWriteExt};
use rt::net::{TcpListener, TcpStream};
use rt_test_util::*;

const CONNECTIONS: usize = 20_000;
/// How many there are at a time.
const CLIENTS: usize = 50;
const MESSAGE: usize = 64;

/// Asserts that the connection went well, or ended in a way that may be told.
fn assert_an_end(outcome: io::Result<()>) {
    if let Err(error) = outcome {
        let ends = [ErrorKind::UnexpectedEof, ErrorKind::ConnectionReset, ErrorKind::BrokenPipe];
        assert!(ends.contains(&error.kind()), "{error:?}");
    }
}

/// Echoes one message, or does what the message's first byte asks for.
async fn serve(mut socket: TcpStream) -> io::Result<()> {
    let mut message = [0; MESSAGE];
    socket.read_exact(&mut message[..1]).await?;
    match message[0] % 8 {
        0 => socket.set_zero_linger()?,
        // With bytes of the client's that have not been read.
        1 => {}
        2 => socket.write_all(&message[..1]).await?,
        _ => {
            socket.read_exact(&mut message[1..]).await?;
            socket.write_all(&message).await?;
        }
    }
    Ok(())
}

async fn converse(address: SocketAddr, n: usize) -> io::Result<()> {
    let mut socket = TcpStream::connect(address).await?;
    let message = [n as u8; MESSAGE];
    match n % 8 {
        // The server's turn to end it: before, or in the middle of, its answer.
        0..=2 => {
            socket.write_all(&message).await?;
            let mut answer = [0; MESSAGE];
            socket.read_exact(&mut answer).await?;
            unreachable!("the server does not answer this one");
        }
        3 => {
            socket.set_zero_linger()?;
        }
        4 => {}
        5 => socket.write_all(&message[..MESSAGE / 2]).await?,
        6 => {
            socket.write_all(&message[..MESSAGE / 2]).await?;
            socket.set_zero_linger()?;
        }
        _ => {
            socket.write_all(&message).await?;
            let mut answer = [0; MESSAGE];
            socket.read_exact(&mut answer).await?;
            assert_eq!(answer, message);
            return Ok(());
        }
    }
    Ok(())
}

#[test]
fn twenty_thousand_connections_that_end_abruptly_leave_nothing_behind() {
    in_own_process(|| {
        let before = descriptor_count();
        for make in [current, || multi(2)] {
            let runtime = make();
            let (metrics, idle) = (runtime.metrics(), descriptor_count());
            runtime.block_on(async {
                // Several addresses: one runs out of ports, because those of ended connections stay taken for a while.
                let mut addresses = Vec::new();
                let mut servers = Vec::new();
                for host in 1..=8 {
                    let listener = TcpListener::bind((Ipv4Addr::new(127, 0, 0, host), 0)).await.unwrap();
                    addresses.push(listener.local_addr().unwrap());
                    servers.push(rt::spawn(async move {
                        loop {
                            let (socket, _) = listener.accept().await.unwrap();
                            rt::spawn(async move { assert_an_end(serve(socket).await) });
                        }
                    }));
                }
                let clients: Vec<_> = (0..CLIENTS)
                    .map(|client| {
                        let addresses = addresses.clone();
                        rt::spawn(async move {
                            for n in (client..CONNECTIONS / 2).step_by(CLIENTS) {
                                let outcome = converse(addresses[n / 8 % addresses.len()], n).await;
                                // A conversation that is meant to be whole is whole, although others beside it end
                                // abruptly.
                                assert!(outcome.is_ok() || n % 8 != 7, "{outcome:?}");
                                assert_an_end(outcome);
                            }
                        })
                    })
                    .collect();
                for client in clients {
                    client.await.unwrap();
                }
                for server in servers {
                    server.abort();
                    assert!(server.await.unwrap_err().is_cancelled());
                }
                // The tasks that serve see the ends, and end.
                while metrics.num_alive_tasks() > 0 {
                    rt::task::yield_now().await;
                }
            });
            assert_eq!((metrics.drivers().io_registered, descriptor_count()), (0, idle));
            // (The metrics keep a part of the runtime alive too.)
            drop((runtime, metrics));
            assert_eq!(descriptor_count(), before);
        }
    });
}
