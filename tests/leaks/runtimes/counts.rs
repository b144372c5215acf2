//! What the process holds: threads, descriptors, bytes.

use std::fs;

use rt_test_util::{descriptor_count, message_of};

use crate::allocator::live_bytes;

/// The names of the threads of the runtimes under test. (The monitor's cannot be chosen.)
pub(crate) const THREADS: &str = "mixed";
const MONITOR: &str = "rt-monitor";

#[derive(Clone, Copy, Debug)]
pub(crate) struct Counts {
    /// Those of runtimes only.
    pub(crate) threads: usize,
    pub(crate) descriptors: usize,
    pub(crate) bytes: isize,
}

impl Counts {
    pub(crate) fn now() -> Self {
        let threads = fs::read_dir("/proc/self/task")
            .unwrap()
            .flatten()
            // One that ends at this moment has no name any more.
            .filter_map(|thread| fs::read_to_string(thread.path().join("comm")).ok())
            .filter(|name| name.starts_with(THREADS) || name.starts_with(MONITOR))
            .count();
        let descriptors = descriptor_count();
        Self { threads, descriptors, bytes: live_bytes() }
    }
}

/// Switches off the panic hook for the panics that are part of the test: there are hundreds.
pub(crate) fn silence_expected_panics() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let text = message_of(info.payload());
        let expected = ["has been shut down", "an rt runtime was dropped inside", "`block_on` was called inside"];
        if !expected.iter().any(|part| text.contains(part)) {
            before(info);
        }
    }));
}
