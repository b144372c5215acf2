//! A TCP echo server: it sends back whatever it is sent.
//!
//! ```text
//! cargo run --example echo [address]
//! ```
//!
//! The address is 127.0.0.1:7777 unless another is given. Then try it with `nc 127.0.0.1 7777`, in as many terminals as
//! you like: whatever you type comes back. Ctrl-C ends the server.

use std::env;

use rt::io;
use rt::net::{TcpListener, TcpStream};
use rt::time::{Duration, sleep};

#[rt::main]
async fn main() -> io::Result<()> {
    let address = env::args().nth(1).unwrap_or_else(|| "127.0.0.1:7777".into());
    let listener = TcpListener::bind(&address).await?;
    let address = listener.local_addr()?;
    println!("Listening. To try it, type in another terminal: nc {} {}", address.ip(), address.port());

    loop {
        match listener.accept().await {
            Ok((stream, peer)) => {
                // A task for each connection, so that they do not wait for each other.
                rt::spawn(async move {
                    println!("{peer}: connected");
                    match echo(stream).await {
                        Ok(bytes) => println!("{peer}: closed after {bytes} bytes"),
                        Err(error) => println!("{peer}: {error}"),
                    }
                });
            }
            Err(error) => {
                // Perhaps too many connections are open. Those that are will go on, and some will end.
                eprintln!("cannot accept a connection: {error}");
                sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

async fn echo(mut stream: TcpStream) -> io::Result<u64> {
    let (mut reader, mut writer) = stream.split();
    io::copy(&mut reader, &mut writer).await
}
