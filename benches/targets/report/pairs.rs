//! What two threads cost each other on this machine: what is under every row in which threads work together.
//!
//! Both figures depend on where the system puts the two. In a virtual machine a thread that sleeps on another processor
//! may take thirty times as long to be up as one on the same, and a line of the cache several times as long to a
//! processor of its own as to the other half of one. The figures of a row then tell of that, too.

use std::hint::spin_loop;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// In a sample.
const PAIRS: usize = 15;
const WAKES: u32 = 500;
const EXCHANGES: u32 = 1000;
/// Two threads may begin on one processor, and it takes some milliseconds until the system moves one.
const BATCHES: u32 = 20;
/// Who has looked so often in vain may have the processor that the other needs.
const PATIENCE: u32 = 2000;

/// Samples of that, taken at several times.
#[derive(Default)]
pub(crate) struct Pairs {
    wakes: Vec<Duration>,
    exchanges: Vec<Duration>,
}

impl Pairs {
    pub(crate) fn sample(&mut self) {
        self.wakes.extend((0..PAIRS).map(|_| one_pair(1, WAKES, thread::park, Thread::unpark) / 2));
        self.exchanges.extend((0..PAIRS).map(|_| one_pair(BATCHES, EXCHANGES, spin_loop, |_| ())));
    }

    /// The smallest, the median, and the largest time that it took to wake a thread.
    pub(crate) fn wakes(&self) -> [Duration; 3] {
        summary(self.wakes.clone())
    }

    /// The same of a line of the cache, there and back.
    pub(crate) fn exchanges(&self) -> [Duration; 3] {
        summary(self.exchanges.clone())
    }
}

fn summary(mut times: Vec<Duration>) -> [Duration; 3] {
    times.sort_unstable();
    [times[0], times[times.len() / 2], times[times.len() - 1]]
}

/// Two threads that do nothing but take turns: the average of there and back, in the fastest of several batches.
fn one_pair(batches: u32, rounds: u32, wait: fn(), wake: fn(&Thread)) -> Duration {
    let turn = Arc::new(AtomicU32::new(0));
    let (here, other_turn) = (thread::current(), turn.clone());
    let other = thread::spawn(move || play(&other_turn, 0..batches * rounds, 1, wait, || wake(&here)));
    let times = (0..batches).map(|batch| {
        let started = Instant::now();
        play(&turn, batch * rounds..(batch + 1) * rounds, 0, wait, || wake(other.thread()));
        started.elapsed() / rounds
    });
    let fastest = times.min().expect("a batch");
    other.join().expect("it only counts");
    fastest
}

/// Waits for each of its turns, and gives the other the next.
fn play(turn: &AtomicU32, rounds: Range<u32>, first: u32, wait: fn(), wake: impl Fn()) {
    for mine in rounds.map(|round| 2 * round + first) {
        let mut looks = 0;
        while turn.load(Acquire) != mine {
            wait();
            looks += 1;
            if looks % PATIENCE == 0 {
                thread::yield_now();
            }
        }
        turn.store(mine + 1, Release);
        wake();
    }
}
