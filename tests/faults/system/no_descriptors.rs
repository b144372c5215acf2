//! No file descriptors are left (`EMFILE`): the caller that asks for one gets the error, the runtime neither spins nor
//! forgets what is waiting, and all goes on as soon as there are some again.
//!
//! Mutations that these tests are for: readiness that is taken back after *any* error (a listener that never accepts
//! again); a listener whose error is retried by the runtime itself, or reported by the poller over and over (a busy
//! loop); a half-made runtime, or a registration, that is left behind.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use rt::io::{AsyncReadExt, AsyncWriteExt};
use rt::net::unix::pipe;
use rt::net::{TcpListener, TcpSocket, TcpStream, UdpSocket, UnixDatagram, UnixListener, UnixSocket, UnixStream};
use rt::runtime::{Builder, Handle};
use rt::time::sleep;
use rt_test_util::*;

/// All descriptors that the process may have, so that nothing else gets one. Gives them back when dropped.
struct Hoard {
    held: Vec<File>,
    limits: (u64, u64),
}

impl Hoard {
    fn of_all() -> Self {
        let limits = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
        let null = File::open("/dev/null").unwrap();
        // Without this it would take many thousands, on some systems millions.
        setrlimit(Resource::RLIMIT_NOFILE, 200.min(limits.1), limits.1).unwrap();
        assert!(null.as_raw_fd() < 100, "this process has more open than these tests allow for");
        let mut held = vec![null];
        let error = loop {
            match held[0].try_clone() {
                Ok(file) => held.push(file),
                Err(error) => break error,
            }
        };
        assert_emfile(error);
        Self { held, limits }
    }

    fn give_back(&mut self, n: usize) {
        let left = self.held.len() - n;
        self.held.truncate(left);
    }
}

impl Drop for Hoard {
    fn drop(&mut self) {
        setrlimit(Resource::RLIMIT_NOFILE, self.limits.0, self.limits.1).unwrap();
    }
}

#[track_caller]
fn assert_emfile(error: io::Error) {
    assert_eq!(error.raw_os_error(), Some(nix::libc::EMFILE), "{error:?}");
}

/// Lets time pass with nothing to do, and checks that nothing was done beyond looking after these few timers.
async fn assert_quiet(what: &str) {
    let metrics = Handle::current().metrics();
    let (events, polls) = (metrics.drivers().io_events, metrics.totals().driver_polls);
    for _ in 0..20 {
        sleep(Duration::from_millis(5)).await;
    }
    let (events, polls) = (metrics.drivers().io_events - events, metrics.totals().driver_polls - polls);
    // Of those that have just been told of, some may still be under way.
    assert!(events <= 8, "{what}: {events} events of the poller");
    // A few each time. A thread that spins for a tenth of a second makes tens of thousands.
    assert!(polls < 2000, "{what}: the drivers were polled {polls} times");
}

#[test]
fn an_accept_without_descriptors_is_an_error_and_works_once_there_are_some() {
    in_own_process(|| {
        on_each_runtime(|runtime| {
            runtime.block_on(async {
                let listener = Arc::new(TcpListener::bind("127.0.0.1:0").await.unwrap());
                let address = listener.local_addr().unwrap();
                // The clients have theirs already.
                let clients: Vec<_> = (0..4).map(|_| TcpSocket::new_v4().unwrap()).collect();
                let mut hoard = Hoard::of_all();

                // Two that wait when the connections come: each is told, neither waits on.
                let waiting: Vec<_> = (0..2)
                    .map(|_| {
                        let listener = listener.clone();
                        rt::spawn(async move { listener.accept().await })
                    })
                    .collect();
                rt::task::yield_now().await;
                let mut connected = Vec::new();
                for client in clients {
                    connected.push(client.connect(address).await.unwrap());
                }
                for acceptor in waiting {
                    assert_emfile(acceptor.await.unwrap().unwrap_err());
                }
                let registered = runtime.metrics().drivers().io_registered;
                assert_eq!(registered, 1 + 4);

                // With no accept nothing happens; each accept gets the error again.
                assert_quiet("four connections that cannot be accepted").await;
                for _ in 0..10 {
                    assert_emfile(listener.accept().await.unwrap_err());
                }
                assert_eq!(runtime.metrics().drivers().io_registered, registered);

                // One descriptor, one connection; then all. Each is the one that it should be.
                let mut accepted = Vec::new();
                hoard.give_back(1);
                accepted.push(listener.accept().await.unwrap());
                assert_emfile(listener.accept().await.unwrap_err());
                drop(hoard);
                while accepted.len() < 4 {
                    accepted.push(listener.accept().await.unwrap());
                }
                for (mut server, peer) in accepted {
                    let client = connected.iter_mut().find(|client| client.local_addr().unwrap() == peer).unwrap();
                    client.write_all(b"ping").await.unwrap();
                    let mut bytes = [0; 4];
                    server.read_exact(&mut bytes).await.unwrap();
                    assert_eq!(&bytes, b"ping");
                }
            });
        });
    });
}

