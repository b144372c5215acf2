//! Signals: what the user and other processes tell this one.
//!
//! [`ctrl_c`] is for the one that nearly every program wants to hear; [`unix`] has all others.
//!
//! ```no_run
//! use rt::signal;
//!
//! # async fn serve() {}
//! # #[rt::main]
//! # async fn main() -> std::io::Result<()> {
//! let mut terminate = signal::unix::signal(signal::unix::SignalKind::terminate())?;
//! rt::select! {
//!     () = serve() => {}
//!     interrupted = signal::ctrl_c() => interrupted?,
//!     _ = terminate.recv() => {}
//! }
//! println!("ending in good order");
//! # Ok(())
//! # }
//! ```
//!
//! Once a program has listened for a signal, that signal no longer does what it does by default, ever: see
//! [`unix::signal`]. Signals are the process's: each is told to all who listen for it, in all runtimes. All this needs
//! a runtime with I/O.

#[doc(inline)]
pub use runtime_io::signal::ctrl_c;

/// Streams of signals, of any kind that a Unix process can handle.
pub mod unix {
    #[doc(inline)]
    pub use runtime_io::signal::unix::{Signal, SignalKind, signal};
}
