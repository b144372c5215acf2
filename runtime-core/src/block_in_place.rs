//! [`block_in_place`].

use crate::context;
use crate::scheduler::ThreadRole;
use crate::scheduler::multi::outside;

/// Runs code that blocks, on the current thread, and has another thread look after the other tasks meanwhile.
///
/// On a worker of a multi-thread runtime, what is queued on that worker is taken over by the others; if all of them are
/// busy blocking too, by a *spare worker*, a thread that is started for the purpose, or kept from the last time (up to
/// `Builder::max_spare_workers`). The closure can borrow from the task, which one for
/// [`spawn_blocking`](crate::spawn_blocking) cannot, and it may block on futures with `Handle::block_on`. In exchange
/// the whole task stands still: also other branches of a `join!` or `select!` it is in.
///
/// In `block_on`, on the blocking pool, and outside of any runtime, where nobody is held up, it just runs the
/// closure. So it does between two polls, where a worker calls a hook or a waker of other code's making, though the
/// worker is held up then.
///
/// # Panics
///
/// On the thread that drives a current-thread runtime: nobody else could run its tasks. Panics of the closure are
/// passed on.
///
/// # Example
///
/// ```
/// # rt::runtime::Runtime::new().unwrap().block_on(async { rt::spawn(async {
/// let mut lines = vec!["b", "a"];
/// // Borrows `lines`, and may take its time.
/// rt::task::block_in_place(|| lines.sort());
/// assert_eq!(lines, ["a", "b"]);
/// # }).await.unwrap() });
/// ```
#[track_caller]
pub fn block_in_place<F, R>(f: F) -> R
where
    F: FnOnce() -> R,
{
    match context::role() {
        ThreadRole::Multi(worker) => worker.with(|worker| worker.block_in_place(f)),
        ThreadRole::Current(_) => panic!(
            "`block_in_place` was called on the thread of a current-thread runtime, which has no other to run its \
             tasks: use `spawn_blocking`, or a multi-thread runtime"
        ),
        ThreadRole::CoreRevoked(runtime) => {
            // What is waited for in here must fail, not be pending for ever.
            let _place = context::take_role(ThreadRole::BlockingInPlace(runtime));
            outside(f)
        }
        ThreadRole::External | ThreadRole::BlockingPool(_) | ThreadRole::BlockingInPlace(_) => outside(f),
    }
}
