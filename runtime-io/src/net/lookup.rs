//! Looking a name up for its own sake.

use std::future::Future;
use std::io;
use std::net::SocketAddr;

use runtime_core::context;

use super::addr::ToSocketAddrs;
use crate::located::with_what_is_there;

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
#[track_caller]
pub fn lookup_host<T: ToSocketAddrs>(
    host: T,
) -> impl Future<Output = io::Result<impl Iterator<Item = SocketAddr> + use<T>>> + use<T> {
    let query = host.to_query();
    drop(host);
    let needs_runtime = query.needs_runtime();
    let look = move || if needs_runtime { context::with_clock(|_| ()) } else { Ok(()) };
    with_what_is_there(look, |()| query.resolve())
}
