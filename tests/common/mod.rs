//! What the whole-program tests share: a watchdog, things that count their drops, and ways to wait without sleeping.
//!
//! Tests say what must happen, in which order and how often; none says how fast. A test that waits for something that
//! never comes is ended by its [`watchdog`], which is the only clock in here.

#![allow(dead_code)] // each test binary uses its part

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::io::Write as _;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{Acquire, Release, SeqCst};
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

// Not std's: ThreadSanitizer sees how these hand things over, and std's only while nobody waits for them.
use parking_lot::{Condvar, Mutex};
use rt::runtime::{Builder, Runtime};

/// How long a whole test may take. Far more than any needs on a loaded machine: it only ends tests that hang.
const LIMIT: Duration = Duration::from_secs(100);

/// Aborts the process, with a message, should the test not end. Keep it in a variable that is dropped last.
#[track_caller]
#[must_use = "the watch ends when this is dropped"]
pub(crate) fn watchdog() -> Watchdog {
    let test = thread::current().name().unwrap_or("a test").to_owned();
    let at = Location::caller();
    let (alive, dropped) = mpsc::channel();
    thread::Builder::new()
        .name("watchdog".into())
        .spawn(move || {
            if dropped.recv_timeout(LIMIT) == Err(mpsc::RecvTimeoutError::Timeout) {
                // By a thread that is not waited for long: what hangs may be stderr. (Not `eprintln!`, which the test harness
                // would keep to itself.)
                let (said, is_said) = mpsc::channel::<()>();
                thread::spawn(move || {
                    let _ = writeln!(std::io::stderr(), "HANG: {test} ({at}) has not ended after {LIMIT:?}");
                    drop(said);
                });
                let _ = is_said.recv_timeout(Duration::from_secs(1));
                std::process::abort();
            }
        })
        .unwrap();
    Watchdog { _alive: alive }
}

pub(crate) struct Watchdog {
    _alive: mpsc::Sender<()>,
}

/// Waits until something is so that another thread sees to.
#[track_caller]
pub(crate) fn eventually(mut so: impl FnMut() -> bool) {
    while !so() {
        thread::yield_now();
    }
}

/// A stream that nobody reads, and that takes no more bytes; whoever writes to it blocks. With its other end, to be kept.
#[cfg(unix)]
pub(crate) fn full_stream() -> (std::os::fd::OwnedFd, impl Sized) {
    let (mut full, other_end) = std::os::unix::net::UnixStream::pair().unwrap();
    full.set_nonblocking(true).unwrap();
    let refused = loop {
        if let Err(error) = full.write(&[b'.'; 4096]) {
            break error.kind();
        }
    };
    assert_eq!(refused, std::io::ErrorKind::WouldBlock);
    full.set_nonblocking(false).unwrap();
    (full.into(), other_end)
}

/// How many processors there are, as the runtime counts them.
pub(crate) fn processors() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

/// A multi-thread runtime with so many workers, sockets and timers. It comes to no blocked worker's help with others:
/// many tests hold workers at a [`Gate`], and count on it that those are held. (What help there is, `tests/blocked` tests.)
pub(crate) fn multi(workers: usize) -> Runtime {
    Builder::new_multi_thread().worker_threads(workers).enable_all().rescue_blocked(false).build().unwrap()
}

/// A current-thread runtime with sockets and timers.
pub(crate) fn current() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

/// Runs a test on the kinds of runtime that there are: one thread, one worker, several workers, and what the
/// environment asks for.
pub(crate) fn on_each_runtime(test: impl Fn(Runtime)) {
    test(current());
    test(multi(1));
    test(multi(2));
    test(multi(4));
    test(Runtime::new().unwrap());
}

/// As [`thread::scope`], which this is, but for one thing: ThreadSanitizer sees that the threads have ended. (std waits for
/// them in a part that is not instrumented.)
pub(crate) fn scope<'env, T>(run: impl for<'scope> FnOnce(Scope<'scope, 'env>) -> T) -> T {
    let ended = Arc::new(AtomicUsize::new(0));
    let result = thread::scope(|scope| run(Scope { scope, ended: Arc::clone(&ended) }));
    ended.load(Acquire);
    result
}

/// See [`scope`].
pub(crate) struct Scope<'scope, 'env> {
    scope: &'scope thread::Scope<'scope, 'env>,
    ended: Arc<AtomicUsize>,
}

impl<'scope> Scope<'scope, '_> {
    pub(crate) fn spawn<T: Send + 'scope>(
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

/// Counts the drops of its tokens.
#[derive(Clone, Default)]
pub(crate) struct Drops {
    made: Arc<AtomicUsize>,
    dropped: Arc<AtomicUsize>,
}

impl Drops {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn token(&self) -> Token {
        self.made.fetch_add(1, SeqCst);
        // A box, so that a second drop of the same token is a double free too, which sanitizers see.
        Token { drops: self.clone(), alive: Box::new(true) }
    }

    pub(crate) fn count(&self) -> usize {
        self.dropped.load(SeqCst)
    }

    /// Every token was dropped once. (Twice is counted too, and a token that is dropped twice says so itself.)
    #[track_caller]
    pub(crate) fn assert_all(&self) {
        assert_eq!(self.count(), self.made.load(SeqCst), "drops, and tokens made");
    }
}

