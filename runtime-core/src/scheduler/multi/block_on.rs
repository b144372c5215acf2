//! `block_on`: the calling thread polls its future, and nothing else.
//!
//! Most programs' main future runs here, and what it spawns should cost what it costs on a worker. So the caller takes
//! one of a few spare cores, and is a *`block_on` thread*: it spawns into an arena of its own, without a lock, and
//! draws identifiers from its own block. But the tasks go to the injector, where the workers come by, for a `block_on`
//! thread runs no tasks. It could, while its future waits, and that would be many times faster than having a worker do
//! it. But a task that blocks would then hold up a future that no other thread can poll for it, even for ever, if it is
//! that future the task is waiting for. On a worker a blocking task harms only itself, and so it must be here.
//!
//! A `block_on` thread is not woken for work and does not attend the drivers, for the same reason: it may be busy with
//! its own future. Before it sleeps it spins a little (`spin.rs`): what it waits for is often done in less time than it
//! takes to fall asleep and be woken.
//!
//! A thread of the blocking pool mostly waits for a single thing, a read say, on behalf of synchronous code, again and
//! again, and mostly that is ready. So it takes a core only if the first poll is not the last. In that poll it spawns
//! like any remote thread.
//!
//! A caller that finds no spare core, or whose runtime is shut down meanwhile, spawns like any remote thread.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use super::{Multi, Worker};
use crate::context::{self, MainFuture};
use crate::runtime::Inner;
use crate::scheduler::main_waker::{Caller, MainWaker};
use crate::scheduler::{AnyWorker, ThreadRole, work_as};
use crate::task::current;

/// Drives a future to its end on the calling thread. The caller has entered the runtime's context.
pub(crate) fn block_on<F: Future>(runtime: &Arc<Inner>, future: F) -> F::Output {
    let mut future = pin!(future);
    // Dropped after its waker.
    let caller = Caller::new();
    let main = caller.main();
    let waker = Waker::from(Arc::clone(main));
    let in_context = MainFuture::new();
    let mut poll = || {
        let _context = in_context.begin_poll();
        let _budget = current::begin_main_poll(&waker, runtime.budget);
        future.as_mut().poll(&mut Context::from_waker(&waker))
    };
    if matches!(context::role(), ThreadRole::BlockingPool(_))
        && main.take()
        && let Poll::Ready(output) = poll()
    {
        return output;
    }
    let shared = Multi::shared(runtime);
    if let Some(core) = shared.cores.take_for_block_on() {
        caller.settle(runtime, core.index);
        // Dropped on the way out, also when the future panics: the core goes back.
        let thread = BlockOnThread { worker: Some(Worker::new(Arc::clone(runtime), core)) };
        if let Poll::Ready(output) = thread.run(main, &mut poll) {
            return output;
        }
    }
    loop {
        if main.take() {
            if let Poll::Ready(output) = poll() {
                return output;
            }
        } else {
            caller.parker().park();
        }
    }
}

/// A caller of `block_on` with a core.
struct BlockOnThread {
    worker: Option<Worker>,
}

impl BlockOnThread {
    fn worker(&self) -> &Worker {
        self.worker.as_ref().expect("taken only by drop")
    }

    /// Until the future is done, or the runtime closes (`Pending`).
    fn run<T>(&self, main: &MainWaker, poll: &mut impl FnMut() -> Poll<T>) -> Poll<T> {
        work_as(AnyWorker::Multi(self.worker()), || self.run_at_work(main, poll))
    }

    fn run_at_work<T>(&self, main: &MainWaker, poll: &mut impl FnMut() -> Poll<T>) -> Poll<T> {
        let worker = self.worker();
        while !worker.shared().is_closing() {
            if main.take() {
                let polled = poll();
                if polled.is_ready() || worker.is_core_revoked() {
                    return polled;
                }
            }
            worker.exchange_frees();
            worker.wait_in_block_on(|| main.is_woken());
        }
        Poll::Pending
    }
}

impl Drop for BlockOnThread {
    fn drop(&mut self) {
        let (runtime, core) = self.worker.take().expect("dropped once").into_parts();
        let shared = Multi::shared(&runtime);
        match core {
            Some(core) => shared.leave(&runtime, core),
            None => shared.cores.leave_without_core(),
        }
    }
}
