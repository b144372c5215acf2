//! Streams of rt for libraries that want Tokio's I/O traits, and the other way round.
//!
//! For a program that cannot have the drop-in for Tokio underneath its libraries. [`Compat`]
//! around a stream of rt implements `tokio::io::{AsyncRead, AsyncWrite, AsyncBufRead, AsyncSeek}`; around a stream with
//! these traits it implements those of `rt::io`. No runtime of Tokio is started, or needed: a library that calls
//! `tokio::spawn` or `tokio::time` itself needs one all the same.
//!
//! Bytes are read straight into the caller's buffers, which are not zeroed, and nothing is copied.
//!
//! # Example
//!
//! ```
//! use rt_tokio_io::Compat;
//! use tokio::io::{AsyncReadExt, AsyncWriteExt};
//!
//! # #[rt::main]
//! # async fn main() -> std::io::Result<()> {
//! let listener = rt::net::TcpListener::bind("127.0.0.1:0").await?;
//! let mut client = Compat::new(rt::net::TcpStream::connect(listener.local_addr()?).await?);
//! let (server, _) = listener.accept().await?;
//! let mut server = Compat::new(server);
//!
//! client.write_all(b"hello").await?;
//! let mut greeting = [0; 5];
//! server.read_exact(&mut greeting).await?;
//! assert_eq!(&greeting, b"hello");
//! # Ok(())
//! # }
//! ```

use std::io::{self, IoSlice, SeekFrom};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;

pin_project! {
    /// A stream of rt for Tokio's traits, or one of Tokio's traits for rt's.
    ///
    /// # Example
    ///
    /// See [the crate](crate).
    #[derive(Debug)]
    pub struct Compat<T> {
        #[pin]
        stream: T,
    }
}

impl<T> Compat<T> {
    /// Wraps a stream.
    pub fn new(stream: T) -> Self {
        Self { stream }
    }

    /// The stream.
    pub fn get_ref(&self) -> &T {
        &self.stream
    }

    /// The stream, to be changed.
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.stream
    }

    /// Gives the stream back.
    pub fn into_inner(self) -> T {
        self.stream
    }
}

/// Implements the traits of one for what implements those of the other.
macro_rules! translate {
    ($from:ident to $to:ident) => {
        impl<T: $from::io::AsyncRead> $to::io::AsyncRead for Compat<T> {
            fn poll_read(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                buf: &mut $to::io::ReadBuf<'_>,
            ) -> Poll<io::Result<()>> {
                // SAFETY: A buffer of either does not uninitialise what it is made of, nor lets others do so.
                let mut unfilled = $from::io::ReadBuf::uninit(unsafe { buf.unfilled_mut() });
                let memory = unfilled.filled().as_ptr();
                ready!(self.project().stream.poll_read(cx, &mut unfilled))?;
                // The reader has the whole buffer, and may put one over other memory in its place.
                assert_eq!(unfilled.filled().as_ptr(), memory, "the reader has exchanged the buffer");
                let count = unfilled.filled().len();
                assert!(count <= buf.remaining(), "the reader has filled more than there was room for");
                // SAFETY: As many bytes of this memory have been filled, and so they are initialised.
                unsafe { buf.assume_init(count) };
                buf.advance(count);
                Poll::Ready(Ok(()))
            }
        }

        impl<T: $from::io::AsyncWrite> $to::io::AsyncWrite for Compat<T> {
            fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
                self.project().stream.poll_write(cx, buf)
            }

            fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                self.project().stream.poll_flush(cx)
            }

            fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                self.project().stream.poll_shutdown(cx)
            }

            fn poll_write_vectored(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                bufs: &[IoSlice<'_>],
            ) -> Poll<io::Result<usize>> {
                self.project().stream.poll_write_vectored(cx, bufs)
            }

            fn is_write_vectored(&self) -> bool {
                self.stream.is_write_vectored()
            }
        }

        impl<T: $from::io::AsyncBufRead> $to::io::AsyncBufRead for Compat<T> {
            fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
                self.project().stream.poll_fill_buf(cx)
            }

            fn consume(self: Pin<&mut Self>, amount: usize) {
                self.project().stream.consume(amount);
            }
        }

        impl<T: $from::io::AsyncSeek> $to::io::AsyncSeek for Compat<T> {
            fn start_seek(self: Pin<&mut Self>, position: SeekFrom) -> io::Result<()> {
                self.project().stream.start_seek(position)
            }

            fn poll_complete(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<u64>> {
                self.project().stream.poll_complete(cx)
            }
        }
    };
}

translate!(rt to tokio);
translate!(tokio to rt);
