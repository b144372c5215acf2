//! [`Place`]: how much of the machine a server and its clients get.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fmt, fs, io, process};

/// What a server and its clients have to themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// All of the machine.
    Machine,
    /// All but what a process takes that computes without end.
    Neighbour,
    /// One processor for both of them.
    OneProcessor,
    /// All of the machine, but the server has a quota of [`QUOTA`] of a processor, as in a container.
    Quota,
    /// All of the machine, but the server has [`WORKERS`] workers a processor, as where it takes one for each processor
    /// of a machine that others use, too.
    ManyWorkers,
}

/// Workers a processor, where there are many.
const WORKERS: usize = 16;

/// Processor time that a server may have in each period of [`PERIOD_US`], in microseconds.
const QUOTA_US: u64 = 60_000;
const PERIOD_US: u64 = 100_000;

/// A control group of our own with that quota, until it is dropped.
#[derive(Debug)]
pub(super) struct Quota(PathBuf);

impl Place {
    /// A command for a program in this place. (`taskset` belongs to every Linux system.)
    pub(super) fn command(self, program: impl AsRef<OsStr>) -> Command {
        match self {
            Self::OneProcessor => {
                let mut command = Command::new("taskset");
                command.args(["-c", "0"]).arg(program);
                command
            }
            Self::Machine | Self::Neighbour | Self::Quota | Self::ManyWorkers => Command::new(program),
        }
    }

    /// The number of workers in this place, if it is `workers` in others.
    pub(super) fn workers(self, workers: usize) -> usize {
        if self == Self::ManyWorkers { WORKERS * workers } else { workers }
    }
}

impl Quota {
    /// Makes the group, where that may be done.
    pub(super) fn set() -> io::Result<Self> {
        let name = format!("rt-report-{}", process::id());
        let old = Path::new("/sys/fs/cgroup/cpu");
        let group = if old.is_dir() { old.join(name) } else { Path::new("/sys/fs/cgroup").join(name) };
        fs::create_dir(&group)?;
        let group = Self(group);
        if old.is_dir() {
            fs::write(group.0.join("cpu.cfs_period_us"), PERIOD_US.to_string())?;
            fs::write(group.0.join("cpu.cfs_quota_us"), QUOTA_US.to_string())?;
        } else {
            fs::write(group.0.join("cpu.max"), format!("{QUOTA_US} {PERIOD_US}"))?;
        }
        Ok(group)
    }

    /// A command that first puts its process into the group.
    pub(super) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", "echo $$ > \"$0\" && exec \"$@\""]).arg(self.0.join("cgroup.procs")).arg(program);
        command
    }
}

impl Drop for Quota {
    fn drop(&mut self) {
        // Its processes have been waited for.
        let _ = fs::remove_dir(&self.0);
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Machine => Ok(()),
            Self::Neighbour => f.write_str(", beside a busy process"),
            Self::OneProcessor => f.write_str(", one processor for all"),
            Self::ManyWorkers => write!(f, ", {WORKERS} workers a processor"),
            Self::Quota => {
                write!(f, ", a quota of {}.{} processors", QUOTA_US / PERIOD_US, QUOTA_US * 10 / PERIOD_US % 10)
            }
        }
    }
}
