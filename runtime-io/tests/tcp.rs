//! TCP through the public interface, on a whole runtime.

#![cfg(not(loom))]

use std::future::poll_fn;
use std::io::{IoSlice, IoSliceMut};
use std::pin::Pin;

use futures_lite::future::zip;
use rt::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ErrorKind, Interest, ReadBuf, Result};
use rt::net::{TcpListener, TcpSocket, TcpStream};
use rt::runtime::Builder;

fn run<T>(test: impl Future<Output = Result<T>>) -> T {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(test).unwrap()
}

async fn pair() -> Result<(TcpStream, TcpStream)> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let addr = listener.local_addr()?;
    let (ours, theirs) = zip(TcpStream::connect(addr), listener.accept()).await;
    Ok((ours?, theirs?.0))
}

#[test]
fn a_connection_carries_bytes_both_ways_and_ends() {
    run(async {
        let (mut client, mut server) = pair().await?;
        client.write_all(b"question").await?;
        client.shutdown().await?;
        let mut question = String::new();
        server.read_to_string(&mut question).await?;
        assert_eq!(question, "question");
        server.write_all(b"answer").await?;
        drop(server);
        let mut answer = String::new();
        client.read_to_string(&mut answer).await?;
        assert_eq!(answer, "answer");
        Ok(())
    });
}

#[test]
fn much_data_goes_through_in_order() {
    run(async {
        let (client, server) = pair().await?;
        let sent: Vec<u8> = (0..4_000_000u32).map(|n| (n % 251) as u8).collect();
        let writing = async {
            (&client).write_all(&sent).await?;
            (&client).shutdown().await
        };
        let reading = async {
            let mut got = Vec::new();
            (&server).read_to_end(&mut got).await?;
            Ok::<_, rt::io::Error>(got)
        };
        let (written, got) = zip(writing, reading).await;
        written?;
        assert!(got? == sent);
        Ok(())
    });
}

#[test]
fn vectored_operations_use_all_buffers() {
    run(async {
        let (mut client, server) = pair().await?;
        assert!(client.is_write_vectored());
        let parts = [IoSlice::new(b"one"), IoSlice::new(b"two")];
        assert_eq!(poll_fn(|cx| Pin::new(&mut client).poll_write_vectored(cx, &parts)).await?, 6);
        let (mut a, mut b) = ([0; 4], [0; 8]);
        let mut parts = [IoSliceMut::new(&mut a), IoSliceMut::new(&mut b)];
        server.readable().await?;
        assert_eq!(server.try_read_vectored(&mut parts)?, 6);
        assert_eq!((&a, &b[..2]), (b"onet", &b"wo"[..]));
        Ok(())
    });
}

#[test]
fn peeking_takes_nothing_away() {
    run(async {
        let (mut client, mut server) = pair().await?;
        client.write_all(b"hello").await?;
        let mut buffer = [0; 16];
        assert_eq!(server.peek(&mut buffer).await?, 5);
        assert_eq!(server.peek(&mut buffer).await?, 5);
        assert_eq!(poll_fn(|cx| server.poll_peek(cx, &mut ReadBuf::new(&mut buffer))).await?, 5);
        assert_eq!(server.read(&mut buffer).await?, 5);
        Ok(())
    });
}

#[test]
fn readiness_and_attempts_without_waiting() {
    run(async {
        let (mut client, server) = pair().await?;
        let mut buffer = [0; 16];
        assert_eq!(server.try_read(&mut buffer).unwrap_err().kind(), ErrorKind::WouldBlock);
        server.writable().await?;
        assert_eq!(server.try_write(b"hi")?, 2);
        client.read_exact(&mut buffer[..2]).await?;
        client.write_all(b"hello").await?;
        assert!(server.ready(Interest::READABLE).await?.is_readable());
        assert_eq!(server.try_read(&mut buffer)?, 5);
        assert_eq!(server.try_read(&mut buffer).unwrap_err().kind(), ErrorKind::WouldBlock);
        drop(client);
        let ready = server.ready(Interest::READABLE).await?;
        assert!(ready.is_readable());
        assert_eq!(server.async_io(Interest::READABLE, || server.try_read(&mut [0; 1])).await?, 0);
        Ok(())
    });
}

