//! Connections that break: resets during reads and writes, one direction that ends before the other, a peer that never
//! reads. The tasks that wait for the connection get the error, and no others.
//!
//! Mutations that these tests are for: an error event that wakes one direction only; an end that is taken for
//! readiness, and cleared, so that the next to read waits for ever; a half that is closed with the whole; a socket that
//! an aborted task leaves behind; a close that fails because there is nothing left to close.

use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;

use rt::io::{AsyncReadExt, AsyncWriteExt, Interest};
use rt::net::{TcpListener, TcpStream};
use rt_test_util::*;

/// Ends a connection with a reset instead of an orderly end.
fn reset(stream: TcpStream) {
    stream.set_zero_linger().unwrap();
    drop(stream);
}

#[track_caller]
fn assert_broken<T: std::fmt::Debug>(outcome: std::io::Result<T>) {
    let kind = outcome.unwrap_err().kind();
    let broken = [ErrorKind::ConnectionReset, ErrorKind::ConnectionAborted, ErrorKind::BrokenPipe];
    assert!(broken.contains(&kind), "{kind:?}");
}

/// Writes until there is no more room, and a write has to wait for it. Gives the number of bytes.
async fn fill(stream: &mut TcpStream) -> usize {
    let (mut written, piece) = (0, vec![7; 64 << 10]);
    loop {
        match poll_once(std::pin::pin!(stream.write(&piece))).await {
            std::task::Poll::Ready(outcome) => written += outcome.unwrap(),
            std::task::Poll::Pending => return written,
        }
    }
}

#[test]
fn a_reset_ends_a_read_that_waits_and_all_after_it() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            for _ in 0..20 {
                let (mut client, mut server) = tcp_pair().await;
                server.write_all(b"half a mess").await.unwrap();
                let waiting = Signal::new();
                let tell = waiting.clone();
                let reader = rt::spawn(async move {
                    let mut message = [0; 100];
                    client.read_exact(&mut message[..11]).await.unwrap();
                    {
                        let mut rest = std::pin::pin!(client.read_exact(&mut message[11..]));
                        assert!(poll_once(rest.as_mut()).await.is_pending());
                        tell.set();
                        assert_broken(rest.await);
                    }
                    // It has been told once; from now on this is a connection that has come to its end.
                    assert_eq!(client.read(&mut message).await.unwrap_or(0), 0);
                    assert_broken(client.write_all(b"?").await);
                });
                waiting.wait().await;
                reset(server);
                reader.await.unwrap();
            }
        });
    });
}

#[test]
fn a_reset_ends_a_write_that_waits_and_a_read_beside_it() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            for _ in 0..5 {
                let (client, server) = tcp_pair().await;
                let (mut reader, mut writer) = client.into_split();
                let waiting = [Signal::new(), Signal::new()];
                let [tell_reading, tell_writing] = waiting.clone();
                let reading = rt::spawn(async move {
                    let mut byte = [0];
                    let mut read = std::pin::pin!(reader.read(&mut byte));
                    assert!(poll_once(read.as_mut()).await.is_pending());
                    tell_reading.set();
                    read.await
                });
                let writing = rt::spawn(async move {
                    // More than the system takes at a time.
                    let bytes = vec![0; 64 << 20];
                    let mut write = std::pin::pin!(writer.write_all(&bytes));
                    assert!(poll_once(write.as_mut()).await.is_pending());
                    tell_writing.set();
                    write.await
                });
                for waiting in waiting {
                    waiting.wait().await;
                }
                reset(server);
                let (read, written) = (reading.await.unwrap(), writing.await.unwrap());
                // The system tells of the reset once: to one of the two, whichever asks first. The other one finds the
                // connection at its end.
                assert_broken(written);
                match read {
                    Ok(n) => assert_eq!(n, 0),
                    error => assert_broken(error),
                }
            }
        });
    });
}

#[test]
fn a_peer_that_has_said_all_is_still_answered() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            // More than the buffers between them hold, in both directions.
            const LENGTH: usize = 1 << 20;
            let (mut client, mut server) = tcp_pair().await;
            let serving = rt::spawn(async move {
                let mut question = Vec::new();
                server.read_to_end(&mut question).await.unwrap();
                assert!(question == vec![1; LENGTH]);
                // The end stays the end.
                assert_eq!(server.read(&mut [0; 10]).await.unwrap(), 0);
                server.write_all(&vec![2; LENGTH]).await.unwrap();
                assert_eq!(server.read(&mut [0; 10]).await.unwrap(), 0);
            });
            client.write_all(&vec![1; LENGTH]).await.unwrap();
            client.shutdown().await.unwrap();
            assert_broken(client.write(b"one more thing").await);
            let mut answer = Vec::new();
            client.read_to_end(&mut answer).await.unwrap();
            assert!(answer == vec![2; LENGTH]);
            assert_eq!(client.read(&mut [0; 10]).await.unwrap(), 0);
            serving.await.unwrap();
        });
    });
}

