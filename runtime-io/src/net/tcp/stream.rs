//! The stream: making one, waiting for it, and its options. Reading and writing are in `stream_io`.

use std::fmt;
use std::future::{Future, poll_fn};
use std::io;
use std::net::{Shutdown, SocketAddr};
use std::task::{Context, Poll};
use std::time::Duration;

use crate::interest::Interest;
use crate::io::ReadBuf;
use crate::located::with_driver;
use crate::net::addr::{ToSocketAddrs, first_that_works};
use crate::net::backend::Stream;
use crate::net::platform;
use crate::readiness::Direction;
use crate::ready::Ready;
use crate::registration::current_driver;

use super::{OwnedReadHalf, OwnedWriteHalf, ReadHalf, WriteHalf, split, split_owned};

/// A TCP connection.
///
/// It is read and written through [`AsyncRead`](crate::io::AsyncRead) and [`AsyncWrite`](crate::io::AsyncWrite),
/// which `&TcpStream` implements as well. Closing it as a writer (`AsyncWriteExt::close`) ends what the other side
/// can read, and is no error if the other side has reset the connection, or all is closed already; dropping it closes
/// the connection. One task at a time should read through these traits and one write, for only the last task to be
/// refused in a direction is woken by it; `readable`, `writable`, `ready` and `async_io` have no such limit. To read
/// and write from two tasks, [`split`](Self::split) it or [take it apart](Self::into_split).
///
/// Options that it has no methods for can be set through `socket2::SockRef::from(&stream)`; the system may also be made
/// to speak TLS on it. A read that finds less than it has room for is taken for all there is until more comes, so other
/// code must not let reads end elsewhere: it should not take urgent data out (`MSG_OOB`) before
/// [`ready`](Self::ready)`(Interest::PRIORITY)` has told of it, and not give the socket to a protocol that makes
/// messages of the bytes (`TCP_ULP` `espintcp`, OpenVPN's). For such sockets there is
/// `io::unix::AsyncFd`, which takes nothing for granted. Once the descriptor has been lent,
/// [`try_read_vectored`](Self::try_read_vectored) makes each message cost one more system call from then on.
///
/// # Example
///
/// ```no_run
/// use rt::io::{AsyncReadExt, AsyncWriteExt};
/// use rt::net::TcpStream;
///
/// # #[rt::main]
/// # async fn main() -> rt::io::Result<()> {
/// let mut stream = TcpStream::connect("example.com:80").await?;
/// stream.write_all(b"GET / HTTP/1.0\r\n\r\n").await?;
/// let mut answer = Vec::new();
/// stream.read_to_end(&mut answer).await?;
/// # Ok(())
/// # }
/// ```
pub struct TcpStream {
    pub(in crate::net) io: Stream,
}

impl TcpStream {
    /// Connects to the first address that answers.
    ///
    /// # Errors
    ///
    /// What the resolver or the operating system says; with several addresses, of the last one.
    ///
    /// # Panics
    ///
    /// When polled outside of a runtime with I/O enabled.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: the attempt that is under way is given up.
    ///
    /// # Example
    ///
    /// ```
    /// use rt::net::{TcpListener, TcpStream};
    ///
    /// # #[rt::main]
    /// # async fn main() -> rt::io::Result<()> {
    /// let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// let stream = TcpStream::connect(("localhost", listener.local_addr()?.port())).await?;
    /// assert_eq!(stream.peer_addr()?, listener.local_addr()?);
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn connect<A: ToSocketAddrs>(addr: A) -> impl Future<Output = io::Result<TcpStream>> {
        let query = addr.to_query();
        with_driver(|driver| async move {
            first_that_works(query, |addr| Self::finish_connecting(Stream::connect(&driver, addr))).await
        })
    }

    /// Waits until an attempt has come to something.
    pub(super) async fn finish_connecting(attempt: io::Result<Stream>) -> io::Result<TcpStream> {
        let stream = attempt?;
        poll_fn(|cx| stream.registration().poll_ready(cx, Direction::Write)).await?;
        match stream.take_error()? {
            Some(error) => Err(error),
            None => Ok(Self::new(stream)),
        }
    }

    pub(super) fn new(io: Stream) -> Self {
        Self { io }
    }

    /// Takes over a stream of the standard library.
    ///
    /// It must be in non-blocking mode: otherwise its operations block the thread.
    ///
    /// # Errors
    ///
    /// [`InvalidInput`](io::ErrorKind::InvalidInput) if it is in blocking mode, where the system tells; and if it
    /// cannot be registered with the driver.
    ///
    /// # Panics
    ///
    /// Outside of a runtime with I/O enabled.
    #[track_caller]
    pub fn from_std(stream: std::net::TcpStream) -> io::Result<TcpStream> {
        let driver = current_driver();
        platform::require_nonblocking(&stream)?;
        Stream::from_std(&driver, stream).map(Self::new)
    }

