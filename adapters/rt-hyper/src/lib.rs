//! Runs [hyper](https://docs.rs/hyper) on rt, for programs that use hyper itself.
//!
//! hyper names no runtime. It asks for three things, and this crate has them:
//!
//! - [`RtIo`] around a stream of rt, for hyper's `Read` and `Write`. Around a stream of hyper, such as an upgraded
//!   connection, it is the other way round: a stream for rt's `AsyncRead` and `AsyncWrite`.
//! - [`RtExecutor`], which spawns hyper's own futures as tasks.
//! - [`RtTimer`], for hyper's timeouts.
//!
//! Bytes are read straight into hyper's buffers, which are not zeroed, and nothing is copied.
//!
//! # Example
//!
//! A server, and one request to it:
//!
//! ```
//! use std::convert::Infallible;
//! use std::time::Duration;
//!
//! use bytes::Bytes;
//! use http_body_util::{BodyExt, Empty, Full};
//! use hyper::{Request, Response};
//! use hyper::service::service_fn;
//! use rt::net::{TcpListener, TcpStream};
//! use rt_hyper::{RtIo, RtTimer};
//!
//! # #[rt::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
//! let listener = TcpListener::bind("127.0.0.1:0").await?;
//! let address = listener.local_addr()?;
//! rt::spawn(async move {
//!     let (stream, _) = listener.accept().await.unwrap();
//!     let hello = service_fn(async |_| Ok::<_, Infallible>(Response::new(Full::new(Bytes::from("hello")))));
//!     let mut server = hyper::server::conn::http1::Builder::new();
//!     server.timer(RtTimer::new()).header_read_timeout(Duration::from_secs(10));
//!     server.serve_connection(RtIo::new(stream), hello).await.unwrap();
//! });
//!
//! let stream = TcpStream::connect(address).await?;
//! let (mut client, connection) = hyper::client::conn::http1::handshake(RtIo::new(stream)).await?;
//! rt::spawn(connection);
//! let response = client.send_request(Request::new(Empty::<Bytes>::new())).await?;
//! assert_eq!(response.into_body().collect().await?.to_bytes(), "hello");
//! # Ok(())
//! # }
//! ```

mod executor;
mod io;
mod timer;

pub use executor::RtExecutor;
pub use io::RtIo;
pub use timer::RtTimer;
