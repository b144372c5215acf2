//! The SHA-256 digest of each file in a tree of directories: like `sha256sum`, many files at once.
//!
//! ```text
//! cargo run --release --example tree_sum -- src
//! cargo run --release --example tree_sum -- --help
//! ```
//!
//! The tree is listed first, so that the progress bar knows how much there is. Then as many tasks as `-j` says take one
//! file after the other, which is all that it takes to bound how many are open at once. A file or directory that cannot
//! be read is reported and left out; the exit status tells of it.

use std::env;
use std::fmt;
use std::io::IsTerminal as _;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rt::fs::{self, File};
use rt::io::{self, AsyncReadExt, AsyncWriteExt, BufWriter};
use sha2::{Digest, Sha256};

const HELP: &str = "\
Prints the SHA-256 digest of each file in the directories that are named, or in the current one.

Usage: tree_sum [-j TASKS] [PATH ...]

Options:
  -j TASKS    how many files to digest at once [default: 32]
  -h, --help  print this

Symbolic links are not followed. What cannot be read is reported on standard error, and the exit status is 1 then.
It is 2 if the arguments make no sense.
";

/// How many files are open at once, unless the user says otherwise.
const TASKS: usize = 32;

/// How much of a file is read at once, in bytes.
const CHUNK: usize = 64 * 1024;

/// What the user wants.
enum Request {
    Help,
    Digest { tasks: usize, roots: Vec<PathBuf> },
}

fn request(mut arguments: impl Iterator<Item = std::ffi::OsString>) -> Result<Request, String> {
    let (mut tasks, mut roots) = (TASKS, Vec::new());
    while let Some(argument) = arguments.next() {
        match argument.to_str() {
            Some("-h" | "--help") => return Ok(Request::Help),
            Some("-j") => {
                let number = arguments.next().ok_or("-j needs a number")?;
                let number = number.to_str().and_then(|number| number.parse::<NonZero<usize>>().ok());
                tasks = number.ok_or("-j needs a number that is not 0")?.get();
            }
            Some("--") => roots.extend(arguments.by_ref().map(PathBuf::from)),
            Some(option) if option.len() > 1 && option.starts_with('-') => {
                return Err(format!("there is no option {option}"));
            }
            _ => roots.push(argument.into()),
        }
    }
    if roots.is_empty() {
        roots.push(".".into());
    }
    Ok(Request::Digest { tasks, roots })
}

/// A path that could not be read, and why.
struct Failure {
    path: PathBuf,
    error: io::Error,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.error)
    }
}

/// The files of a tree.
#[derive(Default)]
struct Tree {
    /// With their lengths, for the progress bar.
    files: Vec<(PathBuf, u64)>,
    failures: Vec<Failure>,
}

impl Tree {
    async fn list(roots: Vec<PathBuf>) -> Self {
        let mut tree = Self::default();
        let mut left = roots;
        while let Some(path) = left.pop() {
            if let Err(error) = tree.look_at(&path, &mut left).await {
                tree.failures.push(Failure { path, error });
            }
        }
        tree.files.sort_unstable();
        tree
    }

    /// Notes a file. Of a directory the entries are left to be looked at.
    async fn look_at(&mut self, path: &Path, left: &mut Vec<PathBuf>) -> io::Result<()> {
        let metadata = fs::symlink_metadata(path).await?;
        if metadata.is_file() {
            self.files.push((path.to_owned(), metadata.len()));
        } else if metadata.is_dir() {
            let mut entries = fs::read_dir(path).await?;
            while let Some(entry) = entries.next_entry().await? {
                left.push(entry.path());
            }
        }
        Ok(())
    }
}

/// The digest of one file, in hexadecimal digits.
async fn digest(path: &Path, bar: &ProgressBar) -> io::Result<String> {
    let mut file = File::open(path).await?;
    let mut hash = Sha256::new();
    let mut chunk = vec![0; CHUNK];
    loop {
        match file.read(&mut chunk).await? {
            0 => return Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()),
            count => {
                hash.update(&chunk[..count]);
                bar.inc(count as u64);
            }
        }
    }
}

/// The digests of all files, by their place in the list.
async fn digest_all(files: Vec<(PathBuf, u64)>, tasks: usize) -> (Vec<(PathBuf, String)>, Vec<Failure>) {
    let bar = ProgressBar::new(files.iter().map(|(_, length)| length).sum());
    if !std::io::stderr().is_terminal() {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    let style = "{bar:40} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left";
    bar.set_style(ProgressStyle::with_template(style).expect("the template is well formed"));

    let files = Arc::new(files);
    let next = Arc::new(AtomicUsize::new(0));
    let tasks: Vec<_> = (0..tasks.min(files.len()))
        .map(|_| {
            let (files, next, bar) = (Arc::clone(&files), Arc::clone(&next), bar.clone());
            rt::spawn(async move {
                let mut results = Vec::new();
                while let Some((path, _)) = files.get(next.fetch_add(1, Relaxed)) {
                    results.push((path.clone(), digest(path, &bar).await));
                }
                results
            })
        })
        .collect();

    let (mut digests, mut failures) = (Vec::new(), Vec::new());
    for task in tasks {
        for (path, result) in task.await.expect("a task that digests does not panic") {
            match result {
                Ok(digest) => digests.push((path, digest)),
                Err(error) => failures.push(Failure { path, error }),
            }
        }
    }
    bar.finish_and_clear();
    digests.sort_unstable();
    (digests, failures)
}

async fn print(digests: &[(PathBuf, String)]) -> io::Result<()> {
    let mut out = BufWriter::new(io::stdout());
    for (path, digest) in digests {
        out.write_all(format!("{digest}  {}\n", path.display()).as_bytes()).await?;
    }
    out.shutdown().await
}

#[rt::main]
async fn main() -> ExitCode {
    let (tasks, roots) = match request(env::args_os().skip(1)) {
        Ok(Request::Digest { tasks, roots }) => (tasks, roots),
        Ok(Request::Help) => {
            print!("{HELP}");
            return ExitCode::SUCCESS;
        }
        Err(complaint) => {
            eprintln!("tree_sum: {complaint}; --help tells what there is");
            return ExitCode::from(2);
        }
    };
    let Tree { files, mut failures } = Tree::list(roots).await;
    let (digests, unread) = digest_all(files, tasks).await;
    failures.extend(unread);
    for failure in &failures {
        eprintln!("tree_sum: {failure}");
    }
    if let Err(error) = print(&digests).await {
        eprintln!("tree_sum: standard output: {error}");
        return ExitCode::FAILURE;
    }
    if failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
