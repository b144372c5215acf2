//! [`stdin`], and the thread that reads it.
//!
//! A read of standard input may block until somebody types, which may be never, and there is no way to cancel it. On
//! the blocking pool it would hold up the end of the runtime, which waits for the pool's threads. So one thread of the
//! process reads, from the first read on until the process ends. It belongs to no runtime, and nobody waits for it.
//!
//! There is one `Background`, which all handles share: bytes that were read for a handle that is gone are read by
//! the next. So there is one job at a time, at most, and a single place to leave it for the thread.
//!
//! A process that forks without `exec` has the desk in the child as well, but not the thread. So the desk knows which
//! process its thread is in, and the child starts one of its own. (A read that is under way at that moment belongs to
//! the parent, and the child waits for it in vain.) The thread waits by parking: a thread that waits for a condition is
//! noted in a table of the process, which the child has as well.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::thread::{self, Thread};

use runtime_core::driver::contain;
use runtime_core::primitive::{Mutex, OnceLock};

use crate::background::{Background, DEFAULT_MAX_BUF_SIZE, Job};
use crate::io::{AsyncRead, ReadBuf};

/// A handle to the standard input of the process.
///
/// # Example
///
/// ```no_run
/// use rt::io::{AsyncBufReadExt, BufReader};
///
/// # #[rt::main]
/// # async fn main() -> rt::io::Result<()> {
/// let mut lines = BufReader::new(rt::io::stdin()).lines();
/// while let Some(line) = lines.next_line().await? {
///     println!("{} bytes", line.len());
/// }
/// # Ok(())
/// # }
/// ```
pub fn stdin() -> Stdin {
    Stdin { background: STDIN.get_or_init(|| Background::new(Device(io::stdin()))) }
}

/// A handle to the standard input of the process. [`stdin`] makes it.
///
/// A thread reads, since reading may block. It has the name `rt-stdin`, is started by the first read, and is none of a
/// runtime's: **a read that waits for input does not hold up the end of a runtime**, nor that of the process. (In Tokio
/// a runtime that is dropped waits until somebody presses enter.)
///
/// A read that has begun cannot be cancelled. If its future is dropped it goes on, and what it reads is there for the
/// next read, with whatever handle. Only what reads standard input by other means, like [`std::io::stdin`], does not
/// see it.
///
/// For a program that converses with a user, a thread of its own that reads lines and sends them through a channel is
/// often simpler.
///
/// # Cancel safety
///
/// `read` is cancel safe: no bytes are lost. `read_exact`, `read_line` and their like are not.
#[derive(Debug)]
pub struct Stdin {
    background: &'static Background<Device>,
}

impl AsyncRead for Stdin {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.background.poll_read(cx, buf, DEFAULT_MAX_BUF_SIZE)
    }
}

super::descriptor!(Stdin, stdin);

static STDIN: OnceLock<Background<Device>> = OnceLock::new();

#[derive(Debug)]
struct Device(io::Stdin);

impl crate::background::Device for Device {
    fn start(job: Job<Self>) {
        READER.get_or_init(Reader::default).start(job);
    }

    fn read(&self, into: &mut [u8]) -> io::Result<usize> {
        io::Read::read(&mut &self.0, into)
    }

    fn write_all(&self, _: &[u8]) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn seek(&self, _: io::SeekFrom) -> io::Result<u64> {
        Err(io::ErrorKind::NotSeekable.into())
    }
}

static READER: OnceLock<Reader> = OnceLock::new();

/// The thread that reads.
#[derive(Debug, Default)]
struct Reader {
    desk: Mutex<Desk>,
}

#[derive(Debug, Default)]
struct Desk {
    job: Option<Job<Device>>,
    /// The thread, and the process that it is in.
    thread: Option<(u32, Thread)>,
}

impl Reader {
    /// If there is no thread, and none can be started, the job is dropped, which fails.
    fn start(&'static self, job: Job<Device>) {
        let here = std::process::id();
        let mut desk = self.desk.lock();
        let thread = match &desk.thread {
            Some((process, thread)) if *process == here => thread.clone(),
            _ => match thread::Builder::new().name("rt-stdin".to_owned()).spawn(|| self.work()) {
                Ok(started) => started.thread().clone(),
                Err(_) => {
                    drop(desk);
                    return drop(job);
                }
            },
        };
        debug_assert!(desk.job.is_none(), "there is one turn");
        desk.job = Some(job);
        desk.thread = Some((here, thread.clone()));
        // It would queue for the lock, and may be handed it before it has a processor.
        drop(desk);
        thread.unpark();
    }

    fn work(&self) {
        loop {
            let job = self.desk.lock().job.take();
            match job {
                // Wakers may panic. The thread is the only one.
                Some(job) => contain(|| job.run()),
                None => thread::park(),
            };
        }
    }
}
