//! A stream with buffers in both directions.

use std::io::{self, IoSlice, SeekFrom};
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

use crate::io::{AsyncBufRead, AsyncRead, AsyncSeek, AsyncWrite, ReadBuf};

use super::{BufReader, BufWriter};

pin_project! {
    /// A stream that reads much at once, and collects what is written: a [`BufReader`] and a [`BufWriter`] in one.
    ///
    /// **Flush it, or shut it down, before it is dropped:** what is in the buffers is lost otherwise.
    ///
    /// # Example
    ///
    /// ```
    /// use rt::io::{AsyncBufReadExt, AsyncWriteExt, BufStream};
    /// # use rt::net::{TcpListener, TcpStream};
    ///
    /// # #[rt::main]
    /// # async fn main() -> rt::io::Result<()> {
    /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// # let stream = TcpStream::connect(listener.local_addr()?).await?;
    /// # let (mut peer, _) = listener.accept().await?;
    /// # peer.write_all(b"220 ready\r\n").await?;
    /// let mut stream = BufStream::new(stream);
    /// let mut greeting = String::new();
    /// stream.read_line(&mut greeting).await?;
    /// # assert_eq!(greeting, "220 ready\r\n");
    /// stream.write_all(b"HELO ").await?;
    /// stream.write_all(b"me\r\n").await?;
    /// stream.flush().await?;
    /// # Ok(())
    /// # }
    /// ```
    #[derive(Debug)]
    pub struct BufStream<RW> {
        #[pin]
        inner: BufReader<BufWriter<RW>>,
    }
}

impl<RW: AsyncRead + AsyncWrite> BufStream<RW> {
    /// A stream with two buffers of 8 KiB.
    pub fn new(stream: RW) -> Self {
        Self { inner: BufReader::new(BufWriter::new(stream)) }
    }

    /// A stream with buffers of these capacities, in bytes.
    ///
    /// # Panics
    ///
    /// If `reader_capacity` is 0.
    #[track_caller]
    pub fn with_capacity(reader_capacity: usize, writer_capacity: usize, stream: RW) -> Self {
        Self { inner: BufReader::with_capacity(reader_capacity, BufWriter::with_capacity(writer_capacity, stream)) }
    }

    /// The inner stream.
    pub fn get_ref(&self) -> &RW {
        self.inner.get_ref().get_ref()
    }

    /// The inner stream. To read from it or write to it is to pass by the buffers.
    pub fn get_mut(&mut self) -> &mut RW {
        self.inner.get_mut().get_mut()
    }

    /// The inner stream, pinned.
    pub fn get_pin_mut(self: Pin<&mut Self>) -> Pin<&mut RW> {
        self.project().inner.get_pin_mut().get_pin_mut()
    }

    /// The inner stream. What is in the buffers is lost.
    pub fn into_inner(self) -> RW {
        self.inner.into_inner().into_inner()
    }
}

impl<RW> From<BufReader<BufWriter<RW>>> for BufStream<RW> {
    fn from(inner: BufReader<BufWriter<RW>>) -> Self {
        Self { inner }
    }
}

impl<RW> From<BufWriter<BufReader<RW>>> for BufStream<RW> {
    /// What is in the buffers stays there.
    fn from(writer: BufWriter<BufReader<RW>>) -> Self {
        let (writer, reader) = writer.replace(());
        let (reader, stream) = reader.replace(());
        let (writer, ()) = writer.replace(stream);
        Self { inner: reader.replace(writer).0 }
    }
}

impl<RW: AsyncRead + AsyncWrite> AsyncRead for BufStream<RW> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.project().inner.poll_read(cx, buf)
    }
}

impl<RW: AsyncRead + AsyncWrite> AsyncBufRead for BufStream<RW> {
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        self.project().inner.poll_fill_buf(cx)
    }

    fn consume(self: Pin<&mut Self>, amount: usize) {
        self.project().inner.consume(amount);
    }
}

impl<RW: AsyncRead + AsyncWrite> AsyncWrite for BufStream<RW> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.project().inner.poll_write(cx, buf)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.project().inner.poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.project().inner.poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.project().inner.poll_shutdown(cx)
    }
}

/// As the two seek: what was written is written first, what was read ahead is lost.
impl<RW: AsyncRead + AsyncWrite + AsyncSeek> AsyncSeek for BufStream<RW> {
    fn start_seek(self: Pin<&mut Self>, position: SeekFrom) -> io::Result<()> {
        self.project().inner.start_seek(position)
    }

    fn poll_complete(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<u64>> {
        self.project().inner.poll_complete(cx)
    }
}
