//! Looking a name up for its own sake.

use std::io;
use std::net::SocketAddr;

use super::addr::ToSocketAddrs;

/// The addresses that `host` stands for, in the order in which the resolver gives them.
///
/// There is at least one. The first may well be of the wrong kind for a given socket; to connect, hand the name
/// itself to [`TcpStream::connect`](super::TcpStream::connect), which tries them all.
///
/// # Errors
///
/// What the resolver says, or `InvalidInput` if the text is no `host:port`.
///
/// # Panics
///
/// If `host` is a name and this is polled outside of a runtime.
///
/// # Cancel safety
///
/// Cancel safe. A lookup that has begun goes on in the background, to nobody's benefit.
///
/// # Example
///
/// ```
/// # #[rt::main]
/// # async fn main() -> rt::io::Result<()> {
/// for addr in rt::net::lookup_host("localhost:443").await? {
///     assert_eq!(addr.port(), 443);
/// }
/// # Ok(())
/// # }
/// ```
pub async fn lookup_host<T: ToSocketAddrs>(host: T) -> io::Result<impl Iterator<Item = SocketAddr> + use<T>> {
    let query = host.to_query();
    drop(host);
    query.resolve().await
}
