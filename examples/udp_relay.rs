//! A UDP relay: it passes datagrams on to another address, and the answers back to the sender of the question.
//!
//! ```text
//! cargo run --example udp_relay -- --help
//! cargo run --example udp_relay -- 127.0.0.1:5353 9.9.9.9:53
//! ```
//!
//! Each peer has a socket of its own towards the target, so that the answers can be told apart. A peer that has been
//! silent for a while is forgotten. Ctrl-C ends the relay.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{env, pin};

use rt::io;
use rt::net::{UdpSocket, lookup_host};
use rt::time::{Duration, timeout};

const USAGE: &str = "\
usage: udp_relay LISTEN TARGET [SECONDS]

Passes datagrams that come to the address LISTEN on to TARGET, and the answers back. A peer without an answer for so
many SECONDS (30) is forgotten.";

/// Larger than any datagram of IPv4 or IPv6 but jumbograms.
const LARGEST: usize = 65_535;

#[rt::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    if arguments.iter().any(|argument| argument == "--help") {
        println!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    let (listen, target, seconds) = match arguments.as_slice() {
        [listen, target] => (listen, target, Ok(30)),
        [listen, target, seconds] => (listen, target, seconds.parse()),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    let Ok(seconds) = seconds else {
        eprintln!("udp_relay: {:?} is not a number of seconds\n{USAGE}", arguments[2]);
        return ExitCode::from(2);
    };
    match run(listen, target, Duration::from_secs(seconds)).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("udp_relay: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Relays until ctrl-c.
async fn run(listen: &str, target: &str, silence: Duration) -> io::Result<()> {
    let no_address = || io::Error::new(io::ErrorKind::NotFound, format!("{target} has no address"));
    let target = lookup_host(target).await?.next().ok_or_else(no_address)?;
    let socket = Arc::new(UdpSocket::bind(listen).await?);
    println!("listening on {}, for {target}", socket.local_addr()?);

    let mut sessions: HashMap<SocketAddr, Session> = HashMap::new();
    let mut buffer = vec![0; LARGEST];
    let mut end = pin::pin!(rt::signal::ctrl_c());
    loop {
        rt::select! {
            // In this order: ctrl-c is heard before the first datagram is passed on.
            biased;
            ended = &mut end => {
                println!("ending; {} sessions", sessions.values().filter(|session| session.is_open()).count());
                return ended;
            }
            received = socket.recv_from(&mut buffer) => {
                let (length, peer) = match received {
                    Ok(received) => received,
                    // An answer that could not be delivered to its peer. The others' go on.
                    Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => continue,
                    Err(error) => return Err(error),
                };
                if !sessions.get(&peer).is_some_and(Session::is_open) {
                    sessions.retain(|_, session| session.is_open());
                    match Session::open(&socket, peer, target, silence).await {
                        Ok(session) => drop(sessions.insert(peer, session)),
                        Err(error) => {
                            eprintln!("{peer}: no socket for its session: {error}");
                            continue;
                        }
                    }
                }
                // As the network does, the relay drops a datagram that cannot be sent.
                if let Err(error) = sessions[&peer].upstream.send(&buffer[..length]).await {
                    eprintln!("{peer}: {error}");
                }
            }
        }
    }
}

/// A peer, and the socket through which its datagrams go to the target.
struct Session {
    upstream: Arc<UdpSocket>,
    is_open: Arc<AtomicBool>,
}

impl Session {
    /// Opens a socket, and starts the task that passes the answers back until none have come for a while.
    async fn open(
        socket: &Arc<UdpSocket>,
        peer: SocketAddr,
        target: SocketAddr,
        silence: Duration,
    ) -> io::Result<Self> {
        let any = if target.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
        let upstream = Arc::new(UdpSocket::bind(any).await?);
        upstream.connect(target).await?;
        println!("{peer}: a new session");
        let session = Self { upstream: Arc::clone(&upstream), is_open: Arc::new(AtomicBool::new(true)) };
        let (is_open, socket) = (Arc::clone(&session.is_open), Arc::clone(socket));
        rt::spawn(async move {
            let mut buffer = vec![0; LARGEST];
            while let Ok(Ok(length)) = timeout(silence, upstream.recv(&mut buffer)).await {
                if socket.send_to(&buffer[..length], peer).await.is_err() {
                    break;
                }
            }
            is_open.store(false, Ordering::Relaxed);
            println!("{peer}: forgotten");
        });
        Ok(session)
    }

    fn is_open(&self) -> bool {
        self.is_open.load(Ordering::Relaxed)
    }
}
