//! What a runtime uses while nothing happens, or next to nothing.

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
/// Every wake-up costs some battery, and keeps a machine of a thousand idle processes busy. The best is none. So many
/// programs have a timer that ticks, for a heartbeat or a look at something, that the same is asked with one.
#[derive(Clone, Copy, Debug)]
pub struct Idle {
    /// How often a task's timer ticks.
    pub tick: Option<Duration>,
}

impl Idle {
    /// Nothing ticks.
    pub const STILL: Self = Self { tick: None };
    /// Ten times a second.
    pub const TENTHS: Self = Self { tick: Some(Duration::from_millis(100)) };
    /// A hundred times a second.
    pub const HUNDREDTHS: Self = Self { tick: Some(Duration::from_millis(10)) };

    /// Starts a runtime, lets it settle, and watches it.
    pub fn watch<R: Runtime>(&self, workers: usize) -> Usage {
        let runtime = R::start(workers);
        let handle = runtime.handle();
        let tick = self.tick;
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
            if let Some(tick) = tick {
                handle.spawn_detached(async move {
                    loop {
                        R::Handle::sleep(tick).await;
                    }
                });
            }
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
