//! What the figures were measured on, with what, and when.

use std::fmt::Write;
use std::process::Command;
use std::{env, fs, thread};

/// The versions are those that the servers were built with.
const LOCK_FILE: &str = include_str!("../../on-tokio/Cargo.lock");
const ON_RT: &str = include_str!("../../on-rt/Cargo.lock");

const PACKAGES: [&str; 7] = ["tokio", "axum", "hyper", "tonic", "h2", "redis", "tokio-util"];

/// A list of all that.
pub(crate) fn describe() -> String {
    let unknown = || "unknown".to_owned();
    let processors = thread::available_parallelism().map_or_else(|_| unknown(), |number| number.to_string());
    let model = line_of("/proc/cpuinfo", "model name").unwrap_or_else(|| env::consts::ARCH.to_owned());
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_else(|_| unknown());
    let memory = line_of("/proc/meminfo", "MemTotal").and_then(gibibytes).unwrap_or_else(unknown);
    let mut text = format!("- {processors} processors: {model}\n");
    let _ = writeln!(text, "- {} {}, {memory} of memory", env::consts::OS, kernel.trim());
    let _ = writeln!(text, "- {}", output_of("rustc", &["--version"]).unwrap_or_else(unknown));
    let _ = write!(text, "- rt {}", version(ON_RT, "rt"));
    for package in PACKAGES {
        let _ = write!(text, ", {package} {}", version(LOCK_FILE, package));
    }
    let clients = ["wrk", "redis-tools", "redis-server"].map(|name| {
        let found = output_of("dpkg-query", &["--show", "--showformat=${Package} ${Version}", name]);
        found.unwrap_or_else(|| format!("{name} of an unknown version"))
    });
    let _ = writeln!(text, "\n- {}", clients.join(", "));
    let _ = writeln!(text, "- {}", output_of("date", &["--utc", "+%F"]).unwrap_or_else(unknown));
    text
}

fn version<'a>(lock_file: &'a str, package: &str) -> &'a str {
    let mut entries = lock_file.split("[[package]]");
    let found = entries.find_map(|entry| {
        let mut lines = entry.trim().lines();
        let name = lines.next()?.strip_prefix("name = ")?.trim_matches('"');
        let version = lines.next()?.strip_prefix("version = ")?.trim_matches('"');
        (name == package).then_some(version)
    });
    found.unwrap_or("?")
}

/// What follows the colon in the first line that begins so.
fn line_of(path: &str, begin: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let line = text.lines().find(|line| line.starts_with(begin))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn gibibytes(kibibytes: String) -> Option<String> {
    let kibibytes: f64 = kibibytes.strip_suffix(" kB")?.trim().parse().ok()?;
    Some(format!("{:.0} GiB", kibibytes / f64::from(1 << 20)))
}

fn output_of(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = output.status.success().then(|| String::from_utf8(output.stdout).ok())??;
    Some(text.trim().to_owned())
}
