//! Tests that run in a process of their own: the same program again, with just that test.
//!
//! For tests that concern a whole process: its limits, its signals, the numbers of its descriptors, what it has
//! allocated, what its threads do.

use std::env;
use std::process::Command;

use crate::watchdog;

/// Set in such a process, to the name of the test that it is for.
const VARIABLE: &str = "RT_TEST_IN_OWN_PROCESS";
/// Printed at the end, so that a process that ran no test at all does not pass.
const DONE: &str = "the test was run to its end";

/// Runs a test in a process of its own, and passes if it passes there. The closure must be written in the function that
/// is the test: its type gives the test's name.
#[track_caller]
pub fn in_own_process<F: FnOnce()>(test: F) {
    in_own_process_with(|_| {}, test);
}

/// As [`in_own_process`], for a process that is started in a special way.
#[track_caller]
pub fn in_own_process_with<F: FnOnce()>(prepare: impl FnOnce(&mut Command), test: F) {
    // The name of a closure's type is the path of its function and one more part. The harness leaves out the crate.
    let path = std::any::type_name::<F>().trim_end_matches("::{{closure}}");
    let (_, name) = path.split_once("::").expect("a path begins with the crate");
    if env::var(VARIABLE).is_ok_and(|this| this == name) {
        let _watchdog = watchdog();
        test();
        println!("{DONE}");
        return;
    }
    let mut command = Command::new(env::current_exe().unwrap());
    command.args([name, "--exact", "--nocapture", "--test-threads=1"]).env(VARIABLE, name);
    // One heap for all threads: otherwise each reserves address space for another, which would spoil the sums of those
    // tests that limit it.
    command.env("MALLOC_ARENA_MAX", "1");
    prepare(&mut command);
    let output = command.output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && out.contains(DONE), "{name}: {}\n{out}\n{err}", output.status);
}

/// How many threads this process has.
#[cfg(target_os = "linux")]
pub fn thread_count() -> usize {
    std::fs::read_dir("/proc/self/task").unwrap().count()
}

/// How many descriptors this process has open, but for what it reads of itself and of its threads at the moment: this
/// function does, and so does the monitor of any runtime.
#[cfg(target_os = "linux")]
pub fn descriptor_count() -> usize {
    let descriptors = std::fs::read_dir("/proc/self/fd").unwrap();
    let targets = descriptors.filter_map(|descriptor| std::fs::read_link(descriptor.ok()?.path()).ok());
    targets.filter(|target| !target.starts_with("/proc")).count()
}
