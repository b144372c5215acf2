//! [`yield_now`].

use std::future::poll_fn;
use std::task::Poll;

use super::current::wake_in_poll;

/// Lets other tasks run: the calling task goes to the end of the line.
///
/// A task that yields is queued behind those that yielded before it, first in, first out. It goes on when what is
/// queued on its worker has been polled, and what that spawns and wakes. After 61 polls it takes turns with the others:
/// so it is not starved. A lone task that yields costs no system call.
///
/// On a current-thread runtime it stands in line, after 61 polls, behind what is queued by then. A task of a
/// [`LocalSet`](crate::LocalSet) gives way to the tasks of its thread that are not in the set, too.
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
        // The scheduler is told that the task gives way, and does not just wake itself.
        wake_in_poll(cx.waker());
        Poll::Pending
    })
    .await;
}