#[test]
fn a_connect_or_a_bind_without_descriptors_is_an_error_and_leaves_nothing_behind() {
    in_own_process(|| {
        on_each_runtime(|runtime| {
            runtime.block_on(async {
                let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
                let address = listener.local_addr().unwrap();
                let before = (descriptor_count(), runtime.metrics().drivers().io_registered);
                {
                    let _hoard = Hoard::of_all();
                    for _ in 0..10 {
                        assert_emfile(TcpStream::connect(address).await.unwrap_err());
                        assert_emfile(TcpListener::bind("127.0.0.1:0").await.unwrap_err());
                        assert_emfile(TcpSocket::new_v4().unwrap_err());
                    }
                    assert_quiet("after connects that failed").await;
                    // What needs none is not concerned.
                    assert_eq!(rt::spawn_blocking(|| 1).await.unwrap() + rt::spawn(async { 2 }).await.unwrap(), 3);
                }
                assert_eq!((descriptor_count(), runtime.metrics().drivers().io_registered), before);
                let mut client = TcpStream::connect(address).await.unwrap();
                listener.accept().await.unwrap().0.write_all(b"hello").await.unwrap();
                let mut greeting = String::new();
                client.read_to_string(&mut greeting).await.unwrap();
                assert_eq!(greeting, "hello");
            });
        });
    });
}

/// As for TCP: a client has its descriptor already, and is in the queue of the listener before that is asked.
#[test]
fn an_accept_of_a_unix_stream_without_descriptors_loses_no_connection_and_does_not_spin() {
    in_own_process(|| {
        on_each_runtime(|runtime| {
            runtime.block_on(async {
                let name = "\0rt-test-no-descriptors";
                let listener = Arc::new(UnixListener::bind(name).unwrap());
                let clients: Vec<_> = (0..4).map(|_| UnixSocket::new_stream().unwrap()).collect();
                let mut hoard = Hoard::of_all();
                let waiting = rt::spawn({
                    let listener = listener.clone();
                    async move { listener.accept().await }
                });
                rt::task::yield_now().await;
                let mut connected = Vec::new();
                for (n, client) in (0..).zip(clients) {
                    let mut client = client.connect(name).await.unwrap();
                    client.write_all(&[n]).await.unwrap();
                    connected.push(client);
                }
                assert_emfile(waiting.await.unwrap().unwrap_err());
                assert_quiet("four connections that cannot be accepted").await;
                for _ in 0..10 {
                    assert_emfile(listener.accept().await.unwrap_err());
                }
                assert_eq!(runtime.metrics().drivers().io_registered, 1 + 4);
                let mut accepted = Vec::new();
                hoard.give_back(1);
                accepted.push(listener.accept().await.unwrap());
                assert_emfile(listener.accept().await.unwrap_err());
                drop(hoard);
                while accepted.len() < 4 {
                    accepted.push(listener.accept().await.unwrap());
                }
                for (n, (mut server, _)) in (0..).zip(accepted) {
                    assert_eq!(server.read_u8().await.unwrap(), n);
                }
            });
        });
    });
}

#[test]
fn a_socket_or_pipe_of_any_kind_without_descriptors_is_an_error_and_leaves_nothing_behind() {
    in_own_process(|| {
        on_each_runtime(|runtime| {
            runtime.block_on(async {
                let before = (descriptor_count(), runtime.metrics().drivers().io_registered);
                {
                    let mut hoard = Hoard::of_all();
                    // With one left, those that need two fail as well.
                    for left in 0..2 {
                        hoard.give_back(left);
                        assert_emfile(UnixStream::pair().unwrap_err());
                        assert_emfile(UnixDatagram::pair().unwrap_err());
                        assert_emfile(pipe::pipe().unwrap_err());
                    }
                    let last = UdpSocket::bind("127.0.0.1:0").await.unwrap();
                    assert_emfile(UdpSocket::bind("127.0.0.1:0").await.unwrap_err());
                    assert_emfile(UnixDatagram::unbound().unwrap_err());
                    assert_emfile(UnixDatagram::bind("\0rt-test-none").unwrap_err());
                    assert_emfile(UnixListener::bind("\0rt-test-none").unwrap_err());
                    assert_emfile(UnixStream::connect("\0rt-test-none").await.unwrap_err());
                    assert_quiet("after failures of every kind").await;
                    drop(last);
                }
                assert_eq!((descriptor_count(), runtime.metrics().drivers().io_registered), before);
                let (mut sender, mut receiver) = pipe::pipe().unwrap();
                sender.write_all(b"x").await.unwrap();
                assert_eq!(receiver.read_u8().await.unwrap(), b'x');
            });
        });
    });
}

