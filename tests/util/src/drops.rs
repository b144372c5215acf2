//! Values that count their drops.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;

/// Counts the drops of its tokens. The clones share one count.
#[derive(Clone, Debug, Default)]
pub struct Drops {
    made: Arc<AtomicUsize>,
    dropped: Arc<AtomicUsize>,
}

impl Drops {
    /// No tokens yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes a token.
    pub fn token(&self) -> Token {
        self.made.fetch_add(1, SeqCst);
        // A box, so that a second drop of the same token is a double free too, which sanitizers see.
        Token { drops: self.clone(), alive: Box::new(true) }
    }

    /// How many tokens have been dropped.
    pub fn count(&self) -> usize {
        self.dropped.load(SeqCst)
    }

    /// Asserts that every token was dropped once. (A token that is dropped twice also panics.)
    #[track_caller]
    pub fn assert_all(&self) {
        assert_eq!(self.count(), self.made.load(SeqCst), "drops, and tokens made");
    }
}

/// Tells its [`Drops`] when it is dropped.
#[derive(Debug)]
pub struct Token {
    drops: Drops,
    alive: Box<bool>,
}

impl Drop for Token {
    fn drop(&mut self) {
        assert!(std::mem::replace(&mut *self.alive, false), "dropped twice");
        self.drops.dropped.fetch_add(1, SeqCst);
    }
}
