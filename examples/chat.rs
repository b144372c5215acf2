//! A chat server for TCP and Unix sockets: what one says, all others read.
//!
//! ```text
//! cargo run --example chat -- 127.0.0.1:7778 /tmp/chat.sock
//! ```
//!
//! Then talk by `nc 127.0.0.1 7778` and `nc -U /tmp/chat.sock`. The first line that one sends is one's name. Ctrl-C
//! ends the server, and tells everybody.

use std::process::ExitCode;
use std::{env, fs, future};

use rt::io::{self, AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader, Take};
use rt::net::TcpListener;
use rt::sync::broadcast::error::RecvError;
use rt::sync::{broadcast, mpsc};
use rt::time::{Duration, sleep, timeout};

const USAGE: &str =
    "usage: chat ADDRESS [PATH]\n\nA chat server at a TCP ADDRESS and, if there is one, a Unix socket's PATH.";

/// How many messages a client may be behind. One that is further behind misses some, and is told how many.
const BACKLOG: usize = 256;

/// A line longer than this ends the connection.
const LONGEST: u64 = 4096;

/// What everybody in the room reads.
#[derive(Clone, Debug)]
enum Message {
    /// A line, and whose it is: one does not get one's own words back.
    Line {
        from: u64,
        text: String,
    },
    End,
}

/// What each connection has of the others.
#[derive(Clone)]
struct Room {
    messages: broadcast::Sender<Message>,
    /// Nothing is sent through it. When all of these are gone, so is everybody.
    _presence: mpsc::Sender<()>,
}

#[rt::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let (address, path) = match arguments.as_slice() {
        [only] if only == "--help" => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        [address] => (address, None),
        [address, path] => (address, Some(path.as_str())),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match run(address, path).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("chat: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Serves until ctrl-c, and then until everybody has been told.
async fn run(address: &str, path: Option<&str>) -> io::Result<()> {
    let (messages, _) = broadcast::channel(BACKLOG);
    let (presence, mut everybody_gone) = mpsc::channel(1);
    let room = Room { messages: messages.clone(), _presence: presence };
    let listener = TcpListener::bind(address).await?;
    println!("listening on {}", listener.local_addr()?);

    let ended = {
        let tcp = serve_tcp(listener, room.clone());
        let unix = async {
            match path {
                Some(path) => serve_unix(path, room).await,
                None => {
                    drop(room);
                    future::pending().await
                }
            }
        };
        rt::select! {
            // In this order: ctrl-c is heard before the first connection is accepted.
            biased;
            ended = rt::signal::ctrl_c() => ended,
            error = tcp => Err(error),
            error = unix => Err(error),
        }
    };
    if let Some(path) = path {
        // The name of a Unix socket outlives it.
        let _ = fs::remove_file(path);
    }
    // It fails if nobody is there.
    let _ = messages.send(Message::End);
    if timeout(Duration::from_secs(5), everybody_gone.recv()).await.is_err() {
        eprintln!("somebody does not read that the chat has ended");
    }
    ended
}

/// Accepts connections. Returns why it cannot go on.
async fn serve_tcp(listener: TcpListener, room: Room) -> io::Error {
    for number in (0..).step_by(2) {
        match listener.accept().await {
            Ok((stream, _)) => drop(rt::spawn(talk(number, stream, room.clone()))),
            Err(error) => wait_after(&error).await,
        }
    }
    unreachable!("there are as many numbers as anybody can count")
}

/// As [`serve_tcp`], with the odd numbers.
#[cfg(unix)]
async fn serve_unix(path: &str, room: Room) -> io::Error {
    let listener = match rt::net::UnixListener::bind(path) {
        Ok(listener) => listener,
        Err(error) => return error,
    };
    println!("listening on {path}");
    for number in (1..).step_by(2) {
        match listener.accept().await {
            Ok((stream, _)) => drop(rt::spawn(talk(number, stream, room.clone()))),
            Err(error) => wait_after(&error).await,
        }
    }
    unreachable!("there are as many numbers as anybody can count")
}

#[cfg(not(unix))]
async fn serve_unix(_path: &str, _room: Room) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, "there are no Unix sockets here")
}

/// Perhaps the process has no more descriptors. Some connections will end.
async fn wait_after(error: &io::Error) {
    eprintln!("cannot accept a connection: {error}");
    sleep(Duration::from_millis(100)).await;
}

/// One connection, from its first line to its end.
async fn talk(number: u64, stream: impl AsyncRead + AsyncWrite, room: Room) {
    let (from, mut to) = io::split(stream);
    let mut lines = Lines { reader: BufReader::new(from).take(LONGEST), line: Vec::new() };
    let Ok(Some(name)) = lines.next().await else { return };
    let mut messages = room.messages.subscribe();
    if to.write_all(format!("* welcome, {name}\n").as_bytes()).await.is_err() {
        return;
    }
    // It cannot fail: this task reads the messages too.
    let say = |text| drop(room.messages.send(Message::Line { from: number, text }));
    say(format!("* {name} is here"));
    let outcome = loop {
        let text = rt::select! {
            line = lines.next() => match line {
                Ok(Some(line)) => {
                    say(format!("{name}: {line}"));
                    continue;
                }
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            },
            message = messages.recv() => match message {
                Ok(Message::Line { from, .. }) if from == number => continue,
                Ok(Message::Line { text, .. }) => text,
                Ok(Message::End) => {
                    let _ = to.write_all(b"* the chat has ended\n").await;
                    return;
                }
                Err(RecvError::Lagged(missed)) => format!("* you have missed {missed} messages"),
                Err(RecvError::Closed) => return,
            }
        };
        // A client that does not read holds up only itself, and misses messages.
        if let Err(error) = to.write_all(format!("{text}\n").as_bytes()).await {
            break Err(error);
        }
    };
    match outcome {
        Ok(()) => say(format!("* {name} has left")),
        Err(error) => say(format!("* {name} is gone: {error}")),
    }
}

/// The lines of a connection.
struct Lines<R> {
    reader: Take<BufReader<R>>,
    /// What has been read of the next one.
    line: Vec<u8>,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    /// The next line, without its end; `None` at the end. May be dropped at any time: what it has read is kept.
    async fn next(&mut self) -> io::Result<Option<String>> {
        self.reader.read_until(b'\n', &mut self.line).await?;
        if self.line.last() == Some(&b'\n') {
            let line = String::from_utf8_lossy(&self.line).trim_end().to_owned();
            self.line.clear();
            self.reader.set_limit(LONGEST);
            return Ok(Some(line));
        }
        if self.reader.limit() == 0 {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the line is too long"));
        }
        // What comes before the end of the connection without the end of a line is none.
        Ok(None)
    }
}
