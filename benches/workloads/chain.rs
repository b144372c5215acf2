//! A task spawns a task that spawns a task, a thousand times.

use std::time::{Duration, Instant};

use futures_channel::oneshot;

use crate::{Handle, Runtime, Workload, on_worker};

const LINKS: u64 = 1000;

/// An operation is one link. Each task ends as soon as it has spawned the next, so there is one task to run at any
/// time: it measures spawning without joining, and whether a runtime sends idle workers after work that needs no help.
#[derive(Clone, Debug)]
pub struct Chain;

fn link<H: Handle>(handle: H, left: u64, done: oneshot::Sender<()>) {
    handle.spawn_detached(async move {
        if left == 0 {
            let _ = done.send(());
        } else {
            link(handle, left - 1, done);
        }
    });
}

impl Workload for Chain {
    fn name(&self) -> &'static str {
        "spawn/chain"
    }

    fn title(&self) -> &'static str {
        "spawn chain, a link"
    }

    fn operations(&self) -> u64 {
        LINKS
    }

    fn run<R: Runtime>(&self, runtime: &R, rounds: u64) -> Duration {
        let handle = runtime.handle();
        on_worker(runtime, async move {
            let start = Instant::now();
            for _ in 0..rounds {
                let (done, at_the_end) = oneshot::channel();
                link(handle, LINKS - 1, done);
                at_the_end.await.expect("the last link says so");
            }
            start.elapsed()
        })
    }
}
