//! What the figures were measured on, with what, and when.

use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};
use std::{env, fmt, fs, thread};

use crate::pairs::Pairs;

/// The versions are those that the benchmarks were built with.
const LOCK_FILE: &str = include_str!("../../../Cargo.lock");

/// The compared packages.
const PACKAGES: [&str; 6] = ["rt", "tokio", "smol", "async-executor", "async-io", "rayon"];

/// A list of all that.
pub(crate) struct Machine<'a>(pub(crate) &'a Pairs);

impl fmt::Display for Machine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unknown = || "unknown".to_owned();
        let processors = thread::available_parallelism().map_or_else(|_| unknown(), |number| number.to_string());
        let model = line_of("/proc/cpuinfo", "model name").unwrap_or_else(|| env::consts::ARCH.to_owned());
        let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_else(|_| unknown());
        let memory = line_of("/proc/meminfo", "MemTotal").and_then(gibibytes).unwrap_or_else(unknown);
        let rustc = output_of("rustc", "--version").unwrap_or_else(unknown);
        writeln!(f, "- {processors} processors: {model}")?;
        writeln!(f, "- {} {}, {memory} of memory", env::consts::OS, kernel.trim())?;
        writeln!(f, "- {rustc}")?;
        write!(f, "-")?;
        for (index, package) in PACKAGES.into_iter().enumerate() {
            write!(f, "{} {package} {}", if index == 0 { "" } else { "," }, version(package))?;
        }
        writeln!(f)?;
        let [least, median, most] = self.0.wakes().map(|time| time.as_nanos() as f64 / 1000.0);
        writeln!(f, "- to wake a thread: {least:.1} to {most:.1} us, half of the tries below {median:.1}")?;
        let [least, median, most] = self.0.exchanges().map(|time| time.as_nanos());
        write!(
            f,
            "- a line of the cache, from one thread to another and back: {least} to {most} ns, half of the tries "
        )?;
        writeln!(f, "below {median}; both by where the system puts the two, between the sweeps")?;
        writeln!(f, "- {}", today())
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

fn output_of(program: &str, argument: &str) -> Option<String> {
    let output = Command::new(program).arg(argument).output().ok()?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}

/// The date in UTC, as `2026-01-31`.
fn today() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let mut days = seconds / 86_400;
    let mut year = 1970;
    let is_leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    while days >= 365 + u64::from(is_leap(year)) {
        days -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let february = 28 + u64::from(is_leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    format!("{year}-{month:02}-{:02}", days + 1)
}
