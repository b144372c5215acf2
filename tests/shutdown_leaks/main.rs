//! Hundreds of runtimes, each with a bit of everything and ended in one way or another, leave nothing behind: no thread,
//! no descriptor, no byte, and no future that is polled afterwards.
//!
//! It counts what the whole process has, which is why this is a program of its own, and one test.
//!
//! Mutations that this is for: whatever keeps a runtime, a task or a thread after the end: a cycle; a queue that is
//! filled once more; a task that is counted wrongly among the orphans; a blocking thread that nobody tells to go.

#![cfg(target_os = "linux")]

mod count;
mod leftovers;
mod mix;
mod work;

use count::Counts;
use rt_test_util::*;

const ROUNDS: u64 = 200;

/// Less than one object of 24 bytes in each round.
const SLACK: isize = 24 * ROUNDS as isize;

#[test]
fn two_hundred_runtimes_of_all_kinds_leave_nothing_behind() {
    let _watchdog = watchdog();
    count::be_quiet_about_what_is_expected();
    let beside = mix::Beside::new();
    let batch = || (0..ROUNDS).for_each(|seed| mix::round(seed, &beside));
    let batch = || {
        batch();
        eventually(|| Counts::now().threads == 0);
        collect_garbage();
        Counts::now()
    };
    // The first for the caches that fill once and for all. Later, buffers still grow at some time or other; a leak shows
    // each time.
    let mut least = isize::MAX;
    let mut before = batch();
    for _ in 0..3 {
        let after = batch();
        assert_eq!(after.descriptors, before.descriptors, "descriptors");
        least = least.min(after.bytes - before.bytes);
        if least < SLACK {
            break;
        }
        before = after;
    }
    println!("{least} bytes more after {ROUNDS} runtimes");
    assert!(least < SLACK, "{least} bytes more after {ROUNDS} runtimes");
}

/// What the deques have retired waits for its collector, two kilobytes in a bag, until somebody comes by. With all threads
/// gone nothing stands in its way. (A bag or two are always on their way, those of the collector's own queue.)
fn collect_garbage() {
    for _ in 0..1000 {
        crossbeam_epoch::pin().flush();
    }
}
