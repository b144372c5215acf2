//! [`UnhandledPanic`]: what a panic of a task means to the others.

/// What a runtime or a `LocalSet` does when one of its tasks panics. See `Builder::unhandled_panic`.
///
/// # Example
///
/// ```should_panic
/// use rt::runtime::{Builder, UnhandledPanic};
/// let runtime = Builder::new_current_thread().unhandled_panic(UnhandledPanic::ShutdownRuntime).build().unwrap();
/// runtime.block_on(async {
///     rt::spawn(async { panic!("a bug") });
///     std::future::pending::<()>().await
/// });
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnhandledPanic {
    /// The panic is in the task's `JoinHandle`, and the other tasks go on.
    #[default]
    Ignore,
    /// All other tasks are dropped at once, and the threads that drive the runtime or the set panic, even if
    /// somebody has the `JoinHandle`.
    ShutdownRuntime,
}
