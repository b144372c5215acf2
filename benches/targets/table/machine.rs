//! What the figures were measured on.

use std::{env, fmt, fs, thread};

/// The versions are those that the benchmarks were built with.
const LOCK_FILE: &str = include_str!("../../../Cargo.lock");

/// The line above the table.
pub(crate) struct Description {
    pub(crate) workers: usize,
}

impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let processors = thread::available_parallelism().map_or(0, usize::from);
        let model = processor_model().unwrap_or_else(|| env::consts::ARCH.to_owned());
        writeln!(
            f,
            "rt {}, tokio {}, smol {}; {} workers; {processors} processors ({model}), {}.",
            version("rt"),
            version("tokio"),
            version("smol"),
            self.workers,
            env::consts::OS,
        )
    }
}

fn version(package: &str) -> &'static str {
    LOCK_FILE
        .split("[[package]]")
        .find_map(|entry| {
            let mut lines = entry.trim().lines();
            let name = lines.next()?.strip_prefix("name = ")?.trim_matches('"');
            let version = lines.next()?.strip_prefix("version = ")?.trim_matches('"');
            (name == package).then_some(version)
        })
        .unwrap_or("?")
}

fn processor_model() -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}
