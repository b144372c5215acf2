//! Runs [quinn](https://docs.rs/quinn), the QUIC library, on rt.
//!
//! quinn asks its runtime for sockets, timers and tasks, by its trait [`Runtime`](quinn::Runtime). [`RtRuntime`] is
//! that trait over rt: give it to [`Endpoint::new`](quinn::Endpoint::new), in a task of rt or in its `block_on`.
//! (`Endpoint::client` and `Endpoint::server` look for runtimes that quinn knows of, and fail without one.)
//!
//! Datagrams go by quinn's own crate [`udp`](quinn::udp), in batches, with segmentation offload where the system has
//! it, from and to the memory that quinn gives: nothing is copied or zeroed in between. A timer is one box, which quinn
//! asks for, and is moved and not replaced.
//!
//! quinn takes its channels from Tokio (feature `sync`). That is no runtime: there is no thread, reactor or timer of
//! Tokio's. Depend on quinn with `default-features = false`, since its default features add those.
//!
//! # Example
//!
//! A server that gives back what it gets, and one request to it:
//!
//! ```
//! use std::net::UdpSocket;
//! use std::sync::Arc;
//!
//! use quinn::{ClientConfig, Endpoint, EndpointConfig, ServerConfig};
//! use rt_quinn::RtRuntime;
//! use rustls::RootCertStore;
//! use rustls::pki_types::PrivatePkcs8KeyDer;
//!
//! # #[rt::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
//! // A certificate for the time of the example.
//! let certified = rcgen::generate_simple_self_signed(["localhost".to_owned()])?;
//! let key = PrivatePkcs8KeyDer::from(certified.signing_key.serialize_der());
//! let mut roots = RootCertStore::empty();
//! roots.add(certified.cert.der().clone())?;
//!
//! let runtime = Arc::new(RtRuntime::new());
//! let config = ServerConfig::with_single_cert(vec![certified.cert.into()], key.into())?;
//! let socket = UdpSocket::bind("127.0.0.1:0")?;
//! let server = Endpoint::new(EndpointConfig::default(), Some(config), socket, runtime.clone())?;
//! let address = server.local_addr()?;
//! rt::spawn(async move {
//!     let connection = server.accept().await.unwrap().await.unwrap();
//!     let (mut sender, mut receiver) = connection.accept_bi().await.unwrap();
//!     let request = receiver.read_to_end(1024).await.unwrap();
//!     sender.write_all(&request).await.unwrap();
//!     sender.finish().unwrap();
//!     connection.closed().await;
//! });
//!
//! let socket = UdpSocket::bind("127.0.0.1:0")?;
//! let mut client = Endpoint::new(EndpointConfig::default(), None, socket, runtime)?;
//! client.set_default_client_config(ClientConfig::with_root_certificates(Arc::new(roots))?);
//! let connection = client.connect(address, "localhost")?.await?;
//! let (mut sender, mut receiver) = connection.open_bi().await?;
//! sender.write_all(b"hello").await?;
//! sender.finish()?;
//! assert_eq!(receiver.read_to_end(1024).await?, b"hello");
//!
//! connection.close(0_u32.into(), b"done");
//! // What says so to the server is sent by a task.
//! client.wait_idle().await;
//! # Ok(())
//! # }
//! ```

mod runtime;
mod socket;
mod timer;

pub use runtime::RtRuntime;
