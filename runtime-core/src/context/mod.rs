//! What the current thread is to which runtime: the thread-local part of the runtime. (Which task it polls, and with
//! which budget, is a layer below: `task/current.rs`.)
//!
//! One small structure of plain cells, so that reading it is one access to thread-local storage with no check for
//! initialisation or destruction. The schedulers write it; [`spawn`](crate::spawn()), wakers and the sibling crates'
//! types read it.
//!
//! The pointer to the current runtime is backed by a count of it on the stack of those that the thread has entered
//! (`entered.rs`).

mod entered;
mod worker_token;

use std::cell::Cell;
use std::fmt;
use std::ptr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use self::entered::Entered;
pub(crate) use self::entered::{MainFuture, RuntimeGuard, UserGuard};
pub use self::worker_token::WorkerToken;
use crate::clock::Clock;
use crate::driver::{BoxedSleep, KnownService, Service};
use crate::primitive::thread_local;
use crate::rng::Stream;
pub use crate::runtime::Flavor;
use crate::runtime::Inner;
use crate::scheduler::ThreadRole;
use crate::task::current::Above;

struct Context {
    /// The runtime that `spawn` and the rest refer to; null for none. The topmost in force of those entered, which has
    /// a count of it.
    runtime: Cell<*const Inner>,
    entered: Entered,
    /// What this thread is to a scheduler.
    role: Cell<ThreadRole>,
    /// Which worker of the current runtime it is: what follows from the two above, kept because it is asked with every
    /// timer.
    worker_token: Cell<Option<WorkerToken>>,
    /// Whether the thread is inside `block_on` or is a worker: it must not block on another future.
    is_driving: Cell<bool>,
    /// Random numbers for a thread that has none of a runtime.
    random: Stream,
}

thread_local! {
    static CONTEXT: Context = Context {
        runtime: Cell::new(ptr::null()),
        entered: Entered::new(),
        role: Cell::new(ThreadRole::External),
        worker_token: Cell::new(None),
        is_driving: Cell::new(false),
        random: Stream::fixed(),
    };
}

/// What `task/` asks of this layer.
static ABOVE: Above = Above { end_frame: entered::end_frame, count_budget_yield: || role().count_budget_yield() };

impl Context {
    /// Makes another runtime the current one, which is on the stack.
    fn set_runtime(&self, runtime: *const Inner) {
        if self.runtime.replace(runtime) != runtime {
            self.update_worker_token();
        }
    }

    fn replace_role(&self, role: ThreadRole) -> ThreadRole {
        let before = self.role.replace(role);
        self.update_worker_token();
        before
    }

    fn update_worker_token(&self) {
        self.worker_token.set(self.with_runtime(|runtime| WorkerToken::of(runtime, self.role.get())).flatten());
    }

    /// Calls the closure with the current runtime. The closure must not run user code: that could make another runtime
    /// the current one, and let go of this one.
    #[inline]
    fn with_runtime<R>(&self, f: impl FnOnce(&Inner) -> R) -> Option<R> {
        // SAFETY: the stack has a count of it, and while the closure runs nobody changes that.
        unsafe { self.runtime.get().as_ref() }.map(f)
    }
}

/// What the current thread lacks for what it wants to do. Its text is a whole sentence, fit for a panic message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// No runtime.
    Runtime,
    /// A runtime, but one without the I/O driver.
    Io,
    /// A runtime, but one without the timer driver.
    Time,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Runtime => {
                // Programs look for "no reactor running", which is what Tokio says.
                "there is no reactor running on this thread, for it is in no rt runtime: call this from a task, inside \
                 `Runtime::block_on`, or while holding the guard of `Handle::enter`"
            }
            Self::Io => {
                "this rt runtime has no I/O driver: build it with `Builder::enable_io` or `Builder::enable_all`"
            }
            Self::Time => {
                "this rt runtime has no timer driver: build it with `Builder::enable_time` or `Builder::enable_all`"
            }
        })
    }
}

impl std::error::Error for Missing {}

/// Calls the closure with the current runtime. The closure must not run user code.
#[inline]
pub(crate) fn with_runtime<R>(f: impl FnOnce(&Inner) -> R) -> Result<R, Missing> {
    CONTEXT.with(|context| context.with_runtime(f)).ok_or(Missing::Runtime)
}

/// Whether there is a current runtime, and its blocking pool is not closed.
pub fn takes_blocking_jobs() -> bool {
    with_runtime(|runtime| !runtime.blocking.is_closed()).unwrap_or(false)
}

#[inline]
fn with_service<T: Service, R>(
    missing: Missing,
    pick: impl FnOnce(&Inner) -> Option<&KnownService>,
    f: impl FnOnce(&Arc<T>) -> R,
) -> Result<R, Missing> {
    with_runtime(|runtime| {
        let service = pick(runtime).ok_or(missing)?;
        service.downcast_ref::<Arc<T>>().map(f).ok_or(missing)
    })?
}

/// Calls the closure with the current runtime's I/O service.
pub fn with_io<T: Service, R>(f: impl FnOnce(&Arc<T>) -> R) -> Result<R, Missing> {
    with_service(Missing::Io, |runtime| runtime.drivers.io.as_ref(), f)
}

/// Calls the closure with the current runtime's timer service.
#[inline]
pub fn with_time<T: Service, R>(f: impl FnOnce(&Arc<T>) -> R) -> Result<R, Missing> {
    with_service(Missing::Time, |runtime| runtime.drivers.time.as_ref(), f)
}

