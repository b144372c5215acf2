//! The stack in the report of a blocked task: feature `blocked-backtrace`.

#![cfg(target_os = "linux")]

use std::sync::mpsc;
use std::time::Duration;

use rt::runtime::{BlockedTask, Builder};
use rt_test_util::*;

#[inline(never)]
fn the_function_that_blocks(gate: &Gate) {
    gate.pass();
}

/// Has a task block until it is reported.
fn report_of(block: impl FnOnce(&Gate) + Send + 'static) -> BlockedTask {
    let (report, reported) = mpsc::channel();
    let runtime = Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .on_blocked(move |blocked| report.send(blocked.clone()).unwrap())
        .build()
        .unwrap();
    let gate = Gate::new();
    let task = {
        let gate = gate.clone();
        runtime.spawn(async move { block(&gate) })
    };
    runtime.block_on(runtime.spawn(async {})).unwrap();
    let report = reported.recv().unwrap();
    gate.open();
    runtime.block_on(task).unwrap();
    report
}

#[test]
fn the_report_shows_where_the_thread_was() {
    let _watchdog = watchdog();
    let report = report_of(the_function_that_blocks);
    let stack = report.backtrace.as_ref().expect("the stack was taken");
    assert!(stack.contains("the_function_that_blocks"), "{stack}");
    assert!(!stack.contains("runtime_core::scheduler"), "the runtime's own frames are left out: {stack}");
    assert!(report.to_string().ends_with(stack));
}

#[test]
fn a_sleep_and_a_read_are_not_cut_short_by_the_signal() {
    let _watchdog = watchdog();
    report_of(|gate| {
        use std::io::{Read, Write};
        let before = std::time::Instant::now();
        std::thread::sleep(Duration::from_millis(50));
        assert!(before.elapsed() >= Duration::from_millis(50));
        let (mut writer, mut reader) = std::os::unix::net::UnixStream::pair().unwrap();
        let feeder = {
            let gate = gate.clone();
            std::thread::spawn(move || {
                gate.pass();
                writer.write_all(b"x").unwrap();
            })
        };
        let mut byte = [0];
        assert_eq!(reader.read(&mut byte).unwrap(), 1, "no EINTR");
        feeder.join().unwrap();
    });
}
