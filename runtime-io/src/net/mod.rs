//! TCP, and the resolution of names. The facade publishes this as `rt::net`, with documentation of its own for users.
//!
//! The public types are thin: what they stand on is in `backend`, the only file here that knows of mio and of the
//! operating system's resolver. A simulated network will stand beside it. What only one kind of system has is in `unix`
//! and `windows`.

mod addr;
mod backend;
mod forward;
mod lookup;
#[cfg_attr(unix, path = "unix.rs")]
#[cfg_attr(windows, path = "windows.rs")]
mod platform;
mod receive;
pub mod tcp;

pub use addr::ToSocketAddrs;
pub use lookup::lookup_host;
#[doc(no_inline)]
pub use tcp::{TcpListener, TcpSocket, TcpStream};
