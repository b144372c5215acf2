//! A program that is started while the runtime runs inherits no descriptor of ours, whatever is being opened at that
//! very moment; and the runtime does not notice.
//!
//! Mutations that these tests are for: a descriptor without the flag that closes it on `exec`, or that gets the flag
//! only after it was made.

use std::fs;
use std::io::PipeReader;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;

use rt::io::unix::AsyncFd;
use rt::io::{AsyncReadExt, AsyncWriteExt, Interest};
use rt::net::{TcpListener, TcpSocket, TcpStream};
use rt_test_util::*;

/// A program that lists its own descriptors, started in one of the two ways that the system has.
fn lister(by_fork: bool) -> Command {
    let mut command = Command::new("ls");
    command.args(["-l", "/proc/self/fd"]).stdin(Stdio::null());
    if by_fork {
        // Anything that the quick way cannot do will do.
        command.uid(nix::unistd::getuid().as_raw());
    }
    command
}

/// Whether a link in `/proc` leads to something of the kind that a runtime has.
fn is_ours(target: &str) -> bool {
    target.starts_with("socket:") || target.starts_with("anon_inode:")
}

/// The sockets, pollers and event counters that such a program has.
fn inherited(command: &mut Command) -> Vec<String> {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("/proc/"), "it lists its descriptors, one of which it lists them with: {text}");
    let targets = text.lines().filter_map(|line| line.rsplit_once(" -> ")).map(|(_, target)| target.to_owned());
    targets.filter(|target| is_ours(target)).collect()
}

/// How many of them this process has.
fn own() -> usize {
    let targets = fs::read_dir("/proc/self/fd").unwrap().filter_map(|fd| fs::read_link(fd.unwrap().path()).ok());
    targets.map(|target| target.to_string_lossy().into_owned()).filter(|target| is_ours(target)).count()
}

fn readable_pipe() -> AsyncFd<PipeReader> {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(writer);
    // By `ioctl`, which any descriptor understands.
    let reader = UnixStream::from(OwnedFd::from(reader));
    reader.set_nonblocking(true).unwrap();
    AsyncFd::with_interest(OwnedFd::from(reader).into(), Interest::READABLE).unwrap()
}

#[test]
fn a_child_inherits_none_of_the_runtimes_descriptors() {
    in_own_process(|| {
        // What this process was given itself, and did not ask for, it hands on.
        let before = [inherited(&mut lister(false)), inherited(&mut lister(true))];
        on_each_runtime(|runtime| {
            runtime.block_on(async {
                // One of each kind. (A poller twice, and what wakes it.)
                let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
                let connected = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
                let (accepted, _) = listener.accept().await.unwrap();
                let socket = TcpSocket::new_v4().unwrap();
                let from_socket = TcpSocket::new_v4().unwrap();
                let from_socket = from_socket.connect(listener.local_addr().unwrap()).await.unwrap();
                let (back, _) = tcp_pair().await;
                let back = back.into_std().unwrap();
                let pipe = readable_pipe();
                assert!(own() >= 3 + 6, "{}", own());
                for (by_fork, before) in [false, true].into_iter().zip(&before) {
                    let after = rt::spawn_blocking(move || inherited(&mut lister(by_fork))).await.unwrap();
                    assert_eq!(&after, before, "by fork: {by_fork}");
                }

                // Had it inherited one, it would have shown.
                let given = OwnedFd::from(back.try_clone().unwrap());
                let shown = rt::spawn_blocking(|| inherited(lister(false).stdin(Stdio::from(given)))).await.unwrap();
                assert_eq!(shown.len(), before[0].len() + 1);
                drop((connected, accepted, socket, from_socket, back, pipe));
            });
        });
    });
}

#[test]
fn children_started_while_sockets_come_and_go_inherit_none_and_disturb_nothing() {
    in_own_process(|| {
        let before = [inherited(&mut lister(false)), inherited(&mut lister(true))];
        on_each_runtime(|runtime| {
            runtime.block_on(async {
                let over = Signal::new();
                let sockets: Vec<_> = (0..2)
                    .map(|_| {
                        let over = over.clone();
                        rt::spawn(async move {
                            let mut connections = 0u64;
                            while !over.is_set() {
                                // A listener, a connection out and a connection in: each made and closed at any moment.
                                let (mut client, mut server) = tcp_pair().await;
                                client.write_all(&connections.to_be_bytes()).await.unwrap();
                                let mut number = [0; 8];
                                server.read_exact(&mut number).await.unwrap();
                                assert_eq!(u64::from_be_bytes(number), connections);
                                connections += 1;
                                rt::task::yield_now().await;
                            }
                            connections
                        })
                    })
                    .collect();
                for n in 0..20 {
                    let by_fork = n % 2 == 1;
                    // A pair at a time, so that one is started while another one is.
                    let children = [(); 2].map(|()| rt::spawn_blocking(move || inherited(&mut lister(by_fork))));
                    for child in children {
                        assert_eq!(child.await.unwrap(), before[n % 2], "by fork: {by_fork}");
                    }
                }
                over.set();
                for connections in sockets {
                    assert!(connections.await.unwrap() > 0);
                }
            });
        });
    });
}

#[test]
fn runtimes_and_sockets_made_while_a_child_is_started_are_not_inherited() {
    in_own_process(|| {
        let before = inherited(&mut lister(true));
        let over = AtomicBool::new(false);
        scope(|scope| {
            scope.spawn(|| {
                while !over.load(SeqCst) {
                    drop((current(), multi(2)));
                }
            });
            // As many as possible, for the moment at which one could be handed on is short.
            scope.spawn(|| {
                while !over.load(SeqCst) {
                    drop(TcpSocket::new_v4().unwrap());
                }
            });
            let inherited: Vec<_> = (0..80).map(|n| inherited(&mut lister(n % 2 == 0))).collect();
            over.store(true, SeqCst);
            assert!(inherited.iter().all(|inherited| *inherited == before), "{inherited:?}");
        });
    });
}
