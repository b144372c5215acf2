//! Tasks that go wrong, or to extremes: panics wherever user code runs, floods of wakes, futures of odd shapes. After
//! each of them the runtime works as before, and other tasks are unhurt.

#[cfg(unix)]
mod descriptors;
#[cfg(unix)]
mod faulty;
mod hooks;
#[cfg(unix)]
mod meddlers;
mod polls;
#[cfg(unix)]
mod reentry;
mod shapes;
mod storms;
#[cfg(unix)]
mod wakers;

use rt::runtime::Runtime;
use rt_test_util::*;

/// Runs a test on each kind of runtime that a fault may hit, with each kind of panic.
fn on_each(test: impl Fn(&Runtime, Blast)) {
    for blast in Blast::ALL {
        for runtime in [current(), multi(1), multi(2), multi(4)] {
            test(&runtime, blast);
            assert_unhurt(&runtime);
            drop(runtime);
        }
    }
}
