//! [`Command`]: what to start, and how.

use std::ffi::OsStr;
use std::future::Future;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{ExitStatus, Output, Stdio};

use super::child::Child;
use super::orphans;
use crate::registration::current_driver;

/// A program to be started as a child process, with its arguments and surroundings.
///
/// As the [standard library's](std::process::Command), which it is built on and can be made of: what is not here can be
/// set there, by [`as_std_mut`](Self::as_std_mut) or [`From`]. The difference is that nothing blocks.
///
/// # Example
///
/// ```
/// use rt::process::Command;
///
/// # #[rt::main]
/// # async fn main() -> std::io::Result<()> {
/// let output = Command::new("echo").arg("hello").output().await?;
/// assert!(output.status.success());
/// assert_eq!(output.stdout, b"hello\n");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Command {
    std: std::process::Command,
    kill_on_drop: bool,
}

impl Command {
    /// A command that starts `program`, which is looked for in `PATH` unless it has a slash in it.
    ///
    /// To begin with there are no arguments; the child inherits the environment, the working directory and the
    /// standard streams; and it is not killed when its [`Child`] is dropped.
    pub fn new<S: AsRef<OsStr>>(program: S) -> Command {
        Self::from(std::process::Command::new(program))
    }

    /// The standard library's command in here: to look at what was set.
    ///
    /// # Example
    ///
    /// ```
    /// let mut command = rt::process::Command::new("ls");
    /// command.arg("-l");
    /// assert_eq!(command.as_std().get_args().collect::<Vec<_>>(), ["-l"]);
    /// ```
    pub fn as_std(&self) -> &std::process::Command {
        &self.std
    }

    /// The standard library's command in here: to set what this type has no method for.
    ///
    /// # Example
    ///
    /// ```
    /// use rt::process::Command;
    ///
    /// # #[rt::main]
    /// # async fn main() -> std::io::Result<()> {
    /// let mut command = Command::new("echo");
    /// command.as_std_mut().arg("hello");
    /// assert_eq!(command.output().await?.stdout, b"hello\n");
    /// # Ok(())
    /// # }
    /// ```
    pub fn as_std_mut(&mut self) -> &mut std::process::Command {
        &mut self.std
    }

    /// Takes the standard library's command out. Whether to kill on drop is lost: it knows no such thing.
    ///
    /// # Example
    ///
    /// ```
    /// use rt::process::Command;
    ///
    /// # #[rt::main]
    /// # async fn main() -> std::io::Result<()> {
    /// let mut command = Command::new("true");
    /// command.env("A", "1");
    /// let mut command: std::process::Command = command.into_std();
    /// let status = rt::spawn_blocking(move || command.status()).await??;
    /// assert!(status.success());
    /// # Ok(())
    /// # }
    /// ```
    pub fn into_std(self) -> std::process::Command {
        self.std
    }

    /// Adds an argument. It is passed as it is; no shell sees it.
    ///
    /// # Example
    ///
    /// ```
    /// use rt::process::Command;
    ///
    /// # #[rt::main]
    /// # async fn main() -> std::io::Result<()> {
    /// let output = Command::new("echo").arg("$HOME").output().await?;
    /// assert_eq!(output.stdout, b"$HOME\n");
    /// # Ok(())
    /// # }
    /// ```
    pub fn arg<S: AsRef<OsStr>>(&mut self, arg: S) -> &mut Command {
        self.std.arg(arg);
        self
    }