/// As [`with_time`], and tells which worker this thread is. For what is done too often to look twice.
#[inline]
pub fn with_time_here<T: Service, R>(f: impl FnOnce(&Arc<T>, Option<WorkerToken>) -> R) -> Result<R, Missing> {
    CONTEXT.with(|context| {
        let call = |runtime: &Inner| {
            let service = runtime.drivers.time.as_ref()?.downcast_ref::<Arc<T>>()?;
            Some(f(service, context.worker_token.get()))
        };
        context.with_runtime(call).ok_or(Missing::Runtime)?.ok_or(Missing::Time)
    })
}

/// Whether the current runtime has timers.
pub fn check_time() -> Result<(), Missing> {
    with_runtime(|runtime| runtime.drivers.time.as_ref().map(|_| ()).ok_or(Missing::Time))?
}

/// A timer of the current runtime, for crates that do not know the type of its timers.
pub fn sleep(duration: Duration) -> Result<BoxedSleep, Missing> {
    with_runtime(|runtime| runtime.drivers.time.as_ref().and_then(|time| time.sleep(duration)).ok_or(Missing::Time))?
}

/// Calls the closure with the current runtime's clock.
pub fn with_clock<R>(f: impl FnOnce(&Arc<Clock>) -> R) -> Result<R, Missing> {
    with_runtime(|runtime| f(&runtime.clock))
}

/// The time by the current runtime's clock; the operating system's outside of any runtime.
#[inline]
pub fn now() -> Instant {
    with_runtime(|runtime| runtime.clock.now()).unwrap_or_else(|_| Clock::real())
}

/// Which worker of the current runtime this thread is. `None` on threads that are not its workers, and on its spare
/// workers. Always below the [`slots`](crate::runtime::Config::slots) of the runtime's configuration.
#[inline]
pub fn worker_index() -> Option<usize> {
    own_role().index()
}

/// Whether the calling code is what is left of a poll whose runtime was shut down while it blocked in place. Its task
/// is dropped as soon as it returns: rather than fail, it should be pending.
pub fn is_core_revoked() -> bool {
    matches!(role(), ThreadRole::CoreRevoked(_))
}

/// Which kind of runtime the current one is.
pub fn flavor() -> Option<Flavor> {
    with_runtime(Inner::flavor).ok()
}

/// A random number below `n`, which is not zero: from the current runtime's seeded generator; on a thread that has no
/// part in it, from one that is the same for each thread. (Numbers in turn would not do: a loop with several `select!`s
/// may draw as many in each round as a `select!` has branches.)
pub fn random_below(n: u32) -> u32 {
    own_role().random_below(n).unwrap_or_else(|| CONTEXT.with(|context| context.random.below(n)))
}

#[inline]
pub(crate) fn role() -> ThreadRole {
    CONTEXT.with(|context| context.role.get())
}

/// The thread's role, if it is one at the current runtime, which is not so while another runtime has been entered.
#[inline]
pub(crate) fn own_role() -> ThreadRole {
    CONTEXT.with(|context| {
        let role = context.role.get();
        let is_its_own = context.with_runtime(|runtime| role.is_of(runtime));
        if is_its_own == Some(true) { role } else { ThreadRole::External }
    })
}

/// Whether the thread is inside `block_on`, or is a worker.
pub(crate) fn is_entered() -> bool {
    CONTEXT.with(|context| context.is_driving.get())
}

/// Marks the thread as one that drives futures until the guard is dropped. `None` if it is one already.
pub(crate) fn try_enter() -> Option<impl Drop> {
    struct Leave;
    impl Drop for Leave {
        fn drop(&mut self) {
            CONTEXT.with(|context| context.is_driving.set(false));
        }
    }
    CONTEXT.with(|context| if context.is_driving.replace(true) { None } else { Some(Leave) })
}

/// Lets the thread block on futures, until the guard is dropped, if it may not do so now.
pub(crate) fn leave_for_a_while() -> impl Drop {
    struct Return(bool);
    impl Drop for Return {
        fn drop(&mut self) {
            CONTEXT.with(|context| context.is_driving.set(self.0));
        }
    }
    Return(CONTEXT.with(|context| context.is_driving.replace(false)))
}

/// Gives the thread a role at a scheduler until the guard is dropped.
pub(crate) fn take_role(role: ThreadRole) -> impl Drop {
    struct Restore(ThreadRole);
    impl Drop for Restore {
        fn drop(&mut self) {
            CONTEXT.with(|context| context.replace_role(self.0));
        }
    }
    Restore(CONTEXT.with(|context| context.replace_role(role)))
}

/// A number that differs, most likely, from thread to thread: to spread threads over shards.
pub(crate) fn thread_token() -> usize {
    // Thread-local storage lies at regular distances; the multiplication spreads them over the upper bits (Fibonacci
    // hashing, Knuth 6.4).
    CONTEXT.with(|context| ptr::from_ref(context).addr().wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as usize) >> 16)
}

/// The current runtime, counted.
pub(crate) fn current() -> Option<Arc<Inner>> {
    CONTEXT.with(|context| {
        let runtime = context.runtime.get();
        if runtime.is_null() {
            return None;
        }
        // SAFETY: the stack has a count of it, and the pointer from its `Arc`. What is made here has another one.
        unsafe {
            Arc::increment_strong_count(runtime);
            Some(Arc::from_raw(runtime))
        }
    })
}
