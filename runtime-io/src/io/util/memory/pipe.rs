//! [`Pipe`]: bytes in one direction.
//!
//! # Waiting
//!
//! A pipe is read and written through [`poll_pipe`], which tries under the lock, if there is one, and if nothing can be
//! moved leaves its waker there before it lets go of the lock. The end that then moves bytes or closes the pipe does so
//! under the same lock, and takes the waker with it. So nothing is missed between the attempt and the waiting.
//!
//! # No foreign code under the lock
//!
//! A waker is foreign code: cloned, woken and dropped it may do anything, poll the other end of this pipe included. So
//! it is cloned before the lock is taken once more for another attempt, and what is to be woken or dropped is returned
//! from under the lock.

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::task::{Context, Poll, Waker, ready};

use runtime_core::coop;
use runtime_core::primitive::Mutex;
use runtime_core::task::waits::{self, Leaf};

use crate::io::ReadBuf;

/// The two that can wait for a pipe.
#[derive(Clone, Copy, Debug)]
pub(super) enum End {
    Reader,
    Writer,
}

/// A queue of bytes, with a limit.
pub(super) struct Pipe {
    bytes: VecDeque<u8>,
    limit: usize,
    is_closed: bool,
    /// The wakers of the reader and of the writer.
    waiting: [Option<Waker>; 2],
}

impl Pipe {
    #[track_caller]
    pub(super) fn new(limit: usize) -> Self {
        assert!(limit > 0, "`max_buf_size` must be greater than 0");
        Self { bytes: VecDeque::new(), limit, is_closed: false, waiting: [None, None] }
    }

    /// Lets nobody write any more. What is in there can be read, and then the end is found. Returns who waits and is to
    /// be woken: the reader, or, if it is the reader who is gone, the writer.
    #[must_use]
    pub(super) fn close(&mut self, other: End) -> Option<Waker> {
        self.is_closed = true;
        self.waiting[other as usize].take()
    }

    /// Reads what there is; nothing at the end. `None` if the reader has to wait.
    pub(super) fn read(&mut self, buf: &mut ReadBuf<'_>) -> Option<io::Result<()>> {
        let count = self.bytes.len().min(buf.remaining());
        if count == 0 && buf.remaining() > 0 && !self.is_closed {
            return None;
        }
        let (front, back) = self.bytes.as_slices();
        let from_front = count.min(front.len());
        buf.put_slice(&front[..from_front]);
        buf.put_slice(&back[..count - from_front]);
        self.bytes.drain(..count);
        Some(Ok(()))
    }

    /// Writes what there is room for. `None` if the writer has to wait.
    pub(super) fn write(&mut self, bufs: &[IoSlice<'_>]) -> Option<io::Result<usize>> {
        if self.is_closed {
            return Some(Err(io::ErrorKind::BrokenPipe.into()));
        }
        let before = self.bytes.len();
        let mut is_empty = true;
        for buf in bufs {
            let count = buf.len().min(self.limit - self.bytes.len());
            self.bytes.extend(&buf[..count]);
            is_empty &= buf.is_empty();
        }
        let count = self.bytes.len() - before;
        (count > 0 || is_empty).then_some(Ok(count))
    }
}

/// A pipe that can be got at, for itself or under a lock.
pub(super) trait Access {
    fn with<R>(&mut self, operation: impl FnOnce(&mut Pipe) -> R) -> R;
}

impl Access for &mut Pipe {
    fn with<R>(&mut self, operation: impl FnOnce(&mut Pipe) -> R) -> R {
        operation(self)
    }
}

impl Access for &Mutex<Pipe> {
    fn with<R>(&mut self, operation: impl FnOnce(&mut Pipe) -> R) -> R {
        operation(&mut self.lock())
    }
}

/// How an attempt went, and which waker the lock is to be left with.
enum Attempt<T> {
    /// It worked; this one waits at the other end and is to be woken.
    Done(T, Option<Waker>),
    /// The waker is there; this one was there before and is to be dropped.
    Waits(#[allow(dead_code, reason = "held to be dropped")] Option<Waker>),
    /// The waker is yet to be cloned.
    NeedsWaker,
}

/// Tries `attempt`, and if it returns `None` waits at `end`. One unit of budget for each success.
pub(super) fn poll_pipe<T>(
    cx: &mut Context<'_>,
    mut pipe: impl Access,
    end: End,
    mut attempt: impl FnMut(&mut Pipe) -> Option<T>,
) -> Poll<T> {
    let coop = ready!(coop::poll_proceed(cx));
    let other = match end {
        End::Reader => End::Writer,
        End::Writer => End::Reader,
    };
    let mut waker = None;
    loop {
        let outcome = pipe.with(|pipe| {
            let before = pipe.bytes.len();
            if let Some(value) = attempt(pipe) {
                let has_moved = pipe.bytes.len() != before;
                return Attempt::Done(value, if has_moved { pipe.waiting[other as usize].take() } else { None });
            }
            let place = &mut pipe.waiting[end as usize];
            if place.as_ref().is_some_and(|there| there.will_wake(cx.waker())) {
                return Attempt::Waits(None);
            }
            match waker.take() {
                Some(waker) => Attempt::Waits(place.replace(waker)),
                None => Attempt::NeedsWaker,
            }
        });
        match outcome {
            Attempt::Done(value, waiting) => {
                coop.made_progress();
                if let Some(waker) = waiting {
                    waker.wake();
                }
                return Poll::Ready(value);
            }
            Attempt::Waits(_) => return waits::pending(Leaf::MemoryStream),
            Attempt::NeedsWaker => waker = Some(cx.waker().clone()),
        }
    }
}
