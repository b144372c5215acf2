//! What only Unix has: sockets between processes of one host, and pipes.
//!
//! The public types hold an `Endpoint` each, but for `UnixSocket`, which is not registered yet. `address` has the names
//! of sockets, abstract ones included; `pipe` has anonymous and named pipes.

mod address;
mod byte_io;
mod credentials;
mod datagram;
mod datagram_io;
mod listener;
pub mod pipe;
mod socket;
mod split;
mod split_owned;
mod stream;
mod stream_read;

pub use address::SocketAddr;
pub use credentials::UCred;
#[doc(hidden)]
pub use datagram::UnixDatagram;
#[doc(hidden)]
pub use listener::UnixListener;
#[doc(hidden)]
pub use socket::UnixSocket;
pub use split::{ReadHalf, WriteHalf};
pub use split_owned::{OwnedReadHalf, OwnedWriteHalf, ReuniteError};
#[doc(hidden)]
pub use stream::UnixStream;

/// The number of a user.
#[allow(non_camel_case_types, reason = "the name of the standard")]
pub type uid_t = u32;

/// The number of a group.
#[allow(non_camel_case_types, reason = "the name of the standard")]
pub type gid_t = u32;

/// The number of a process.
#[allow(non_camel_case_types, reason = "the name of the standard")]
pub type pid_t = i32;
