//! Spare workers: threads that work in the place of workers which are blocked.
//!
//! A worker that is stuck in a poll keeps its core: nobody can take that from a thread that may go on at any moment. So
//! a spare worker brings a core of its own, with its own queues, and is a worker like any other: it steals, it waits in
//! the drivers, it is woken, it can get stuck and have a spare of its own. When the stuck one returns there is one too
//! many, and a spare retires: one that has run out of work, or the next to come to its maintenance, which leaves its
//! tasks in the injector.
//!
//! Spares are started by the monitor (`rescue/`), and by a worker that blocks in place (`block_in_place`). How many
//! there are to be is in `spare_count.rs`.
//!
//! # Slots and threads
//!
//! The slot of a spare worker (what others see of it) is made when it is needed for the first time, and stays until the
//! runtime ends: others may look at it at any time, and tasks are in its arena. Its core is vacant while it is not
//! needed. The threads come and go: one whose spare has retired waits for `keep_alive` for another core, then ends.
//! Nothing is started under a lock. An operating system that refuses a thread is asked again when the monitor next
//! finds that one is needed.

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use crossbeam_utils::CachePadded;

use super::spare_count::SpareCount;
use super::{Core, Slot};
use crate::clock::Clock;
use crate::primitive::OnceLock;
use crate::primitive::waiting::{Condvar, Mutex};
use crate::runtime::Thread;

/// The slots of spare workers, their number, and their threads.
pub(super) struct Spares {
    slots: Box<[OnceLock<Box<CachePadded<Slot>>>]>,
    pub(super) count: SpareCount,
    /// Those that were started, and whose threads have not begun yet.
    starting: AtomicUsize,
    threads: Mutex<Threads>,
    /// There is a core for a waiting thread, or the runtime closes.
    work: Condvar,
    keep_alive: Duration,
}

#[derive(Default)]
struct Threads {
    /// Cores for threads that wait.
    #[expect(clippy::vec_box, reason = "a core stays in one place while it changes hands")]
    offers: Vec<Box<Core>>,
    /// Threads that wait, and that no core was offered to.
    waiting: usize,
    /// Threads, waiting or not.
    alive: usize,
    started: u64,
    closed: bool,
    /// Of the living, and of some that have ended.
    handles: Vec<Thread>,
}

impl Spares {
    pub(super) fn new(limit: usize, keep_alive: Duration) -> Self {
        Self {
            slots: (0..limit).map(|_| OnceLock::new()).collect(),
            count: SpareCount::new(),
            starting: AtomicUsize::new(0),
            threads: Mutex::default(),
            work: Condvar::new(),
            keep_alive,
        }
    }

    /// The most that run at once.
    pub(super) fn limit(&self) -> usize {
        self.slots.len()
    }

    /// What others see of one, if it was ever needed.
    #[inline]
    pub(super) fn slot(&self, number: usize) -> Option<&Slot> {
        self.slots.get(number)?.get().map(|slot| &***slot)
    }

    /// All that were ever needed.
    pub(super) fn slots(&self) -> impl Iterator<Item = &Slot> {
        self.slots.iter().map_while(|slot| slot.get()).map(|slot| &***slot)
    }

    /// Adds the slot of the next one. The caller sees to it that no two do so at once.
    pub(super) fn add_slot(&self, number: usize, slot: Slot) {
        let mut slot = Some(slot);
        self.slots[number].get_or_init(|| Box::new(CachePadded::new(slot.take().expect("called once"))));
        assert!(slot.is_none(), "a spare worker's slot is made once");
    }

    /// Threads, at work or waiting for it.
    pub(super) fn num_threads(&self) -> usize {
        self.threads.lock().alive
    }

    /// One was started, or will not be.
    pub(super) fn set_starting(&self, is_starting: bool) {
        if is_starting {
            self.starting.fetch_add(1, SeqCst);
        } else {
            self.starting.fetch_sub(1, SeqCst);
        }
    }

    /// How many were started and are not there yet.
    pub(super) fn starting(&self) -> usize {
        self.starting.load(SeqCst)
    }

    /// Gives the core to a thread that waits. Else the caller has to start one, with this number.
    pub(super) fn offer(&self, core: Box<Core>) -> Result<(), (Box<Core>, u64)> {
        let mut threads = self.threads.lock();
        if threads.waiting == 0 {
            threads.started += 1;
            threads.alive += 1;
            return Err((core, threads.started));
        }
        threads.waiting -= 1;
        threads.offers.push(core);
        // It would wake up only to wait for the lock.
        drop(threads);
        self.work.notify_one();
        Ok(())
    }

    /// A thread was started, or could not be.
    pub(super) fn thread_started(&self, thread: Option<Thread>) {
        let mut threads = self.threads.lock();
        // Threads that have ended meanwhile are let go of here, so that the list stays as long as there are threads.
        threads.handles.retain(|thread| !thread.is_finished());
        match thread {
            Some(thread) => threads.handles.push(thread),
            None => threads.alive -= 1,
        }
    }

    /// A thread without a core waits for one. `None` when it shall end.
    pub(super) fn wait_for_core(&self) -> Option<Box<Core>> {
        let mut threads = self.threads.lock();
        threads.waiting += 1;
        let deadline = Clock::real().checked_add(self.keep_alive);
        loop {
            // The thread that offered it has taken one off `waiting`, no matter which of those that wait gets it.
            if let Some(core) = threads.offers.pop() {
                return Some(core);
            }
            let timed_out = threads.closed
                || match deadline {
                    Some(deadline) => self.work.wait_until(&mut threads, deadline).timed_out(),
                    None => {
                        self.work.wait(&mut threads);
                        false
                    }
                };
            if timed_out && threads.offers.is_empty() {
                threads.waiting -= 1;
                threads.alive -= 1;
                return None;
            }
        }
    }

    /// No thread waits for a core any more.
    pub(super) fn close(&self) {
        self.threads.lock().closed = true;
        self.work.notify_all();
    }

    /// The threads, to be joined after the monitor and the workers have ended, which may start some until then.
    pub(super) fn take_threads(&self) -> Vec<Thread> {
        std::mem::take(&mut self.threads.lock().handles)
    }
}
