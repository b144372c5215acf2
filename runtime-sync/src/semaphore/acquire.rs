//! The future that waits for permits of a [`Batch`].

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use runtime_core::coop;
use runtime_core::task::waits::{self, Leaf};
use runtime_core::task::{ChannelKind, LockKind};

use super::batch::{Batch, GRANTED, Wish};
use super::error::{AcquireError, TryAcquireError};
use crate::waiters::{LISTED, Waiter};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Not polled yet.
    New,
    /// In the list of waiters, or told something.
    Waiting,
    /// Has the permits, and has not said so for want of budget.
    Granted,
    /// Was refused, and has not said so for want of budget.
    Refused,
    /// Has said what came of it. The permits, if any, are the caller's.
    Done,
}

/// What the permits are, for those who look at a task that waits. (A byte, which finds room beside the stage.)
#[derive(Clone, Copy, Debug)]
pub(crate) enum Permits {
    OfSemaphore,
    OfMutex,
    ToRead,
    ToWrite,
    /// Room in a channel, or its end.
    OfChannel,
}

impl Permits {
    #[inline]
    fn leaf(self, semaphore: &Batch) -> Leaf {
        match self {
            Self::OfSemaphore => Leaf::Lock(LockKind::Semaphore, 0),
            Self::OfMutex => Leaf::Lock(LockKind::Mutex, semaphore.address()),
            Self::ToRead => Leaf::Lock(LockKind::RwLockRead, semaphore.address()),
            Self::ToWrite => Leaf::Lock(LockKind::RwLockWrite, semaphore.address()),
            Self::OfChannel => Leaf::Channel(ChannelKind::MpscSender),
        }
    }
}

/// Waits for permits. Dropped before it is ready, it gives back what it has, and loses its place in the line.
///
/// It takes its place in the line before it asks for budget. So a task that has used up its budget does not lose its
/// turn.
#[must_use = "futures do nothing unless polled"]
pub(crate) struct Acquire<'a> {
    semaphore: &'a Batch,
    permits: usize,
    stage: Stage,
    what: Permits,
    waiter: Waiter<Wish>,
}

impl Batch {
    /// Waits for `permits` permits, which the caller has when the future is ready.
    ///
    /// # Panics
    ///
    /// If they are more than [`MAX_PERMITS`](Self::MAX_PERMITS).
    #[track_caller]
    pub(crate) fn acquire(&self, permits: usize) -> Acquire<'_> {
        self.acquire_as(permits, Permits::OfSemaphore)
    }

    /// As [`acquire`](Self::acquire), for permits that are something else.
    #[track_caller]
    pub(crate) fn acquire_as(&self, permits: usize, what: Permits) -> Acquire<'_> {
        assert!(permits <= Self::MAX_PERMITS, "a semaphore cannot have more than {} permits", Self::MAX_PERMITS);
        Acquire { semaphore: self, permits, stage: Stage::New, what, waiter: Waiter::new() }
    }
}

impl Acquire<'_> {
    #[inline]
    fn poll_stage(&mut self, cx: &Context<'_>) -> Stage {
        match self.stage {
            Stage::New => match self.semaphore.try_acquire(self.permits) {
                Ok(()) => Stage::Granted,
                Err(TryAcquireError::Closed) => Stage::Refused,
                Err(TryAcquireError::NoPermits) => {
                    // SAFETY: the future is pinned, and cancels when it is dropped.
                    let told = unsafe { self.semaphore.acquire_or_wait(self.permits, &self.waiter, cx.waker()) };
                    Self::stage(told)
                }
            },
            Stage::Waiting => {
                // SAFETY: in this stage it has been put in this list.
                let told = unsafe { self.semaphore.refresh(&self.waiter, cx.waker()) };
                if told == GRANTED && !self.semaphore.is_closed() || told == LISTED {
                    return Self::stage(told);
                }
                self.stage = Stage::Refused;
                // SAFETY: as above. This gives back what it has.
                unsafe { self.semaphore.cancel(&self.waiter, self.permits) };
                Stage::Refused
            }
            stage => stage,
        }
    }

    fn stage(told: u8) -> Stage {
        match told {
            LISTED => Stage::Waiting,
            GRANTED => Stage::Granted,
            _ => Stage::Refused,
        }
    }
}

impl Future for Acquire<'_> {
    type Output = Result<(), AcquireError>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: the waiter, which is the part that must stay, is not moved.
        let this = unsafe { self.get_unchecked_mut() };
        this.stage = this.poll_stage(cx);
        let result = match this.stage {
            Stage::New | Stage::Waiting => {
                return waits::pending_with(this.what.leaf(this.semaphore), cx.waker());
            }
            Stage::Granted => Ok(()),
            Stage::Refused => Err(AcquireError(())),
            Stage::Done => panic!("a future was polled after it was ready"),
        };
        ready!(coop::poll_proceed(cx)).made_progress();
        this.stage = Stage::Done;
        Poll::Ready(result)
    }
}

impl Drop for Acquire<'_> {
    #[inline]
    fn drop(&mut self) {
        match self.stage {
            Stage::New | Stage::Refused | Stage::Done => {}
            Stage::Waiting => {
                waits::withdraw(self.what.leaf(self.semaphore));
                // SAFETY: in this stage it has been put in this list.
                unsafe { self.semaphore.cancel(&self.waiter, self.permits) };
            }
            Stage::Granted => self.semaphore.release(self.permits),
        }
    }
}

impl fmt::Debug for Acquire<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Acquire").field("permits", &self.permits).field("stage", &self.stage).finish_non_exhaustive()
    }
}
