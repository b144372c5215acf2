//! tokio-util and tokio-stream.

use std::io;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures::{SinkExt, StreamExt};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::time::Instant;
use tokio_stream::wrappers::{
    BroadcastStream, IntervalStream, LinesStream, ReceiverStream, TcpListenerStream, UnboundedReceiverStream,
    WatchStream,
};
use tokio_util::codec::{BytesCodec, Decoder, Encoder, Framed, FramedRead, LengthDelimitedCodec, LinesCodec};
use tokio_util::io::{ReaderStream, StreamReader, SyncIoBridge};
use tokio_util::sync::{CancellationToken, PollSemaphore, PollSender};
use tokio_util::task::{JoinMap, TaskTracker};
use tokio_util::time::DelayQueue;
use tokio_util::udp::UdpFramed;

async fn connection() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (client, server) = tokio::join!(TcpStream::connect(address), listener.accept());
    (client.unwrap(), server.unwrap().0)
}

#[tokio::test]
async fn lines_and_frames_over_tcp() {
    let (client, server) = connection().await;
    let echo = tokio::spawn(async move {
        let (mut sink, stream) = Framed::new(server, LinesCodec::new()).split();
        sink.send_all(&mut stream.map(|line| line.map(|line| line.to_uppercase()))).await
    });
    let mut lines = Framed::new(client, LinesCodec::new());
    for n in 0..1000 {
        lines.feed(format!("line {n}")).await.unwrap();
    }
    SinkExt::<String>::flush(&mut lines).await.unwrap();
    for n in 0..1000 {
        assert_eq!(lines.next().await.unwrap().unwrap(), format!("LINE {n}"));
    }
    drop(lines);
    let _ = echo.await.unwrap();

    let (client, server) = connection().await;
    let mut sender = LengthDelimitedCodec::builder().length_field_type::<u16>().new_write(client);
    let mut receiver = LengthDelimitedCodec::builder().length_field_type::<u16>().new_read(server);
    let frames: Vec<_> = (0..200usize).map(|n| Bytes::from(vec![n as u8; n * 300])).collect();
    let sent = frames.clone();
    let writer = tokio::spawn(async move {
        for frame in sent {
            sender.send(frame).await.unwrap();
        }
    });
    for frame in &frames {
        assert_eq!(receiver.next().await.unwrap().unwrap(), frame);
    }
    assert!(receiver.next().await.is_none());
    writer.await.unwrap();
}

#[tokio::test]
async fn a_codec_of_ones_own_over_udp() {
    struct Number;
    impl Decoder for Number {
        type Item = u32;
        type Error = io::Error;
        fn decode(&mut self, from: &mut BytesMut) -> io::Result<Option<u32>> {
            Ok((from.len() >= 4).then(|| u32::from_be_bytes(from.split_to(4)[..].try_into().unwrap())))
        }
    }
    impl Encoder<u32> for Number {
        type Error = io::Error;
        fn encode(&mut self, number: u32, to: &mut BytesMut) -> io::Result<()> {
            to.extend_from_slice(&number.to_be_bytes());
            Ok(())
        }
    }
    let sockets = (UdpSocket::bind("127.0.0.1:0").await.unwrap(), UdpSocket::bind("127.0.0.1:0").await.unwrap());
    let address = sockets.1.local_addr().unwrap();
    let (mut one, mut two) = (UdpFramed::new(sockets.0, Number), UdpFramed::new(sockets.1, Number));
    for number in 0..100 {
        one.send((number, address)).await.unwrap();
        let (received, from) = two.next().await.unwrap().unwrap();
        assert_eq!(received, number);
        two.send((received + 1, from)).await.unwrap();
        assert_eq!(one.next().await.unwrap().unwrap(), (number + 1, address));
    }
}

