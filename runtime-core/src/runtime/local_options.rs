//! [`LocalOptions`]: what can be said of a local runtime beyond what the builder says of any.

use std::marker::PhantomData;

/// Options of a `LocalRuntime`, for `Builder::build_local`. There are none yet.
///
/// # Example
///
/// ```
/// use rt::runtime::{Builder, LocalOptions};
/// let runtime = Builder::new_current_thread().build_local(LocalOptions::default()).unwrap();
/// # runtime.block_on(async {});
/// ```
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct LocalOptions {
    /// Options to come may be for the thread that has them alone.
    _local: PhantomData<*const ()>,
}
