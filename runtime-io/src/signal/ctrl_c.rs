//! [`ctrl_c`]: the one signal that nearly every program wants to hear.

use std::future::{Future, poll_fn};
use std::io;
use std::task::ready;

use runtime_core::coop;
use runtime_core::task::waits::{self, Leaf};

use super::dispatch;
use crate::located;

/// Waits until the user presses Ctrl-C in the terminal, or somebody else sends an interrupt (`SIGINT`).
///
/// It hears what comes after its first poll. From that moment on **Ctrl-C no longer ends the program by itself**, also
/// after this future is done or dropped: the handler stays. So the caller should end the program when it
/// returns, or call it again. Several calls that wait at a time are all told.
///
/// # Errors
///
/// If the system refuses a handler or a descriptor, or if the runtime has shut down.
///
/// # Panics
///
/// When it is polled outside of a runtime with I/O enabled.
///
/// # Cancel safety
///
/// Cancel safe in that nothing breaks; but a future that is dropped and made anew misses what comes in between. In a
/// loop, keep one future, or use a stream: [`unix::signal`](super::unix::signal).
///
/// # Example
///
/// ```no_run
/// # #[rt::main]
/// # async fn main() -> std::io::Result<()> {
/// println!("Ctrl-C ends this");
/// rt::signal::ctrl_c().await?;
/// println!("so it does");
/// # Ok(())
/// # }
/// ```
#[track_caller]
pub fn ctrl_c() -> impl Future<Output = io::Result<()>> {
    located::with_driver(|driver| async move {
        let listener = dispatch::listen(&driver, libc::SIGINT)?;
        poll_fn(|cx| {
            let coop = ready!(coop::poll_proceed(cx));
            waits::named(listener.poll(cx), Leaf::Signal(libc::SIGINT)).map(|()| coop.made_progress())
        })
        .await;
        Ok(())
    })
}
