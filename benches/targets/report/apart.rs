//! Measures that need more than a runtime: an allocator that counts, or a process.

use std::env;
use std::process::{Command, Stdio};
use std::time::Duration;

use rt_benches::runtimes::{Rt, Smol, Tokio};
use rt_benches::workloads::{BytesPerTask, Idle};
use rt_benches::{Measure, Runtime};

use crate::allocator::counting;

/// The argument by which this program is told to be the process of an idle runtime.
const WATCH: &str = "--watch-idle";

/// [`BytesPerTask`], which starts runtimes of its own, with the counting allocator.
pub(crate) struct CountedBytes;

impl Measure for CountedBytes {
    fn titles(&self) -> Vec<String> {
        vec!["memory of a parked task, bytes".into(), "memory of a sleeping task, bytes".into()]
    }

    fn runs(&self) -> usize {
        3
    }

    fn run<R: Runtime>(&self, runtime: &R, _prepared: u64) -> Vec<f64> {
        let bytes = counting(|allocated| BytesPerTask.measure::<R>(runtime.workers(), allocated));
        vec![bytes.parked, bytes.sleeping]
    }
}

/// [`Idle`], in a process that has one runtime and nothing else.
pub(crate) struct IdleApart(pub(crate) Idle);

impl Measure for IdleApart {
    fn titles(&self) -> Vec<String> {
        let what = match self.0.tick {
            None => "idle runtime".into(),
            Some(tick) => format!("a timer every {} ms and nothing else", tick.as_millis()),
        };
        vec![format!("{what}: CPU in a second, us"), format!("{what}: context switches in a second, number")]
    }

    fn runs(&self) -> usize {
        3
    }

    /// Each run is a new process.
    fn prepare<R: Runtime>(&self, _runtime: &R) -> u64 {
        0
    }

    fn run<R: Runtime>(&self, runtime: &R, _prepared: u64) -> Vec<f64> {
        let program = env::current_exe().expect("this program has a path");
        let output = Command::new(program)
            .args([WATCH, R::NAME, &runtime.workers().to_string()])
            .args(self.0.tick.map(|tick| tick.as_millis().to_string()))
            .stderr(Stdio::inherit())
            .output()
            .expect("cannot start a process");
        assert!(output.status.success(), "the process of an idle runtime failed");
        let text = String::from_utf8(output.stdout).expect("it prints figures");
        text.split_whitespace().map(|figure| figure.parse().expect("it prints figures")).collect()
    }
}

/// Does what [`IdleApart`] has started this process for, if it has.
pub(crate) fn watch_if_told(arguments: &[String]) -> bool {
    let (name, workers, tick) = match arguments {
        [first, name, workers, tick @ ..] if first == WATCH => (name, workers, tick.first()),
        _ => return false,
    };
    let workers = workers.parse().expect("a number of workers");
    let tick = tick.map(|tick| Duration::from_millis(tick.parse().expect("a number of milliseconds")));
    let idle = Idle { tick };
    let used = match name.as_str() {
        Rt::NAME => idle.watch::<Rt>(workers),
        Tokio::NAME => idle.watch::<Tokio>(workers),
        Smol::NAME => idle.watch::<Smol>(workers),
        _ => panic!("there is no runtime {name:?}"),
    };
    println!("{} {}", used.cpu.as_micros(), used.switches);
    true
}
