//! What the operating system allows, and what it says we used.

use std::fs;

use rt::time::Duration;

use crate::failure::Failure;

#[cfg(unix)]
pub(crate) use self::unix::{CpuTime, allow_descriptors};

/// The most memory that the process ever had, in bytes, where the system tells.
pub(crate) fn peak_memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let value = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = value.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(unix)]
mod unix {
    use super::*;

    use nix::sys::resource::{Resource, UsageWho, getrlimit, getrusage, setrlimit};
    use nix::sys::time::TimeValLike;

    use crate::failure::Context;

    /// Sees to it that `needed` descriptors may be open. Only as much as the hard limit allows can be had.
    pub(crate) fn allow_descriptors(needed: u64) -> Result<(), Failure> {
        let limit = Resource::RLIMIT_NOFILE;
        let (soft, hard) = getrlimit(limit).context("asking how many files may be open")?;
        if soft >= needed {
            return Ok(());
        }
        if hard < needed {
            return Err(Failure::check(format!(
                "it needs {needed} open files, and the system allows this process {hard} (see `ulimit -Hn`)"
            )));
        }
        setrlimit(limit, needed, hard).context(format!("raising the limit of open files from {soft} to {needed}"))
    }

    /// The processor time that this process has used.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct CpuTime(Duration);

    impl CpuTime {
        /// Until now. `None` if the system does not tell.
        pub(crate) fn now() -> Option<Self> {
            let usage = getrusage(UsageWho::RUSAGE_SELF).ok()?;
            let microseconds = (usage.user_time() + usage.system_time()).num_microseconds();
            Some(Self(Duration::from_micros(microseconds.try_into().ok()?)))
        }

        /// From then until now.
        pub(crate) fn since(then: Option<Self>) -> Option<Duration> {
            Some(Self::now()?.0.saturating_sub(then?.0))
        }
    }
}

#[cfg(not(unix))]
pub(crate) fn allow_descriptors(_needed: u64) -> Result<(), Failure> {
    Ok(())
}

/// The processor time that this process has used, which is not known here.
#[cfg(not(unix))]
#[derive(Clone, Copy, Debug)]
pub(crate) struct CpuTime;

#[cfg(not(unix))]
impl CpuTime {
    pub(crate) fn now() -> Option<Self> {
        None
    }

    pub(crate) fn since(_then: Option<Self>) -> Option<Duration> {
        None
    }
}
