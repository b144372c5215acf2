//! Signals: many listeners, many runtimes, and what is told to whom.
//!
//! Signals are the process's, and so are the handlers that stay behind. So each test runs in a process of its own: this
//! program again, with just that test.
#![cfg(unix)]

mod kinds;
mod listeners;
mod runtimes;

use std::env;
use std::process::Command;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use nix::sys::signal::{Signal as Number, raise};
use nix::unistd::Pid;
use rt::runtime::{Builder, Runtime};
use rt::signal::unix::{Signal, SignalKind, signal};

/// Set in a process that is for one test, to the name of that test.
const VARIABLE: &str = "RT_TEST_SIGNAL";
/// Printed at the end, lest a process that ran no test at all be taken for one that passed.
const DONE: &str = "the test was run to its end";

/// Runs a test, given as a closure in its function, in a process of its own, and passes if that does.
fn in_own_process<F: FnOnce()>(test: F) {
    // The closure is called after the function that it is in, and that is what the harness calls the test.
    let path = std::any::type_name::<F>().trim_end_matches("::{{closure}}");
    let (_, name) = path.split_once("::").expect("a path begins with the crate");
    if env::var(VARIABLE).is_ok_and(|this| this == name) {
        test();
        println!("{DONE}");
        return;
    }
    let mut command = Command::new(env::current_exe().unwrap());
    command.args([name, "--exact", "--nocapture", "--test-threads=1"]).env(VARIABLE, name);
    let output = command.output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && out.contains(DONE), "{name}: {}\n{out}\n{err}", output.status);
}

fn current() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

fn multi(workers: usize) -> Runtime {
    Builder::new_multi_thread().worker_threads(workers).enable_all().build().unwrap()
}

/// Runs a test on each kind of runtime, in a process of its own for each.
macro_rules! on_each_runtime {
    ($($name:ident: $test:expr;)*) => {$(
        mod $name {
            use super::*;

            #[test]
            fn on_one_thread() {
                in_own_process(|| $test(current()));
            }

            #[test]
            fn on_one_worker() {
                in_own_process(|| $test(multi(1)));
            }

            #[test]
            fn on_four_workers() {
                in_own_process(|| $test(multi(4)));
            }
        }
    )*};
}
use on_each_runtime;

/// Sends a signal to this process. When it returns, some thread has run the handler.
fn send(number: Number) {
    raise(number).unwrap();
}

/// Sends it to the process rather than to this thread, so that any thread may run the handler.
fn send_to_process(number: Number) {
    nix::sys::signal::kill(Pid::this(), number).unwrap();
}

/// Waits for a signal for a time that only a lost one takes.
async fn hear(signal: &mut Signal) {
    let heard = rt::time::timeout(Duration::from_secs(60), signal.recv()).await;
    assert_eq!(heard.expect("the signal is lost"), Some(()));
}

/// Whether the stream is ready now. No other task's doing.
fn is_ready(signal: &mut Signal) -> bool {
    matches!(signal.poll_recv(&mut Context::from_waker(Waker::noop())), Poll::Ready(Some(())))
}

/// Lets the drivers have a look, several times.
async fn let_drivers_look() {
    for _ in 0..3 {
        rt::time::sleep(Duration::from_millis(5)).await;
    }
}

fn listen(kind: SignalKind) -> Signal {
    signal(kind).unwrap()
}
