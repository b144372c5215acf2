//! A limit on processor time, of a control group or of one above it, is a limit on the workers that there are unless
//! the program says otherwise. The test needs the right to make such groups, and two processors.
//!
//! Mutation that this test is for: a number of processors that only the process's own group has a say in.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process;

use rt::runtime::Runtime;
use rt_test_util::*;

/// The process in a group of its own, for as long as this exists, whose parent has a limit.
struct Grouped {
    root: PathBuf,
    parent: PathBuf,
}

impl Grouped {
    /// As the first version of control groups has it.
    fn first(root: &str, quota: &str) -> io::Result<Self> {
        Self::new(root, |parent| fs::write(parent.join("cpu.cfs_quota_us"), quota))
    }

    /// As the second one does.
    fn second(root: &str, quota: &str) -> io::Result<Self> {
        Self::new(root, |parent| fs::write(parent.join("cpu.max"), format!("{quota} 100000")))
    }

    fn new(root: &str, limit: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<Self> {
        let root = PathBuf::from(root);
        let parent = root.join(format!("rt-test-{}", process::id()));
        fs::create_dir(&parent)?;
        // From here on it cleans up, whatever fails.
        let grouped = Self { root, parent };
        fs::create_dir(grouped.child())?;
        limit(&grouped.parent)?;
        fs::write(grouped.child().join("cgroup.procs"), process::id().to_string())?;
        Ok(grouped)
    }

    fn child(&self) -> PathBuf {
        self.parent.join("child")
    }
}

impl Drop for Grouped {
    fn drop(&mut self) {
        let _ = fs::write(self.root.join("cgroup.procs"), process::id().to_string());
        let _ = fs::remove_dir(self.child());
        let _ = fs::remove_dir(&self.parent);
    }
}

#[test]
fn the_quota_of_a_parent_limits_the_workers() {
    in_own_process(|| {
        // What the runtime takes the number from when it is not limited.
        if processors() < 2
            || ["RT_WORKER_THREADS", "TOKIO_WORKER_THREADS"].iter().any(|name| std::env::var_os(name).is_some())
        {
            return;
        }
        let one_processor = "100000";
        let grouped = Grouped::first("/sys/fs/cgroup/cpu", one_processor)
            .or_else(|_| Grouped::first("/sys/fs/cgroup/cpu,cpuacct", one_processor))
            .or_else(|_| Grouped::second("/sys/fs/cgroup", one_processor));
        if grouped.is_err() {
            return;
        }
        assert_eq!(Runtime::new().unwrap().metrics().num_workers(), 1);
    });
}
