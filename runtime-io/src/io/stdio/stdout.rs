//! [`stdout`].

use crate::background::Background;

/// A handle to the standard output of the process.
///
/// # Example
///
/// ```
/// use rt::io::AsyncWriteExt;
///
/// # #[rt::main]
/// # async fn main() -> rt::io::Result<()> {
/// let mut stdout = rt::io::stdout();
/// stdout.write_all(b"hello\n").await?;
/// stdout.flush().await
/// # }
/// ```
pub fn stdout() -> Stdout {
    Stdout { background: Background::new(Device(std::io::stdout())) }
}

/// A handle to the standard output of the process. [`stdout`] makes it.
///
/// Writes are done by another thread, as those of a [`File`](crate::fs::File) are. So call
/// [`flush`](crate::io::AsyncWriteExt::flush) after the last write, and before the program ends: a handle that is
/// dropped without it is written to the end, also if the runtime shuts down first, but a process does not wait for that
/// when it ends otherwise. An error is reported by a later write or flush of the same handle.
///
/// What is written with one call of at most 2 MiB is not mixed with what other handles write, those of the standard
/// library included; longer writes are split. What is written with different handles, or by several calls, may be.
///
/// # Cancel safety
///
/// As that of a [`File`](crate::fs::File): `write` and `flush` are cancel safe, `write_all` is not.
#[derive(Debug)]
pub struct Stdout {
    background: Background<Device>,
}

super::output!(Stdout, stdout, has_buffer: true);
