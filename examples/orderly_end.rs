//! A server that comes to an orderly end: on Ctrl-C it takes no more connections, lets each request that has begun be
//! finished, and waits for all connections, but not for ever. A second Ctrl-C does not wait.
//!
//! ```text
//! cargo run --example orderly_end -- 127.0.0.1:7779
//! ```
//!
//! A request is a line `count N`, and then `N` bytes. The answer is how many lines these have.

use std::env;
use std::process::ExitCode;

use rt::io::{self, AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use rt::net::{TcpListener, TcpStream};
use rt::signal::unix::{SignalKind, signal};
use rt::task::{CancellationToken, TaskTracker};
use rt::time::{Duration, sleep, timeout};

const USAGE: &str = "usage: orderly_end ADDRESS\n\nA server at a TCP ADDRESS that counts lines.";

/// How long connections have to finish what they have begun, after the first Ctrl-C.
const GRACE: Duration = Duration::from_secs(30);

/// Longer requests are refused.
const LONGEST_LINE: u64 = 100;

#[rt::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [address] = arguments.as_slice() else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match run(address).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{address}: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(address: &str) -> io::Result<()> {
    let listener = TcpListener::bind(address).await?;
    println!("listening on {}", listener.local_addr()?);

    let mut interrupts = signal(SignalKind::interrupt())?;
    let (tracker, stop) = (TaskTracker::new(), CancellationToken::new());
    loop {
        let accepted = rt::select! {
            accepted = listener.accept() => accepted,
            _ = interrupts.recv() => break,
        };
        match accepted {
            Ok((stream, from)) => {
                let stop = stop.clone();
                tracker.spawn(async move {
                    if let Err(error) = serve(stream, stop).await {
                        println!("{from}: {error}");
                    }
                });
            }
            // Of a connection that has gone before it was accepted, or of too many open files.
            Err(error) => {
                println!("cannot accept: {error}");
                sleep(Duration::from_millis(50)).await;
            }
        }
    }
    drop(listener);

    println!("ending, with {} connections", tracker.len());
    tracker.close();
    stop.cancel();
    rt::select! {
        ended = timeout(GRACE, tracker.wait()) => match ended {
            Ok(()) => println!("all connections have ended"),
            Err(_) => println!("{} connections took too long", tracker.len()),
        },
        _ = interrupts.recv() => println!("{} connections are cut off", tracker.len()),
    }
    // Those that are left end with the runtime.
    Ok(())
}

/// Serves one connection. It ends between two requests, when it is told to.
async fn serve(stream: TcpStream, stop: CancellationToken) -> io::Result<()> {
    let mut stream = BufReader::new(stream);
    loop {
        let mut line = String::new();
        let request = (&mut stream).take(LONGEST_LINE);
        let Some(read) = stop.run_until_cancelled(read_line(request, &mut line)).await else {
            return stream.write_all(b"bye\n").await;
        };
        if read? == 0 {
            return Ok(());
        }
        let Some(size) = line.trim_end().strip_prefix("count ").and_then(|size| size.parse().ok()) else {
            stream.write_all(b"what?\n").await?;
            continue;
        };
        stream.write_all(b"go on\n").await?;
        // From here to the answer the token is not looked at: what has begun is finished.
        let lines = count_lines(&mut stream, size).await?;
        stream.write_all(format!("{lines} lines\n").as_bytes()).await?;
    }
}

async fn read_line(mut reader: impl io::AsyncBufRead + Unpin, line: &mut String) -> io::Result<usize> {
    reader.read_line(line).await
}

async fn count_lines(stream: &mut BufReader<TcpStream>, mut left: usize) -> io::Result<usize> {
    let mut lines = 0;
    while left > 0 {
        let bytes = stream.fill_buf().await?;
        if bytes.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let part = bytes.len().min(left);
        lines += bytes[..part].iter().filter(|byte| **byte == b'\n').count();
        stream.consume(part);
        left -= part;
    }
    Ok(lines)
}
