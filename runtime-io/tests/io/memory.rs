//! Streams within the process, and streams taken apart.

use std::io::{ErrorKind, IoSlice};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Weak};
use std::task::{Context, Wake, Waker};

use rt::io::{
    AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, DuplexStream, ReadBuf, SimplexStream, duplex, join, simplex,
    split,
};
use runtime_core::primitive::Mutex;

use super::foreign::Script;
use super::{polled_once, run};

#[test]
fn bytes_arrive_in_order_however_little_room_there_is() {
    for room in [1, 2, 7, 64, 4096] {
        run(async move {
            let (mut one, mut other) = duplex(room);
            let sent: Vec<u8> = (0..10_000u32).map(|n| n as u8).collect();
            let expected = sent.clone();
            let writing = rt::spawn(async move {
                one.write_all(&sent).await.unwrap();
                one.shutdown().await.unwrap();
                let mut answer = vec![];
                one.read_to_end(&mut answer).await.unwrap();
                answer
            });
            let mut got = vec![];
            other.read_to_end(&mut got).await.unwrap();
            assert!(got == expected);
            other.write_all(b"answer").await.unwrap();
            drop(other);
            assert_eq!(writing.await.unwrap(), b"answer");
        });
    }
}

#[test]
fn a_peer_that_is_gone_leaves_what_it_wrote_and_takes_no_more() {
    run(async {
        let (mut one, mut other) = duplex(8);
        one.write_all(b"last").await.unwrap();
        drop(one);
        assert_eq!(other.write(b"x").await.unwrap_err().kind(), ErrorKind::BrokenPipe);
        let mut text = String::new();
        other.read_to_string(&mut text).await.unwrap();
        assert_eq!(text, "last");

        let (mut one, mut other) = duplex(8);
        one.shutdown().await.unwrap();
        assert_eq!(one.write(b"x").await.unwrap_err().kind(), ErrorKind::BrokenPipe);
        assert_eq!(other.read(&mut [0; 4]).await.unwrap(), 0);
        other.write_all(b"back").await.unwrap();
        assert_eq!(one.read(&mut [0; 4]).await.unwrap(), 4, "the other direction is still open");
    });
}

#[test]
fn nothing_to_move_is_no_reason_to_wait() {
    run(async {
        let (mut one, mut other) = duplex(1);
        assert_eq!(one.read(&mut []).await.unwrap(), 0);
        one.write_all(b"x").await.unwrap();
        assert_eq!(one.write(b"").await.unwrap(), 0);
        assert_eq!(one.write_vectored(&[IoSlice::new(b""), IoSlice::new(b"")]).await.unwrap(), 0);
        assert!(polled_once(one.write(b"y")).await.is_pending());
        let mut buf = [0; 4];
        assert_eq!(other.read(&mut buf).await.unwrap(), 1);
    });
}

#[test]
fn a_vectored_write_takes_what_there_is_room_for() {
    run(async {
        let (mut one, mut other) = duplex(5);
        assert!(one.is_write_vectored());
        let slices = [IoSlice::new(b"one"), IoSlice::new(b""), IoSlice::new(b"two"), IoSlice::new(b"three")];
        assert_eq!(one.write_vectored(&slices).await.unwrap(), 5);
        let mut buf = [0; 8];
        assert_eq!(other.read(&mut buf).await.unwrap(), 5);
        assert_eq!(&buf[..5], b"onetw");
    });
}

#[test]
fn one_way_streams_end_when_they_are_shut_down() {
    run(async {
        let (mut reader, mut writer) = simplex(4);
        let writing = rt::spawn(async move {
            writer.write_all(b"hello, world").await.unwrap();
            writer.shutdown().await.unwrap();
            writer
        });
        let mut text = String::new();
        reader.read_to_string(&mut text).await.unwrap();
        assert_eq!(text, "hello, world");
        let mut writer = writing.await.unwrap();
        assert_eq!(writer.write_u8(1).await.unwrap_err().kind(), ErrorKind::BrokenPipe);
        let mut whole: SimplexStream = reader.unsplit(writer);
        assert_eq!(whole.read(&mut [0; 4]).await.unwrap(), 0);
    });
}

#[test]
#[should_panic(expected = "must be greater than 0")]
fn without_room_there_is_no_stream() {
    duplex(0);
}

