//! How a server begins and ends: it prints its port, and is gone when its standard input ends.

use std::io::{Read, Write};
use std::net::SocketAddr;
use std::{io, process, thread};

/// Says where the server listens. A thread of its own waits for the end; it sleeps while the server is under load.
pub(crate) fn begin(address: SocketAddr) -> io::Result<()> {
    println!("{}", address.port());
    io::stdout().flush()?;
    let wait = || {
        // Nothing is ever sent.
        let _ = io::stdin().read(&mut [0]);
        process::exit(0);
    };
    thread::Builder::new().name("control".into()).spawn(wait).map(drop)
}
