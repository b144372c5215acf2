//! Hundreds of runtimes, each with a bit of everything and ended in one way or another, leave nothing behind: no
//! thread, no descriptor, no byte, and no future that is polled afterwards.
//!
//! Mutations that this is for: whatever keeps a runtime, a task or a thread after the end: a cycle; a queue that is
//! filled once more; a task that is counted wrongly among the orphans; a blocking thread that is never told to end.

mod counts;
mod leftovers;
mod mix;
mod work;

use counts::Counts;
use rt_test_util::*;

const ROUNDS: u64 = 200;

/// Less than one object of 24 bytes in each round.
const SLACK: isize = 24 * ROUNDS as isize;

#[test]
fn two_hundred_runtimes_of_all_kinds_leave_nothing_behind() {
    in_own_process(|| {
        counts::silence_expected_panics();
        let beside = mix::Beside::new();
        let batch = || (0..ROUNDS).for_each(|seed| mix::round(seed, &beside));
        let batch = || {
            batch();
            eventually(|| Counts::now().threads == 0);
            collect_garbage();
            Counts::now()
        };
        // The first batch fills the caches. Later a buffer still grows in one batch or another; a leak shows in each.
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
    });
}

/// Has crossbeam-epoch free the buffers that the deques have retired. They wait in bags, two kilobytes each, until a
/// thread advances the collector; with all threads gone nothing holds it up. (A bag or two always remain: those of the
/// collector's own queue.)
fn collect_garbage() {
    for _ in 0..1000 {
        crossbeam_epoch::pin().flush();
    }
}
