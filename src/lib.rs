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
//! - [`spawn`], [`spawn_local`], [`spawn_blocking`] and [`task`]: tasks, their handles, sets of them, values that go
//!   with them ([`task_local!`]), yielding, and the cooperative budget ([`task::coop`]);
//! - [`runtime`]: building a runtime, holding it, entering it, and reading its counters;
//! - [`net`] and [`io`]: TCP, UDP, Unix sockets and pipes, and the traits and extension methods for streams; on Unix
//!   [`io::unix::AsyncFd`];
//! - [`fs`]: files and directories;
//! - [`process`] and [`signal`], on Unix: child processes, and what other processes tell this one;
//! - [`sync`]: channels, locks, and other ways to wait for each other;
//! - [`time`]: sleeping, intervals, timeouts, and a clock that can be paused;
//! - [`test_util`]: futures polled by hand, streams that follow a script, and assertions, for tests;
//! - [`macro@main`] and [`macro@test`], and the macros [`select!`], [`join!`], [`try_join!`] and [`pin!`].
//!
//! # Features
//!
//! All are on by default but the last three. With `default-features = false` there are [`task`] but for what needs
//! `sync`, [`runtime`] with its drivers for what else is there, and [`spawn`] and its kind.
//!
//! | Feature | What it adds |
//! |---|---|
//! | `macros` | [`macro@main`] and [`macro@test`], [`select!`], [`join!`], [`try_join!`] |
//! | `io` | the I/O traits ([`io::AsyncRead`] and its kind) and [`io::ReadBuf`], no more; most of those below have it |
//! | `io-util` | methods for these traits, buffers, copies, streams in memory |
//! | `io-std` | [`io::stdin`], [`io::stdout`], [`io::stderr`] |
//! | `net` | [`net`], [`io::unix::AsyncFd`], and the I/O driver |
//! | `fs` | [`fs`] |
//! | `process`, `signal` | [`process`], [`signal`] |
//! | `sync` | [`sync`], and of [`task`]: `scope`, `CancellationToken`, `TaskTracker` |
//! | `time` | [`time`], and the timer driver |
//! | `test-util` | [`test_util`] |
//! | `inspect` | a running program can be looked into: `RT_INSPECT`, and `Builder::inspect` |
//! | `rt`, `rt-multi-thread`, `full` | nothing, and all of these: for manifests that ask as they would ask Tokio |
//! | `compat` | `io::compat`: wrappers for the traits of `futures-io` |
//! | `tracing` | spans and events of the crate `tracing` for tasks |
//! | `blocked-backtrace` | the stack of the thread in reports of blocked tasks, on Linux |
//!
//! # Cancel safety
//!
//! Which futures can be dropped before they are done, and what becomes of their work, is said under "Cancel safety" of
//! each function. `docs/cancel-safety.md` in the repository has most of it in tables, with the tests that show it.
//!
//! # Libraries
//!
//! Streams, and combinators for futures, are in the crates `futures` and `futures-lite`, which are for any runtime.
//! Libraries that are written for Tokio run on rt where the program's manifest puts the package `tokio` of rt's
//! repository in Tokio's place. What that package calls `tokio::spawn` is [`spawn`]. Without it there are adapters for
//! libraries that ask for traits only: `rt-hyper` for hyper, `rt-tokio-io` for what wants Tokio's traits, and for the
//! traits of `futures-io` the feature `compat`.

#[cfg(feature = "fs")]
pub mod fs;
#[cfg(feature = "io")]
pub mod io;
#[doc(hidden)]
pub mod macros;
#[cfg(feature = "net")]
pub mod net;
#[cfg(all(unix, feature = "process"))]
pub mod process;
pub mod runtime;
#[cfg(all(unix, feature = "signal"))]
pub mod signal;
/// Nothing yet: the trait for streams is not in the standard library.
///
/// Until it is, `futures-core` has it, and `futures`, `futures-lite` and `tokio-stream` have what goes with it.
pub mod stream {}
#[cfg(feature = "sync")]
pub mod sync;
#[cfg(feature = "test-util")]
pub mod test_util;

#[cfg(feature = "macros")]
pub use macros::{main, test};
pub use runtime_core::{spawn, spawn_blocking, spawn_local, task_local};

/// Tasks: spawning them, waiting for them, and letting others run.
///
/// A task has up to 15 million handles and wakers at a time. A program that makes more of one task is ended, with a
/// message.
pub mod task {
    pub use runtime_core::TaskBuilder as Builder;
    pub use runtime_core::coop;
    pub use runtime_core::coop::{Unconstrained, consume_budget, unconstrained};
    pub use runtime_core::task::{AbortHandle, AbortOnDropHandle, Id, JoinError, JoinHandle, id, try_id, yield_now};
    pub use runtime_core::{JoinSet, LocalEnterGuard, LocalKey, LocalSet};
    pub use runtime_core::{block_in_place, spawn, spawn_blocking, spawn_local};
    #[cfg(feature = "sync")]
    #[doc(inline)]
    pub use runtime_sync::task::{
        CancellationToken, DropGuard, DropGuardRef, Scope, TaskTracker, WaitForCancellationFuture,
        WaitForCancellationFutureOwned, scope, task_tracker,
    };

    /// What spawns tasks that have a name into a [`JoinSet`].
    pub mod join_set {
        pub use runtime_core::{JoinSet, JoinSetBuilder as Builder};
    }

    /// Futures that functions of this module return.
    pub mod futures {
        pub use runtime_core::TaskLocalFuture;
    }
}

/// Sleeping, intervals, timeouts, queues of deadlines, and a clock that can be paused.
#[cfg(feature = "time")]
pub mod time {
    pub use runtime_time::{
        DelayQueue, Duration, Instant, Interval, MissedTickBehavior, Sleep, Timeout, advance, delay_queue, error,
        interval, interval_at, pause, resume, sleep, sleep_until, timeout, timeout_at,
    };
}
