//! What it takes the operating system to wake a thread: what is under every row in which threads fall asleep.
//!
//! It depends on where the system puts the two. In a virtual machine one that sleeps on another processor may take thirty times
//! as long to be up as one on the same, and the figures of a row then tell of that, too.

use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

const PAIRS: usize = 41;
const EXCHANGES: u32 = 500;

/// The smallest, the median, and the largest of a number of pairs of threads.
pub(crate) fn to_wake_a_thread() -> [Duration; 3] {
    let mut pairs: Vec<_> = (0..PAIRS).map(|_| one_pair()).collect();
    pairs.sort_unstable();
    [pairs[0], pairs[PAIRS / 2], pairs[PAIRS - 1]]
}

/// Two threads that do nothing but wake each other in turn: the average of a wake.
fn one_pair() -> Duration {
    let turn = Arc::new(AtomicU32::new(0));
    let (here, other_turn) = (thread::current(), turn.clone());
    let other = thread::spawn(move || play(&other_turn, 1, &here));
    let started = Instant::now();
    play(&turn, 0, other.thread());
    let took = started.elapsed();
    other.join().expect("it only counts");
    took / (2 * EXCHANGES)
}

/// Waits for each of its turns, and gives the other the next.
fn play(turn: &AtomicU32, first: u32, other: &Thread) {
    for mine in (0..EXCHANGES).map(|round| 2 * round + first) {
        while turn.load(Acquire) != mine {
            thread::park();
        }
        turn.store(mine + 1, Release);
        other.unpark();
    }
}
