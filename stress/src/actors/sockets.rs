//! An echo server and its clients. Every byte comes back as it was, until somebody ends it abruptly.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rt::io::{AsyncReadExt, AsyncWriteExt};
use rt::net::{TcpListener, TcpStream};

use super::dither;
use crate::ledger::{Count, Kind};
use crate::plan::{Rng, one_in};
use crate::stage::Stage;

/// The server, as its clients know it.
#[derive(Clone)]
struct Server {
    stage: Stage,
    address: SocketAddr,
    gone: Arc<AtomicBool>,
}

impl Server {
    /// Errors are to be expected only when the server, or the whole runtime, is ending.
    fn complain(&self, what: &str, error: &io::Error) {
        if !self.gone.load(Ordering::SeqCst) && !self.stage.life().is_closing() {
            self.stage.ledger().problem(format!("{what}: {error}"));
        }
    }
}

/// Lies in the task that the server ends with.
struct Open(Arc<AtomicBool>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

pub(super) async fn run(stage: Stage, size: usize, mut rng: Rng) {
    let listener = match TcpListener::bind("127.0.0.1:0").await {
        Ok(listener) => listener,
        Err(error) => {
            if !stage.life().is_closing() {
                stage.ledger().problem(format!("bind: {error}"));
            }
            return;
        }
    };
    let address = listener.local_addr().expect("a bound listener has an address");
    let server = Server { stage: stage.clone(), address, gone: Arc::default() };
    // It would go on for ever, and ends with this task.
    let listening = stage.spawn(Kind::Listener, listen(server.clone(), listener, rng.fork())).leash();
    // Dropped before that.
    let open = Open(Arc::clone(&server.gone));
    let clients: Vec<_> = (0..size)
        .map(|_| {
            let task = stage.spawn(Kind::Client, client(server.clone(), rng.fork()));
            stage.expose(&task, &mut rng, 10);
            task
        })
        .collect();
    for client in clients {
        let _ = client.join().await;
    }
    drop((open, listening));
}

async fn listen(server: Server, listener: TcpListener, mut rng: Rng) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                server.stage.ledger().count(Count::Connections);
                drop(server.stage.spawn(Kind::Connection, serve(stream, rng.fork())));
            }
            // A client that has gone already may be reported here.
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
            Err(error) => return server.complain("accept", &error),
        }
    }
}

/// Echoes until the end, in one of two ways. Errors are the client's to report.
async fn serve(mut stream: TcpStream, mut rng: Rng) {
    if rng.bool() {
        let (mut reader, mut writer) = stream.split();
        let _ = rt::io::copy(&mut reader, &mut writer).await;
        return;
    }
    let mut buffer = vec![0; rng.usize(1..5000)];
    while let Ok(n @ 1..) = stream.read(&mut buffer).await {
        if one_in(&mut rng, 6) {
            dither(&mut rng).await;
        }
        if stream.write_all(&buffer[..n]).await.is_err() {
            return;
        }
    }
}

async fn client(server: Server, mut rng: Rng) {
    dither(&mut rng).await;
    let stream = match TcpStream::connect(server.address).await {
        Ok(stream) => stream,
        Err(error) => return server.complain("connect", &error),
    };
    let stage = &server.stage;
    let pattern = Pattern(rng.u64(..));
    let result = match rng.u32(..8) {
        0 => {
            drop(stream);
            Ok(())
        }
        1 | 2 => abrupt(stage, stream, pattern, &mut rng).await,
        3 | 4 => streaming(stage, stream, pattern, &mut rng).await,
        _ => in_lockstep(stage, stream, pattern, &mut rng).await,
    };
    if let Err(error) = result {
        server.complain("echo", &error);
    }
}

/// What is sent: bytes that depend on where they stand.
#[derive(Clone, Copy)]
struct Pattern(u64);

impl Pattern {
    fn bytes(self, from: u64, len: usize) -> Vec<u8> {
        (from..).take(len).map(|at| (self.0.wrapping_add(at).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect()
    }

    /// Checks what came back, as the bytes from there on.
    fn check(self, stage: &Stage, from: u64, bytes: &[u8]) {
        stage.ledger().add(Count::Bytes, bytes.len() as u64);
        if bytes != self.bytes(from, bytes.len()) {
            stage.ledger().problem(format!("{} bytes from {from} on came back different", bytes.len()));
        }
    }
}

fn some_length(rng: &mut Rng) -> usize {
    if one_in(rng, 4) { rng.usize(1..60_000) } else { rng.usize(1..600) }
}

/// One piece there and back, then the next.
async fn exchange(stage: &Stage, stream: &mut TcpStream, pattern: Pattern, rng: &mut Rng) -> io::Result<u64> {
    let mut at = 0;
    for _ in 0..rng.u32(1..20) {
        let len = some_length(rng);
        stream.write_all(&pattern.bytes(at, len)).await?;
        if one_in(rng, 8) {
            dither(rng).await;
        }
        let mut back = vec![0; len];
        stream.read_exact(&mut back).await?;
        pattern.check(stage, at, &back);
        at += len as u64;
    }
    Ok(at)
}

/// The connection is closed for writing at the end, and the server then closes its side.
async fn in_lockstep(stage: &Stage, mut stream: TcpStream, pattern: Pattern, rng: &mut Rng) -> io::Result<()> {
    exchange(stage, &mut stream, pattern, rng).await?;
    stream.shutdown().await?;
    let more = stream.read(&mut [0]).await?;
    if more > 0 {
        stage.ledger().problem("bytes came that nobody had sent".into());
    }
    Ok(())
}

/// Two tasks: one writes all and closes its half, the other reads until the end.
async fn streaming(stage: &Stage, stream: TcpStream, pattern: Pattern, rng: &mut Rng) -> io::Result<()> {
    let (mut reader, mut writer) = stream.into_split();
    let pieces: Vec<_> = (0..rng.u32(1..20)).map(|_| some_length(rng)).collect();
    let total = pieces.iter().sum::<usize>() as u64;
    let writing = stage.spawn(Kind::Client, async move {
        let mut at = 0;
        for len in pieces {
            writer.write_all(&pattern.bytes(at, len)).await?;
            at += len as u64;
        }
        writer.shutdown().await
    });
    let (mut at, mut buffer) = (0, vec![0; rng.usize(1..5000)]);
    loop {
        let n = reader.read(&mut buffer).await?;
        if n == 0 {
            break;
        }
        pattern.check(stage, at, &buffer[..n]);
        at += n as u64;
    }
    match writing.join().await {
        Ok(Ok(())) if at == total => Ok(()),
        Ok(Ok(())) => Err(io::Error::other(format!("of {total} bytes {at} came back"))),
        Ok(Err(error)) => Err(error),
        // The runtime is ending.
        Err(_) => Ok(()),
    }
}

/// Gone in the middle, with bytes under way, perhaps with a reset.
async fn abrupt(stage: &Stage, mut stream: TcpStream, pattern: Pattern, rng: &mut Rng) -> io::Result<()> {
    let at = exchange(stage, &mut stream, pattern, rng).await?;
    stream.write_all(&pattern.bytes(at, some_length(rng))).await?;
    if rng.bool() {
        stream.set_zero_linger()?;
    }
    Ok(())
}
