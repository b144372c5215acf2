//! What the owner of a runtime does with it: starts it, and ends it. For the facade's `Runtime` and `LocalRuntime`.

use std::future::{Future, poll_fn};
use std::io;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use super::handle::drive;
use super::{Config, Handle, Inner, Scheduler};
use crate::box_large::boxed_if_large;
use crate::clock::Clock;
use crate::context;
use crate::driver::DriverStack;
use crate::scheduler::{current, multi};
use crate::task::JoinHandle;

/// What to do instead of driving a runtime inside one.
const INSTEAD: &str = "Call it on a thread that drives nothing: in code that is not async, or in `spawn_blocking`";

/// An owner of a runtime: a type of the facade, for functions of this crate that take one.
pub trait Owned {
    /// The runtime.
    fn owned_handle(&self) -> &Handle;
}

/// What points at an owner is as good: where Tokio takes `&Runtime`, the compiler turns a reference to a pointer, or to
/// a `LazyLock`, into it.
impl<P: Deref<Target: Owned>> Owned for P {
    fn owned_handle(&self) -> &Handle {
        (**self).owned_handle()
    }
}

/// Starts a runtime. It runs until [`close`] is called, which must happen exactly once.
///
/// # Errors
///
/// If the operating system refuses a thread.
pub fn start(config: &Config, clock: Arc<Clock>, drivers: DriverStack) -> io::Result<Handle> {
    Inner::start(config, clock, drivers).map(Handle::new)
}

/// Starts a current-thread runtime that is bound to this thread.
///
/// # Safety
///
/// [`close`] is called on this thread: that is where the runtime's `!Send` futures may be dropped.
///
/// # Errors
///
/// As [`start`].
pub unsafe fn start_local(mut config: Config, clock: Arc<Clock>, drivers: DriverStack) -> io::Result<Handle> {
    config.local = true;
    start(&config, clock, drivers)
}

/// Begins the shutdown: no new tasks, and an end to the living ones.
pub fn close(handle: &Handle) {
    handle.inner.close();
}

/// Waits until the shutdown is over, for `limit` at most. Returns whether it is over.
pub fn wait_closed(handle: &Handle, limit: Option<Duration>) -> bool {
    handle.inner.wait_closed(limit)
}

/// Has the runtime run until all its tasks have ended: drives it, or waits for its workers.
///
/// # Panics
///
/// If the thread is inside a runtime.
#[track_caller]
pub fn run(handle: &Handle) {
    let inner = &handle.inner;
    let mut wait = inner.ends.wait();
    drive("run", INSTEAD, inner, || {
        let ended = poll_fn(|cx| wait.poll(cx, || inner.have_all_ended()));
        match &inner.scheduler {
            Scheduler::Multi(_) => multi::block_on(inner, ended),
            Scheduler::Current(_) => current::block_on(inner, ended),
        }
    });
}

/// Polls one task of a current-thread runtime, if one is ready and no other thread drives it.
///
/// # Panics
///
/// If the thread is inside a runtime, or this one has workers.
#[track_caller]
pub fn try_tick(handle: &Handle) -> bool {
    drive("try_tick", INSTEAD, current_thread("try_tick", handle), || current::try_tick(&handle.inner))
}

/// Polls tasks of a current-thread runtime until none is ready, unless another thread drives it. Returns the number of
/// polls.
///
/// # Panics
///
/// As [`try_tick`].
#[track_caller]
pub fn run_until_stalled(handle: &Handle) -> usize {
    drive("run_until_stalled", INSTEAD, current_thread("run_until_stalled", handle), || {
        current::run_until_stalled(&handle.inner)
    })
}

#[track_caller]
fn current_thread<'a>(what: &str, handle: &'a Handle) -> &'a Arc<Inner> {
    assert!(
        matches!(handle.inner.scheduler, Scheduler::Current(_)),
        "`{what}` needs a current-thread runtime, which its caller drives step by step: on this one, worker threads \
         poll the tasks all by themselves. Build it with `Builder::new_current_thread`, or wait with `run` or `block_on`"
    );
    &handle.inner
}

/// Whether this thread drives a future or a worker, so that waiting for a shutdown would block one.
pub fn is_entered() -> bool {
    context::is_entered()
}

/// Spawns a task that stays on this thread, onto a runtime that is bound to it.
///
/// # Panics
///
/// If the runtime is not, or has been closed.
#[track_caller]
pub fn spawn_local<F>(handle: &Handle, future: F) -> JoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    boxed_if_large!(future: F, Box::pin => {
        if let Scheduler::Current(shared) = &handle.inner.scheduler
            && let Ok(task) = shared.spawn_local(&handle.inner, future, Handle::info::<F>(None))
        {
            return task;
        }
    });
    panic!("a local task can be spawned only onto a living runtime that is bound to this thread");
}
