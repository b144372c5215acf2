//! Streams of signals, of any kind that a Unix process can handle.

use std::fmt;
use std::future::poll_fn;
use std::io;
use std::os::raw::c_int;
use std::task::{Context, Poll, ready};

use runtime_core::coop;
use runtime_core::task::waits::{self, Leaf};

use super::dispatch;
use super::table::Listener;
use crate::registration::current_driver;

/// Which signal: one of those with a name here, or any [by its number](Self::from_raw).
///
/// # Example
///
/// ```
/// use rt::signal::unix::SignalKind;
///
/// assert_eq!(SignalKind::from_raw(15), SignalKind::terminate());
/// assert_eq!(SignalKind::hangup().as_raw_value(), 1);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SignalKind(c_int);

impl SignalKind {
    /// The signal of a number. Whether there is one, and whether it can be listened for, [`signal`] finds out.
    ///
    /// Real-time signals are had this way: `SignalKind::from_raw(libc::SIGRTMIN() + 1)`.
    pub const fn from_raw(number: c_int) -> Self {
        Self(number)
    }

    /// The number of the signal, which differs from system to system.
    pub const fn as_raw_value(&self) -> c_int {
        self.0
    }

    /// `SIGALRM`: a timer of the process is over. By default it ends the process.
    pub const fn alarm() -> Self {
        Self(libc::SIGALRM)
    }

    /// `SIGCHLD`: a child has ended, or was stopped or continued. By default it is ignored.
    pub const fn child() -> Self {
        Self(libc::SIGCHLD)
    }

    /// `SIGHUP`: the terminal is gone; for a server, by custom: read the configuration again. By default it ends the
    /// process.
    pub const fn hangup() -> Self {
        Self(libc::SIGHUP)
    }

    /// `SIGINFO`: the user asks how far the program is (Ctrl-T). By default it is ignored.
    #[cfg(any(
        target_vendor = "apple",
        target_os = "freebsd",
        target_os = "dragonfly",
        target_os = "netbsd",
        target_os = "openbsd",
        target_os = "illumos"
    ))]
    pub const fn info() -> Self {
        Self(libc::SIGINFO)
    }

    /// `SIGINT`: the user has pressed Ctrl-C. By default it ends the process.
    pub const fn interrupt() -> Self {
        Self(libc::SIGINT)
    }

    /// `SIGIO`: a descriptor that was set up for it is ready. By default it ends the process on some systems, and is
    /// ignored on others.
    pub const fn io() -> Self {
        #[cfg(target_os = "haiku")]
        return Self(libc::SIGPOLL);
        #[cfg(not(target_os = "haiku"))]
        return Self(libc::SIGIO);
    }

    /// `SIGPIPE`: a write to a pipe that nobody reads. By default it ends the process, but Rust programs begin with
    /// it ignored.
    pub const fn pipe() -> Self {
        Self(libc::SIGPIPE)
    }

    /// `SIGQUIT`: the user has pressed Ctrl-\. By default it ends the process, with a core dump.
    pub const fn quit() -> Self {
        Self(libc::SIGQUIT)
    }

    /// `SIGTERM`: the process is asked to end. By default it does.
    pub const fn terminate() -> Self {
        Self(libc::SIGTERM)
    }

    /// `SIGUSR1`: has the meaning that the program gives it. By default it ends the process.
    pub const fn user_defined1() -> Self {
        Self(libc::SIGUSR1)
    }

    /// `SIGUSR2`: has the meaning that the program gives it. By default it ends the process.
    pub const fn user_defined2() -> Self {
        Self(libc::SIGUSR2)
    }

    /// `SIGWINCH`: the terminal's window has another size. By default it is ignored.
    pub const fn window_change() -> Self {
        Self(libc::SIGWINCH)
    }
}

impl From<c_int> for SignalKind {
    fn from(number: c_int) -> Self {
        Self::from_raw(number)
    }
}

impl From<SignalKind> for c_int {
    fn from(kind: SignalKind) -> Self {
        kind.as_raw_value()
    }
}

/// A stream of the signals of one kind. [`signal`] makes it.
///
/// Any number of streams can be for the same kind, and each hears every signal, in whichever runtimes they are made
/// and polled.
///
/// # Coalescing
///
/// A stream tells that there were signals since it told so last, not how many: several that come before the stream is
/// polled are one. The system does the same with those that come in quick succession. But the last one is never lost:
/// after each signal the stream is ready once more, however late it is polled.
///
/// # Runtimes
///
/// The stream is not bound to the runtime it was made in. Any runtime of the process that has I/O enabled and is being
/// driven by a thread delivers signals to all streams of the process.
#[must_use = "a stream does nothing unless it is polled, though the handler is installed and stays"]
pub struct Signal {
    listener: Listener,
}

impl Signal {
    /// Waits for the next signal. It is always `Some`: there is no end of signals.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: a signal that comes in between is told by the next call.
    ///
    /// # Example
    ///
    /// ```no_run
    /// use rt::signal::unix::{SignalKind, signal};
    ///
    /// # #[rt::main]
    /// # async fn main() -> std::io::Result<()> {
    /// let mut hangups = signal(SignalKind::hangup())?;
    /// while let Some(()) = hangups.recv().await {
    ///     println!("reading the configuration again");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn recv(&mut self) -> Option<()> {
        poll_fn(|cx| self.poll_recv(cx)).await
    }

    /// As [`recv`](Self::recv), for hand-written futures. Only the last task to wait here is woken.
    pub fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Option<()>> {
        let coop = ready!(coop::poll_proceed(cx));
        ready!(waits::named(self.listener.poll(cx), Leaf::Signal(self.listener.number())));
        coop.made_progress();
        Poll::Ready(Some(()))
    }
}

impl fmt::Debug for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signal").field("number", &self.listener.number()).finish_non_exhaustive()
    }
}

/// Listens for the signals of a kind.
///
/// The stream hears all that come from now on, and possibly one that has come a moment before.
///
/// # The handler stays
///
/// The first call for a kind installs a handler, **which stays until the process ends**: also when all streams are
/// dropped, and all runtimes are gone, the signal no longer does what it does by default. Other handlers in the
/// process that were installed before are still called. The first call for any kind also opens two descriptors, which
/// stay open.
///
/// # Errors
///
/// If the signal cannot be handled (`SIGKILL` and `SIGSTOP`), or no handler may return from it (`SIGILL`, `SIGFPE` and
/// `SIGSEGV`); if there is no signal of that number; if the system refuses a handler or a descriptor; if the runtime
/// has shut down.
///
/// # Panics
///
/// Outside of a runtime with I/O enabled.
///
/// # Example
///
/// ```no_run
/// use rt::signal::unix::{SignalKind, signal};
///
/// # async fn serve() {}
/// # #[rt::main]
/// # async fn main() -> std::io::Result<()> {
/// let mut terminate = signal(SignalKind::terminate())?;
/// rt::select! {
///     () = serve() => {}
///     _ = terminate.recv() => println!("asked to end"),
/// }
/// # Ok(())
/// # }
/// ```
#[track_caller]
pub fn signal(kind: SignalKind) -> io::Result<Signal> {
    let driver = current_driver();
    Ok(Signal { listener: dispatch::listen(&driver, kind.0)? })
}
