//! Streams to test with.

use rt::net::{TcpListener, TcpStream};

/// Both ends of a new connection.
pub async fn tcp_pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let (server, _) = listener.accept().await.unwrap();
    (client, server)
}

/// A stream that takes no more bytes, so that a write to it blocks. The second part is its other end, which is to be
/// kept, and is never read from.
#[cfg(unix)]
pub fn full_stream() -> (std::os::fd::OwnedFd, impl Sized) {
    use std::io::{ErrorKind, Write as _};

    let (mut full, other_end) = std::os::unix::net::UnixStream::pair().unwrap();
    full.set_nonblocking(true).unwrap();
    let refused = loop {
        if let Err(error) = full.write(&[b'.'; 4096]) {
            break error.kind();
        }
    };
    assert_eq!(refused, ErrorKind::WouldBlock);
    full.set_nonblocking(false).unwrap();
    (full.into(), other_end)
}
