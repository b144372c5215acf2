//! A TCP proxy: it passes on what it gets, in both directions.
//!
//! ```text
//! cargo run --example proxy -- --help
//! cargo run --example proxy -- 127.0.0.1:7000 127.0.0.1:7777
//! ```
//!
//! A connection ends when both sides have ended it, when an error ends it, or when neither has sent anything for a
//! while. If one side ends what it sends (a half-close), the other side is told, and goes on. Ctrl-C ends the proxy:
//! it accepts no more connections, and lets those that are open finish, for a while.

use std::process::ExitCode;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::{env, pin};

use rt::io::{self, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use rt::net::{TcpListener, TcpStream};
use rt::sync::Semaphore;
use rt::time::{Duration, Instant, sleep, timeout};

const USAGE: &str = "\
usage: proxy [OPTION]... LISTEN TARGET

Accepts TCP connections at the address LISTEN and passes them on to TARGET.

options:
  --connect-timeout SECONDS   how long a connection to TARGET may take (5)
  --idle-timeout SECONDS      how long nobody may send anything (60)
  --connections NUMBER        how many connections there may be at once (1000)
  --grace SECONDS             how long open connections may go on after ctrl-c (10)
  --help                      prints this";

struct Options {
    listen: String,
    target: String,
    connect_timeout: Duration,
    idle_timeout: Duration,
    connections: u32,
    grace: Duration,
}

#[rt::main]
async fn main() -> ExitCode {
    let options = match options(env::args().skip(1)) {
        Ok(Some(options)) => options,
        Ok(None) => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        Err(message) => {
            eprintln!("proxy: {message}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match run(options).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("proxy: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Serves until ctrl-c.
async fn run(options: Options) -> io::Result<()> {
    let listener = TcpListener::bind(&options.listen).await?;
    println!("listening on {}, for {}", listener.local_addr()?, options.target);
    let options = Arc::new(options);
    // A permit for each connection. A task that has all permits knows that there is no connection.
    let permits = Arc::new(Semaphore::new(options.connections as usize));

    let mut end = pin::pin!(rt::signal::ctrl_c());
    loop {
        let next = async {
            // At the limit no more connections are accepted: the system keeps some waiting, and then refuses others.
            let permit = Arc::clone(&permits).acquire_owned().await.expect("nobody closes the semaphore");
            (listener.accept().await, permit)
        };
        rt::select! {
            // In this order: ctrl-c is heard before the first connection is accepted.
            biased;
            ended = &mut end => {
                ended?;
                break;
            }
            (accepted, permit) = next => match accepted {
                Ok((client, peer)) => {
                    let options = Arc::clone(&options);
                    rt::spawn(async move {
                        match pass_on(client, &options).await {
                            Ok((up, down)) => println!("{peer}: closed after {up} bytes there and {down} back"),
                            Err(error) => println!("{peer}: {error}"),
                        }
                        drop(permit);
                    });
                }
                Err(error) => {
                    // Perhaps the process has no more descriptors. Some connections will end.
                    eprintln!("cannot accept a connection: {error}");
                    sleep(Duration::from_millis(100)).await;
                }
            },
        }
    }

    drop(listener);
    let open = options.connections as usize - permits.available_permits();
    println!("ending; {open} connections are open");
    match timeout(options.grace, permits.acquire_many(options.connections)).await {
        Ok(_) => println!("all connections have ended"),
        Err(_) => println!("the connections that are left are cut"),
    }
    Ok(())
}

/// Connects to the target, and passes on what either side sends until both have ended it. Returns how many bytes that
/// were.
async fn pass_on(client: TcpStream, options: &Options) -> io::Result<(u64, u64)> {
    let connected = timeout(options.connect_timeout, TcpStream::connect(&options.target)).await;
    let target = connected.map_err(|_| io::Error::new(io::ErrorKind::TimedOut, "the target does not answer"))??;
    // What comes is to go on at once, also if it is little.
    client.set_nodelay(true)?;
    target.set_nodelay(true)?;

    let activity = Activity::new();
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_target, mut to_target) = target.into_split();
    let both = async {
        rt::try_join!(
            copy(&mut from_client, &mut to_target, &activity),
            copy(&mut from_target, &mut to_client, &activity),
        )
    };
    rt::select! {
        copied = both => copied,
        () = activity.idle(options.idle_timeout) => {
            Err(io::Error::new(io::ErrorKind::TimedOut, "nobody has sent anything for too long"))
        }
    }
}

/// Copies until the end, and then ends what the other side reads.
async fn copy(
    from: &mut (impl AsyncRead + Unpin),
    to: &mut (impl AsyncWrite + Unpin),
    activity: &Activity,
) -> io::Result<u64> {
    let mut buffer = vec![0; 16 * 1024];
    let mut copied = 0;
    loop {
        let count = from.read(&mut buffer).await?;
        if count == 0 {
            to.shutdown().await?;
            return Ok(copied);
        }
        activity.note();
        to.write_all(&buffer[..count]).await?;
        activity.note();
        copied += count as u64;
    }
}

/// When something was last sent.
struct Activity {
    start: Instant,
    last_ms: AtomicU64,
}

impl Activity {
    fn new() -> Self {
        Self { start: Instant::now(), last_ms: AtomicU64::new(0) }
    }

    fn note(&self) {
        self.last_ms.store(self.start.elapsed().as_millis() as u64, Ordering::Relaxed);
    }

    /// Waits until nothing has been sent for so long. One timer does, however much is sent: it looks again when the
    /// time that it knew is over.
    async fn idle(&self, limit: Duration) {
        loop {
            let last = self.start + Duration::from_millis(self.last_ms.load(Ordering::Relaxed));
            let left = limit.saturating_sub(last.elapsed());
            if left.is_zero() {
                return;
            }
            sleep(left).await;
        }
    }
}

/// What the arguments say. `None` if they ask for help.
fn options(mut arguments: impl Iterator<Item = String>) -> Result<Option<Options>, String> {
    let mut addresses = Vec::new();
    let (mut connect, mut idle, mut connections, mut grace) = (5.0, 60.0, 1000, 10.0);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            "--help" => return Ok(None),
            "--connect-timeout" => connect = parse(&argument, &value()?)?,
            "--idle-timeout" => idle = parse(&argument, &value()?)?,
            "--connections" => connections = parse(&argument, &value()?)?,
            "--grace" => grace = parse(&argument, &value()?)?,
            option if option.starts_with('-') => return Err(format!("there is no option {option}")),
            _ => addresses.push(argument),
        }
    }
    let [listen, target] =
        addresses.try_into().map_err(|given: Vec<_>| format!("two addresses are needed, not {}", given.len()))?;
    if connections == 0 {
        return Err("without connections there is nothing to do".into());
    }
    let seconds = |name, number: f64| {
        Duration::try_from_secs_f64(number).map_err(|error| format!("{name} cannot be {number}: {error}"))
    };
    Ok(Some(Options {
        listen,
        target,
        connect_timeout: seconds("--connect-timeout", connect)?,
        idle_timeout: seconds("--idle-timeout", idle)?,
        connections,
        grace: seconds("--grace", grace)?,
    }))
}

fn parse<T: FromStr>(name: &str, value: &str) -> Result<T, String> {
    value.parse().map_err(|_| format!("{name} cannot be {value:?}"))
}