    /// Adds several arguments.
    ///
    /// # Example
    ///
    /// ```
    /// use rt::process::Command;
    ///
    /// # #[rt::main]
    /// # async fn main() -> std::io::Result<()> {
    /// let output = Command::new("echo").args(["one", "two"]).output().await?;
    /// assert_eq!(output.stdout, b"one two\n");
    /// # Ok(())
    /// # }
    /// ```
    pub fn args<I, S>(&mut self, args: I) -> &mut Command
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        self.std.args(args);
        self
    }

    /// Sets an environment variable of the child.
    ///
    /// # Example
    ///
    /// ```
    /// use rt::process::Command;
    ///
    /// # #[rt::main]
    /// # async fn main() -> std::io::Result<()> {
    /// let output = Command::new("sh").args(["-c", "echo $COLOUR"]).env("COLOUR", "red").output().await?;
    /// assert_eq!(output.stdout, b"red\n");
    /// # Ok(())
    /// # }
    /// ```
    pub fn env<K, V>(&mut self, key: K, val: V) -> &mut Command
    where
        K: AsRef<OsStr>,
        V: AsRef<OsStr>,
    {
        self.std.env(key, val);
        self
    }

    /// Sets several environment variables of the child.
    pub fn envs<I, K, V>(&mut self, vars: I) -> &mut Command
    where
        I: IntoIterator<Item = (K, V)>,
        K: AsRef<OsStr>,
        V: AsRef<OsStr>,
    {
        self.std.envs(vars);
        self
    }

    /// Leaves out an environment variable: neither inherited nor set.
    pub fn env_remove<K: AsRef<OsStr>>(&mut self, key: K) -> &mut Command {
        self.std.env_remove(key);
        self
    }

    /// Leaves out all environment variables, inherited and set; those that are set later are there.
    ///
    /// # Example
    ///
    /// ```
    /// use rt::process::Command;
    ///
    /// # #[rt::main]
    /// # async fn main() -> std::io::Result<()> {
    /// let output = Command::new("/usr/bin/env").env_clear().env("ONLY", "this").output().await?;
    /// assert_eq!(output.stdout, b"ONLY=this\n");
    /// # Ok(())
    /// # }
    /// ```
    pub fn env_clear(&mut self) -> &mut Command {
        self.std.env_clear();
        self
    }

    /// Sets the working directory of the child.
    ///
    /// Whether a relative path of the program is looked for from there differs from system to system.
    ///
    /// # Example
    ///
    /// ```
    /// use rt::process::Command;
    ///
    /// # #[rt::main]
    /// # async fn main() -> std::io::Result<()> {
    /// let output = Command::new("pwd").current_dir("/").output().await?;
    /// assert_eq!(output.stdout, b"/\n");
    /// # Ok(())
    /// # }
    /// ```
    pub fn current_dir<P: AsRef<Path>>(&mut self, dir: P) -> &mut Command {
        self.std.current_dir(dir);
        self
    }

    /// Sets where the child's standard input comes from: by default it is inherited.
    ///
    /// With [`Stdio::piped`] it is in [`Child::stdin`].
    pub fn stdin<T: Into<Stdio>>(&mut self, cfg: T) -> &mut Command {
        self.std.stdin(cfg);
        self
    }

    /// Sets where the child's standard output goes: by default it is inherited, unless [`output`](Self::output) is
    /// called.
    ///
    /// With [`Stdio::piped`] it is in [`Child::stdout`].
    pub fn stdout<T: Into<Stdio>>(&mut self, cfg: T) -> &mut Command {
        self.std.stdout(cfg);
        self
    }

    /// Sets where the child's standard error goes: by default it is inherited, unless [`output`](Self::output) is
    /// called.
    ///
    /// With [`Stdio::piped`] it is in [`Child::stderr`].
    pub fn stderr<T: Into<Stdio>>(&mut self, cfg: T) -> &mut Command {
        self.std.stderr(cfg);
        self
    }

    /// Sets whether the process is killed when its [`Child`] is dropped before it was waited for: by default it is not.
    ///
    /// That goes also for the futures of [`status`](Self::status) and [`output`](Self::output), which hold the `Child`:
    /// in a [`timeout`](../time/fn.timeout.html), for example.
    ///
    /// # Example
    ///
    /// ```
    /// use std::time::Duration;
    /// use rt::process::Command;
    /// use rt::time::timeout;
    ///
    /// # #[rt::main]
    /// # async fn main() {
    /// let forever = Command::new("sleep").arg("1000").kill_on_drop(true).status();
    /// timeout(Duration::from_millis(10), forever).await.unwrap_err();
    /// # }
    /// ```
    pub fn kill_on_drop(&mut self, kill_on_drop: bool) -> &mut Command {
        self.kill_on_drop = kill_on_drop;
        self
    }

    /// Whether [`kill_on_drop`](Self::kill_on_drop) is set.
    pub fn get_kill_on_drop(&self) -> bool {
        self.kill_on_drop
    }

    /// Sets the user that the child runs as. Setting it leaves out supplementary groups, if the process may do that.
    pub fn uid(&mut self, id: u32) -> &mut Command {
        self.std.uid(id);
        self
    }

    /// Sets the group that the child runs as.
    pub fn gid(&mut self, id: u32) -> &mut Command {
        self.std.gid(id);
        self
    }

    /// Sets what the program is told that it is called: its argument number 0, by default the program's name.
    ///
    /// # Example
    ///
    /// ```
    /// use rt::process::Command;
    ///
    /// # #[rt::main]
    /// # async fn main() -> std::io::Result<()> {
    /// let output = Command::new("sh").arg0("my-shell").args(["-c", "echo $0"]).output().await?;
    /// assert_eq!(output.stdout, b"my-shell\n");
    /// # Ok(())
    /// # }
    /// ```
    pub fn arg0<S>(&mut self, arg: S) -> &mut Command
    where
        S: AsRef<OsStr>,
    {
        self.std.arg0(arg);
        self
    }

    /// Sets the process group of the child; 0 is a new one, which has the child's number.
    ///
    /// With a group of its own, a child and all that it starts in turn can be sent signals together (`kill` with a
    /// negative number), and Ctrl-C in the terminal is not sent to it.
    pub fn process_group(&mut self, pgroup: i32) -> &mut Command {
        self.std.process_group(pgroup);
        self
    }

    /// Sets a closure that is run in the child, between `fork` and `exec`.
    ///
    /// # Errors
    ///
    /// If it returns an error, the program is not started, and [`spawn`](Self::spawn) returns that error.
    ///
    /// # Safety
    ///
    /// The closure runs in a copy of the process that has one thread, while locks may be held by threads that are not
    /// there. It may do only what a signal handler may do: neither allocate nor lock, nor call anything of this crate.
    #[allow(unsafe_code, reason = "passes on the caller's promise")]
    pub unsafe fn pre_exec<F>(&mut self, f: F) -> &mut Command
    where
        F: FnMut() -> io::Result<()> + Send + Sync + 'static,
    {
        // SAFETY: the caller's promise.
        unsafe { self.std.pre_exec(f) };
        self
    }

    /// Starts the program.
    ///
    /// This takes about as long as the system takes to copy the process, during which the worker does nothing else.
    ///
    /// # Errors
    ///
    /// If the program cannot be started: there is no such program, or no process, no descriptor or no memory left.
    /// There is no child then. If the child was started, but there is nothing left to watch it with, it is killed.
    ///
    /// # Panics
    ///
    /// Outside of a runtime with I/O enabled, before anything is started.
    ///
    /// # Example
    ///
    /// ```
    /// use std::process::Stdio;
    /// use rt::io::{AsyncBufReadExt, BufReader};
    /// use rt::process::Command;
    ///
    /// # #[rt::main]
    /// # async fn main() -> std::io::Result<()> {
    /// let mut child = Command::new("printf").arg("one\ntwo\n").stdout(Stdio::piped()).spawn()?;
    /// let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    /// while let Some(line) = lines.next_line().await? {
    ///     println!("it says {line}");
    /// }
    /// assert!(child.wait().await?.success());
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn spawn(&mut self) -> io::Result<Child> {
        self.spawn_with(std::process::Command::spawn)
    }

    /// Starts the program by a function of the caller's, which is given the standard library's command: to use what
    /// another crate adds to that.
    ///
    /// The child must be one that nobody else waits for.
    ///
    /// # Errors
    ///
    /// Those of the function, and as [`spawn`](Self::spawn).
    ///
    /// # Panics
    ///
    /// Outside of a runtime with I/O enabled, before the function is called.
    ///
    /// # Example
    ///
    /// ```
    /// use rt::process::Command;
    ///
    /// # #[rt::main]
    /// # async fn main() -> std::io::Result<()> {
    /// let mut child = Command::new("true").spawn_with(|command| command.spawn())?;
    /// assert!(child.wait().await?.success());
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn spawn_with(
        &mut self,
        with: impl FnOnce(&mut std::process::Command) -> io::Result<std::process::Child>,
    ) -> io::Result<Child> {
        let driver = current_driver();
        // If the runtime has shut down, that is said before anything is started.
        drop(driver.claim()?);
        orphans::attend();
        let child = with(&mut self.std)?;
        Child::new(child, &driver, self.kill_on_drop)
    }

    /// Starts the program, and waits for its end. The program is started by this call, not by the first poll.
    ///
    /// Streams that are piped are closed: the program finds its input at its end, and its output unread.
    ///
    /// # Errors
    ///
    /// Those of [`spawn`](Self::spawn) and [`Child::wait`].
    ///
    /// # Panics
    ///
    /// As [`spawn`](Self::spawn).
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the [`Child`].
    ///
    /// # Example
    ///
    /// ```
    /// # #[rt::main]
    /// # async fn main() -> std::io::Result<()> {
    /// let status = rt::process::Command::new("false").status().await?;
    /// assert_eq!(status.code(), Some(1));
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn status(&mut self) -> impl Future<Output = io::Result<ExitStatus>> + use<> {
        let child = self.spawn();
        async {
            let mut child = child?;
            drop((child.stdin.take(), child.stdout.take(), child.stderr.take()));
            child.wait().await
        }
    }

    /// Starts the program, and waits for its end and for all of its output. The program is started by this call, not by
    /// the first poll.
    ///
    /// Standard output and standard error are piped, whatever was set before. Standard input is inherited by default.
    ///
    /// # Errors
    ///
    /// Those of [`spawn`](Self::spawn) and [`Child::wait_with_output`].
    ///
    /// # Panics
    ///
    /// As [`spawn`](Self::spawn).
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the [`Child`], and what was read by then.
    ///
    /// # Example
    ///
    /// See [the type](Self).
    #[track_caller]
    pub fn output(&mut self) -> impl Future<Output = io::Result<Output>> + use<> {
        self.std.stdout(Stdio::piped());
        self.std.stderr(Stdio::piped());
        let child = self.spawn();
        async { child?.wait_with_output().await }
    }
}

impl From<std::process::Command> for Command {
    fn from(std: std::process::Command) -> Command {
        Command { std, kill_on_drop: false }
    }
}
