//! [`RtExecutor`]: hyper's own futures as tasks.

use hyper::rt::Executor;

/// Spawns the futures that hyper has to have run beside a connection, for HTTP/2 for example.
///
/// # Panics
///
/// hyper calls it where a connection is polled. As [`rt::spawn`] it panics outside of a runtime of rt.
#[derive(Clone, Copy, Debug, Default)]
pub struct RtExecutor {
    _private: (),
}

impl RtExecutor {
    /// An executor for whichever runtime it is used in.
    pub fn new() -> Self {
        Self::default()
    }
}

impl<F> Executor<F> for RtExecutor
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    fn execute(&self, future: F) {
        // hyper does not ask for the output.
        drop(rt::spawn(future));
    }
}
