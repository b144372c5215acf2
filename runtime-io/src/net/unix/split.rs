//! A stream borrowed as a reader and a writer: no allocation, for one task.

use crate::net::halves::{borrowed_halves, read_half_methods, write_half_methods};

use super::{SocketAddr, UnixStream};

/// The reading half of a stream, from [`UnixStream::split`].
///
/// # Example
///
/// ```
/// # use rt::net::UnixStream;
/// use rt::io::copy;
///
/// # #[rt::main]
/// # async fn main() -> rt::io::Result<()> {
/// let (mut stream, other) = UnixStream::pair()?;
/// # drop(other);
/// let (mut reader, mut writer) = stream.split();
/// copy(&mut reader, &mut writer).await?; // echoes until the other side has nothing more to say
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct ReadHalf<'a>(&'a UnixStream);

/// The writing half of a stream, from [`UnixStream::split`].
///
/// Dropping it does nothing to the stream: shut it down (`AsyncWriteExt::shutdown`) to end what the other side can
/// read.
#[derive(Debug)]
pub struct WriteHalf<'a>(&'a UnixStream);

borrowed_halves!(UnixStream);

impl ReadHalf<'_> {
    read_half_methods!("UnixStream", SocketAddr, this => this.0);
}

impl WriteHalf<'_> {
    write_half_methods!("UnixStream", SocketAddr, this => this.0);
}
