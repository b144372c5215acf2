//! Streams of either kind, used as the other.

use std::io::{Cursor, SeekFrom};

use rt_tokio_io::Compat;

const TEXT: &[u8] = b"one\ntwo\nthree";

#[rt::test]
async fn a_socket_of_rt_does_what_tokios_methods_ask() {
    use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};

    let listener = rt::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let client = rt::net::TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let (server, _) = listener.accept().await.unwrap();
    let writer = rt::spawn(async move {
        let mut client = Compat::new(client);
        client.write_all(TEXT).await.unwrap();
        client.flush().await.unwrap();
        client.shutdown().await.unwrap();
        let mut rest = Vec::new();
        client.read_to_end(&mut rest).await.unwrap();
        assert_eq!(rest, b"done");
    });
    let mut lines = BufReader::new(Compat::new(server)).lines();
    let mut read = Vec::new();
    while let Some(line) = lines.next_line().await.unwrap() {
        read.push(line);
    }
    assert_eq!(read, ["one", "two", "three"]);
    lines.into_inner().into_inner().write_all(b"done").await.unwrap();
    writer.await.unwrap();
}

#[rt::test]
async fn a_stream_of_tokios_traits_does_what_rts_methods_ask() {
    use rt::io::{AsyncBufReadExt, AsyncReadExt, AsyncSeekExt, AsyncWriteExt};

    let (client, server) = tokio::io::duplex(4);
    let (mut client, mut server) = (Compat::new(client), Compat::new(server));
    let writer = rt::spawn(async move {
        client.write_all(TEXT).await.unwrap();
        client.shutdown().await.unwrap();
        client
    });
    let mut all = Vec::new();
    server.read_to_end(&mut all).await.unwrap();
    assert_eq!(all, TEXT);
    drop(writer.await.unwrap());

    let mut cursor = Compat::new(Cursor::new(TEXT));
    // The cursor is one for either world. The test wants what comes through the other.
    let mut line = String::new();
    AsyncBufReadExt::read_line(&mut cursor, &mut line).await.unwrap();
    assert_eq!(line, "one\n");
    assert_eq!(AsyncSeekExt::seek(&mut cursor, SeekFrom::End(-5)).await.unwrap(), 8);
    let mut rest = String::new();
    AsyncReadExt::read_to_string(&mut cursor, &mut rest).await.unwrap();
    assert_eq!(rest, "three");
}

#[rt::test]
async fn what_was_filled_before_a_read_stays() {
    use std::pin::Pin;
    use std::task::{Context, Poll, Waker};

    let mut reader = Compat::new(rt::io::BufReader::new(TEXT));
    let mut memory = [0_u8; 8];
    let mut buf = tokio::io::ReadBuf::new(&mut memory);
    buf.put_slice(b"ab");
    let mut cx = Context::from_waker(Waker::noop());
    let read = tokio::io::AsyncRead::poll_read(Pin::new(&mut reader), &mut cx, &mut buf);
    assert!(matches!(read, Poll::Ready(Ok(()))));
    assert_eq!(buf.filled(), b"abone\ntw");
}
