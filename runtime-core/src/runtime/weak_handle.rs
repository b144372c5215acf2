//! [`WeakHandle`]: a runtime, for an observer that must not keep it.

use std::fmt;
use std::sync::{Arc, Weak};

use super::{Handle, Inner};

/// A reference to a runtime that keeps nothing of it alive. Made by [`Handle::downgrade`].
///
/// For what observes runtimes for longer than they may live: a table of all of them, an exporter of metrics.
///
/// # Example
///
/// ```
/// let runtime = rt::runtime::Runtime::new().unwrap();
/// let weak = runtime.handle().downgrade();
/// assert_eq!(weak.upgrade().unwrap().id(), runtime.handle().id());
/// drop(runtime);
/// assert!(weak.upgrade().is_none());
/// ```
#[derive(Clone)]
pub struct WeakHandle {
    inner: Weak<Inner>,
}

impl Handle {
    /// A reference to the same runtime that does not keep it in memory.
    pub fn downgrade(&self) -> WeakHandle {
        WeakHandle { inner: Arc::downgrade(&self.inner) }
    }
}

impl WeakHandle {
    /// The runtime, if any of it is left: its owner, a handle, or a task.
    pub fn upgrade(&self) -> Option<Handle> {
        self.inner.upgrade().map(Handle::new)
    }
}

impl fmt::Debug for WeakHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WeakHandle").finish_non_exhaustive()
    }
}
