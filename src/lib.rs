//! A multi-threaded, work-stealing async runtime.
//!
//! rt runs futures: it spreads tasks over worker threads that steal from each other, waits for sockets through one
//! shared poller, and for time in a hierarchical wheel. Names, signatures and semantics follow Tokio's where it has
//! them, so what a program uses of it moves over by changing `tokio::` to `rt::`.
//!
//! # A first program
//!
//! ```
//! use rt::io::{AsyncReadExt, AsyncWriteExt};
//! use rt::net::{TcpListener, TcpStream};
//!
//! #[rt::main]
//! async fn main() -> std::io::Result<()> {
//!     let listener = TcpListener::bind("127.0.0.1:0").await?;
//!     let address = listener.local_addr()?;
//!     let server = rt::spawn(async move {
//!         let (mut socket, _) = listener.accept().await?;
//!         let mut request = [0; 5];
//!         socket.read_exact(&mut request).await?;
//!         socket.write_all(&request).await
//!     });
//!
//!     let mut client = TcpStream::connect(address).await?;
//!     client.write_all(b"hello").await?;
//!     let mut reply = [0; 5];
//!     client.read_exact(&mut reply).await?;
//!     assert_eq!(&reply, b"hello");
//!     server.await.unwrap()
//! }
//! ```
//!
//! # What is where
//!
//! - [`spawn`], [`spawn_local`], [`spawn_blocking`] and [`task`]: tasks, their handles, yielding, and the cooperative
//!   budget ([`task::coop`]);
//! - [`runtime`]: building a runtime, holding it, entering it, and reading its counters;
//! - [`net`] and [`io`]: TCP, and the traits and extension methods for streams; on Unix [`io::unix::AsyncFd`];
//! - [`time`]: sleeping, intervals, timeouts, and a clock that can be paused;
//! - [`macro@main`] and [`macro@test`], and the macros [`select!`], [`join!`], [`try_join!`] and [`pin!`].

#[doc(hidden)]
pub mod macros;
pub mod runtime;

pub use macros::{main, test};
pub use runtime_core::{spawn, spawn_blocking, spawn_local};

/// Tasks: spawning them, waiting for them, and letting others run.
///
/// What keeps a task is counted: its handles and its wakers, of which there may be 32 million at a time. Who makes more of
/// one task ends the process, with a message, as `Arc` does without one.
pub mod task {
    pub use runtime_core::coop;
    pub use runtime_core::coop::{consume_budget, unconstrained};
    pub use runtime_core::task::{AbortHandle, Builder, Id, JoinError, JoinHandle, id, try_id, yield_now};
    pub use runtime_core::{block_in_place, spawn, spawn_blocking, spawn_local};
}

/// Sleeping, intervals, timeouts, and a clock that can be paused.
pub mod time {
    pub use runtime_time::{
        Duration, Instant, Interval, MissedTickBehavior, Sleep, Timeout, advance, error, interval, interval_at, pause,
        resume, sleep, sleep_until, timeout, timeout_at,
    };
}

pub use runtime_io::{io, net};
