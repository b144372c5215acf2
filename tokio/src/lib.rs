//! This is not Tokio: it is a stand-in of the same name, for programs and libraries written for Tokio to run on rt.
//!
//! It is never published. How to use it, how to go back and how to see which one a program has is in its README.
//!
//! There is nothing here but other names for what `rt` has, by Tokio's features: `tokio::net::TcpStream` *is*
//! `rt::net::TcpStream`, and a program that has both crates has one runtime. Logic must never be added here. What does
//! not fit is mended in rt.

#[cfg(feature = "fs")]
pub use rt::fs;
pub use rt::io;
#[doc(hidden)]
pub use rt::macros;
#[cfg(feature = "net")]
pub use rt::net;
#[cfg(all(unix, feature = "process"))]
pub use rt::process;
#[cfg(feature = "rt")]
pub use rt::runtime;
#[cfg(all(unix, feature = "signal"))]
pub use rt::signal;
pub use rt::stream;
#[cfg(feature = "sync")]
pub use rt::sync;
#[cfg(feature = "rt")]
pub use rt::task;
#[cfg(feature = "time")]
pub use rt::time;

pub use rt::pin;
#[cfg(feature = "macros")]
pub use rt::{join, select, try_join};
#[cfg(feature = "rt")]
pub use rt::{spawn, task_local};

// The attributes have to name the crate in which they find the runtime. rt's name `rt`, which is not there in a crate
// that knows only `tokio`.
#[cfg(all(feature = "macros", feature = "rt"))]
pub use rt::macros::{tokio_main as main, tokio_test as test};
