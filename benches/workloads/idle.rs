//! What a runtime uses while nothing happens.

use std::thread;
use std::time::Duration;

use crate::{Handle, Listener, Runtime, Stream, Usage, on_worker, usage_of_other_threads};

/// By then whatever was started has gone to sleep.
const SETTLE: Duration = Duration::from_millis(300);
const WATCHED: Duration = Duration::from_secs(1);

/// A second of a runtime that has been used and has nothing to do: one task waits for a socket, one for a timer of an
/// hour, one for ever. The process must have no other threads that do anything, but the caller's, which sleeps, and is
/// not counted: so each runtime is watched in a process of its own.
///
/// Every wake-up costs some battery, and keeps a machine of a thousand idle processes busy. The best is none.
#[derive(Clone, Debug)]
pub struct Idle;

impl Idle {
    /// Starts a runtime, lets it settle, and watches it.
    pub fn watch<R: Runtime>(&self, workers: usize) -> Usage {
        let runtime = R::start(workers);
        let handle = runtime.handle();
        let ends = on_worker(&runtime, async move {
            let listener = R::Handle::listen().await?;
            let mut client = R::Handle::connect(listener.address()?).await?;
            let server = listener.accept().await?;
            R::Handle::sleep(Duration::from_millis(2)).await;
            handle.spawn_detached(async move {
                let _ = client.read(&mut [0]).await;
            });
            handle.spawn_detached(async { R::Handle::sleep(Duration::from_secs(3600)).await });
            handle.spawn_detached(std::future::pending());
            std::io::Result::Ok((listener, server))
        })
        .expect("loopback works");

        thread::sleep(SETTLE);
        let before = usage_of_other_threads();
        thread::sleep(WATCHED);
        let used = usage_of_other_threads().since(before);
        drop(ends);
        used
    }
}
