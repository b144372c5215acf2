//! [`scope`]: tasks that end before the code that has spawned them goes on.
//!
//! `group.rs` has the protocol, `entry.rs` what a group knows of a child, `child.rs` what is around the future of a
//! child, `handle.rs` what spawns it. Programs use this as a part of `rt::task`. It must never lend anything to a task:
//! see [`scope`] for the reason.

mod child;
mod entry;
mod group;
mod handle;
#[cfg(all(test, loom))]
mod loom_tests;
#[cfg(all(test, not(loom)))]
mod tests;

use std::future::poll_fn;
use std::panic;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use self::child::{Failure, Shared, poll_in_place};
use self::group::Group;
pub use self::handle::Scope;

runtime_core::task_local! {
    /// The scope in whose body, or child, this is.
    static CURRENT: Arc<Group>;
}

/// Runs the body, which may spawn tasks into the scope, and ends when all these tasks have ended.
///
/// The tasks, called *children*, are real ones: they run on any worker, beside the body and each other. A child returns
/// a `Result`. Its value goes to its handle; awaiting that is a choice, and so is keeping it.
///
/// - If the body returns `Ok`, the scope waits for all children, and then returns that value.
/// - The first error, of the body or a child, ends the scope. The other children are aborted, the body is dropped where
///   it waits, and when all have ended, the error is returned. Errors that come after the first are dropped.
/// - A panic is treated like an error, and goes on in the caller of the scope when all children have ended.
///
/// A scope may be used in the body or in a child of another one. The inner scope's children are a matter of the outer
/// scope then, too: it does not end before they have ended. The inner one's token is a child of the outer one's.
///
/// A scope is in a child if it is first polled while the child is being polled, on the same thread. This holds, too,
/// for a scope in another task that the child polls, because it runs a [`LocalSet`](runtime_core::LocalSet) or another
/// executor.
///
/// # When children have ended
///
/// A child has ended when its future, and all that is in it, has been dropped. What its future has returned is not in
/// it. That is stored for its handle a moment later, or dropped by the worker if there is no handle any more. So when
/// the scope has returned, a handle may still say that its child is not finished, and the drop of such a value may
/// still be at work. To await the handle is to wait for the value.
///
/// - *The scope was awaited to its end*, whether it returned or panicked: all children have ended, and all closures on
///   the blocking pool have returned. The same holds for the children of scopes in it, however those ended.
/// - *The scope's future was dropped*: the body is dropped, all children are aborted, no further one is begun, and the
///   scope's token is cancelled. This cannot wait: a child that is being polled at that moment ends when that poll
///   ends, one that waits is dropped by a worker soon, and a closure on the blocking pool ends when it returns. If the
///   scope was inside of another one, that waits for them.
/// - *The scope's future was forgotten*, by [`std::mem::forget`] or a cycle of references: nothing is aborted, and the
///   children go on as if they had been spawned by themselves. A scope around it still waits for them.
///
/// A runtime that is shut down drops the children as it drops all tasks.
///
/// # Why children cannot borrow
///
/// All is sound in each of these cases because a child owns what it uses: its future is `'static`. If children could
/// borrow from the body's variables, all that would keep those in place is the drop of the scope's future, and that
/// need not happen: Rust calls it safe to forget a value. [`std::thread::scope`] does not have this problem, because it
/// returns to its caller only when the threads have ended; a future returns at each `await`.
///
/// Share with an [`Arc`], or move values into a child and get them back as its output. Futures that may run by turns,
/// in the one task that awaits them, can borrow: for these there are `rt::join!` and `rt::try_join!`, and in the crate
/// `futures` the sets `FuturesUnordered`.
///
/// # Cancel safety
///
/// Not cancel safe: what the children have done so far stays done, and what they returned is lost.
///
/// # Panics
///
/// With the first panic of the body or of a child.
///
/// # Example
///
/// ```
/// use rt::task::scope;
///
/// async fn fetch(n: u32) -> Result<u32, String> {
///     rt::task::yield_now().await;
///     if n < 10 { Ok(n * n) } else { Err(format!("there is no {n}")) }
/// }
///
/// # #[rt::main]
/// # async fn main() {
/// let sum = scope(async |s| {
///     let (a, b) = (s.spawn(fetch(3)), s.spawn(fetch(4)));
///     Ok(a.await.unwrap() + b.await.unwrap())
/// });
/// assert_eq!(sum.await, Ok(25));
///
/// let failed = scope(async |s| {
///     s.spawn(fetch(10));
///     s.spawn(std::future::pending::<Result<(), String>>()); // is aborted
///     Ok(())
/// });
/// assert_eq!(failed.await, Err("there is no 10".to_owned()));
/// # }
/// ```
pub async fn scope<T, E, F>(body: F) -> Result<T, E>
where
    F: AsyncFnOnce(Scope<E>) -> Result<T, E>,
{
    let group = Group::new(CURRENT.try_get().ok());
    let shared = Shared::new(group.clone());
    // Dropped last, if this future is dropped: nothing that the body does when it is dropped escapes it.
    let owner = Owner(group.clone());
    let handle = Scope::new(shared.clone());
    // The closure is called in a poll, so that a panic of it is one of the body.
    let mut body = pin!(Some(CURRENT.scope(group.clone(), async move { body(handle).await })));
    let output = poll_fn(|cx| {
        if group.poll_closed(cx.waker()).is_ready() {
            return Poll::Ready(None);
        }
        match poll_in_place(body.as_mut(), cx) {
            Ok(polled) => polled.map(Some),
            Err(payload) => {
                shared.note(Failure::Panic(payload));
                Poll::Ready(None)
            }
        }
    });
    let value = match output.await {
        Some(Ok(value)) => Some(value),
        Some(Err(error)) => {
            shared.note(Failure::Error(error));
            None
        }
        None => None,
    };
    shared.drop_in_place(body.as_mut());
    if value.is_none() {
        shared.close();
    }
    poll_fn(|cx| group.poll_empty(cx.waker())).await;
    drop(owner);
    match shared.take_failure() {
        None => Ok(value.expect("a scope without a value has failed")),
        Some(Failure::Error(error)) => Err(error),
        Some(Failure::Panic(payload)) => panic::resume_unwind(payload),
    }
}

/// Ends a scope whose future is dropped. When it has come to its end that does nothing.
struct Owner(Arc<Group>);

impl Drop for Owner {
    fn drop(&mut self) {
        self.0.abandon();
    }
}
