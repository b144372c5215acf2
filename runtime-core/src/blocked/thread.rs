//! What the operating system tells of a thread of ours: whether it sleeps, and how much processor time it has had.
//!
//! On Linux, from `/proc`; elsewhere nothing, and who asks must do without. Reading costs a few system calls, so it is
//! done for threads that are suspected to be stuck only.

use std::num::NonZeroU32;
use std::time::Duration;

/// The operating system's number of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ThreadId(NonZeroU32);

/// A thread at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reading {
    /// It waits for something in the kernel. Otherwise it runs, or would if it had a processor.
    pub(crate) is_asleep: bool,
    /// How long it has run, and how long it has waited for a processor, if the kernel keeps account of it.
    pub(crate) times: Option<Times>,
}

/// See [`Reading`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Times {
    pub(crate) ran: Duration,
    pub(crate) waited: Duration,
}

impl ThreadId {
    /// The calling thread, if the system tells.
    pub(crate) fn current() -> Option<Self> {
        imp::current().and_then(Self::new)
    }

    pub(crate) fn new(id: u32) -> Option<Self> {
        NonZeroU32::new(id).map(Self)
    }

    pub(crate) fn get(self) -> u32 {
        self.0.get()
    }

    /// `None` also if the thread has ended.
    pub(crate) fn read(self) -> Option<Reading> {
        imp::read(self.get())
    }
}

#[cfg(all(target_os = "linux", not(loom)))]
mod imp {
    use std::fs;
    use std::time::Duration;

    use super::{Reading, Times};

    pub(super) fn current() -> Option<u32> {
        // A link to "PID/task/TID".
        let link = fs::read_link("/proc/thread-self").ok()?;
        link.file_name()?.to_str()?.parse().ok()
    }

    pub(super) fn read(id: u32) -> Option<Reading> {
        Some(Reading { is_asleep: is_asleep(id)?, times: times(id) })
    }

    fn is_asleep(id: u32) -> Option<bool> {
        // "TID (name) S ...": see proc_pid_stat(5). The name may contain parentheses.
        let stat = fs::read_to_string(format!("/proc/self/task/{id}/stat")).ok()?;
        let state = stat.rsplit_once(") ")?.1.chars().next()?;
        Some(state != 'R')
    }

    fn times(id: u32) -> Option<Times> {
        times_in(&fs::read_to_string(format!("/proc/self/task/{id}/schedstat")).ok()?)
    }

    /// Kernels without scheduler statistics have no such file, or nothing but zeroes in it.
    pub(super) fn times_in(text: &str) -> Option<Times> {
        // Nanoseconds on a processor, nanoseconds waiting for one, and the number of time slices.
        let mut numbers = text.split_whitespace().map(|number| number.parse().map(Duration::from_nanos));
        let times = Times { ran: numbers.next()?.ok()?, waited: numbers.next()?.ok()? };
        // A thread that has begun has had a slice.
        let has_account = text.split_whitespace().nth(2)? != "0";
        has_account.then_some(times)
    }
}

#[cfg(not(all(target_os = "linux", not(loom))))]
mod imp {
    use super::Reading;

    pub(super) fn current() -> Option<u32> {
        None
    }

    pub(super) fn read(_: u32) -> Option<Reading> {
        None
    }
}

#[cfg(all(test, target_os = "linux", not(loom)))]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use super::*;

    #[test]
    fn where_the_kernel_keeps_no_account_nothing_is_known_of_a_threads_times() {
        let ns = Duration::from_nanos;
        assert_eq!(super::imp::times_in("120 45 3\n"), Some(Times { ran: ns(120), waited: ns(45) }));
        assert_eq!(super::imp::times_in("0 45 1\n"), Some(Times { ran: ns(0), waited: ns(45) }), "its first slice");
        assert_eq!(super::imp::times_in("0 0 0\n"), None);
        assert_eq!(super::imp::times_in("120\n"), None);
    }

    #[test]
    fn a_thread_that_waits_is_seen_asleep_and_one_that_computes_is_not() {
        let own = ThreadId::current().unwrap();
        assert!(!own.read().unwrap().is_asleep);
        let (send_id, id) = mpsc::channel();
        let (end, ended) = mpsc::channel::<()>();
        let waiting = thread::spawn(move || {
            send_id.send(ThreadId::current().unwrap()).unwrap();
            let _ = ended.recv();
        });
        let other = id.recv().unwrap();
        while !other.read().unwrap().is_asleep {
            thread::yield_now();
        }
        drop(end);
        waiting.join().unwrap();
        while other.read().is_some() {
            thread::yield_now();
        }
    }
}