#[test]
fn an_end_in_the_middle_of_a_message_is_told_to_the_reader_of_the_rest() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            for _ in 0..50 {
                let (mut client, mut server) = tcp_pair().await;
                let reader = rt::spawn(async move { client.read_exact(&mut [0; 100]).await });
                server.write_all(&[1; 50]).await.unwrap();
                drop(server);
                assert_eq!(reader.await.unwrap().unwrap_err().kind(), ErrorKind::UnexpectedEof);
            }
        });
    });
}

#[test]
fn a_peer_that_never_reads_holds_up_its_own_writer_and_nobody_else() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let metrics = runtime.metrics();
        runtime.block_on(async {
            let (client, mut deaf) = tcp_pair().await;
            let written = Arc::new(AtomicUsize::new(0));
            let (count, mut client) = (written.clone(), client);
            let writer = rt::spawn(async move {
                loop {
                    let n = client.write(&[5; 10_000]).await.unwrap();
                    count.fetch_add(n, SeqCst);
                }
            });

            // Others have all that they need meanwhile, on either side of when it gets stuck.
            for _ in 0..10 {
                let (mut ours, mut theirs) = tcp_pair().await;
                let echo = rt::spawn(async move {
                    let mut bytes = [0; 100];
                    theirs.read_exact(&mut bytes).await.unwrap();
                    theirs.write_all(&bytes).await.unwrap();
                });
                ours.write_all(&[9; 100]).await.unwrap();
                ours.read_exact(&mut [0; 100]).await.unwrap();
                echo.await.unwrap();
            }
            // It has come to wait: nothing is left to do, so a timer and another timer see the same count.
            let mut before = usize::MAX;
            while before != written.load(SeqCst) {
                before = written.load(SeqCst);
                rt::time::sleep(std::time::Duration::from_millis(20)).await;
            }
            assert!(before > 0 && !writer.is_finished());

            let registered = metrics.drivers().io_registered;
            writer.abort();
            assert!(writer.await.unwrap_err().is_cancelled());
            assert_eq!(metrics.drivers().io_registered, registered - 1, "the writer's socket went with it");
            // What was written was written: all of it can be had, late as it is, and then the end.
            let mut heard = Vec::new();
            deaf.read_to_end(&mut heard).await.unwrap();
            assert_eq!(heard.len(), written.load(SeqCst));
        });
    });
}

#[test]
fn two_peers_that_both_only_write_wait_and_go_on_when_one_begins_to_read() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let (mut one, mut two) = tcp_pair().await;
            let (sent_by_one, sent_by_two) = (fill(&mut one).await, fill(&mut two).await);
            let writer = rt::spawn(async move {
                two.write_all(&[7; 100_000]).await.unwrap();
                two
            });
            let mut received = vec![0; sent_by_two + 100_000];
            one.read_exact(&mut received).await.unwrap();
            let mut two = writer.await.unwrap();
            two.read_exact(&mut vec![0; sent_by_one]).await.unwrap();
            one.write_all(b"x").await.unwrap();
            two.read_exact(&mut [0]).await.unwrap();
        });
    });
}

#[test]
fn connections_that_nobody_has_accepted_end_with_their_listener() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let mut readers = Vec::new();
            for _ in 0..20 {
                let mut client = TcpStream::connect(address).await.unwrap();
                readers.push(rt::spawn(async move { client.read(&mut [0]).await }));
            }
            rt::task::yield_now().await;
            drop(listener);
            for reader in readers {
                match reader.await.unwrap() {
                    Ok(n) => assert_eq!(n, 0),
                    error => assert_broken(error),
                }
            }
        });
    });
}

/// Closes a stream in each of the ways that there are: as a whole, by reference, and by its halves. It must be no error
/// in any.
async fn close_in_all_ways(mut stream: TcpStream) -> TcpStream {
    stream.shutdown().await.unwrap();
    (&stream).shutdown().await.unwrap();
    stream.split().1.shutdown().await.unwrap();
    let (reader, mut writer) = stream.into_split();
    writer.shutdown().await.unwrap();
    writer.shutdown().await.unwrap();
    reader.reunite(writer).unwrap()
}

#[test]
fn to_close_after_a_reset_is_no_error_and_the_reset_is_still_told() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            for is_told_before in [false, true] {
                let (mut client, server) = tcp_pair().await;
                reset(server);
                // Until it is here.
                while !client.ready(Interest::READABLE).await.unwrap().is_read_closed() {}
                if is_told_before {
                    assert_broken(client.read(&mut [0]).await);
                }
                let mut client = close_in_all_ways(client).await;
                if !is_told_before {
                    assert_broken(client.read(&mut [0]).await);
                }
                assert_broken(client.write(b"?").await);
                // Dropped by halves, of which the writer closes it once more.
                drop(client.into_split());
            }
        });
    });
}

#[test]
fn to_close_again_is_no_error_whichever_side_has_closed_first() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let (first, mut second) = tcp_pair().await;
            let mut first = close_in_all_ways(first).await;
            assert_eq!(second.read(&mut [0; 8]).await.unwrap(), 0);
            let second = close_in_all_ways(second).await;
            // Now that both directions have ended the system has no connection any more.
            assert_eq!(first.read(&mut [0; 8]).await.unwrap(), 0);
            close_in_all_ways(first).await;
            close_in_all_ways(second).await;
        });
    });
}