/// A waker that does as it likes: when it is woken, and when it is dropped, it uses the end of the stream that somebody
/// else is at this moment moving bytes with, or waiting at.
struct Meddler {
    stream: Weak<Mutex<DuplexStream>>,
    count: Arc<AtomicUsize>,
}

impl Meddler {
    fn meddle(&self) {
        let Some(stream) = self.stream.upgrade() else { return };
        // One that is woken by what another one does has nothing to do: that one holds the test's own lock.
        if let Some(mut stream) = stream.try_lock() {
            let mut cx = Context::from_waker(Waker::noop());
            let _ = Pin::new(&mut *stream).poll_read(&mut cx, &mut ReadBuf::new(&mut [0; 1]));
            let _ = Pin::new(&mut *stream).poll_write(&mut cx, b"!");
            self.count.fetch_add(1, SeqCst);
        }
    }
}

impl Wake for Meddler {
    fn wake(self: Arc<Self>) {
        self.meddle();
    }
}

impl Drop for Meddler {
    fn drop(&mut self) {
        self.meddle();
    }
}

#[test]
fn wakers_are_called_and_dropped_outside_of_the_lock() {
    let (mut ours, theirs) = duplex(2);
    let theirs = Arc::new(Mutex::new(theirs));
    let count = Arc::new(AtomicUsize::new(0));
    let meddler = || Waker::from(Arc::new(Meddler { stream: Arc::downgrade(&theirs), count: count.clone() }));
    let mut wait_with = |waker: Waker| {
        let mut bytes = [0; 4];
        Pin::new(&mut ours).poll_read(&mut Context::from_waker(&waker), &mut ReadBuf::new(&mut bytes))
    };
    // The second waker takes the place of the first, which is dropped and writes; so there is something to read then.
    assert!(wait_with(meddler()).is_pending());
    assert!(wait_with(meddler()).is_pending());
    assert_eq!(count.load(SeqCst), 2, "one was woken by what the other wrote, and both are gone");
    assert!(wait_with(meddler()).is_ready());
}

#[test]
fn the_halves_of_a_stream_are_the_stream() {
    run(async {
        let (one, mut other) = duplex(64);
        let (mut reader, mut writer) = split(one);
        assert!(reader.is_pair_of(&writer) && writer.is_pair_of(&reader));
        assert!(writer.is_write_vectored());
        let answering = rt::spawn(async move {
            let mut question = vec![];
            other.read_to_end(&mut question).await.unwrap();
            other.write_all(&question).await.unwrap();
        });
        let asking = rt::spawn(async move {
            writer.write_all(b"again").await.unwrap();
            writer.shutdown().await.unwrap();
            writer
        });
        let mut answer = String::new();
        reader.read_to_string(&mut answer).await.unwrap();
        assert_eq!(answer, "again");
        answering.await.unwrap();
        let writer = asking.await.unwrap();
        let (foreign_reader, foreign_writer) = split(duplex(1).0);
        assert!(!reader.is_pair_of(&foreign_writer) && !writer.is_pair_of(&foreign_reader));
        let mut whole = reader.unsplit(writer);
        assert_eq!(whole.read(&mut [0; 4]).await.unwrap(), 0);
    });
}

#[test]
#[should_panic(expected = "not of the same stream")]
fn halves_of_different_streams_are_not_put_together() {
    let (one, other) = duplex(1);
    split(one).0.unsplit(split(other).1);
}

#[test]
fn a_reader_and_a_writer_are_joined() {
    run(async {
        let mut stream = join(&b"input"[..], Script::vectored());
        assert!(stream.is_write_vectored());
        let slices = [IoSlice::new(b"a"), IoSlice::new(b"b")];
        assert_eq!(stream.write_vectored(&slices).await.unwrap(), 2);
        stream.flush().await.unwrap();
        stream.shutdown().await.unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).await.unwrap();
        assert_eq!(text, "input");
        *stream.reader_mut() = b"more";
        assert_eq!(*stream.reader(), b"more");
        stream.writer_mut().flushes += 1;
        let (_, writer) = stream.into_inner();
        assert_eq!((&*writer.written, writer.flushes, writer.is_shut_down), (&b"ab"[..], 2, true));
    });
}