/// See [`Drops`].
pub(crate) struct Token {
    drops: Drops,
    alive: Box<bool>,
}

impl Drop for Token {
    fn drop(&mut self) {
        assert!(std::mem::replace(&mut *self.alive, false), "dropped twice");
        self.drops.dropped.fetch_add(1, SeqCst);
    }
}

/// A gate that threads block at until it is opened.
#[derive(Clone, Default)]
pub(crate) struct Gate(Arc<(Mutex<GateState>, Condvar)>);

#[derive(Default)]
struct GateState {
    open: bool,
    arrived: usize,
}

impl Gate {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Blocks the thread until the gate is open.
    pub(crate) fn pass(&self) {
        let (state, changed) = &*self.0;
        let mut state = state.lock();
        state.arrived += 1;
        changed.notify_all();
        while !state.open {
            changed.wait(&mut state);
        }
    }

    pub(crate) fn open(&self) {
        let (state, changed) = &*self.0;
        state.lock().open = true;
        changed.notify_all();
    }

    /// Blocks the thread until so many others have come to the gate.
    pub(crate) fn wait_for(&self, others: usize) {
        let (state, changed) = &*self.0;
        let mut state = state.lock();
        while state.arrived < others {
            changed.wait(&mut state);
        }
    }
}

/// A gate for tasks: they wait for it without blocking a thread. Not of rt, so that tests of rt do not rest on it.
#[derive(Clone, Default)]
pub(crate) struct Signal(Arc<Mutex<SignalState>>);

#[derive(Default)]
struct SignalState {
    set: bool,
    wakers: Vec<Waker>,
}

impl Signal {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn set(&self) {
        let wakers = {
            let mut state = self.0.lock();
            state.set = true;
            std::mem::take(&mut state.wakers)
        };
        wakers.into_iter().for_each(Waker::wake);
    }

    pub(crate) fn is_set(&self) -> bool {
        self.0.lock().set
    }

    /// How many are waiting (a task that polls twice counts twice).
    pub(crate) fn waiters(&self) -> usize {
        self.0.lock().wakers.len()
    }

    pub(crate) async fn wait(&self) {
        poll_fn(|cx| {
            let mut state = self.0.lock();
            if state.set {
                return Poll::Ready(());
            }
            state.wakers.push(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }
}

/// An unbounded channel for tasks and threads, likewise not of rt.
pub(crate) struct Channel<T>(Arc<Mutex<ChannelState<T>>>);

struct ChannelState<T> {
    items: VecDeque<T>,
    receiver: Option<Waker>,
}

impl<T> Clone for Channel<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Channel<T> {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Mutex::new(ChannelState { items: VecDeque::new(), receiver: None })))
    }

    pub(crate) fn send(&self, item: T) {
        let receiver = {
            let mut state = self.0.lock();
            state.items.push_back(item);
            state.receiver.take()
        };
        if let Some(waker) = receiver {
            waker.wake();
        }
    }

    pub(crate) async fn receive(&self) -> T {
        poll_fn(|cx| {
            let mut state = self.0.lock();
            if let Some(item) = state.items.pop_front() {
                return Poll::Ready(item);
            }
            state.receiver = Some(cx.waker().clone());
            Poll::Pending
        })
        .await
    }
}

/// Is pending once, and woken at once: yields as a foreign library would.
pub(crate) async fn yield_by_hand() {
    let mut yielded = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// What a panic said, and where.
#[derive(Debug)]
pub(crate) struct Caught {
    pub(crate) message: String,
    pub(crate) file: String,
    pub(crate) line: u32,
}

thread_local! {
    static LAST_PANIC: std::cell::RefCell<Option<(String, u32)>> = const { std::cell::RefCell::new(None) };
}

/// Runs a closure that must panic.
#[track_caller]
pub(crate) fn catch<R>(f: impl FnOnce() -> R) -> Caught {
    static HOOK: std::sync::Once = std::sync::Once::new();
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let at = info.location().map(|at| (at.file().to_owned(), at.line()));
            LAST_PANIC.with(|last| *last.borrow_mut() = at);
            before(info);
        }));
    });
    let payload = match catch_unwind(AssertUnwindSafe(f)) {
        Ok(_) => panic!("there was no panic"),
        Err(payload) => payload,
    };
    let (file, line) = LAST_PANIC.with(|last| last.borrow_mut().take()).expect("the hook saw the panic");
    Caught { message: message_of(&*payload), file, line }
}

/// What a panic's payload says.
pub(crate) fn message_of(payload: &(dyn std::any::Any + Send)) -> String {
    match payload.downcast_ref::<&str>() {
        Some(text) => (*text).to_owned(),
        None => payload.downcast_ref::<String>().cloned().unwrap_or_default(),
    }
}

/// Random numbers that are the same each time (xorshift).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % n
    }
}

/// Polls a pinned future once.
pub(crate) async fn poll_once<F: Future>(mut future: Pin<&mut F>) -> Poll<F::Output> {
    poll_fn(|cx: &mut Context<'_>| Poll::Ready(future.as_mut().poll(cx))).await
}
