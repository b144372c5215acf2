//! What the operating system knows of this process: how many files it may open, and what it has used.

use std::time::Duration;

/// What the process has used so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage {
    /// Processor time of all threads.
    pub cpu: Duration,
    /// How often a thread has stopped running, because it waited or because it had to: what a wake-up leads to.
    pub switches: u64,
}

impl Usage {
    /// What was used between an earlier moment and this.
    pub fn since(self, earlier: Self) -> Self {
        Self { cpu: self.cpu.saturating_sub(earlier.cpu), switches: self.switches.saturating_sub(earlier.switches) }
    }
}

pub use self::system::{allow_open_files, usage_of_other_threads, usage_of_process};

#[cfg(unix)]
mod system {
    use std::time::Duration;

    use nix::sys::resource::{self, Resource, Usage as NixUsage, UsageWho};
    use nix::sys::time::TimeVal;

    use super::Usage;

    /// Raises the limit of open files, if it is lower than that.
    ///
    /// # Panics
    ///
    /// If it cannot be raised: the message says what to do.
    pub fn allow_open_files(needed: u64) {
        let limit = Resource::RLIMIT_NOFILE;
        let (soft, hard) = resource::getrlimit(limit).expect("asking how many files may be open");
        if soft >= needed {
            return;
        }
        if let Err(error) = resource::setrlimit(limit, needed, hard.max(needed)) {
            panic!(
                "this benchmark needs {needed} open files, {soft} are allowed, and the limit cannot be raised \
                 ({error}): raise it with `ulimit -n {needed}`, or leave out the rows of 1,000 connections"
            );
        }
    }

    /// What all threads have used.
    pub fn usage_of_process() -> Usage {
        usage(UsageWho::RUSAGE_SELF)
    }

    /// What all threads but the calling one have used.
    pub fn usage_of_other_threads() -> Usage {
        usage_of_process().since(own_usage())
    }

    #[cfg(any(target_os = "linux", target_os = "freebsd", target_os = "openbsd"))]
    fn own_usage() -> Usage {
        usage(UsageWho::RUSAGE_THREAD)
    }

    /// Elsewhere the calling thread's is counted, too.
    #[cfg(not(any(target_os = "linux", target_os = "freebsd", target_os = "openbsd")))]
    fn own_usage() -> Usage {
        Usage::default()
    }

    fn usage(who: UsageWho) -> Usage {
        let usage: NixUsage = resource::getrusage(who).expect("asking what was used");
        let switches = usage.voluntary_context_switches() + usage.involuntary_context_switches();
        Usage { cpu: duration(usage.user_time()) + duration(usage.system_time()), switches: switches as u64 }
    }

    fn duration(time: TimeVal) -> Duration {
        Duration::new(time.tv_sec() as u64, time.tv_usec() as u32 * 1000)
    }
}

#[cfg(not(unix))]
mod system {
    use super::Usage;

    /// There is no such limit.
    pub fn allow_open_files(_needed: u64) {}

    /// Not known here.
    pub fn usage_of_process() -> Usage {
        Usage::default()
    }

    /// Not known here.
    pub fn usage_of_other_threads() -> Usage {
        Usage::default()
    }
}
