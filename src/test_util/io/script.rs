//! The script of a mock: what there is to do, and how far it has come.
//!
//! Used by the mock alone, which decides what waits and what is woken. It must not wait itself.

use std::collections::VecDeque;
use std::error::Error;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::task::Waker;

use runtime_core::primitive::Mutex;

use crate::time::{Duration, Instant};

/// One step of a script.
#[derive(Clone, Debug)]
pub(super) enum Action {
    Read(Vec<u8>),
    Write(Vec<u8>),
    Wait(Duration),
    /// Shared, since a builder can be cloned and an error cannot. `None` once it was given out.
    ReadError(Option<Arc<io::Error>>),
    WriteError(Option<Arc<io::Error>>),
}

impl Action {
    fn is_done(&self) -> bool {
        match self {
            Self::Read(data) | Self::Write(data) => data.is_empty(),
            Self::ReadError(error) | Self::WriteError(error) => error.is_none(),
            Self::Wait(_) => false,
        }
    }
}

/// The script of one mock.
#[derive(Debug)]
pub(super) struct Script {
    pub(super) actions: VecDeque<Action>,
    /// The end of the wait that is the first action, if that has begun.
    waits_until: Option<Instant>,
    pub(super) more: Arc<More>,
}

impl Script {
    pub(super) fn new(actions: VecDeque<Action>, more: Arc<More>) -> Self {
        Self { actions, waits_until: None, more }
    }

    /// The next action that is not done. A wait begins when it is seen here first.
    pub(super) fn next(&mut self) -> Option<&mut Action> {
        loop {
            match self.actions.front()? {
                Action::Wait(time) => {
                    let now = Instant::now();
                    if now < *self.waits_until.get_or_insert(now + *time) {
                        break;
                    }
                    self.waits_until = None;
                }
                action if action.is_done() => {}
                _ => break,
            }
            self.actions.pop_front();
        }
        self.actions.front_mut()
    }

    /// The end of the wait that comes next.
    pub(super) fn waits_until(&self) -> Option<Instant> {
        self.waits_until
    }

    /// Takes what is written off the script, and returns how much of it was expected before the next wait or error.
    /// `Err`: what was expected instead.
    pub(super) fn accept(&mut self, mut data: &[u8]) -> Result<usize, Vec<u8>> {
        let all = data.len();
        for action in &mut self.actions {
            match action {
                Action::Write(expected) => {
                    let n = data.len().min(expected.len());
                    if data[..n] != expected[..n] {
                        return Err(expected.clone());
                    }
                    expected.drain(..n);
                    data = &data[n..];
                    if data.is_empty() {
                        break;
                    }
                }
                Action::Wait(_) | Action::WriteError(Some(_)) => break,
                Action::Read(_) | Action::ReadError(_) | Action::WriteError(None) => {}
            }
        }
        Ok(all - data.len())
    }

    /// Whether something may be written now or later, as far as the script goes.
    pub(super) fn expects_writes(&self) -> bool {
        self.actions.iter().any(|action| match action {
            Action::Write(data) => !data.is_empty(),
            Action::WriteError(error) => error.is_some(),
            Action::Wait(_) | Action::Read(_) | Action::ReadError(_) => false,
        })
    }
}

/// What a handle adds, until the mock comes to it.
#[derive(Debug)]
pub(super) struct More(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    actions: VecDeque<Action>,
    /// Those that wait for more: the reader and the writer.
    wakers: [Option<Waker>; 2],
    is_complete: bool,
    mock_is_gone: bool,
}

/// What there is beyond the script.
pub(super) enum Added {
    Action(Action),
    /// The waker was left.
    NothingYet,
    Nothing,
}

impl More {
    pub(super) fn new() -> Self {
        Self(Mutex::new(State::default()))
    }

    fn with<R>(&self, f: impl FnOnce(&mut State) -> R) -> R {
        f(&mut self.0.lock())
    }

    /// Takes the next action, or leaves a waker, of the reader (0) or the writer (1).
    pub(super) fn take(&self, side: usize, waker: &Waker) -> Added {
        let waker = waker.clone();
        let (added, _old) = self.with(|state| match state.actions.pop_front() {
            Some(action) => (Added::Action(action), None),
            None if state.is_complete => (Added::Nothing, None),
            None => (Added::NothingYet, state.wakers[side].replace(waker)),
        });
        added
    }

    /// Adds an action. False: the mock was dropped.
    pub(super) fn add(&self, action: Action) -> bool {
        let wakers = self.with(|state| {
            if state.mock_is_gone {
                return None;
            }
            state.actions.push_back(action);
            Some(std::mem::take(&mut state.wakers))
        });
        let is_there = wakers.is_some();
        wakers.into_iter().flatten().flatten().for_each(Waker::wake);
        is_there
    }

    /// Nothing will be added any more.
    pub(super) fn complete(&self) {
        let wakers = self.with(|state| {
            state.is_complete = true;
            std::mem::take(&mut state.wakers)
        });
        wakers.into_iter().flatten().for_each(Waker::wake);
    }

    pub(super) fn mock_is_gone(&self) {
        let _old = self.with(|state| {
            state.mock_is_gone = true;
            (std::mem::take(&mut state.actions), std::mem::take(&mut state.wakers))
        });
    }
}

/// The error of the script, or one like it if a clone of the builder has it as well.
pub(super) fn give_out(error: Arc<io::Error>) -> io::Error {
    Arc::try_unwrap(error).unwrap_or_else(|error| io::Error::new(error.kind(), Shared(error)))
}

/// Says what the error in it says.
struct Shared(Arc<io::Error>);

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for Shared {}
