//! Streams of other makers: they spend no budget, insist on initialised memory, count, refuse, cheat.

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};

use rt::io::{AsyncBufRead, AsyncRead, AsyncWrite, ReadBuf};

/// Always has more to read, always takes more, and spends no budget.
#[derive(Debug, Default)]
pub(crate) struct Endless {
    pub(crate) read: u64,
    pub(crate) written: u64,
}

impl AsyncRead for Endless {
    fn poll_read(mut self: Pin<&mut Self>, _: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.read += buf.remaining() as u64;
        buf.initialize_unfilled().fill(7);
        buf.advance(buf.remaining());
        Poll::Ready(Ok(()))
    }
}

impl AsyncBufRead for Endless {
    fn poll_fill_buf(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        Poll::Ready(Ok(&[7; 10]))
    }

    fn consume(mut self: Pin<&mut Self>, amount: usize) {
        self.read += amount as u64;
    }
}

impl AsyncWrite for Endless {
    fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.written += buf.len() as u64;
        Poll::Ready(Ok(buf.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// Does what it is told, one step a call. When there are no more steps it is at its end, and takes everything.
#[derive(Debug, Default)]
pub(crate) struct Script {
    pub(crate) steps: VecDeque<Step>,
    pub(crate) written: Vec<u8>,
    /// The lengths of the slices of each write.
    pub(crate) writes: Vec<Vec<usize>>,
    pub(crate) is_vectored: bool,
    pub(crate) flushes: usize,
    pub(crate) is_shut_down: bool,
}

#[derive(Debug)]
pub(crate) enum Step {
    /// Reads this, or takes at most this number of bytes.
    Move(&'static [u8]),
    Fail(io::ErrorKind),
    /// Is pending once, and wakes at once.
    Wait,
}

impl Script {
    pub(crate) fn new(steps: impl IntoIterator<Item = Step>) -> Self {
        Self { steps: steps.into_iter().collect(), ..Self::default() }
    }

    pub(crate) fn vectored() -> Self {
        Self { is_vectored: true, ..Self::default() }
    }

    fn step(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Option<&'static [u8]>>> {
        match self.steps.pop_front() {
            Some(Step::Move(bytes)) => Poll::Ready(Ok(Some(bytes))),
            Some(Step::Fail(kind)) => Poll::Ready(Err(kind.into())),
            Some(Step::Wait) => {
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            None => Poll::Ready(Ok(None)),
        }
    }
}

impl AsyncRead for Script {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.step(cx).map_ok(|bytes| buf.put_slice(bytes.unwrap_or_default()))
    }
}

impl AsyncWrite for Script {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(cx, &[IoSlice::new(buf)])
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let bufs = if self.is_vectored { bufs } else { &bufs[..1] };
        self.step(cx).map_ok(|limit| {
            let bytes: Vec<u8> = bufs.iter().flat_map(|buf| buf.iter().copied()).collect();
            let count = limit.map_or(bytes.len(), |limit| limit.len().min(bytes.len()));
            self.written.extend(&bytes[..count]);
            self.writes.push(bufs.iter().map(|buf| buf.len()).collect());
            count
        })
    }

    fn is_write_vectored(&self) -> bool {
        self.is_vectored
    }

    fn poll_flush(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.flushes += 1;
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.is_shut_down = true;
        Poll::Ready(Ok(()))
    }
}

/// Insists on initialised memory, reads one byte at a time, and counts how many bytes it had to initialise.
#[derive(Debug)]
pub(crate) struct Initialising {
    pub(crate) left: usize,
    pub(crate) initialised: usize,
}

impl AsyncRead for Initialising {
    fn poll_read(mut self: Pin<&mut Self>, _: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.initialized().len();
        buf.initialize_unfilled();
        self.initialised += buf.initialized().len() - before;
        if self.left > 0 && buf.remaining() > 0 {
            self.left -= 1;
            buf.put_slice(b"x");
        }
        Poll::Ready(Ok(()))
    }
}

/// Puts another buffer in the place of the one it is given.
#[derive(Debug)]
pub(crate) struct Cheat;

impl AsyncRead for Cheat {
    fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        *buf = ReadBuf::new(&mut []);
        Poll::Ready(Ok(()))
    }
}

/// Reads one byte at a time of something endless that spends budget.
#[derive(Debug)]
pub(crate) struct Trickle(pub(crate) rt::io::Repeat);

impl AsyncRead for Trickle {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let mut byte = [0];
        let mut small = ReadBuf::new(&mut byte);
        std::task::ready!(Pin::new(&mut self.0).poll_read(cx, &mut small))?;
        buf.put_slice(small.filled());
        Poll::Ready(Ok(()))
    }
}
