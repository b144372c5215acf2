//! A blocking device (a file, standard input or output) behind non-blocking reads, writes and seeks.
//!
//! Called by `fs::File` and by `io::stdio`. It knows neither files nor threads: a [`Device`] says what is done by a
//! blocking call, and where a [`Job`] is run. It never blocks the thread that polls, but for what the device says it
//! can do at once.
//!
//! # The protocol
//!
//! Everything that both sides see is in a `State`, under one lock. Nothing blocks under this lock, and no user code (a
//! waker's clone, call or drop) runs under it.
//!
//! **One turn at a time.** `turn` says which operation has the device, if any: a read, a batch of writes, a seek, or
//! something else that must be alone (`set_len`). A poll takes the turn under the lock, and then hands the job to the
//! device's threads. The job does its blocking calls without the lock, leaves its result in the state, and ends the
//! turn under the lock: this is what waiting polls wait for. A poll that finds the turn taken leaves a waker under the
//! same lock, so no wake can be missed.
//!
//! **Nothing belongs to the future that is waiting.** The result of an operation is in the state, until the next poll
//! that asks for it. So a future can be dropped at any time, and the bytes that were read for it are there for the next
//! read.
//!
//! **Reading.** `unread` has bytes that were read from the device and not yet asked for: by a read whose future was
//! dropped, or was then given a smaller buffer. Nothing is read that nobody has asked for, so that the position of the
//! device, which other descriptors may share, is where the reader thinks it is. What moves the position otherwise (a
//! write, a seek, `set_len`) first moves it back by the length of `unread`. A device without a position, such as a
//! terminal, keeps its unread bytes.
//!
//! **Writing.** What is written is copied to a queue, and the write is done. The job of the turn takes the whole queue,
//! writes it without the lock, one call of the system for each write, and looks again; when it finds the queue empty it
//! ends the turn. So of many small writes most cost no hop to another thread, and yet each is a call of its own, which
//! matters to devices, to files like those of `/proc`, and to appenders that share a log. While the turn is another
//! operation's, writes wait.
//!
//! If a call fails, everything that is queued behind is dropped, because it would go to the wrong place; the error
//! stays in `failure` until a write, a flush or a sync reports it.
//!
//! **Flushing** waits until the turn is no turn of writing, which implies that the queue is empty. Where the device has
//! a buffer of its own (standard output) it then asks the job, or a new one, to flush that, too.
//!
//! **Holds.** `holds` counts jobs that use the device, those of turns and others (`metadata`). Each drops its reference
//! to the device before it ends its hold. So when there are none, the device has one owner, who can take it out.
//!
//! **A job that is never run** (the runtime has shut down, or can start no thread) is dropped, and so ends its turn
//! with an error.

mod job;
mod queue;
mod state;
mod unread;

#[cfg(all(test, loom))]
mod loom_models;
#[cfg(all(test, not(loom)))]
mod tests;

use std::fmt;
use std::future::poll_fn;
use std::io::{self, IoSlice, SeekFrom};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use runtime_core::coop;

use crate::io::ReadBuf;

use self::job::Work;
pub(crate) use self::job::{Hold, Job, not_run};
use self::state::{Shared, State, Turn};

/// How many bytes one operation moves at most, unless somebody says otherwise.
pub(crate) const DEFAULT_MAX_BUF_SIZE: usize = 2 * 1024 * 1024;

/// What is read or written by blocking calls.
pub(crate) trait Device: Send + Sync + Sized + 'static {
    /// There is a buffer below that has to be flushed.
    const HAS_BUFFER: bool = false;

    /// Has the job run on a thread that may block.
    fn start(job: Job<Self>);

    /// Reads once.
    fn read(&self, into: &mut [u8]) -> io::Result<usize>;

    /// Writes all of it: by one call of the system, if that takes it all.
    fn write_all(&self, bytes: &[u8]) -> io::Result<()>;

    /// Flushes the buffer below.
    fn flush(&self) -> io::Result<()> {
        Ok(())
    }

    /// Moves the position.
    fn seek(&self, to: SeekFrom) -> io::Result<u64>;

    /// Reads up to `limit` bytes without blocking, if it can. What it fills if it returns [`AtOnce::Blocks`] has been
    /// read all the same.
    fn read_at_once(&self, _into: &mut ReadBuf<'_>, _limit: usize) -> AtOnce {
        AtOnce::Blocks
    }

    /// Whether it can seek without blocking.
    fn seeks_at_once(&self, _to: SeekFrom) -> bool {
        false
    }
}

