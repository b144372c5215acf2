//! Waiting for the driver's next turn, which comes when the other tasks have had theirs. For
//! [`advance`](crate::advance()).
//!
//! A task that moves the clock wants the tasks whose timers it fired to run before it goes on. Yielding would let one
//! or all of them go first, depending on the scheduler. The driver is looked after when there is nothing else to run
//! (or after some dozens of polls, when there is no end of that), so its turn is the moment.
//!
//! This is for paused clocks only: a driver whose clock runs never looks here.

use std::collections::VecDeque;
use std::task::Waker;

use runtime_core::primitive::Mutex;

use crate::batch::WakeBatch;

/// See the module.
#[derive(Debug)]
pub(crate) struct NextTurn {
    waiting: Mutex<VecDeque<Waker>>,
}

impl NextTurn {
    pub(crate) fn new() -> Self {
        Self { waiting: Mutex::new(VecDeque::new()) }
    }

    /// Wakes the task when the driver has had its next turn.
    pub(crate) fn wait(&self, waker: Waker) {
        self.waiting.lock().push_back(waker);
    }

    pub(crate) fn is_awaited(&self) -> bool {
        !self.waiting.lock().is_empty()
    }

    /// The turn is over.
    pub(crate) fn end(&self, batch: &mut WakeBatch) {
        loop {
            let mut waiting = self.waiting.lock();
            while !batch.is_full()
                && let Some(waker) = waiting.pop_front()
            {
                batch.push(waker);
            }
            let more = !waiting.is_empty();
            drop(waiting);
            batch.wake_all();
            if !more {
                return;
            }
        }
    }
}
