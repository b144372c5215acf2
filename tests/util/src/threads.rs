//! How threads wait for each other.

// Nobody is forked here while a thread waits.
#![allow(clippy::disallowed_types)]

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::thread;

use parking_lot::{Condvar, Mutex};

/// More than an address space has room for: the operating system refuses such a thread.
pub const IMPOSSIBLE_STACK: usize = (usize::MAX / 16 * 13) & !0xffff;

/// Waits until a condition holds that another thread brings about. Yields the processor meanwhile.
#[track_caller]
pub fn eventually(mut condition: impl FnMut() -> bool) {
    while !condition() {
        thread::yield_now();
    }
}

/// [`thread::scope`], with the one difference that ThreadSanitizer sees that the threads have ended. (std waits for
/// them in a part that is not instrumented.)
pub fn scope<'env, T>(run: impl for<'scope> FnOnce(Scope<'scope, 'env>) -> T) -> T {
    let ended = Arc::new(AtomicUsize::new(0));
    let result = thread::scope(|scope| run(Scope { scope, ended: Arc::clone(&ended) }));
    ended.load(Acquire);
    result
}

/// See [`scope`].
#[derive(Debug)]
pub struct Scope<'scope, 'env> {
    scope: &'scope thread::Scope<'scope, 'env>,
    ended: Arc<AtomicUsize>,
}

impl<'scope> Scope<'scope, '_> {
    /// As [`thread::Scope::spawn`].
    pub fn spawn<T: Send + 'scope>(
        &self,
        run: impl FnOnce() -> T + Send + 'scope,
    ) -> thread::ScopedJoinHandle<'scope, T> {
        let ended = Arc::clone(&self.ended);
        self.scope.spawn(move || {
            let result = run();
            ended.fetch_add(1, Release);
            result
        })
    }
}

/// A gate at which threads block until it is opened. The clones of a gate are the same gate.
#[derive(Clone, Debug, Default)]
pub struct Gate(Arc<(Mutex<GateState>, Condvar)>);

#[derive(Debug, Default)]
struct GateState {
    open: bool,
    arrived: usize,
}

impl Gate {
    /// A closed gate.
    pub fn new() -> Self {
        Self::default()
    }

    /// Blocks the thread until the gate is open.
    pub fn pass(&self) {
        let (state, changed) = &*self.0;
        let mut state = state.lock();
        state.arrived += 1;
        changed.notify_all();
        while !state.open {
            changed.wait(&mut state);
        }
    }

    /// Opens the gate for good.
    pub fn open(&self) {
        let (state, changed) = &*self.0;
        state.lock().open = true;
        changed.notify_all();
    }

    /// How often [`pass`](Self::pass) has been called.
    pub fn arrived(&self) -> usize {
        self.0.0.lock().arrived
    }

    /// Blocks the thread until [`pass`](Self::pass) has been called `others` times in all.
    pub fn wait_for(&self, others: usize) {
        let (state, changed) = &*self.0;
        let mut state = state.lock();
        while state.arrived < others {
            changed.wait(&mut state);
        }
    }
}
