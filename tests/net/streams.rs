//! Streams whole and in halves: splitting and putting together, peeking, trying, waiting for readiness.
//!
//! Mutations that these tests are for: halves of different streams put together; a peek that takes the bytes; a try
//! that waits; readiness that is reported without being there, for ever, or not reported.

use std::io::{ErrorKind, IoSlice};
use std::sync::Arc;
use std::time::Duration;

use rt::io::{AsyncReadExt, AsyncWriteExt, Interest};
use rt_test_util::*;

#[test]
fn owned_halves_work_in_two_tasks_and_come_together_again() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let (client, mut server) = tcp_pair().await;
            let (address, (mut reader, mut writer)) = (client.local_addr().unwrap(), client.into_split());
            let writing = rt::spawn(async move {
                for n in 0..200u8 {
                    writer.write_all(&[n; 100]).await.unwrap();
                }
                writer
            });
            let reading = rt::spawn(async move {
                let mut bytes = vec![0; 20_000];
                reader.read_exact(&mut bytes).await.unwrap();
                assert!(bytes.chunks(100).zip(0u8..).all(|(chunk, n)| chunk == [n; 100]));
                reader
            });
            let mut bytes = vec![0; 20_000];
            server.read_exact(&mut bytes).await.unwrap();
            server.write_all(&bytes).await.unwrap();
            let (reader, writer) = (reading.await.unwrap(), writing.await.unwrap());
            // Not with another stream's.
            let (other, _peer) = tcp_pair().await;
            let (other_reader, other_writer) = other.into_split();
            let error = reader.reunite(other_writer).unwrap_err();
            assert!(!error.to_string().is_empty());
            let client = error.0.reunite(writer).unwrap();
            assert_eq!(client.local_addr().unwrap(), address);
            error.1.reunite(other_reader).unwrap();
        });
    });
}

#[test]
fn borrowed_halves_work_at_the_same_time() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let (mut client, mut server) = tcp_pair().await;
            let echo = rt::spawn(async move {
                let mut bytes = vec![0; 4 << 20];
                server.read_exact(&mut bytes).await.unwrap();
                server.write_all(&bytes).await.unwrap();
            });
            let (mut reader, mut writer) = client.split();
            let sent = vec![9; 4 << 20];
            let mut received = vec![0; 4 << 20];
            let (written, read) =
                futures_lite::future::zip(writer.write_all(&sent), reader.read_exact(&mut received)).await;
            written.unwrap();
            read.unwrap();
            assert!(sent == received);
            echo.await.unwrap();
        });
    });
}

#[test]
fn dropping_the_writing_half_ends_what_the_peer_reads_and_no_more() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let (client, mut server) = tcp_pair().await;
            let (mut reader, mut writer) = client.into_split();
            writer.write_all(b"last words").await.unwrap();
            drop(writer);
            let mut heard = Vec::new();
            server.read_to_end(&mut heard).await.unwrap();
            assert_eq!(heard, b"last words");
            // The other direction is still open.
            server.write_all(b"answer").await.unwrap();
            drop(server);
            let mut answer = Vec::new();
            reader.read_to_end(&mut answer).await.unwrap();
            assert_eq!(answer, b"answer");
        });
    });
}

#[test]
fn a_peek_waits_for_bytes_and_takes_none() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let (client, mut server) = tcp_pair().await;
            let mut buffer = [0; 10];
            {
                let mut peek = std::pin::pin!(client.peek(&mut buffer));
                assert!(poll_once(peek.as_mut()).await.is_pending());
                server.write_all(b"abc").await.unwrap();
                assert_eq!(peek.await.unwrap(), 3);
            }
            for _ in 0..3 {
                assert_eq!(client.peek(&mut buffer).await.unwrap(), 3);
                assert_eq!(&buffer[..3], b"abc");
            }
            let mut client = client;
            client.read_exact(&mut buffer[..3]).await.unwrap();
            assert_eq!(&buffer[..3], b"abc");
            drop(server);
            assert_eq!(client.peek(&mut buffer).await.unwrap(), 0, "the end");
        });
    });
}

