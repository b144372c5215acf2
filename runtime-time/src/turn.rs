//! Waiting for the driver's next turn, which comes when the other tasks have had theirs. For
//! [`advance`](crate::advance()).
//!
//! A task that moves the clock wants the tasks whose timers it fired to run before it goes on. Yielding would let one
//! or all of them go first, depending on the scheduler. The scheduler waits in the driver when there is nothing else to
//! run, so that is the moment. If there is no end of tasks to run, the driver is only looked after in passing; some
//! hundreds of such looks are enough.
//!
//! This is for paused clocks only: a driver whose clock runs never looks here.

use std::collections::VecDeque;
use std::task::Waker;

use runtime_core::driver::WakeSink;
use runtime_core::primitive::Mutex;
use runtime_core::primitive::atomic::AtomicU32;
use runtime_core::primitive::atomic::Ordering::Relaxed;

use crate::batch::WakeBatch;

/// The tasks that wait for the driver's next turn.
#[derive(Debug)]
pub(crate) struct NextTurn {
    waiting: Mutex<VecDeque<Waker>>,
    /// How often the driver was looked after in passing since somebody waits.
    looks: AtomicU32,
}

/// The number of looks in passing that are a turn.
const LOOKS_PER_TURN: u32 = 256;

impl NextTurn {
    pub(crate) fn new() -> Self {
        Self { waiting: Mutex::new(VecDeque::new()), looks: AtomicU32::new(0) }
    }

    /// Wakes the task when the driver has had its next turn.
    pub(crate) fn wait(&self, waker: Waker) {
        self.waiting.lock().push_back(waker);
    }

    pub(crate) fn is_awaited(&self) -> bool {
        !self.waiting.lock().is_empty()
    }

    /// The driver was looked after in passing.
    pub(crate) fn look(&self, batch: &mut WakeBatch, woken: &mut dyn WakeSink) {
        if !self.is_awaited() {
            return;
        }
        // Relaxed, and in two steps: the driver is with one thread at a time, and to begin anew in between is as good.
        let looks = self.looks.load(Relaxed) + 1;
        self.looks.store(looks, Relaxed);
        if looks >= LOOKS_PER_TURN {
            self.end(batch, woken);
        }
    }

    /// The turn is over.
    pub(crate) fn end(&self, batch: &mut WakeBatch, woken: &mut dyn WakeSink) {
        self.looks.store(0, Relaxed);
        loop {
            let mut waiting = self.waiting.lock();
            while !batch.is_full()
                && let Some(waker) = waiting.pop_front()
            {
                batch.push(waker);
            }
            let more = !waiting.is_empty();
            drop(waiting);
            batch.give_to(woken);
            if !more {
                return;
            }
        }
    }
}
