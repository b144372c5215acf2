//! The side of the threads that may block: a [`Job`] is what they are given.

use std::error::Error;
use std::fmt;
use std::io::{self, SeekFrom};
use std::sync::Arc;

use runtime_core::runtime::ShutDown;

use super::Device;
use super::queue::Queue;
use super::state::{Failure, Shared, State};

/// The error of an operation that the blocking pool did not run. Its source says why not.
#[derive(Debug)]
struct NotRun(Box<dyn Error + Send + Sync>);

impl fmt::Display for NotRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("background task failed")
    }
}

impl Error for NotRun {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.0)
    }
}

/// Why an operation has failed that nobody tried. Called where its runtime is the current one, or that is no more.
pub(crate) fn not_run() -> io::Error {
    let why = if runtime_core::context::takes_blocking_jobs() {
        "the blocking pool of the runtime could not start a thread".into()
    } else {
        ShutDown::new("the runtime was shut down before its blocking pool could run the operation").into()
    };
    io::Error::other(NotRun(why))
}

/// Makes a call until it is not interrupted by a signal.
pub(super) fn uninterrupted<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// The use of a device. Its end, by a drop, is seen by everybody who waits; if it is a turn, so is the turn's.
pub(crate) struct Hold<D> {
    /// Empty at the end.
    device: Option<Arc<D>>,
    shared: Arc<Shared>,
    is_turn: bool,
}

impl<D> Hold<D> {
    pub(super) fn of_turn(device: Arc<D>, shared: Arc<Shared>) -> Self {
        Self { device: Some(device), shared, is_turn: true }
    }

    pub(super) fn beside_turns(device: Arc<D>, shared: Arc<Shared>) -> Self {
        Self { device: Some(device), shared, is_turn: false }
    }

    pub(crate) fn device(&self) -> &D {
        self.device.as_ref().expect("it is there until the drop")
    }

    /// As [`drop`], with a last change of the state.
    fn end(&mut self, change: impl FnOnce(&mut State)) {
        // A task that sees that there is no hold any more may want to own the device.
        self.device = None;
        let mut state = self.shared.lock();
        change(&mut state);
        state.holds -= 1;
        if self.is_turn {
            state.turn = None;
        }
        let waiters = state.take_waiters();
        drop(state);
        waiters.wake();
    }
}

impl<D: Device> Hold<D> {
    /// Has the device where its reader is, if it has a position. (For the holder of the turn.)
    pub(crate) fn seek_back(&self) -> io::Result<()> {
        let mut unread = std::mem::take(&mut self.shared.lock().unread);
        let result = match unread.seek_back(self.device()) {
            Err(error) if error.kind() == io::ErrorKind::NotSeekable => Ok(()),
            result => result,
        };
        self.shared.lock().unread = unread;
        result
    }
}

impl<D> Drop for Hold<D> {
    fn drop(&mut self) {
        if self.device.is_some() {
            self.end(|_| ());
        }
    }
}

impl<D> fmt::Debug for Hold<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hold").field("is_turn", &self.is_turn).finish_non_exhaustive()
    }
}

/// What is to be done in a turn.
#[derive(Clone, Copy, Debug)]
pub(super) enum Work {
    /// Read behind what is unread.
    Read {
        limit: usize,
    },
    /// Write what is queued until nothing is, and flush if that is wanted.
    Write,
    Seek(SeekFrom),
}

/// An operation that has the turn. It is for a thread that may block; dropped instead, it fails.
#[must_use = "a job that is dropped fails"]
#[derive(Debug)]
pub(crate) struct Job<D> {
    hold: Hold<D>,
    /// `None` when it is done.
    work: Option<Work>,
}

impl<D: Device> Job<D> {
    pub(super) fn new(device: Arc<D>, shared: Arc<Shared>, work: Work) -> Self {
        Self { hold: Hold::of_turn(device, shared), work: Some(work) }
    }

    /// What it is done with.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn device(&self) -> &D {
        self.hold.device()
    }

    /// Whether it has to be run even if the runtime shuts down first: the writer was told that this will be done.
    pub(crate) fn is_mandatory(&self) -> bool {
        matches!(self.work, Some(Work::Write))
    }

    /// Does the operation. May block.
    pub(crate) fn run(mut self) {
        match self.work {
            Some(Work::Read { limit }) => self.read(limit),
            Some(Work::Write) => self.write(),
            Some(Work::Seek(to)) => self.seek(to),
            None => unreachable!("a job is run once"),
        }
    }

    fn read(&mut self, limit: usize) {
        let mut unread = std::mem::take(&mut self.hold.shared.lock().unread);
        let result = unread.read_from(self.hold.device(), limit);
        self.end(|state| {
            state.seek = None;
            state.read_end = match result {
                // The next read gets the bytes; that this was all is told to the read after that.
                Ok(_) if !unread.is_empty() => None,
                result => Some(result.map(drop)),
            };
            state.unread = unread;
        });
    }

    fn seek(&mut self, to: SeekFrom) {
        let mut unread = std::mem::take(&mut self.hold.shared.lock().unread);
        let result = unread.seek(self.hold.device(), to);
        self.end(|state| {
            state.unread = unread;
            state.seek_is_done(result);
        });
    }

    fn write(&mut self) {
        let mut batch = Queue::default();
        let result = self.hold.seek_back().and_then(|()| self.write_all_queued(&mut batch));
        if let Err(error) = result {
            self.end(|state| state.fail(Failure { error, is_refusal: false }));
        }
    }

    /// Ends the turn, unless a call fails.
    fn write_all_queued(&mut self, batch: &mut Queue) -> io::Result<()> {
        loop {
            let mut state = self.hold.shared.lock();
            batch.clear();
            state.in_flight = 0;
            if !state.queue.is_empty() {
                std::mem::swap(&mut state.queue, batch);
                state.in_flight = batch.cost();
                // There is room in the queue now.
                let waiters = state.take_waiters();
                drop(state);
                waiters.wake();
                for bytes in batch.writes() {
                    self.hold.device().write_all(bytes)?;
                }
            } else if state.flush_wanted {
                state.flush_wanted = false;
                state.is_unflushed = false;
                drop(state);
                uninterrupted(|| self.hold.device().flush())?;
            } else {
                // Under the same lock, or what is queued next would be left to a job that has ended. Those who wait are
                // woken by the drop of the hold.
                state.turn = None;
                state.queue.keep_larger(std::mem::take(batch));
                self.hold.is_turn = false;
                self.work = None;
                return Ok(());
            }
        }
    }

    fn end(&mut self, change: impl FnOnce(&mut State)) {
        self.work = None;
        self.hold.end(change);
    }
}

impl<D> Drop for Job<D> {
    fn drop(&mut self) {
        let Some(work) = self.work else { return };
        let error = not_run();
        self.hold.end(|state| match work {
            Work::Read { .. } => state.read_end = Some(Err(error)),
            Work::Write => state.fail(Failure { error, is_refusal: true }),
            Work::Seek(_) => state.seek = Some(Err(error)),
        });
    }
}
