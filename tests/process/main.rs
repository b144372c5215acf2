//! Child processes: what they are told and say, how their end is heard of, and that none is left behind.
//!
//! Tests that are about the whole process (its descriptors, limits, signals, all of its children) run in a process of
//! their own: this program again, with just that test. Those named `by_signal_too` run once more with the call refused
//! by which a child's end is heard of otherwise.
#![cfg(target_os = "linux")]

mod ends;
mod limits;
mod orphans;
mod pipes;
mod refusal;
mod surroundings;

use std::env;
use std::fs;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use rt::process::Command;
use rt::runtime::{Builder, Runtime};
use rt_test_util::descriptor_count;

/// Set in a process that is for one test, to the name of that test.
const VARIABLE: &str = "RT_TEST_PROCESS";
/// Set in such a process if it is to refuse descriptors of processes, to the number of the error.
const REFUSAL: &str = "RT_TEST_PROCESS_REFUSAL";
/// Printed at the end, lest a process that ran no test at all be taken for one that passed.
const DONE: &str = "the test was run to its end";

/// Runs a test, given as a closure in its function, in a process of its own, and passes if that does.
fn in_own_process<F: FnOnce()>(test: F) {
    in_own_process_with(None, test);
}

/// As [`in_own_process`], and again in a process that refuses descriptors of processes.
fn in_own_process_by_signal_too<F: FnOnce() + Copy>(test: F) {
    in_own_process_with(None, test);
    if env::var(VARIABLE).is_err() {
        in_own_process_with(Some(nix::libc::ENOSYS), test);
    }
}

fn in_own_process_with<F: FnOnce()>(refused_with: Option<i32>, test: F) {
    // The closure is called after the function that it is in, and that is what the harness calls the test.
    let path = std::any::type_name::<F>().trim_end_matches("::{{closure}}");
    let (_, name) = path.split_once("::").expect("a path begins with the crate");
    if env::var(VARIABLE).is_ok_and(|this| this == name) {
        let is_refused = match env::var(REFUSAL) {
            Ok(error) => refusal::refuse(&[nix::libc::SYS_pidfd_open], error.parse().unwrap()),
            Err(_) => true,
        };
        // Without filters there is nothing to refuse with.
        if is_refused {
            test();
        }
        println!("{DONE}");
        return;
    }
    let mut command = std::process::Command::new(env::current_exe().unwrap());
    command.args([name, "--exact", "--nocapture", "--test-threads=1"]).env(VARIABLE, name);
    if let Some(error) = refused_with {
        command.env(REFUSAL, error.to_string());
    }
    let output = command.output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && out.contains(DONE), "{name}: {}\n{out}\n{err}", output.status);
}

/// Whether this process has the call refused by which a child's end is heard of otherwise.
fn goes_by_signal() -> bool {
    env::var(REFUSAL).is_ok()
}

fn current() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

fn multi(workers: usize) -> Runtime {
    Builder::new_multi_thread().worker_threads(workers).enable_all().build().unwrap()
}

fn on_each_runtime(test: impl Fn(Runtime)) {
    test(current());
    test(multi(1));
    test(multi(4));
}

/// A shell that runs this script.
fn shell(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    command
}

/// A child that goes on until it is killed.
fn endless() -> Command {
    let mut command = Command::new("sleep");
    command.arg("100000").stdin(Stdio::null());
    command
}

/// Waits until something is so that another thread or process sees to.
#[track_caller]
fn eventually(mut so: impl FnMut() -> bool) {
    let begin = std::time::Instant::now();
    while !so() {
        assert!(begin.elapsed() < Duration::from_secs(60), "it does not become so");
        thread::sleep(Duration::from_millis(1));
    }
}

/// The children of this process that have not been waited for, running or zombies, as the system tells.
fn children() -> Vec<u32> {
    let threads = fs::read_dir("/proc/self/task").unwrap();
    let lists = threads.filter_map(|thread| fs::read_to_string(thread.unwrap().path().join("children")).ok());
    lists.flat_map(|list| list.split_whitespace().map(|id| id.parse().unwrap()).collect::<Vec<_>>()).collect()
}

/// The state of a process (`R`, `S`, `Z` ...), or none if there is no such process.
fn state(id: u32) -> Option<char> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next())
}

/// How many threads of this process wait for orphans.
fn reapers() -> usize {
    let threads = fs::read_dir("/proc/self/task").unwrap();
    let names = threads.filter_map(|thread| fs::read_to_string(thread.unwrap().path().join("comm")).ok());
    names.filter(|name| name.trim() == "rt-reaper").count()
}
