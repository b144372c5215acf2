//! Streams of futures-io as streams of rt, and the other way round.

#![cfg(not(loom))]

use std::io::{ErrorKind, SeekFrom};

use rt::io::BufReader;
use rt::io::duplex;
use rt::runtime::Builder;
use runtime_io::io::compat::{AsyncReadCompat, AsyncWriteCompat, Compat};

fn run<T>(test: impl Future<Output = T>) -> T {
    Builder::new_current_thread().enable_all().build().unwrap().block_on(test)
}

/// With the methods of futures-io in scope.
mod with_futures_io {
    use futures_lite::io::{AsyncBufReadExt, AsyncReadExt, AsyncSeekExt, AsyncWriteExt};

    use super::*;

    #[test]
    fn a_stream_of_rts_is_read_written_and_closed() {
        run(async {
            let (one, other) = duplex(8);
            let (mut one, other) = (one.compat(), other);
            let writing = rt::spawn(async move {
                one.write_all(b"more than there is room for").await.unwrap();
                one.flush().await.unwrap();
                one.close().await.unwrap();
                assert_eq!(one.write(b"x").await.unwrap_err().kind(), ErrorKind::BrokenPipe);
                one.into_inner()
            });
            let mut other = BufReader::new(other).compat();
            let mut text = String::new();
            other.read_line(&mut text).await.unwrap();
            assert_eq!(text, "more than there is room for");
            assert_eq!(other.get_ref().buffer(), b"");
            drop(writing.await.unwrap());
            assert_eq!(other.read(&mut [0; 4]).await.unwrap(), 0);
        });
    }

    #[test]
    fn a_stream_of_rts_seeks() {
        run(async {
            let mut stream = std::io::Cursor::new(b"0123456789").compat();
            assert_eq!(stream.seek(SeekFrom::End(-2)).await.unwrap(), 8);
            assert_eq!(stream.seek(SeekFrom::Current(-3)).await.unwrap(), 5);
            assert_eq!(stream.seek(SeekFrom::Current(-6)).await.unwrap_err().kind(), ErrorKind::InvalidInput);
            let mut rest = String::new();
            stream.read_to_string(&mut rest).await.unwrap();
            assert_eq!(rest, "56789");
        });
    }

    #[test]
    fn what_can_only_be_written_to_is_wrapped_too() {
        run(async {
            let mut writer: Compat<rt::io::Sink> = rt::io::sink().compat_write();
            writer.write_all(b"x").await.unwrap();
        });
    }
}

/// With the methods of rt in scope.
mod with_rt {
    use std::cell::Cell;
    use std::pin::Pin;
    use std::rc::Rc;
    use std::task::{Context, Poll};

    use rt::io::{AsyncBufReadExt, AsyncReadExt, AsyncSeekExt, AsyncWrite, AsyncWriteExt};
    use runtime_io::io::compat::{FuturesReadCompat, FuturesWriteCompat};

    use super::*;

    #[test]
    fn a_stream_of_futures_io_is_read_and_seeks() {
        run(async {
            let mut stream = FuturesReadCompat::compat(futures_lite::io::Cursor::new(b"one\n23456789"));
            let mut line = String::new();
            stream.read_line(&mut line).await.unwrap();
            assert_eq!(line, "one\n");
            assert_eq!(stream.seek(SeekFrom::Current(2)).await.unwrap(), 6);
            assert_eq!(stream.read_u8().await.unwrap(), b'4');
            assert_eq!(stream.seek(SeekFrom::Current(-9)).await.unwrap_err().kind(), ErrorKind::InvalidInput);
            assert_eq!(stream.stream_position().await.unwrap(), 7);
            let mut all = Vec::with_capacity(100);
            stream.rewind().await.unwrap();
            assert_eq!(stream.read_buf(&mut all).await.unwrap(), 12);
            assert_eq!(stream.into_inner().position(), 12);
        });
    }

    /// Counts what it was asked to do.
    #[derive(Clone, Default)]
    struct Foreign {
        written: Rc<Cell<usize>>,
        is_closed: Rc<Cell<bool>>,
    }

    impl futures_lite::io::AsyncWrite for Foreign {
        fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, buf: &[u8]) -> Poll<std::io::Result<usize>> {
            self.written.set(self.written.get() + buf.len());
            Poll::Ready(Ok(buf.len()))
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
            self.is_closed.set(true);
            Poll::Ready(Ok(()))
        }
    }

    #[test]
    fn a_writer_of_futures_io_is_written_and_shut_down() {
        run(async {
            let foreign = Foreign::default();
            let mut writer = FuturesWriteCompat::compat_write(foreign.clone());
            assert!(!writer.is_write_vectored());
            writer.write_all(b"hello").await.unwrap();
            writer.flush().await.unwrap();
            assert!(!foreign.is_closed.get());
            writer.shutdown().await.unwrap();
            assert_eq!((foreign.written.get(), foreign.is_closed.get()), (5, true));
        });
    }
}
