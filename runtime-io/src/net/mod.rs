//! Sockets, pipes, and the resolution of names. The facade publishes this as `rt::net`, with documentation of its own
//! for users.
//!
//! The public types are thin. What TCP stands on is in `backend`, together with the operating system's resolver; what
//! all the others stand on is in `endpoint`. The methods that types share are in `methods`, `receive_methods` and
//! `halves`. Backend and endpoint are made of `Registration`, which waits. What only one kind of system has is in
//! `platform`; `unix` has Unix sockets and pipes.

mod addr;
mod backend;
mod endpoint;
mod forward;
mod halves;
mod lookup;
mod methods;
#[cfg_attr(unix, path = "platform/unix.rs")]
#[cfg_attr(windows, path = "platform/windows.rs")]
mod platform;
pub(crate) mod receive;
mod receive_methods;
pub mod tcp;
mod udp;
#[cfg(unix)]
pub mod unix;

pub use addr::ToSocketAddrs;
pub use lookup::lookup_host;
#[doc(no_inline)]
pub use tcp::{TcpListener, TcpSocket, TcpStream};
pub use udp::UdpSocket;
#[cfg(unix)]
#[doc(no_inline)]
pub use unix::{UnixDatagram, UnixListener, UnixSocket, UnixStream};