#[test]
fn a_runtime_that_lacks_one_descriptor_is_not_built_and_closes_the_others() {
    in_own_process(|| {
        for make in [Builder::new_current_thread, || {
            let mut builder = Builder::new_multi_thread();
            builder.worker_threads(2);
            builder
        }] {
            let before = descriptor_count();
            let mut refused = 0;
            let runtime = loop {
                let mut hoard = Hoard::of_all();
                hoard.give_back(refused);
                match make().enable_all().build() {
                    Ok(runtime) => {
                        // It has taken the last: sockets are out of the question, everything else works.
                        runtime.block_on(async {
                            assert_emfile(TcpListener::bind("127.0.0.1:0").await.unwrap_err());
                            rt::spawn(sleep(Duration::from_millis(1))).await.unwrap();
                        });
                        break runtime;
                    }
                    Err(error) => assert_emfile(error),
                }
                drop(hoard);
                assert_eq!(descriptor_count(), before, "with {refused} descriptors");
                refused += 1;
            };
            // The poller, a copy of it, and what wakes it up: had none of them failed, nothing was tested.
            assert!(refused >= 2, "built with {refused} descriptors");
            assert_eq!(descriptor_count(), before + refused);
            drop(runtime);
            assert_eq!(descriptor_count(), before);
        }
    });
}

#[test]
fn servers_and_clients_that_have_to_share_too_few_descriptors_all_get_done() {
    in_own_process(|| {
        on_each_runtime(|runtime| {
            let refusals = Arc::new(AtomicUsize::new(0));
            runtime.block_on(async {
                let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
                let address = listener.local_addr().unwrap();
                let mut hoard = Hoard::of_all();
                // Eight clients, and three descriptors for the server.
                hoard.give_back(8 + 3);
                let refused = refusals.clone();
                let server = rt::spawn(async move {
                    loop {
                        let mut socket = match listener.accept().await {
                            Ok((socket, _)) => socket,
                            Err(error) => {
                                assert_emfile(error);
                                refused.fetch_add(1, SeqCst);
                                sleep(Duration::from_millis(1)).await;
                                continue;
                            }
                        };
                        rt::spawn(async move {
                            let mut bytes = [0; 4];
                            socket.read_exact(&mut bytes).await.unwrap();
                            // Not at once, so that clients that are served keep the others from being accepted.
                            sleep(Duration::from_millis(1)).await;
                            socket.write_all(&bytes).await.unwrap();
                        });
                    }
                });
                let clients: Vec<_> = (0..8u32)
                    .map(|client| {
                        rt::spawn(async move {
                            for n in 0..20u32 {
                                let sent = (client * 1000 + n).to_be_bytes();
                                let mut socket = loop {
                                    match TcpStream::connect(address).await {
                                        Ok(socket) => break socket,
                                        Err(error) => assert_emfile(error),
                                    }
                                    sleep(Duration::from_millis(1)).await;
                                };
                                socket.write_all(&sent).await.unwrap();
                                let mut received = [0; 4];
                                socket.read_exact(&mut received).await.unwrap();
                                assert_eq!(received, sent);
                            }
                        })
                    })
                    .collect();
                for client in clients {
                    client.await.unwrap();
                }
                server.abort();
                let _ = server.await;
            });
            assert!(refusals.load(SeqCst) > 0, "there were enough descriptors all the time");
        });
    });
}

/// The tests above rest on this: that the limit holds for the whole process, and that what was refused is given
/// when it is lifted.
#[test]
fn a_hoard_leaves_nothing_and_gives_everything_back() {
    in_own_process(|| {
        let before = descriptor_count();
        let hoard = Hoard::of_all();
        assert_emfile(File::open("/dev/null").unwrap_err());
        drop(hoard);
        assert_eq!(descriptor_count(), before);
        let (mut reader, mut writer) = io::pipe().unwrap();
        writer.write_all(b"x").unwrap();
        reader.read_exact(&mut [0]).unwrap();
    });
}
