//! [`Child`]: a process that was started here.

use std::future::poll_fn;
use std::io;
use std::process::{ExitStatus, Output};
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use runtime_core::coop;

use super::exit::Exit;
use super::orphans;
use super::stdio::{ChildStderr, ChildStdin, ChildStdout, Collect};
use crate::driver::Handle;

/// A child process, running or ended.
///
/// [`Command::spawn`](super::Command::spawn) makes it.
///
/// # Dropping it
///
/// **The process goes on** if a `Child` is dropped, unless the command says
/// [`kill_on_drop`](super::Command::kill_on_drop). Either way it leaves no zombie behind: a thread of its own, which is
/// there as long as there are such orphans, waits for the processes that were dropped before they had ended. It does so
/// without a runtime.
///
/// # Runtimes
///
/// The pipes belong to the runtime in which the child was started, and fail when that has shut down. The child itself
/// does not: [`wait`](Self::wait) works in any runtime.
#[derive(Debug)]
pub struct Child {
    state: State,
    /// The child's standard input, if it was [piped](std::process::Stdio::piped).
    pub stdin: Option<ChildStdin>,
    /// The child's standard output, if it was [piped](std::process::Stdio::piped).
    pub stdout: Option<ChildStdout>,
    /// The child's standard error, if it was [piped](std::process::Stdio::piped).
    pub stderr: Option<ChildStderr>,
}

#[derive(Debug)]
enum State {
    /// As far as is known: it was not waited for yet.
    Running(Guard),
    Ended(ExitStatus),
}

/// A child that is not left alone when this is dropped.
#[derive(Debug)]
struct Guard {
    /// `None` only during the drop.
    exit: Option<Exit>,
    kill_on_drop: bool,
}

impl Guard {
    fn exit(&mut self) -> &mut Exit {
        self.exit.as_mut().expect("only the drop takes it")
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let Some(mut exit) = self.exit.take() else { return };
        if self.kill_on_drop {
            // If it cannot be killed (it runs as another user by now), there is nobody left to tell.
            let _ = exit.child().kill();
        }
        // An error says that somebody else has waited for it.
        if matches!(exit.child().try_wait(), Ok(None)) {
            orphans::adopt(exit);
        }
    }
}

impl Child {
    /// Takes over a child that was started just now. If that fails, the child is killed and waited for.
    pub(super) fn new(mut std: std::process::Child, driver: &Arc<Handle>, kill_on_drop: bool) -> io::Result<Self> {
        let (stdin, stdout, stderr) = (std.stdin.take(), std.stdout.take(), std.stderr.take());
        let mut guard = Guard { exit: Some(Exit::new(std)), kill_on_drop: true };
        let child = Self {
            stdin: stdin.map(|pipe| ChildStdin::register(driver, pipe)).transpose()?,
            stdout: stdout.map(|pipe| ChildStdout::register(driver, pipe)).transpose()?,
            stderr: stderr.map(|pipe| ChildStderr::register(driver, pipe)).transpose()?,
            state: {
                guard.exit().watch(driver)?;
                guard.kill_on_drop = kill_on_drop;
                State::Running(guard)
            },
        };
        Ok(child)
    }

    /// The number of the process. `None` when it has been waited for: the number may be another's then.
    pub fn id(&self) -> Option<u32> {
        match &self.state {
            State::Running(guard) => guard.exit.as_ref().map(Exit::id),
            State::Ended(_) => None,
        }
    }

    /// Kills the process, without waiting for its end. On Unix that is `SIGKILL`.
    ///
    /// It does nothing if the process has been waited for. The processes that the child has started in turn are not
    /// killed: see [`process_group`](super::Command::process_group).
    ///
    /// # Errors
    ///
    /// The operating system's: the process has become another user's, for example.
    ///
    /// # Example
    ///
    /// ```
    /// use rt::process::Command;
    ///
    /// # #[rt::main]
    /// # async fn main() -> std::io::Result<()> {
    /// let mut child = Command::new("sleep").arg("1000").spawn()?;
    /// child.start_kill()?;
    /// assert!(!child.wait().await?.success());
    /// # Ok(())
    /// # }
    /// ```
    pub fn start_kill(&mut self) -> io::Result<()> {
        match &mut self.state {
            State::Running(guard) => {
                guard.exit().child().kill()?;
                guard.kill_on_drop = false;
                Ok(())
            }
            State::Ended(_) => Ok(()),
        }
    }

    /// Kills the process and waits for its end.
    ///
    /// # Errors
    ///
    /// Those of [`start_kill`](Self::start_kill) and [`wait`](Self::wait).
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: the process is killed in the first poll, and can be waited for again.
    ///
    /// # Example
    ///
    /// ```
    /// use rt::process::Command;
    ///
    /// # #[rt::main]
    /// # async fn main() -> std::io::Result<()> {
    /// let mut child = Command::new("sleep").arg("1000").spawn()?;
    /// child.kill().await?;
    /// assert!(!child.wait().await?.success());
    /// # Ok(())
    /// # }
    /// ```
    pub async fn kill(&mut self) -> io::Result<()> {
        self.start_kill()?;
        self.wait().await.map(drop)
    }

