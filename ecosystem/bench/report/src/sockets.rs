//! WebSockets by tokio-tungstenite: one client sends, and all get it.
//!
//! The next message is sent when the last client has the one before, so that a request here is what one client
//! receives, and its latency the time from the sending until it has been read.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use futures_util::{SinkExt, StreamExt};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{WebSocketStream, client_async};

use crate::load::Seen;

/// Bytes of a message.
const SIZE: usize = 128;

pub(crate) fn fan_out(clients: usize, port: u16, length: Duration) -> io::Result<Seen> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let (received, mut inbox) = mpsc::unbounded_channel();
        // When the message under way was sent, after the beginning.
        let beginning = Instant::now();
        let sent_at = Arc::new(AtomicU64::new(0));
        for _ in 0..clients {
            let socket = connect(port).await?;
            let (received, sent_at) = (received.clone(), sent_at.clone());
            tokio::spawn(listen(socket, move || {
                let nanos = beginning.elapsed().as_nanos() as u64 - sent_at.load(Relaxed);
                // Nobody waits for it after the end.
                let _ = received.send(nanos as f64 / 1e3);
            }));
        }
        let mut sender = connect(port).await?;
        let mut latencies = Vec::new();
        let begun = Instant::now();
        while begun.elapsed() < length {
            sent_at.store(beginning.elapsed().as_nanos() as u64, Relaxed);
            sender.send(Message::binary(vec![0; SIZE])).await.map_err(io::Error::other)?;
            for _ in 0..clients {
                latencies.push(inbox.recv().await.ok_or(io::ErrorKind::BrokenPipe)?);
            }
            // It is one of all.
            sender.next().await.ok_or(io::ErrorKind::UnexpectedEof)?.map_err(io::Error::other)?;
        }
        Seen::of(latencies, begun.elapsed())
    })
}

async fn connect(port: u16) -> io::Result<WebSocketStream<TcpStream>> {
    let stream = TcpStream::connect(("127.0.0.1", port)).await?;
    stream.set_nodelay(true)?;
    let (socket, _) = client_async(format!("ws://127.0.0.1:{port}/"), stream).await.map_err(io::Error::other)?;
    Ok(socket)
}

async fn listen(mut socket: WebSocketStream<TcpStream>, received: impl Fn()) {
    while let Some(Ok(message)) = socket.next().await {
        if message.is_binary() {
            received();
        }
    }
}
