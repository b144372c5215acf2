//! TCP: listening, connecting, and streams whole and in halves.

mod listener;
mod socket;
mod split;
mod split_owned;
mod stream;
mod stream_io;

pub use listener::TcpListener;
pub use socket::TcpSocket;
pub use split::{ReadHalf, WriteHalf};
pub use split_owned::{OwnedReadHalf, OwnedWriteHalf, ReuniteError};
pub use stream::TcpStream;
