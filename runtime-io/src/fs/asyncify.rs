//! One blocking call as a future.

use std::io;

use crate::background::not_run;

/// Runs the closure on the blocking pool. If the future is dropped the call is made all the same, unless the runtime
/// shuts down before it has begun.
pub(super) async fn asyncify<F, T>(call: F) -> io::Result<T>
where
    F: FnOnce() -> io::Result<T> + Send + 'static,
    T: Send + 'static,
{
    match runtime_core::spawn_blocking(call).await {
        Ok(result) => result,
        Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
        Err(_) => Err(not_run()),
    }
}
