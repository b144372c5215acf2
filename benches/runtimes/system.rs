//! UDP, Unix sockets, child processes and copying of all three.

use std::io;
use std::net::SocketAddr;

use super::{RtHandle, SmolHandle, TokioHandle};
#[cfg(unix)]
use crate::runtime;
use crate::system::{Datagrams, Relay, System};

/// Where the names are the same. `$unix` is the Unix socket.
macro_rules! system {
    ($handle:ty: $runtime:ident, $unix:ty) => {
        const _: () = {
            use $runtime::net::UdpSocket;

            impl System for $handle {
                type Udp = UdpSocket;
                #[cfg(unix)]
                type Unix = $unix;

                async fn bind_udp() -> io::Result<UdpSocket> {
                    UdpSocket::bind("127.0.0.1:0").await
                }

                #[cfg(unix)]
                fn unix_pair() -> io::Result<($unix, $unix)> {
                    <$unix>::pair()
                }

                #[cfg(unix)]
                async fn run_program(program: &'static str) -> io::Result<bool> {
                    Ok($runtime::process::Command::new(program).status().await?.success())
                }
            }

            impl Datagrams for UdpSocket {
                fn address(&self) -> io::Result<SocketAddr> {
                    self.local_addr()
                }

                async fn connect(&self, peer: SocketAddr) -> io::Result<()> {
                    self.connect(peer).await
                }

                async fn send(&self, datagram: &[u8]) -> io::Result<usize> {
                    self.send(datagram).await
                }

                async fn receive(&self, buffer: &mut [u8]) -> io::Result<usize> {
                    self.recv(buffer).await
                }
            }

            #[cfg(unix)]
            impl runtime::Stream for $unix {
                async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                    $runtime::io::AsyncReadExt::read(self, buffer).await
                }

                async fn read_exact(&mut self, buffer: &mut [u8]) -> io::Result<()> {
                    $runtime::io::AsyncReadExt::read_exact(self, buffer).await.map(drop)
                }

                async fn write_all(&mut self, buffer: &[u8]) -> io::Result<()> {
                    $runtime::io::AsyncWriteExt::write_all(self, buffer).await
                }
            }
        };
    };
}

system!(RtHandle: rt, rt::net::UnixStream);
system!(TokioHandle: tokio, tokio::net::UnixStream);
system!(SmolHandle: smol, smol::net::unix::UnixStream);

/// rt and Tokio have the same two functions.
macro_rules! relay {
    ($($runtime:ident)*) => {$(
        impl Relay for $runtime::net::TcpStream {
            async fn relay(mut self, mut to: Self) -> io::Result<u64> {
                let copied = $runtime::io::copy(&mut self, &mut to).await?;
                $runtime::io::AsyncWriteExt::shutdown(&mut to).await?;
                Ok(copied)
            }

            async fn relay_both(mut self, mut other: Self) -> io::Result<(u64, u64)> {
                $runtime::io::copy_bidirectional(&mut self, &mut other).await
            }
        }
    )*};
}

relay!(rt tokio);

/// smol copies in one direction.
impl Relay for smol::net::TcpStream {
    async fn relay(self, mut to: Self) -> io::Result<u64> {
        let copied = smol::io::copy(self, &mut to).await?;
        smol::io::AsyncWriteExt::close(&mut to).await?;
        Ok(copied)
    }

    async fn relay_both(self, other: Self) -> io::Result<(u64, u64)> {
        smol::future::try_zip(self.clone().relay(other.clone()), other.relay(self)).await
    }
}
