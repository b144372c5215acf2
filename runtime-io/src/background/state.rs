//! What the polls and the jobs share: the state, and who waits for it to change.

use std::io::{self, IoSlice};
use std::task::{Context, Poll, Waker};

use runtime_core::driver::contain;
use runtime_core::primitive::{Mutex, MutexGuard};
use runtime_core::task::waits::{self, Leaf};

use super::queue::Queue;
use super::unread::Unread;
use crate::io::ReadBuf;

/// Which operation has the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    Read,
    Write,
    Seek,
    /// One that reports its result by itself.
    Other,
}

/// Why what was written is not where it should be.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) error: io::Error,
    /// The job was not run at all.
    pub(super) is_refusal: bool,
}

/// See the protocol in the module's documentation.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) turn: Option<Turn>,
    /// Jobs that use the device.
    pub(super) holds: usize,
    pub(super) unread: Unread,
    /// How the last read ended, if it brought no bytes, and nobody has asked yet.
    pub(super) read_end: Option<io::Result<()>>,
    /// How the last seek ended, if nobody has asked yet.
    pub(super) seek: Option<io::Result<u64>>,
    /// Where the last seek has led.
    pub(super) position: u64,
    /// A read, a write or a seek was begun, and no poll has found since that nothing is under way.
    pub(super) is_unasked: bool,
    pub(super) queue: Queue,
    /// The cost of what the job that writes has taken from the queue.
    pub(super) in_flight: usize,
    pub(super) failure: Option<Failure>,
    /// Something was written that may lie in the device's own buffer.
    pub(super) is_unflushed: bool,
    /// The job that writes shall flush the device's own buffer when the queue is empty.
    pub(super) flush_wanted: bool,
    waiters: Waiters,
}

/// The wakers of those that wait for a change. There is one, mostly.
#[derive(Debug, Default)]
pub(super) struct Waiters {
    first: Option<Waker>,
    others: Vec<Waker>,
}

impl Waiters {
    fn have(&self, waker: &Waker) -> bool {
        self.first.iter().chain(&self.others).any(|waiting| waiting.will_wake(waker))
    }

    fn add(&mut self, waker: Waker) {
        match &mut self.first {
            first @ None => *first = Some(waker),
            Some(_) => self.others.push(waker),
        }
    }

    /// To be called without the lock.
    pub(super) fn wake(self) {
        self.first.into_iter().chain(self.others).for_each(|waker| contain(|| waker.wake()));
    }
}

impl State {
    pub(super) fn take_turn(&mut self, turn: Turn) {
        debug_assert!(self.turn.is_none());
        self.turn = Some(turn);
        self.holds += 1;
    }

    pub(super) fn is_writing(&self) -> bool {
        self.turn == Some(Turn::Write)
    }

    /// What a read finds without the device.
    pub(super) fn take_read(&mut self, into: &mut ReadBuf<'_>, limit: usize) -> Option<io::Result<()>> {
        if self.unread.is_empty() {
            return self.read_end.take();
        }
        self.unread.move_to(into, limit);
        Some(Ok(()))
    }

    /// Whether a write of this number of bytes can be queued now. It can if nothing else is queued or being written.
    /// Else half of `max` is for what is queued while the other half is written, so that neither side waits for the
    /// other.
    pub(super) fn can_queue(&self, length: usize, max: usize) -> bool {
        match self.turn {
            None => true,
            Some(Turn::Write) => {
                let queued = self.queue.cost().saturating_add(Queue::cost_of(length));
                let all = queued.saturating_add(self.in_flight);
                self.queue.cost() + self.in_flight == 0 || (queued <= max / 2 && all <= max)
            }
            Some(_) => false,
        }
    }

    pub(super) fn enqueue(&mut self, bufs: &[IoSlice<'_>], length: usize) {
        self.queue.push(bufs, length);
        self.is_unflushed = true;
    }

    /// Before a write: what earlier operations had to say is of no interest any more.
    pub(super) fn forget_results(&mut self) {
        self.seek = None;
        self.read_end = None;
    }

    /// Somebody has waited until nothing was under way, and not for a result: it is of no interest any more. The end
    /// may move from now on. A true one, or an error, is met again.
    pub(super) fn forget_results_if_idle(&mut self) {
        if self.turn.is_none() {
            self.forget_results();
        }
    }

    pub(super) fn seek_is_done(&mut self, result: io::Result<u64>) {
        if let Ok(position) = result {
            self.position = position;
            self.read_end = None;
        }
        self.seek = Some(result);
    }

    pub(super) fn take_failure(&mut self) -> Option<io::Error> {
        Some(self.failure.take()?.error)
    }

    /// What is queued would go to the wrong place.
    pub(super) fn fail(&mut self, failure: Failure) {
        self.queue.clear();
        self.in_flight = 0;
        self.flush_wanted = false;
        self.failure = Some(failure);
    }

    pub(super) fn take_waiters(&mut self) -> Waiters {
        std::mem::take(&mut self.waiters)
    }
}

/// The state under its lock.
pub(super) struct Shared {
    state: Mutex<State>,
}

impl Shared {
    pub(super) fn new() -> Self {
        Self { state: Mutex::new(State::default()) }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Waits until `is_so`.
    pub(super) fn poll_until(
        &self,
        cx: &mut Context<'_>,
        mut is_so: impl FnMut(&mut State) -> bool,
    ) -> Poll<MutexGuard<'_, State>> {
        // Cloned without the lock, and so before it is known whether it is needed.
        let mut spare = None;
        loop {
            let mut state = self.lock();
            if is_so(&mut state) {
                if spare.is_none() {
                    state.is_unasked &= state.turn.is_some();
                    return Poll::Ready(state);
                }
                // Nor is it dropped under the lock.
                drop(state);
                spare = None;
            } else if state.waiters.have(cx.waker()) {
                drop(state);
                return waits::pending(Leaf::BlockingJob);
            } else if let Some(waker) = spare.take() {
                state.waiters.add(waker);
                drop(state);
                return waits::pending(Leaf::BlockingJob);
            } else {
                drop(state);
                spare = Some(cx.waker().clone());
            }
        }
    }

    /// The error of a write whose job was refused.
    pub(super) fn refusal(&self) -> Option<io::Error> {
        Some(self.lock().failure.take_if(|failure| failure.is_refusal)?.error)
    }
}