/// How it went to read without blocking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AtOnce {
    /// The read is done. If nothing was filled this is the end.
    Done,
    /// To go on takes a call that may block.
    Blocks,
}

/// A device, and what goes on with it. The methods may be called from any number of threads.
pub(crate) struct Background<D> {
    device: Arc<D>,
    shared: Arc<Shared>,
}

// No code of a user's runs under the lock, and a job that panics ends its turn: what is shared is whole after a panic.
impl<D> UnwindSafe for Background<D> {}
impl<D> RefUnwindSafe for Background<D> {}

impl<D: Device> Background<D> {
    pub(crate) fn new(device: D) -> Self {
        Self { device: Arc::new(device), shared: Arc::new(Shared::new()) }
    }

    pub(crate) fn device(&self) -> &D {
        &self.device
    }

    /// A job for the operation, which has the turn.
    fn job(&self, state: &mut State, turn: Turn, work: Work) -> Job<D> {
        state.take_turn(turn);
        state.is_unasked = true;
        Job::new(self.device.clone(), self.shared.clone(), work)
    }

    /// Reads up to `max` bytes.
    pub(crate) fn poll_read(&self, cx: &mut Context<'_>, into: &mut ReadBuf<'_>, max: usize) -> Poll<io::Result<()>> {
        let coop = ready!(coop::poll_proceed(cx));
        if into.remaining() == 0 {
            coop.made_progress();
            return Poll::Ready(Ok(()));
        }
        loop {
            let mut state = ready!(self.shared.poll_until(cx, |state| state.turn.is_none()));
            let limit = into.remaining().min(max);
            if let Some(result) = state.take_read(into, limit) {
                coop.made_progress();
                return Poll::Ready(result);
            }
            let before = into.filled().len();
            // Under the lock, as it does not block: nobody else shall have the device meanwhile.
            if self.device.read_at_once(into, limit) == AtOnce::Done {
                coop.made_progress();
                return Poll::Ready(Ok(()));
            }
            // Should the future be dropped now, the bytes must not be.
            state.unread.append(&into.filled()[before..]);
            into.set_filled(before);
            let missing = limit - state.unread.len();
            let job = self.job(&mut state, Turn::Read, Work::Read { limit: missing });
            drop(state);
            D::start(job);
        }
    }

