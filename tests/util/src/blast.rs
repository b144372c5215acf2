//! Panics to throw, and how to survive them.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::{Drops, Token};

/// A panic, by what its payload does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blast {
    /// The payload is a message, "a blast".
    Plain,
    /// The payload panics again when it is dropped.
    Nested,
}

/// Panics in its drop, with a payload that is nested one time less.
struct Nested(u32);

impl Drop for Nested {
    fn drop(&mut self) {
        if self.0 > 0 {
            resume_unwind(Box::new(Nested(self.0 - 1)));
        }
    }
}

impl Blast {
    /// Each kind.
    pub const ALL: [Self; 2] = [Self::Plain, Self::Nested];

    /// Panics, without a call of the panic hook, whose reports would only hide what matters.
    pub fn go_off(self) -> ! {
        resume_unwind(self.payload())
    }

    /// What the panic throws.
    pub fn payload(self) -> Box<dyn Any + Send> {
        match self {
            Self::Plain => Box::new("a blast"),
            Self::Nested => Box::new(Nested(2)),
        }
    }
}

/// Panics when it is dropped, after it has dropped its token.
#[derive(Debug)]
pub struct Bomb {
    token: Option<Token>,
    blast: Blast,
}

impl Bomb {
    /// A bomb with a token of `drops`, whose panic has a message.
    pub fn new(drops: &Drops) -> Self {
        Self::of(Blast::Plain, drops)
    }

    /// A bomb with a token of `drops`, and with this kind of panic.
    pub fn of(blast: Blast, drops: &Drops) -> Self {
        Self { token: Some(drops.token()), blast }
    }
}

impl Drop for Bomb {
    fn drop(&mut self) {
        drop(self.token.take());
        self.blast.go_off();
    }
}

/// Runs a closure that may panic, with any payload. Returns whether it panicked.
pub fn survives(f: impl FnOnce()) -> bool {
    match catch_unwind(AssertUnwindSafe(f)) {
        Ok(()) => false,
        Err(payload) => {
            defuse(payload);
            true
        }
    }
}

/// Drops the payload of a panic, and the payloads of the panics that follow from that.
pub fn defuse(mut payload: Box<dyn Any + Send>) {
    while let Err(next) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        payload = next;
    }
}
