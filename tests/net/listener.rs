//! Binding, accepting and connecting.
//!
//! Mutations that these tests are for: an accept that takes a connection and is then dropped with it; a listener that
//! wakes one of several acceptors and forgets the others; an error that is lost on the way; a connection that is bound
//! to the listener's runtime.

use std::collections::HashSet;
use std::io::ErrorKind;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;
use rt::io::{AsyncReadExt, AsyncWriteExt};
use rt::net::{TcpListener, TcpSocket, TcpStream};
use rt::time::timeout;
use rt_test_util::*;

#[test]
fn an_accept_that_is_given_up_loses_no_connection() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let listener = Arc::new(TcpListener::bind("127.0.0.1:0").await.unwrap());
            let address = listener.local_addr().unwrap();
            let clients = rt::spawn(async move {
                let mut sockets = Vec::new();
                for n in 0..100u8 {
                    let mut socket = TcpStream::connect(address).await.unwrap();
                    socket.write_all(&[n]).await.unwrap();
                    sockets.push(socket);
                    if n % 8 == 0 {
                        rt::time::sleep(Duration::from_micros(300)).await;
                    }
                }
                sockets
            });
            let mut seen = HashSet::new();
            let (mut given_up, mut kinds) = (0, 0);
            while seen.len() < 100 {
                kinds += 1;
                let accepted = match kinds % 3 {
                    // Polled once and dropped; under a short limit; in a task that is aborted.
                    0 => match poll_once(std::pin::pin!(listener.accept())).await {
                        std::task::Poll::Ready(accepted) => Some(accepted),
                        std::task::Poll::Pending => None,
                    },
                    1 => timeout(Duration::from_micros(200), listener.accept()).await.ok(),
                    _ => {
                        let listener = listener.clone();
                        let task = rt::spawn(async move { listener.accept().await });
                        rt::task::yield_now().await;
                        task.abort();
                        // If it was quicker than the abort, the connection is in the output.
                        task.await.ok()
                    }
                };
                match accepted {
                    Some(accepted) => {
                        let mut number = [0];
                        accepted.unwrap().0.read_exact(&mut number).await.unwrap();
                        assert!(seen.insert(number[0]), "accepted twice");
                    }
                    None => given_up += 1,
                }
                rt::task::yield_now().await;
            }
            clients.await.unwrap();
            assert!(given_up > 0 || kinds >= 100);
        });
    });
}

#[test]
fn several_tasks_accept_from_one_listener_and_none_is_forgotten() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let listener = Arc::new(TcpListener::bind("127.0.0.1:0").await.unwrap());
            let address = listener.local_addr().unwrap();
            // As many as there will be connections: each has to be woken for one.
            let acceptors: Vec<_> = (0..40)
                .map(|_| {
                    let listener = listener.clone();
                    rt::spawn(async move { listener.accept().await.map(|(_, peer)| peer) })
                })
                .collect();
            let mut clients = Vec::new();
            for _ in 0..40 {
                clients.push(TcpStream::connect(address).await.unwrap());
            }
            let mut peers = HashSet::new();
            for acceptor in acceptors {
                assert!(peers.insert(acceptor.await.unwrap().unwrap()));
            }
            let locals: HashSet<_> = clients.iter().map(|client| client.local_addr().unwrap()).collect();
            assert_eq!(peers, locals);
        });
    });
}

/// Several runtimes may share a listener, one for each processor for example, and need not end together.
#[test]
fn a_connection_belongs_to_the_runtime_that_has_accepted_it() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        let end = Signal::new();
        let ended = end.clone();
        let driving = thread::spawn(move || runtime.block_on(ended.wait()));
        let other = current();
        let (client, accepted) = other.block_on(async { rt::join!(TcpStream::connect(address), listener.accept()) });
        end.set();
        driving.join().unwrap();
        other.block_on(async {
            client.unwrap().write_all(b"x").await.unwrap();
            assert_eq!(accepted.unwrap().0.read_u8().await.unwrap(), b'x');
        });
    });
}

#[test]
fn a_connection_refused_is_the_systems_error() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            // A port that was free a moment ago, bound (so that no other program gets it) and not listened on.
            let taken = TcpSocket::new_v4().unwrap();
            taken.bind("127.0.0.1:0".parse().unwrap()).unwrap();
            let error = TcpStream::connect(taken.local_addr().unwrap()).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
            assert!(error.raw_os_error().is_some(), "the system's own: {error:?}");
        });
        assert_eq!(runtime.handle().metrics().drivers().io_registered, 0);
    });
}

#[test]
fn binding_to_an_address_in_use_is_the_systems_error() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let error = TcpListener::bind(address).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::AddrInUse);
            // With a second address that is free, that one is taken.
            let other = TcpListener::bind(&[address, "127.0.0.1:0".parse().unwrap()][..]).await.unwrap();
            assert_ne!(other.local_addr().unwrap(), address);
            // And when it is free again, it can be had again.
            drop(listener);
            TcpListener::bind(address).await.unwrap();
        });
    });
}

#[test]
fn a_name_that_does_not_resolve_is_an_error_and_a_good_one_connects() {
    let _watchdog = watchdog();
    for runtime in [current(), multi(2)] {
        runtime.block_on(async {
            let listener = TcpListener::bind("localhost:0").await.unwrap();
            let port = listener.local_addr().unwrap().port();
            TcpStream::connect(("localhost", port)).await.unwrap();
            assert!(TcpStream::connect("not an address").await.is_err());
            assert!(TcpListener::bind("256.0.0.1:x").await.is_err());
        });
    }
}

#[test]
fn an_acceptor_waits_without_holding_its_worker() {
    let _watchdog = watchdog();
    let runtime = multi(1);
    let order = Arc::new(Mutex::new(Vec::new()));
    let note = order.clone();
    let task = runtime.spawn(async move {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let log = note.clone();
        let acceptor = rt::spawn(async move {
            log.lock().push("waits");
            listener.accept().await.unwrap();
            log.lock().push("accepted");
        });
        while note.lock().is_empty() {
            rt::task::yield_now().await;
        }
        note.lock().push("connects");
        let _client = TcpStream::connect(address).await.unwrap();
        acceptor.await.unwrap();
    });
    eventually(|| task.is_finished());
    runtime.block_on(task).unwrap();
    assert_eq!(*order.lock(), ["waits", "connects", "accepted"]);
}