    /// Queues a write of up to `max` bytes. The queue, and what is being written, have about `max` bytes together.
    pub(crate) fn poll_write(&self, cx: &mut Context<'_>, bufs: &[IoSlice<'_>], max: usize) -> Poll<io::Result<usize>> {
        let coop = ready!(coop::poll_proceed(cx));
        let length = bufs.iter().fold(0, |sum: usize, buf| sum.saturating_add(buf.len())).min(max);
        let mut state =
            ready!(self.shared.poll_until(cx, |state| state.failure.is_some() || state.can_queue(length, max)));
        coop.made_progress();
        if let Some(error) = state.take_failure() {
            return Poll::Ready(Err(error));
        }
        if length == 0 {
            return Poll::Ready(Ok(0));
        }
        state.enqueue(bufs, length);
        if state.turn.is_some() {
            // The job that writes will find it.
            return Poll::Ready(Ok(length));
        }
        state.forget_results();
        let job = self.job(&mut state, Turn::Write, Work::Write);
        drop(state);
        D::start(job);
        Poll::Ready(self.shared.refusal().map_or(Ok(length), Err))
    }

    /// Waits until all that was written has reached the device, and the device's own buffer is flushed.
    pub(crate) fn poll_flush(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let coop = ready!(coop::poll_proceed(cx));
        loop {
            let mut state = ready!(self.shared.poll_until(cx, |state| {
                // The job that writes can do it, too.
                state.flush_wanted |= state.is_writing() && state.is_unflushed && D::HAS_BUFFER;
                state.failure.is_some() || !state.is_writing()
            }));
            if let Some(error) = state.take_failure() {
                coop.made_progress();
                return Poll::Ready(Err(error));
            }
            if !(state.is_unflushed && D::HAS_BUFFER) || state.turn.is_some() {
                state.forget_results_if_idle();
                coop.made_progress();
                return Poll::Ready(Ok(()));
            }
            state.flush_wanted = true;
            let job = self.job(&mut state, Turn::Write, Work::Write);
            drop(state);
            D::start(job);
        }
    }

    /// Begins to seek, unless something else is going on.
    pub(crate) fn start_seek(&self, to: SeekFrom) -> io::Result<()> {
        let mut state = self.shared.lock();
        // Whether what was begun is over already is chance. A caller that does not ask is told so each time.
        if state.turn.is_some() || state.is_unasked {
            return Err(io::Error::other("other file operation is pending, call poll_complete before start_seek"));
        }
        if self.device.seeks_at_once(to) {
            // Under the lock, as it does not block.
            let result = state.unread.seek(&*self.device, to);
            state.seek_is_done(result);
            state.is_unasked = true;
            return Ok(());
        }
        let job = self.job(&mut state, Turn::Seek, Work::Seek(to));
        drop(state);
        D::start(job);
        Ok(())
    }

    /// Waits for whatever goes on, and says where a seek has led, or the last one had.
    pub(crate) fn poll_complete(&self, cx: &mut Context<'_>) -> Poll<io::Result<u64>> {
        let coop = ready!(coop::poll_proceed(cx));
        let mut state = ready!(self.shared.poll_until(cx, |state| state.turn.is_none()));
        coop.made_progress();
        let result = state.seek.take().unwrap_or(Ok(state.position));
        state.forget_results_if_idle();
        Poll::Ready(result)
    }

    /// Waits until nothing goes on, and takes the turn.
    pub(crate) async fn turn(&self) -> Hold<D> {
        poll_fn(|cx| {
            let coop = ready!(coop::poll_proceed(cx));
            let mut state = ready!(self.shared.poll_until(cx, |state| state.turn.is_none()));
            coop.made_progress();
            state.forget_results_if_idle();
            state.take_turn(Turn::Other);
            Poll::Ready(Hold::of_turn(self.device.clone(), self.shared.clone()))
        })
        .await
    }

    /// Waits until nothing goes on, and reports the error of a write that nobody has heard of.
    pub(crate) async fn written(&self) -> io::Result<Hold<D>> {
        poll_fn(|cx| {
            let coop = ready!(coop::poll_proceed(cx));
            let mut state = ready!(self.shared.poll_until(cx, |state| state.turn.is_none()));
            coop.made_progress();
            if let Some(error) = state.take_failure() {
                return Poll::Ready(Err(error));
            }
            state.forget_results_if_idle();
            state.holds += 1;
            Poll::Ready(Ok(Hold::beside_turns(self.device.clone(), self.shared.clone())))
        })
        .await
    }

    /// The device, for a call beside whatever goes on.
    pub(crate) fn hold(&self) -> Hold<D> {
        self.shared.lock().holds += 1;
        Hold::beside_turns(self.device.clone(), self.shared.clone())
    }

    /// Waits until no job uses the device.
    pub(crate) async fn unused(&self) {
        poll_fn(|cx| {
            let coop = ready!(coop::poll_proceed(cx));
            drop(ready!(self.shared.poll_until(cx, |state| state.holds == 0)));
            coop.made_progress();
            Poll::Ready(())
        })
        .await;
    }

    /// The device, at the position where its reader is, unless a job uses it.
    pub(crate) fn try_into_device(self) -> Result<D, Self> {
        {
            let mut state = self.shared.lock();
            if state.holds > 0 {
                drop(state);
                return Err(self);
            }
            if !state.unread.is_empty() {
                // What has no position cannot be helped. For what has one this is a system call that does not wait.
                let _ = state.unread.seek_back(&*self.device);
            }
        }
        let Self { device, shared } = self;
        Arc::try_unwrap(device).map_err(|device| Self { device, shared })
    }
}

impl<D: fmt::Debug> fmt::Debug for Background<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.device.fmt(f)
    }
}