#[tokio::test]
async fn readers_and_streams_are_turned_into_each_other() {
    let chunks: Vec<io::Result<Bytes>> = vec![Ok("one\ntw".into()), Ok("o\n".into()), Ok("three".into())];
    let mut lines = StreamReader::new(futures::stream::iter(chunks)).lines();
    for expected in ["one", "two", "three"] {
        assert_eq!(lines.next_line().await.unwrap().unwrap(), expected);
    }
    assert_eq!(lines.next_line().await.unwrap(), None);

    let (mut writer, reader) = tokio::io::duplex(64);
    let data: Vec<u8> = (0..100_000u32).map(|n| n as u8).collect();
    let sent = data.clone();
    let sender = tokio::spawn(async move { writer.write_all(&sent).await });
    let mut received = Vec::new();
    let mut stream = ReaderStream::new(reader);
    while let Some(chunk) = stream.next().await {
        received.extend_from_slice(&chunk.unwrap());
    }
    assert_eq!(received, data);
    sender.await.unwrap().unwrap();

    // Blocking code on the blocking pool, fed by asynchronous code.
    let (mut writer, reader) = tokio::io::duplex(16);
    let blocking = tokio::task::spawn_blocking(move || io::read_to_string(SyncIoBridge::new(reader)));
    writer.write_all(b"more than fits at once, by far").await.unwrap();
    drop(writer);
    assert_eq!(blocking.await.unwrap().unwrap(), "more than fits at once, by far");

    let mut bytes = FramedRead::new(&b"some bytes"[..], BytesCodec::new());
    assert_eq!(bytes.next().await.unwrap().unwrap(), &b"some bytes"[..]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tokens_cancel_what_is_below_them() {
    let root = CancellationToken::new();
    let tracker = TaskTracker::new();
    for n in 0..100 {
        let token = root.child_token();
        tracker.spawn(async move {
            tokio::select! {
                () = token.cancelled() => n,
                () = std::future::pending() => unreachable!(),
            }
        });
    }
    let apart = CancellationToken::new();
    assert_eq!(tracker.len(), 100);
    tracker.close();
    root.cancel();
    tracker.wait().await;
    assert!(!apart.is_cancelled());

    let guard = apart.clone().drop_guard();
    let waits = tokio::spawn({
        let apart = apart.clone();
        async move { apart.run_until_cancelled(std::future::pending::<()>()).await }
    });
    drop(guard);
    assert_eq!(waits.await.unwrap(), None);

    let mut map = JoinMap::new();
    for n in 0..10 {
        map.spawn(n, async move { n * n });
    }
    map.spawn(10, std::future::pending());
    assert!(map.abort(&10));
    let mut sum = 0;
    while let Some((key, ended)) = map.join_next().await {
        match ended {
            Ok(square) => sum += square,
            Err(error) => assert!(key == 10 && error.is_cancelled()),
        }
    }
    assert_eq!(sum, 285);
}

#[tokio::test(start_paused = true)]
async fn a_delay_queue_gives_things_back_when_their_time_has_come() {
    let start = Instant::now();
    let mut queue = DelayQueue::new();
    let hour = Duration::from_secs(3600);
    queue.insert("last", 3 * hour);
    let moved = queue.insert("first", 10 * hour);
    queue.insert("second", 2 * hour);
    let removed = queue.insert("never", hour);
    queue.reset(&moved, Duration::from_secs(1));
    assert_eq!(queue.remove(&removed).into_inner(), "never");
    for (name, at) in [("first", Duration::from_secs(1)), ("second", 2 * hour), ("last", 3 * hour)] {
        assert_eq!(queue.next().await.unwrap().into_inner(), name);
        assert!(start.elapsed() >= at && start.elapsed() < at + Duration::from_secs(1), "{:?}", start.elapsed());
    }
    assert!(queue.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn streams_of_channels_timers_and_sockets() {
    let (sender, receiver) = tokio::sync::mpsc::channel(2);
    tokio::spawn(async move {
        for n in 0..50 {
            sender.send(n).await.unwrap();
        }
    });
    assert_eq!(ReceiverStream::new(receiver).collect::<Vec<_>>().await, (0..50).collect::<Vec<_>>());

    let (sender, receiver) = tokio::sync::mpsc::unbounded_channel();
    (0..50).for_each(|n| sender.send(n).unwrap());
    drop(sender);
    let batches =
        tokio_stream::StreamExt::chunks_timeout(UnboundedReceiverStream::new(receiver), 20, Duration::from_secs(1));
    assert_eq!(batches.map(|batch| batch.len()).collect::<Vec<_>>().await, [20, 20, 10]);

    let (sender, receiver) = tokio::sync::broadcast::channel(4);
    (0..6).for_each(|n| assert!(sender.send(n).is_ok()));
    drop(sender);
    let seen: Vec<_> = BroadcastStream::new(receiver).map(|item| item.ok()).collect().await;
    assert_eq!(seen, [None, Some(2), Some(3), Some(4), Some(5)]);

    let (sender, receiver) = tokio::sync::watch::channel(1);
    let mut watched = WatchStream::new(receiver);
    assert_eq!(watched.next().await, Some(1));
    sender.send(2).unwrap();
    assert_eq!(watched.next().await, Some(2));
    drop(sender);
    assert_eq!(watched.next().await, None);

    let start = Instant::now();
    let ticks = IntervalStream::new(tokio::time::interval(Duration::from_secs(60)));
    assert_eq!(ticks.take(4).count().await, 4);
    assert_eq!(start.elapsed(), Duration::from_secs(180));
    let slow = futures::stream::pending::<()>();
    let mut slow = std::pin::pin!(tokio_stream::StreamExt::timeout(slow, Duration::from_secs(5)));
    assert!(slow.next().await.unwrap().is_err());

    let lines = LinesStream::new(tokio::io::BufReader::new(&b"a\nb\nc"[..]).lines());
    assert_eq!(lines.map(Result::unwrap).collect::<Vec<_>>().await, ["a", "b", "c"]);
}

#[tokio::test]
async fn a_listener_as_a_stream_and_senders_that_are_polled() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let clients = tokio::spawn(async move {
        for n in 0..5u8 {
            TcpStream::connect(address).await.unwrap().write_all(&[n]).await.unwrap();
        }
    });
    let mut first_bytes = Vec::new();
    let mut connections = TcpListenerStream::new(listener).take(5);
    while let Some(connection) = connections.next().await {
        first_bytes.push(connection.unwrap().read_u8().await.unwrap());
    }
    assert_eq!(first_bytes, [0, 1, 2, 3, 4]);
    clients.await.unwrap();

    let (sender, mut receiver) = tokio::sync::mpsc::channel(1);
    let mut sink = PollSender::new(sender);
    let sending = tokio::spawn(async move {
        for n in 0..20 {
            sink.send(n).await.unwrap();
        }
    });
    for n in 0..20 {
        assert_eq!(receiver.recv().await, Some(n));
    }
    sending.await.unwrap();

    let semaphore = std::sync::Arc::new(tokio::sync::Semaphore::new(1));
    let mut polled = PollSemaphore::new(semaphore.clone());
    let permit = std::future::poll_fn(|cx| polled.poll_acquire(cx)).await.unwrap();
    assert_eq!(semaphore.available_permits(), 0);
    drop(permit);
    assert_eq!(semaphore.available_permits(), 1);
}
