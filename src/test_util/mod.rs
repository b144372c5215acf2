//! Help for tests: futures polled by hand, streams that follow a script, and assertions.
//!
//! - [`task::spawn`] polls a future step by step, and tells whether it was woken;
//! - [`io::Builder`] makes a stream that gives and expects what a test says;
//! - [`block_on`] runs a future to its end;
//! - [`assert_ready!`], [`assert_pending!`] and their siblings look at a [`Poll`](std::task::Poll), [`assert_ok!`] and
//!   [`assert_err!`] at a [`Result`], [`assert_elapsed!`] at the clock.
//!
//! The names are those of the crate `tokio-test`. What it has for its trait `Stream` is not here, as that trait is not.
//! A clock that stands still is in [`time::pause`](crate::time::pause).
//!
//! # Example
//!
//! ```
//! use rt::sync::oneshot;
//! use rt::test_util::{assert_pending, assert_ready_eq, task};
//!
//! let (tx, rx) = oneshot::channel();
//! let mut receive = task::spawn(rx);
//! assert_pending!(receive.poll());
//! assert!(!receive.is_woken());
//!
//! tx.send(5).unwrap();
//! assert!(receive.is_woken());
//! assert_ready_eq!(receive.poll(), Ok(5));
//! ```

pub mod io;
mod macros;
pub mod task;

#[doc(inline)]
pub use crate::{
    __rt_assert_elapsed as assert_elapsed, __rt_assert_err as assert_err, __rt_assert_ok as assert_ok,
    __rt_assert_pending as assert_pending, __rt_assert_ready as assert_ready, __rt_assert_ready_eq as assert_ready_eq,
    __rt_assert_ready_err as assert_ready_err, __rt_assert_ready_ok as assert_ready_ok,
};

use crate::runtime::Builder;

/// Runs a future to its end, on a current-thread runtime of its own with all drivers.
///
/// # Panics
///
/// If the thread is inside a runtime, or the system refuses a new one. Panics of the future are passed on.
///
/// # Example
///
/// ```
/// let n = rt::test_util::block_on(async {
///     rt::task::yield_now().await;
///     4
/// });
/// assert_eq!(n, 4);
/// ```
#[track_caller]
pub fn block_on<F: Future>(future: F) -> F::Output {
    Builder::new_current_thread().enable_all().build().expect("a runtime can be made").block_on(future)
}