#[test]
fn two_tasks_can_wait_for_the_same_stream() {
    run(async {
        let (mut client, server) = pair().await?;
        let waiting = zip(server.readable(), server.readable());
        let (woken, written) = zip(waiting, client.write_all(b"x")).await;
        written?;
        woken.0?;
        woken.1?;
        Ok(())
    });
}

#[test]
fn several_tasks_accept_from_one_listener() {
    run(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let addr = listener.local_addr()?;
        let connecting = zip(TcpStream::connect(addr), TcpStream::connect(addr));
        let ((a, b), (c, d)) = zip(zip(listener.accept(), listener.accept()), connecting).await;
        let mut peers = [a?.1, b?.1];
        let mut locals = [c?.local_addr()?, d?.local_addr()?];
        peers.sort();
        locals.sort();
        assert_eq!(peers, locals);
        let (accepted, connected) = zip(poll_fn(|cx| listener.poll_accept(cx)), TcpStream::connect(addr)).await;
        assert_eq!(accepted?.1, connected?.local_addr()?);
        Ok(())
    });
}

#[test]
fn dropping_the_writing_half_ends_the_stream_and_forgetting_it_does_not() {
    run(async {
        let (client, mut server) = pair().await?;
        let (mut reader, writer) = client.into_split();
        drop(writer);
        assert_eq!(server.read(&mut [0; 8]).await?, 0);
        server.write_all(b"still").await?;
        let mut buffer = [0; 5];
        reader.read_exact(&mut buffer).await?;

        let (client, server) = pair().await?;
        let (reader, writer) = client.into_split();
        writer.forget();
        server.writable().await?;
        assert_eq!(server.try_read(&mut buffer).unwrap_err().kind(), ErrorKind::WouldBlock);
        drop(reader);
        server.readable().await?;
        assert_eq!(server.try_read(&mut buffer)?, 0);
        Ok(())
    });
}

#[test]
fn halves_come_together_again_only_with_their_own() {
    run(async {
        let (a, b) = pair().await?;
        let addr = a.local_addr()?;
        let (a_reader, a_writer) = a.into_split();
        let (b_reader, b_writer) = b.into_split();
        let error = a_reader.reunite(b_writer).unwrap_err();
        assert_eq!(error.to_string(), "the two halves are not of the same stream");
        let a = error.0.reunite(a_writer).unwrap();
        assert_eq!(a.local_addr()?, addr);
        let mut b = error.1.reunite(b_reader).unwrap();
        let (mut reader, mut writer) = b.split();
        let (read, written) = zip(reader.readable(), (&a).write_all(b"x")).await;
        read?;
        written?;
        assert_eq!(reader.read(&mut [0; 4]).await?, 1);
        writer.write_all(b"y").await?;
        assert_eq!((&a).read(&mut [0; 4]).await?, 1);
        Ok(())
    });
}

#[test]
fn a_refused_connection_is_the_systems_error() {
    run(async {
        let addr = TcpListener::bind("127.0.0.1:0").await?.local_addr()?;
        let error = TcpStream::connect(addr).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
        let error = TcpSocket::new_v4()?.connect(addr).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
        assert!(error.raw_os_error().is_some());
        Ok(())
    });
}

#[test]
fn all_addresses_are_tried_in_turn() {
    run(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let good = listener.local_addr()?;
        let bad = TcpListener::bind("127.0.0.1:0").await?.local_addr()?;
        assert_eq!(TcpStream::connect(&[bad, good][..]).await?.peer_addr()?, good);
        let named = TcpStream::connect(("localhost", good.port())).await?;
        assert_eq!(named.peer_addr()?, good);
        let other = TcpListener::bind(&[good, "127.0.0.1:0".parse().unwrap()][..]).await?;
        assert_ne!(other.local_addr()?, good);
        assert_eq!(TcpListener::bind(&[][..]).await.unwrap_err().kind(), ErrorKind::InvalidInput);
        assert_eq!(TcpStream::connect("nonsense").await.unwrap_err().kind(), ErrorKind::InvalidInput);
        Ok(())
    });
}

#[test]
fn a_reset_is_an_error_to_the_reader() {
    run(async {
        let (mut client, server) = pair().await?;
        server.set_zero_linger()?;
        drop(server);
        assert_eq!(client.read(&mut [0; 8]).await.unwrap_err().kind(), ErrorKind::ConnectionReset);
        Ok(())
    });
}

