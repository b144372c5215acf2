//! The office: foreign threads that wake.
//!
//! A future leaves a [`Letter`]: its waker, and the flag that it waits for. The office raises the flag and wakes, in
//! one of the ways in which a waker can be used, sometimes late, sometimes after the runtime has gone. A wake that is
//! lost leaves its task pending, and the round hangs.

// Nobody is forked here while a thread waits.
#![allow(clippy::disallowed_types)]

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Waker;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use crate::ledger::{Count, Ledger};
use crate::plan::{Rng, one_in};

struct Letter {
    flag: Arc<AtomicBool>,
    waker: Waker,
}

/// See the module.
pub(crate) struct Office {
    letters: Mutex<Letters>,
    arrived: Condvar,
}

#[derive(Default)]
struct Letters {
    waiting: VecDeque<Letter>,
    closed: bool,
}

/// The threads of an office. To be [`close`](Self::close)d when no future that uses it is left.
pub(crate) struct Clerks {
    office: Arc<Office>,
    threads: Vec<JoinHandle<()>>,
}

impl Office {
    pub(crate) fn open(rng: &mut Rng, ledger: &Arc<Ledger>) -> Clerks {
        let office = Arc::new(Self { letters: Mutex::default(), arrived: Condvar::new() });
        let threads = (0..rng.usize(1..=2))
            .map(|_| {
                let (office, ledger, rng) = (Arc::clone(&office), Arc::clone(ledger), rng.fork());
                thread::spawn(move || office.serve(rng, &ledger))
            })
            .collect();
        Clerks { office, threads }
    }

    /// Asks for the flag to be raised, and then for a wake.
    pub(crate) fn post(&self, flag: Arc<AtomicBool>, waker: Waker) {
        self.letters.lock().waiting.push_back(Letter { flag, waker });
        self.arrived.notify_one();
    }

    fn serve(&self, mut rng: Rng, ledger: &Ledger) {
        // Wakers that have been used, and are kept to be used once more.
        let mut attic = Vec::new();
        loop {
            let mut letters = self.letters.lock();
            while letters.waiting.is_empty() && !letters.closed {
                self.arrived.wait(&mut letters);
            }
            // Not always the first.
            let chosen = if one_in(&mut rng, 4) { letters.waiting.len().saturating_sub(1) } else { 0 };
            let Some(letter) = letters.waiting.remove(chosen) else { break };
            drop(letters);
            deliver(letter, &mut rng, &mut attic);
            ledger.count(Count::ForeignWakes);
        }
        attic.into_iter().for_each(Waker::wake);
    }
}

fn deliver(letter: Letter, rng: &mut Rng, attic: &mut Vec<Waker>) {
    let Letter { flag, waker } = letter;
    match rng.u32(..8) {
        0 => thread::yield_now(),
        1 => thread::sleep(Duration::from_micros(rng.u64(..500))),
        // For nothing, and before the time.
        2 => waker.wake_by_ref(),
        _ => {}
    }
    flag.store(true, Ordering::Release);
    match rng.u32(..5) {
        0 => waker.wake(),
        1 => waker.wake_by_ref(),
        2 => {
            let copy = waker.clone();
            drop(waker);
            copy.wake();
        }
        3 => {
            waker.wake_by_ref();
            waker.wake();
        }
        _ => {
            waker.wake_by_ref();
            attic.push(waker);
        }
    }
}

impl Clerks {
    pub(crate) fn office(&self) -> &Arc<Office> {
        &self.office
    }

    /// Ends the threads. Letters that are left are delivered.
    pub(crate) fn close(self) {
        self.office.letters.lock().closed = true;
        self.office.arrived.notify_all();
        for thread in self.threads {
            thread.join().expect("the office does not panic");
        }
    }
}
