//! Jobs as child processes: their output, their exit codes, and their end.

use crate::program::Program;

#[test]
fn output_comes_with_the_number_of_the_job_and_failures_are_told() {
    let mut jobs = Program::start("run_jobs", &["--jobs", "2"]);
    jobs.feed("echo one\n# a comment\necho two; exit 3\n");
    let (printed, status) = jobs.end();
    assert!(printed.contains("[1] one") && printed.contains("[2] two"), "{printed}");
    assert!(!status.success());
}

#[test]
fn ctrl_c_ends_what_the_jobs_have_started_too() {
    let mut jobs = Program::start("run_jobs", &["--grace", "1"]);
    // The job does not end by itself, nor when it is asked to, and neither does what it has started.
    jobs.feed("trap '' TERM; sh -c \"trap '' TERM; echo child \\$\\$; while :; do sleep 1; done\"; wait\n");
    let line = jobs.line("child ");
    let child: i32 = line.rsplit(' ').next().unwrap().parse().unwrap();
    jobs.interrupt();
    let (printed, status) = jobs.end();
    assert!(!status.success(), "{printed}");
    let signal = nix::sys::signal::kill(nix::unistd::Pid::from_raw(child), None);
    // It may be a zombie for a moment, as its new parent has not waited for it.
    let state = std::fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
    assert!(signal.is_err() || state.contains(") Z "), "the job's child is still there: {state}");
}
