//! What an operation leaves behind when its future is dropped before it is done.
//!
//! Each test polls an operation once, finds that it waits, drops it as a `select!` would, and then shows that nothing
//! is missing: by calling the operation again, or by what the other side gets. `docs/cancel-safety.md` names the test
//! of each operation; [`table`] checks that those tests exist.
//!
//! Mutations that these tests are for: a future that takes a message, a connection or a permit and is then dropped
//! with it; a waiter that stays in its line; a wake that is spent on a future that is gone.

mod files;
#[cfg(unix)]
mod net;
mod sync;
#[cfg(unix)]
mod system;
mod table;
mod tasks;
mod time;

use std::future::Future;
use std::pin::pin;

use rt_test_util::{on_each_runtime, poll_once, watchdog};

/// Polls an operation once, which must find that it has to wait, and drops it. Only for what nobody else can end
/// meanwhile: no other thread, and not the kernel.
#[track_caller]
fn give_up<F: Future>(operation: F) -> impl Future<Output = ()> {
    let caller = std::panic::Location::caller();
    async move {
        let mut operation = pin!(operation);
        assert!(poll_once(operation.as_mut()).await.is_pending(), "{caller}: it did not wait");
    }
}

/// Polls an operation once, and drops it. For what the blocking pool or the kernel does, which may be done by then.
async fn begin<F: Future>(operation: F) {
    let _ = poll_once(pin!(operation)).await;
}

/// Runs the test in `block_on` of each kind of runtime.
fn on_each<F: Future<Output = ()>>(test: impl Fn() -> F) {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| runtime.block_on(test()));
}