    /// Waits until the process has ended, and returns its status. When called again, it returns the same status.
    ///
    /// It first drops [`stdin`](Self::stdin), if that is still in here: otherwise a child that reads its input to the
    /// end and the parent would wait for each other. Output that is piped and that nobody reads can keep the child
    /// waiting as well; [`wait_with_output`](Self::wait_with_output) reads it.
    ///
    /// # Errors
    ///
    /// If somebody else has waited for the child, or the process ignores `SIGCHLD` (there is no status then); if the
    /// runtime has shut down, and there is no current one.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: nothing is lost but `stdin`, which was dropped.
    ///
    /// # Example
    ///
    /// ```
    /// use rt::process::Command;
    ///
    /// # #[rt::main]
    /// # async fn main() -> std::io::Result<()> {
    /// let mut child = Command::new("sh").args(["-c", "exit 7"]).spawn()?;
    /// assert_eq!(child.wait().await?.code(), Some(7));
    /// assert_eq!(child.id(), None);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        drop(self.stdin.take());
        poll_fn(|cx| self.poll_wait(cx)).await
    }

    /// Returns the status if the process has ended, and else `None`, without waiting. It does not drop `stdin`.
    ///
    /// # Errors
    ///
    /// If somebody else has waited for the child.
    ///
    /// # Example
    ///
    /// ```
    /// use rt::process::Command;
    ///
    /// # #[rt::main]
    /// # async fn main() -> std::io::Result<()> {
    /// let mut child = Command::new("cat").stdin(std::process::Stdio::piped()).spawn()?;
    /// assert!(child.try_wait()?.is_none(), "it waits for input");
    /// child.wait().await?;
    /// assert!(child.try_wait()?.unwrap().success());
    /// # Ok(())
    /// # }
    /// ```
    pub fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        match &mut self.state {
            State::Running(guard) => {
                let status = guard.exit().child().try_wait()?;
                if let Some(status) = status {
                    self.end(status);
                }
                Ok(status)
            }
            State::Ended(status) => Ok(Some(*status)),
        }
    }

    /// Waits until the process has ended and its output has been read to the end, and returns both.
    ///
    /// It drops [`stdin`](Self::stdin) first, as [`wait`](Self::wait) does. Output that is not piped, or was taken out
    /// of here, is empty. Other processes that have inherited the pipes hold up the end of the output.
    ///
    /// # Errors
    ///
    /// Those of [`wait`](Self::wait), and of reading.
    ///
    /// # Cancel safety
    ///
    /// Not cancel safe: the output that was read by then is lost, and the `Child` is dropped.
    ///
    /// # Example
    ///
    /// ```
    /// use std::process::Stdio;
    /// use rt::io::AsyncWriteExt;
    /// use rt::process::Command;
    ///
    /// # #[rt::main]
    /// # async fn main() -> std::io::Result<()> {
    /// let mut child = Command::new("sort").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    /// child.stdin.take().unwrap().write_all(b"b\na\n").await?;
    /// let output = child.wait_with_output().await?;
    /// assert_eq!(output.stdout, b"a\nb\n");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn wait_with_output(mut self) -> io::Result<Output> {
        drop(self.stdin.take());
        let mut stdout = Collect::new(self.stdout.take());
        let mut stderr = Collect::new(self.stderr.take());
        let mut status = None;
        poll_fn(|cx| {
            if status.is_none()
                && let Poll::Ready(ended) = self.poll_wait(cx)?
            {
                status = Some(ended);
            }
            let is_read = [stdout.poll(cx)?, stderr.poll(cx)?].iter().all(Poll::is_ready);
            match status {
                Some(status) if is_read => Poll::Ready(Ok(status)),
                _ => Poll::Pending,
            }
        })
        .await
        .map(|status| Output { status, stdout: stdout.bytes, stderr: stderr.bytes })
    }

    fn poll_wait(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<ExitStatus>> {
        match &mut self.state {
            State::Running(guard) => {
                let status = ready!(guard.exit().poll(cx))?;
                self.end(status);
                Poll::Ready(Ok(status))
            }
            State::Ended(status) => {
                ready!(coop::poll_proceed(cx)).made_progress();
                Poll::Ready(Ok(*status))
            }
        }
    }

    fn end(&mut self, status: ExitStatus) {
        if let State::Running(mut guard) = std::mem::replace(&mut self.state, State::Ended(status)) {
            // It was waited for: nothing is left to do for the guard.
            guard.exit = None;
        }
    }
}
