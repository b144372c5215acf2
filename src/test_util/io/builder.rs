//! Writing the script, before and while the mock is in use.

use std::collections::VecDeque;
use std::io;
use std::panic::Location;
use std::sync::Arc;

use super::mock::{Mock, Name};
use super::script::{Action, More, Script};
use crate::time::Duration;

/// Writes the script of a [`Mock`].
///
/// # Example
///
/// ```
/// use rt::io::AsyncReadExt;
/// use rt::test_util::io::Builder;
///
/// # #[rt::main]
/// # async fn main() -> std::io::Result<()> {
/// let mut mock = Builder::new().name("upstream").read(b"hel").read(b"lo").build();
/// let mut word = [0; 5];
/// mock.read_exact(&mut word).await?;
/// assert_eq!(&word, b"hello");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default)]
pub struct Builder {
    actions: VecDeque<Action>,
    name: String,
}

/// Adds to the script of a [`Mock`] that is in use. Made by [`Builder::build_with_handle`].
///
/// While there is one, a reader and a writer at the end of the script wait for more.
///
/// # Example
///
/// ```
/// use rt::io::AsyncReadExt;
/// use rt::test_util::io::Builder;
/// use rt::test_util::{assert_pending, assert_ready_ok, task};
///
/// let (mut mock, mut handle) = Builder::new().build_with_handle();
/// let mut byte = [0];
/// let mut read = task::spawn(mock.read(&mut byte));
/// assert_pending!(read.poll());
/// handle.read(b"!");
/// assert!(read.is_woken());
/// assert_eq!(assert_ready_ok!(read.poll()), 1);
/// ```
#[derive(Debug)]
pub struct Handle {
    more: Arc<More>,
}

impl Builder {
    /// An empty script.
    pub fn new() -> Self {
        Self::default()
    }

    fn add(&mut self, action: Action) -> &mut Self {
        self.actions.push_back(action);
        self
    }

    /// The reader gets these bytes, in as many reads as it takes.
    pub fn read(&mut self, buf: &[u8]) -> &mut Self {
        self.add(Action::Read(buf.into()))
    }

    /// One read fails.
    pub fn read_error(&mut self, error: io::Error) -> &mut Self {
        self.add(Action::ReadError(Some(Arc::new(error))))
    }

    /// The writer has to write these bytes, in as many writes as it takes.
    pub fn write(&mut self, buf: &[u8]) -> &mut Self {
        self.add(Action::Write(buf.into()))
    }

    /// One write fails.
    pub fn write_error(&mut self, error: io::Error) -> &mut Self {
        self.add(Action::WriteError(Some(Arc::new(error))))
    }

    /// Reader and writer have to wait for some time, and a millisecond at least, from when one of them comes here. They
    /// need a runtime with timers for that.
    pub fn wait(&mut self, duration: Duration) -> &mut Self {
        self.add(Action::Wait(duration.max(Duration::from_millis(1))))
    }

    /// Gives the mock a name, which its panics tell.
    pub fn name(&mut self, name: impl Into<String>) -> &mut Self {
        self.name = name.into();
        self
    }

    /// Makes a mock with this script, at the end of which the stream ends. The builder can make more of them.
    #[track_caller]
    pub fn build(&mut self) -> Mock {
        self.build_with_handle().0
    }

    /// Makes a mock with this script, and a handle that adds to it.
    #[track_caller]
    pub fn build_with_handle(&mut self) -> (Mock, Handle) {
        let more = Arc::new(More::new());
        let script = Script::new(self.actions.clone(), Arc::clone(&more));
        let name = Name { name: self.name.clone(), built_at: Location::caller() };
        (Mock::new(script, name), Handle { more })
    }
}

impl Handle {
    #[track_caller]
    fn add(&mut self, action: Action) -> &mut Self {
        assert!(self.more.add(action), "the mock of this handle has been dropped");
        self
    }

    /// As [`Builder::read`].
    ///
    /// # Panics
    ///
    /// If the mock was dropped.
    #[track_caller]
    pub fn read(&mut self, buf: &[u8]) -> &mut Self {
        self.add(Action::Read(buf.into()))
    }

    /// As [`Builder::read_error`].
    ///
    /// # Panics
    ///
    /// If the mock was dropped.
    #[track_caller]
    pub fn read_error(&mut self, error: io::Error) -> &mut Self {
        self.add(Action::ReadError(Some(Arc::new(error))))
    }

    /// As [`Builder::write`].
    ///
    /// # Panics
    ///
    /// If the mock was dropped.
    #[track_caller]
    pub fn write(&mut self, buf: &[u8]) -> &mut Self {
        self.add(Action::Write(buf.into()))
    }

    /// As [`Builder::write_error`].
    ///
    /// # Panics
    ///
    /// If the mock was dropped.
    #[track_caller]
    pub fn write_error(&mut self, error: io::Error) -> &mut Self {
        self.add(Action::WriteError(Some(Arc::new(error))))
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.more.complete();
    }
}
