//! What can go wrong, and how it is told.

use std::error::Error;
use std::fmt;

use rt::task::JoinHandle;

/// What went wrong.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Something was refused: what was being done, and why it could not be.
    Refused(String, Box<dyn Error + Send + Sync>),
    /// Something was done, and came out wrong.
    Check(String),
}

impl Failure {
    pub(crate) fn check(what: impl Into<String>) -> Self {
        Self::Check(what.into())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(doing, cause) => write!(f, "{doing}: {cause}"),
            Self::Check(what) => f.write_str(what),
        }
    }
}

/// Adds to an error what was being done.
pub(crate) trait Context<T> {
    fn context(self, doing: impl Into<String>) -> Result<T, Failure>;
}

impl<T, E: Into<Box<dyn Error + Send + Sync>>> Context<T> for Result<T, E> {
    fn context(self, doing: impl Into<String>) -> Result<T, Failure> {
        self.map_err(|cause| Failure::Refused(doing.into(), cause.into()))
    }
}

/// Waits for a task that may fail. One that panicked has failed as well.
pub(crate) async fn finished<T>(task: JoinHandle<Result<T, Failure>>) -> Result<T, Failure> {
    task.await.context("waiting for a task")?
}
