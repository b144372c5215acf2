//! The SHA-256 digest of every file of the repository: work for the blocking pool, as files cannot be waited for.

use std::env;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest, Sha256};
use walkdir::{DirEntry, WalkDir};

use crate::failure::{Context, Failure};
use crate::progress::Progress;

/// The digest of three letters, as its standard has it.
const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

/// What was digested.
#[derive(Debug)]
pub(crate) struct Digested {
    pub(crate) files: usize,
    pub(crate) bytes: u64,
    /// The digest of all paths and their digests.
    pub(crate) sum: Sum,
}

/// A digest, shown in hexadecimal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sum([u8; 32]);

impl Sum {
    fn of(contents: &[u8]) -> Self {
        Self(Sha256::digest(contents).into())
    }
}

impl fmt::Display for Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// A file as it was when it was read, so that somebody may go on writing to it.
struct Source {
    path: PathBuf,
    contents: Vec<u8>,
    sum: Sum,
}

/// Reads and digests all files, a job each. Then digests them again, one by one on one thread: the sums must be the
/// same.
pub(crate) async fn run(progress: Arc<Progress>) -> Result<Digested, Failure> {
    let root: Arc<Path> = root().context("finding the repository")?.into();
    let walk_root = Arc::clone(&root);
    let paths = blocking(move || list(&walk_root)).await?;
    progress.files.expect(paths.len() as u64);

    let jobs: Vec<_> = paths
        .into_iter()
        .map(|path| {
            let (root, progress) = (Arc::clone(&root), Arc::clone(&progress));
            rt::spawn_blocking(move || {
                let source = read(&root, path);
                progress.files.advance();
                source
            })
        })
        .collect();
    let mut sources = Vec::new();
    for job in jobs {
        sources.extend(job.await.context("waiting for a thread")??);
    }
    blocking(move || check(&sources)).await
}

/// Runs the closure on the blocking pool.
async fn blocking<T: Send + 'static>(f: impl FnOnce() -> Result<T, Failure> + Send + 'static) -> Result<T, Failure> {
    rt::spawn_blocking(f).await.context("waiting for a thread")?
}

/// The repository is where cargo says, or else where we are.
fn root() -> io::Result<PathBuf> {
    env::var_os("CARGO_MANIFEST_DIR").map_or_else(env::current_dir, |directory| Ok(directory.into()))
}

/// All files of the repository that somebody wrote, as paths in it, in order.
fn list(root: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    for entry in WalkDir::new(root).sort_by_file_name().into_iter().filter_entry(is_source) {
        let entry = entry.context("listing the files")?;
        if entry.file_type().is_file() {
            files.push(entry.path().strip_prefix(root).context("listing the files")?.to_path_buf());
        }
    }
    Ok(files)
}

/// Whether it is not what git keeps or cargo builds, wherever cargo was told to build.
fn is_source(entry: &DirEntry) -> bool {
    entry.file_name() != ".git" && entry.file_name() != "target" && !entry.path().join("CACHEDIR.TAG").exists()
}

/// Reads a file and digests it. `None` if it has been removed since it was listed.
fn read(root: &Path, path: PathBuf) -> Result<Option<Source>, Failure> {
    let contents = match fs::read(root.join(&path)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        contents => contents.context(format!("reading {}", path.display()))?,
    };
    let sum = Sum::of(&contents);
    Ok(Some(Source { path, contents, sum }))
}

/// Checks all digests, and adds up what there is.
fn check(sources: &[Source]) -> Result<Digested, Failure> {
    let abc = Sum::of(b"abc");
    if abc.to_string() != ABC {
        return Err(Failure::check(format!("the digest of `abc` is {abc}")));
    }
    let mut all = Sha256::new();
    for Source { path, contents, sum } in sources {
        if Sum::of(contents) != *sum {
            return Err(Failure::check(format!("the two digests of {} differ", path.display())));
        }
        all.update(path.as_os_str().as_encoded_bytes());
        all.update(sum.0);
    }
    let bytes = sources.iter().map(|source| source.contents.len() as u64).sum();
    Ok(Digested { files: sources.len(), bytes, sum: Sum(all.finalize().into()) })
}
