//! [`yield_now`].

use std::future::poll_fn;
use std::task::Poll;

use super::current::wake_in_poll;

/// Lets other tasks run: the calling task goes to the end of the line.
///
/// A task that yields is queued behind those that yielded before it, first in, first out. As
/// long as another task of the same worker can run, it does not go on at once; with many, some of them may have to wait
/// for their turn beyond it, but no longer than the scheduler's bound. A lone task that yields costs no system call.
///
/// On a current-thread runtime it goes on when what is queued has been polled, and what that spawns and wakes. After 61
/// polls it stands in line behind what is queued by then. A task of a [`LocalSet`](crate::LocalSet) gives way to the
/// tasks of its thread that are not in the set, too.
///
/// # Cancel safety
///
/// Cancel safe: dropping the future loses nothing.
///
/// # Example
///
/// ```
/// # rt::runtime::Runtime::new().unwrap().block_on(async {
/// for chunk in 0..10 {
///     // ... a stretch of computing ...
///     rt::task::yield_now().await;
/// }
/// # });
/// ```
pub async fn yield_now() {
    let mut yielded = false;
    poll_fn(|cx| {
        if yielded {
            return Poll::Ready(());
        }
        yielded = true;
        // The scheduler puts a task that wakes itself while it is polled on its FIFO queue.
        wake_in_poll(cx.waker());
        Poll::Pending
    })
    .await;
}
