//! Connections of a client and an echo server, both on the runtime that is measured.

use std::io;

use crate::{Handle, Listener, Runtime, Stream, Task};

/// Beside two for each connection: the runtimes' own, the process's, and some to spare.
const OTHER_FILES: u64 = 200;

/// Connections whose servers echo what they read, until the clients are dropped.
pub(super) struct Loopback<R: Runtime> {
    pub(super) clients: Vec<<R::Handle as Handle>::Stream>,
    pub(super) servers: Servers<R>,
}

/// The tasks at the other ends.
pub(super) struct Servers<R: Runtime>(Vec<Task<R, io::Result<()>>>);

impl<R: Runtime> Loopback<R> {
    /// Makes connections with buffers of that many bytes.
    pub(super) async fn connect(handle: R::Handle, connections: u64, bytes: usize) -> io::Result<Self> {
        crate::allow_open_files(2 * connections + OTHER_FILES);
        let listener = R::Handle::listen().await?;
        let address = listener.address()?;
        let mut clients = Vec::new();
        let mut servers = Vec::new();
        for _ in 0..connections {
            // The kernel completes the connection before anybody accepts it.
            let client = R::Handle::connect(address).await?;
            let server = listener.accept().await?;
            clients.push(client);
            servers.push(handle.spawn(serve(server, bytes)));
        }
        Ok(Self { clients, servers: Servers(servers) })
    }
}

impl<R: Runtime> Servers<R> {
    /// Waits until they have seen that the clients are gone.
    pub(super) async fn finish(self) -> io::Result<()> {
        for server in self.0 {
            server.await?;
        }
        Ok(())
    }
}

pub(super) async fn serve(mut stream: impl Stream, bytes: usize) -> io::Result<()> {
    let mut buffer = vec![0; bytes];
    loop {
        match stream.read(&mut buffer).await? {
            0 => return Ok(()),
            n => stream.write_all(&buffer[..n]).await?,
        }
    }
}
