//! Child processes: starting programs, talking to them through pipes, and waiting for their end.
//!
//! [`Command`] says what to start; it is the standard library's, with methods that do not block. [`Child`] is what was
//! started. Its standard streams, where they are [piped](std::process::Stdio::piped), are read and written with the
//! traits of [`rt::io`](crate::io).
//!
//! ```
//! use rt::process::Command;
//!
//! # #[rt::main]
//! # async fn main() -> std::io::Result<()> {
//! let output = Command::new("echo").arg("hello").output().await?;
//! assert!(output.status.success());
//! assert_eq!(output.stdout, b"hello\n");
//! # Ok(())
//! # }
//! ```
//!
//! All this needs a runtime with I/O: one from [`macro@crate::main`] or
//! [`Runtime::new`](crate::runtime::Runtime::new), or a builder with
//! [`enable_io`](crate::runtime::Builder::enable_io).
//!
//! # Input and output at once
//!
//! A pipe holds little (64 KiB on Linux). A child that has filled its output waits until somebody reads, and does not
//! read its input meanwhile. So write in one task and read in another, or let
//! [`wait_with_output`](Child::wait_with_output) read:
//!
//! ```
//! use std::process::Stdio;
//! use rt::io::AsyncWriteExt;
//! use rt::process::Command;
//!
//! # #[rt::main]
//! # async fn main() -> std::io::Result<()> {
//! let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
//! let mut stdin = child.stdin.take().unwrap();
//! let writer = rt::spawn(async move { stdin.write_all(&[b'x'; 1_000_000]).await });
//! let output = child.wait_with_output().await?;
//! writer.await.unwrap()?;
//! assert_eq!(output.stdout.len(), 1_000_000);
//! # Ok(())
//! # }
//! ```
//!
//! # What becomes of a child
//!
//! - A child whose [`Child`] is dropped goes on, unless [`kill_on_drop`](Command::kill_on_drop) says otherwise.
//! - Either way it leaves no zombie behind, also when the runtime is gone: a thread, which is there as long as it is
//!   needed, waits for children that were dropped before they had ended.
//! - Only the child is killed, not what it has started in turn. For that give it a
//!   [process group](Command::process_group), and send the signal to the group.
//! - Children that other code of the program has started are never waited for.
//!
//! On Linux a child's end is heard of through a descriptor of the process. Where the system has none (before Linux 5.3,
//! in some sandboxes, on other systems) it takes a handler for `SIGCHLD`, which then
//! [stays](crate::signal::unix::signal).
//!
//! # Cancel safety
//!
//! | operation | if it is dropped before it is done |
//! | --- | --- |
//! | [`Child::wait`] | nothing is lost, but [`stdin`](Child::stdin) was closed |
//! | [`Child::kill`] | the child was killed, and can be waited for |
//! | [`Child::wait_with_output`], [`Command::output`] | what was read is lost, and the child dropped |
//! | [`Command::status`] | the child is dropped |
//! | reading and writing | as for any [reader](crate::io::AsyncReadExt) and [writer](crate::io::AsyncWriteExt) |

#[doc(inline)]
pub use runtime_io::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