    /// Gives the stream back, out of the driver. It is still in non-blocking mode.
    ///
    /// # Errors
    ///
    /// If the driver cannot let go of it; it is closed then.
    ///
    /// # Example
    ///
    /// ```
    /// # use rt::net::{TcpListener, TcpStream};
    /// # #[rt::main]
    /// # async fn main() -> rt::io::Result<()> {
    /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// let stream = TcpStream::connect(listener.local_addr()?).await?;
    /// let stream: std::net::TcpStream = stream.into_std()?;
    /// stream.set_nonblocking(false)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn into_std(self) -> io::Result<std::net::TcpStream> {
        self.io.into_std()
    }

    /// Waits until the stream is ready for something of `interest`, and says for what.
    ///
    /// The answer can be wrong when the operation is tried: go by what [`try_read`](Self::try_read) and its like
    /// return.
    ///
    /// # Errors
    ///
    /// If the runtime has shut down.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: readiness stays until an operation has used it up.
    ///
    /// # Example
    ///
    /// ```
    /// # use rt::net::{TcpListener, TcpStream};
    /// use rt::io::Interest;
    ///
    /// # #[rt::main]
    /// # async fn main() -> rt::io::Result<()> {
    /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// let stream = TcpStream::connect(listener.local_addr()?).await?;
    /// let ready = stream.ready(Interest::READABLE | Interest::WRITABLE).await?;
    /// assert!(ready.is_writable());
    /// # Ok(())
    /// # }
    /// ```
    pub async fn ready(&self, interest: Interest) -> io::Result<Ready> {
        Ok(self.io.registration().ready(interest).await?.ready)
    }

    /// Waits until there may be something to read. See [`ready`](Self::ready).
    ///
    /// # Errors
    ///
    /// If the runtime has shut down.
    ///
    /// # Example
    ///
    /// ```
    /// # use rt::net::{TcpListener, TcpStream};
    /// use rt::io::{AsyncWriteExt, ErrorKind};
    ///
    /// # #[rt::main]
    /// # async fn main() -> rt::io::Result<()> {
    /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// # let stream = TcpStream::connect(listener.local_addr()?).await?;
    /// # let (mut peer, _) = listener.accept().await?;
    /// peer.write_all(b"hello").await?;
    /// let mut buffer = [0; 16];
    /// let n = loop {
    ///     stream.readable().await?;
    ///     match stream.try_read(&mut buffer) {
    ///         Err(error) if error.kind() == ErrorKind::WouldBlock => {}
    ///         outcome => break outcome?,
    ///     }
    /// };
    /// assert_eq!(&buffer[..n], b"hello");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn readable(&self) -> io::Result<()> {
        self.ready(Interest::READABLE).await.map(drop)
    }

    /// Waits until there may be room to write. See [`ready`](Self::ready).
    ///
    /// # Errors
    ///
    /// If the runtime has shut down.
    pub async fn writable(&self) -> io::Result<()> {
        self.ready(Interest::WRITABLE).await.map(drop)
    }

    /// As [`readable`](Self::readable), for hand-written futures. Only the last task to wait for reading is woken.
    ///
    /// # Errors
    ///
    /// If the runtime has shut down.
    pub fn poll_read_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.io.registration().poll_ready(cx, Direction::Read).map_ok(drop)
    }

    /// As [`writable`](Self::writable), for hand-written futures. Only the last task to wait for writing is woken.
    ///
    /// # Errors
    ///
    /// If the runtime has shut down.
    pub fn poll_write_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.io.registration().poll_ready(cx, Direction::Write).map_ok(drop)
    }

    /// Runs an operation of your own on the socket, if it is ready for it as far as is known.
    ///
    /// # Errors
    ///
    /// What the operation returns. If that is `WouldBlock`, the readiness is taken back; so the operation must return
    /// it only when the socket really would block. `WouldBlock` as well if it was not ready to begin with.
    ///
    /// # Example
    ///
    /// ```
    /// # use rt::net::{TcpListener, TcpStream};
    /// use rt::io::{ErrorKind, Interest};
    ///
    /// # #[rt::main]
    /// # async fn main() -> rt::io::Result<()> {
    /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// let stream = TcpStream::connect(listener.local_addr()?).await?;
    /// let refused = stream.try_io(Interest::READABLE, || -> rt::io::Result<()> { unreachable!("nothing came") });
    /// assert_eq!(refused.unwrap_err().kind(), ErrorKind::WouldBlock);
    /// # Ok(())
    /// # }
    /// ```
    pub fn try_io<R>(&self, interest: Interest, operation: impl FnOnce() -> io::Result<R>) -> io::Result<R> {
        self.io.registration().try_io(interest, || self.io.run(operation))
    }

    /// Runs an operation of your own on the socket, as often as it takes, waiting for `interest` in between.
    ///
    /// # Errors
    ///
    /// What the operation returns, save `WouldBlock`, which it must return only when the socket really would block.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe, as far as the operation is: it is not interrupted, only not tried again.
    pub async fn async_io<R>(&self, interest: Interest, mut operation: impl FnMut() -> io::Result<R>) -> io::Result<R> {
        self.io.registration().async_io(interest, || self.io.run(&mut operation)).await
    }

    /// Reads without taking away: the next read finds the same bytes again.
    ///
    /// Not for sockets with `SO_PEEK_OFF`: a peek beyond that offset is refused though there are bytes to read, and
    /// readers then wait until more come.
    ///
    /// # Errors
    ///
    /// The operating system's.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    pub async fn peek(&self, buf: &mut [u8]) -> io::Result<usize> {
        let mut buf = ReadBuf::new(buf);
        self.io.registration().async_io(Interest::READABLE, || self.io.peek(&mut buf)).await
    }

    /// As [`peek`](Self::peek), for hand-written futures, into memory that need not be initialised. Only the last task
    /// to wait for reading is woken.
    ///
    /// # Errors
    ///
    /// The operating system's.
    pub fn poll_peek(&self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<usize>> {
        self.io.registration().poll_io(cx, Direction::Read, || self.io.peek(buf))
    }

    /// Borrows the stream as a reader and a writer, for two futures of the same task.
    pub fn split(&mut self) -> (ReadHalf<'_>, WriteHalf<'_>) {
        split::split(self)
    }

    /// Takes the stream apart into a reader and a writer that can go to different tasks.
    ///
    /// Dropping the writer closes the connection for writing.
    pub fn into_split(self) -> (OwnedReadHalf, OwnedWriteHalf) {
        split_owned::split(self)
    }

    /// The address of this side.
    ///
    /// # Errors
    ///
    /// The operating system's.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.local_addr()
    }

    /// The address of the other side.
    ///
    /// # Errors
    ///
    /// The operating system's.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.io.peer_addr()
    }

    /// The error that the socket has to report, if any; it is reported once.
    ///
    /// # Errors
    ///
    /// If the operating system cannot say.
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        self.io.take_error()
    }

    /// Whether small writes are sent at once (`TCP_NODELAY`).
    ///
    /// # Errors
    ///
    /// The operating system's.
    pub fn nodelay(&self) -> io::Result<bool> {
        self.io.nodelay()
    }

    /// Sets [`nodelay`](Self::nodelay).
    ///
    /// # Errors
    ///
    /// The operating system's.
    pub fn set_nodelay(&self, nodelay: bool) -> io::Result<()> {
        self.io.set_nodelay(nodelay)
    }

    /// How many hops packets from this socket may take.
    ///
    /// # Errors
    ///
    /// The operating system's.
    pub fn ttl(&self) -> io::Result<u32> {
        self.io.ttl()
    }

    /// Sets [`ttl`](Self::ttl).
    ///
    /// # Errors
    ///
    /// The operating system's.
    pub fn set_ttl(&self, ttl: u32) -> io::Result<()> {
        self.io.set_ttl(ttl)
    }

    /// How long closing waits for what is still to be sent (`SO_LINGER`).
    ///
    /// # Errors
    ///
    /// The operating system's.
    pub fn linger(&self) -> io::Result<Option<Duration>> {
        self.io.options().linger()
    }

    /// Sets [`linger`](Self::linger). With a time that is not zero, dropping the stream can block the thread so long.
    ///
    /// # Errors
    ///
    /// The operating system's.
    #[deprecated(note = "it can block the thread that drops the stream; see `set_zero_linger`")]
    pub fn set_linger(&self, linger: Option<Duration>) -> io::Result<()> {
        self.io.options().set_linger(linger)
    }

    /// Makes dropping the stream reset the connection, and throw away what is still to be sent. Never blocks.
    ///
    /// # Errors
    ///
    /// The operating system's.
    pub fn set_zero_linger(&self) -> io::Result<()> {
        self.io.options().set_linger(Some(Duration::ZERO))
    }

    /// Ends what the other side can read. That it can read nothing any more, because the connection is over, is as
    /// good.
    pub(super) fn shut_down_writing(&self) -> io::Result<()> {
        match self.io.shutdown(Shutdown::Write) {
            Err(error) if is_over(error.kind()) => Ok(()),
            outcome => outcome,
        }
    }
}

/// Whether an end to one direction was refused only because the other side has ended the whole connection: by a
/// reset, or both have ended their directions. Unix calls that "not connected", Windows mostly by what happened.
fn is_over(kind: io::ErrorKind) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset, NotConnected};
    matches!(kind, NotConnected | ConnectionReset | ConnectionAborted)
}

impl TryFrom<std::net::TcpStream> for TcpStream {
    type Error = io::Error;

    /// See [`from_std`](TcpStream::from_std), panics included.
    #[track_caller]
    fn try_from(stream: std::net::TcpStream) -> io::Result<Self> {
        Self::from_std(stream)
    }
}

/// As its halves have it: for functions that take either.
impl AsRef<TcpStream> for TcpStream {
    fn as_ref(&self) -> &TcpStream {
        self
    }
}

impl fmt::Debug for TcpStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TcpStream")
            .field("local", &self.local_addr().ok())
            .field("peer", &self.peer_addr().ok())
            .finish()
    }
}