#[test]
fn options_and_conversions_reach_the_socket() {
    run(async {
        let socket = TcpSocket::new_v4()?;
        socket.set_reuseaddr(true)?;
        socket.set_keepalive(true)?;
        socket.set_nodelay(true)?;
        assert!(socket.reuseaddr()? && socket.keepalive()? && socket.nodelay()?);
        socket.set_send_buffer_size(100_000)?;
        assert!(socket.send_buffer_size()? >= 100_000);
        socket.bind("127.0.0.1:0".parse().unwrap())?;
        let listener = socket.listen(16)?;
        let (client, accepted) = zip(TcpStream::connect(listener.local_addr()?), listener.accept()).await;
        let (client, (mut server, _)) = (client?, accepted?);
        client.set_ttl(42)?;
        client.set_nodelay(true)?;
        assert_eq!((client.ttl()?, client.nodelay()?, client.linger()?), (42, true, None));
        assert!(client.take_error()?.is_none());

        let std = client.into_std()?;
        let mut client = TcpStream::from_std(std)?;
        client.write_all(b"hello").await?;
        let mut buffer = [0; 5];
        server.read_exact(&mut buffer).await?;
        let listener = TcpListener::from_std(listener.into_std()?)?;
        let (again, accepted) = zip(TcpStream::connect(listener.local_addr()?), listener.accept()).await;
        again?;
        accepted?;
        Ok(())
    });
}

/// However much there is to read, a task gives way now and then.
#[test]
fn a_socket_that_is_always_ready_spends_the_budget() {
    run(async {
        let (client, server) = pair().await?;
        (&client).write_all(&[0; 10_000]).await?;
        server.readable().await?;
        let mut read = 0;
        poll_fn(|cx| {
            while Pin::new(&mut &server).poll_read(cx, &mut ReadBuf::new(&mut [0; 1])).is_ready() {
                read += 1;
                assert!(read < 10_000, "never gave way");
            }
            std::task::Poll::Ready(())
        })
        .await;
        assert!(read > 0);
        Ok(())
    });
}

#[test]
fn without_a_runtime_the_message_names_the_caller() {
    let message = |work: Box<dyn FnOnce() + std::panic::UnwindSafe>| {
        let payload = std::panic::catch_unwind(work).unwrap_err();
        payload.downcast_ref::<String>().cloned().unwrap_or_default()
    };
    let connecting = message(Box::new(|| {
        let _ = futures_lite::future::block_on(TcpStream::connect("127.0.0.1:1"));
    }));
    assert!(connecting.contains(file!()), "{connecting}");
    let binding = message(Box::new(|| {
        let _ = futures_lite::future::block_on(TcpListener::bind("127.0.0.1:0"));
    }));
    assert!(binding.contains(file!()), "{binding}");
}

#[cfg(unix)]
#[test]
fn a_socket_in_blocking_mode_is_refused_and_not_left_to_block_the_runtime() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let stream = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    run(async {
        let errors = [TcpListener::from_std(listener).unwrap_err(), TcpStream::from_std(stream).unwrap_err()];
        for error in errors {
            assert_eq!(error.kind(), ErrorKind::InvalidInput);
            assert!(error.to_string().contains("set_nonblocking(true)"), "{error}");
        }
        Ok(())
    });
}

#[test]
#[cfg(unix)]
fn a_blocking_socket_that_is_yet_to_be_used_is_refused_before_it_blocks() {
    run(async {
        let blocking = || -> Result<TcpSocket> {
            let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None)?;
            Ok(TcpSocket::from_std_stream(socket.into()))
        };
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let errors =
            [blocking()?.connect(listener.local_addr()?).await.unwrap_err(), blocking()?.listen(16).unwrap_err()];
        for error in errors {
            assert_eq!(error.kind(), ErrorKind::InvalidInput);
            assert!(error.to_string().contains("set_nonblocking(true)"), "{error}");
        }
        let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None)?;
        socket.set_nonblocking(true)?;
        TcpSocket::from_std_stream(socket.into()).connect(listener.local_addr()?).await.map(drop)
    });
}