#[test]
fn tries_never_wait() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let (client, server) = tcp_pair().await;
            let mut buffer = [0; 100];
            // The system is asked for one of them only: the accepted one, of which it is not known what it holds.
            for stream in [&client, &server] {
                let error = stream.try_read(&mut buffer).unwrap_err();
                assert_eq!((error.kind(), error.raw_os_error()), (ErrorKind::WouldBlock, None));
            }
            // Until the buffers are full; then a wait for the reader, and it goes on.
            let (mut written, piece) = (0, vec![5; 64 << 10]);
            loop {
                match server.try_write(&piece) {
                    Ok(n) => written += n,
                    Err(error) => break assert_eq!(error.kind(), ErrorKind::WouldBlock),
                }
            }
            assert!(written > 0);
            {
                let mut writable = std::pin::pin!(server.writable());
                // The system may have moved on meanwhile what was written, and have room again.
                let waits = poll_once(writable.as_mut()).await.is_pending();
                let mut read = 0;
                while read < written {
                    client.readable().await.unwrap();
                    match client.try_read(&mut buffer) {
                        Ok(n) => read += n,
                        Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
                    }
                }
                assert_eq!(read, written);
                if waits {
                    writable.await.unwrap();
                }
            }
            assert!(server.try_write_vectored(&[IoSlice::new(b"a"), IoSlice::new(b"b")]).unwrap() > 0);
            assert_eq!(client.try_read(&mut []).unwrap_or(0), 0);
        });
    });
}

#[test]
fn readiness_that_did_not_hold_is_waited_for_again() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let (client, mut server) = tcp_pair().await;
            assert!(client.ready(Interest::WRITABLE).await.unwrap().is_writable());
            server.write_all(b"x").await.unwrap();
            client.readable().await.unwrap();
            assert_eq!(client.try_read(&mut [0; 8]).unwrap(), 1);
            // Read short: whether it knows already or has to ask the system first, it must come to wait.
            let _ = client.try_read(&mut [0; 8]);
            let waiting = Arc::new(client);
            let reader = waiting.clone();
            let task = rt::spawn(async move { reader.readable().await });
            for _ in 0..100 {
                rt::task::yield_now().await;
            }
            assert!(!task.is_finished(), "there is nothing to read");
            server.write_all(b"y").await.unwrap();
            task.await.unwrap().unwrap();
            assert_eq!(waiting.try_read(&mut [0; 8]).unwrap(), 1);
        });
    });
}

#[test]
fn a_read_that_is_given_up_takes_nothing_and_a_reader_can_move_to_another_task() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let (mut client, mut server) = tcp_pair().await;
            for n in 0..100u8 {
                let mut byte = [0];
                let limited = rt::time::timeout(Duration::from_micros(50), client.read_exact(&mut byte)).await;
                assert!(limited.is_err(), "nothing was written");
                server.write_all(&[n]).await.unwrap();
                client = rt::spawn(async move {
                    client.read_exact(&mut byte).await.unwrap();
                    assert_eq!(byte, [n]);
                    client
                })
                .await
                .unwrap();
            }
        });
    });
}

#[test]
fn a_write_to_a_closed_connection_is_an_error_and_not_a_signal() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let (mut client, server) = tcp_pair().await;
            server.set_zero_linger().unwrap();
            drop(server);
            let error = loop {
                if let Err(error) = client.write_all(&[0; 1000]).await {
                    break error;
                }
            };
            let kinds = [ErrorKind::BrokenPipe, ErrorKind::ConnectionReset, ErrorKind::ConnectionAborted];
            assert!(kinds.contains(&error.kind()), "{error:?}");
        });
    });
}

/// One call moves a limited number of buffers (1024 on Linux). That is not a short write, and not a short read: more
/// can follow at once. (Mutation: count all the buffers as expected, and wait for an edge that never comes.)
#[test]
fn more_buffers_than_one_call_can_move_do_not_stop_a_stream() {
    let _watchdog = watchdog();
    multi(2).block_on(async {
        let (mut ours, mut theirs) = tcp_pair().await;
        let bytes: Vec<u8> = (0..2000).map(|n| n as u8).collect();
        let slices: Vec<_> = bytes.chunks(1).map(IoSlice::new).collect();
        let written = ours.write_vectored(&slices).await.unwrap();
        assert!(written > 0);
        ours.write_all(&bytes[written..]).await.unwrap();

        let mut read = vec![0; 2000];
        let mut room: Vec<_> = read.chunks_mut(1).map(std::io::IoSliceMut::new).collect();
        theirs.readable().await.unwrap();
        let n = theirs.try_read_vectored(&mut room).unwrap();
        theirs.read_exact(&mut read[n..]).await.unwrap();
        assert_eq!(read, bytes);
    });
}

/// A stream that is filled by hand stays ready until it refuses, also after a write that was accepted in part.
#[test]
fn a_stream_is_ready_until_a_try_write_is_refused() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let (client, _server) = tcp_pair().await;
            client.writable().await.unwrap();
            loop {
                let mut foreign = std::task::Context::from_waker(std::task::Waker::noop());
                assert!(std::pin::pin!(client.writable()).poll(&mut foreign).is_ready());
                if let Err(error) = client.try_write(&[1; 5000]) {
                    assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock);
                    break;
                }
            }
        });
    });
}
