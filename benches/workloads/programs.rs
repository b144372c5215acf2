//! Child processes.

use std::io;
use std::time::{Duration, Instant};

use crate::{Handle, Runtime, System, Workload, on_worker};

/// It does nothing.
const PROGRAM: &str = "true";

/// An operation is one child process, from its start to when its parent knows of its end. Nearly all of it is the
/// kernel's, and the program's own loading.
#[derive(Clone, Debug)]
pub struct Programs {
    tasks: u64,
}

impl Programs {
    /// One after another.
    pub const IN_SEQUENCE: Self = Self { tasks: 1 };
    /// 64 at once, each started and waited for by a task of its own.
    pub const AT_ONCE: Self = Self { tasks: 64 };
}

impl Workload for Programs {
    fn name(&self) -> &'static str {
        if self.tasks == 1 { "system/program" } else { "system/64_programs" }
    }

    fn title(&self) -> &'static str {
        if self.tasks == 1 {
            "start a process and wait for it, in sequence"
        } else {
            "start a process and wait for it, 64 at once, a process"
        }
    }

    fn operations(&self) -> u64 {
        self.tasks
    }

    fn run<R: Runtime>(&self, runtime: &R, rounds: u64) -> Duration {
        on_worker(runtime, drive::<R>(runtime.handle(), self.tasks, rounds)).expect("programs can be started")
    }
}

async fn drive<R: Runtime>(handle: R::Handle, tasks: u64, rounds: u64) -> io::Result<Duration> {
    let start = Instant::now();
    for _ in 0..rounds {
        let tasks: Vec<_> = (0..tasks).map(|_| handle.spawn(<R::Handle as System>::run_program(PROGRAM))).collect();
        for task in tasks {
            assert!(task.await?, "the program failed");
        }
    }
    Ok(start.elapsed())
}
