//! Sockets, pipes, and the names of hosts.
//!
//! - TCP: [`TcpListener`] accepts connections, [`TcpStream`] is one, and [`TcpSocket`] sets options before there is
//!   one.
//! - UDP: [`UdpSocket`] sends and receives datagrams, to and from anybody or one address.
//! - Between processes of one host, on Unix: [`UnixListener`], [`UnixStream`], [`UnixDatagram`] and [`UnixSocket`]; and
//!   [`unix::pipe`] for pipes, with a name or without.
//! - A stream is read and written with the traits of [`rt::io`](crate::io), by one task, or by two that have a half
//!   each:
//!   `split` lends them, `into_split` gives them away, to tasks for example.
//! - Whatever takes an address takes anything that is [`ToSocketAddrs`]: `"localhost:8080"`, say. Names are looked up
//!   by the operating system, on the blocking pool; [`lookup_host`] does just that.
//!
//! All this needs a runtime with I/O: one from [`macro@crate::main`], [`Runtime::new`](crate::runtime::Runtime::new),
//! or a builder with [`enable_io`](crate::runtime::Builder::enable_io).
//!
//! # Cancel safety
//!
//! Whatever is to be awaited here can be dropped before it is done: then it has taken no connection, no datagram and no
//! byte, and sent none. A [timeout](crate::time::timeout) around `accept`, `recv_from` or `readable` loses nothing.
//!
//! # Example
//!
//! A server that sends back what it gets:
//!
//! ```
//! use rt::io::{AsyncReadExt, AsyncWriteExt};
//! use rt::net::{TcpListener, TcpStream};
//!
//! async fn echo(mut stream: TcpStream) -> rt::io::Result<()> {
//!     let mut buffer = [0; 4096];
//!     loop {
//!         let read = stream.read(&mut buffer).await?;
//!         if read == 0 {
//!             return Ok(());
//!         }
//!         stream.write_all(&buffer[..read]).await?;
//!     }
//! }
//!
//! async fn serve(listener: TcpListener) -> rt::io::Result<()> {
//!     loop {
//!         let (stream, from) = listener.accept().await?;
//!         rt::spawn(async move {
//!             if let Err(error) = echo(stream).await {
//!                 eprintln!("{from}: {error}");
//!             }
//!         });
//!     }
//! }
//!
//! # #[rt::main]
//! # async fn main() -> rt::io::Result<()> {
//! let listener = TcpListener::bind("127.0.0.1:0").await?;
//! let address = listener.local_addr()?;
//! rt::spawn(serve(listener));
//!
//! let mut client = TcpStream::connect(address).await?;
//! client.write_all(b"hello").await?;
//! let mut reply = [0; 5];
//! client.read_exact(&mut reply).await?;
//! assert_eq!(&reply, b"hello");
//! # Ok(())
//! # }
//! ```

#[cfg(unix)]
pub use runtime_io::net::unix;
#[doc(inline)]
pub use runtime_io::net::{TcpListener, TcpSocket, TcpStream, UdpSocket};
pub use runtime_io::net::{ToSocketAddrs, lookup_host, tcp};
#[cfg(unix)]
#[doc(inline)]
pub use runtime_io::net::{UnixDatagram, UnixListener, UnixSocket, UnixStream};
