//! The threads of the scheduler: how workers, spare workers and the monitor are started, and what a thread does with
//! the core that it has. (`shutdown.rs` has their end.)

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;

use parking_lot::Mutex;

use super::{Core, Multi, Shared, Worker, new_worker, rescue};
use crate::blocked::ThreadId;
use crate::context::{self, RuntimeGuard};
use crate::fatal;
use crate::runtime::{Config, Inner, Thread};
use crate::scheduler::{AnyWorker, work_as};
use crate::task::current;

/// Starts the monitor and the workers.
pub(crate) fn start(runtime: &Arc<Inner>, config: &Config) -> std::io::Result<()> {
    let shared = Multi::shared(runtime);
    let for_monitor = Arc::clone(runtime);
    // The first to be joined: it may start others.
    shared.cores.add_thread(Thread::start(runtime.threads.monitor_builder(), move || rescue::run(&for_monitor))?);
    for _ in 0..config.worker_threads {
        let core = shared.cores.take_for_worker();
        let builder = runtime.threads.worker_builder(core.index);
        shared.cores.add_thread(start_with_core(runtime, builder, core, run_worker)?);
    }
    Ok(())
}

/// Starts a thread that has a core. If it cannot be started the core is put down.
fn start_with_core(
    runtime: &Arc<Inner>,
    builder: thread::Builder,
    core: Box<Core>,
    run: fn(&Arc<Inner>, Box<Core>),
) -> std::io::Result<Thread> {
    // The core must not be lost with a thread that did not start.
    let core = Arc::new(Mutex::new(Some(core)));
    let (for_thread, its_runtime) = (Arc::clone(&core), Arc::clone(runtime));
    let started = Thread::start(builder, move || {
        let core = for_thread.lock().take().expect("a core is for one thread");
        run(&its_runtime, core);
    });
    started.inspect_err(|_| {
        let core = core.lock().take().expect("the thread did not start");
        Multi::shared(runtime).leave(runtime, core);
    })
}

/// The thread of a worker.
fn run_worker(runtime: &Arc<Inner>, core: Box<Core>) {
    Multi::shared(runtime).slot(core.index).activity.calls_user_code();
    in_worker_thread(runtime, || work(runtime, core));
}

/// The thread of a spare worker: it works, and waits for other cores.
fn run_spare(runtime: &Arc<Inner>, core: Box<Core>) {
    let shared = Multi::shared(runtime);
    // From here on it is watched: also the hook may block.
    shared.has_come(&core);
    shared.slot(core.index).activity.calls_user_code();
    in_worker_thread(runtime, || {
        work(runtime, core);
        while let Some(core) = shared.take_up_again(runtime).or_else(|| {
            let core = shared.spares.wait_for_core();
            core.inspect(|core| shared.has_come(core))
        }) {
            work(runtime, core);
        }
    });
}

fn in_worker_thread(runtime: &Arc<Inner>, work: impl FnOnce()) {
    let _runtime = RuntimeGuard::enter(Arc::clone(runtime));
    runtime.hooks.on_thread_start();
    {
        // Not around the hooks: these may block on a future.
        let _entered = context::try_enter().expect("a new thread has entered nothing");
        work();
    }
    runtime.hooks.on_thread_stop();
}

/// What a thread does with a core, until it puts it down.
fn work(runtime: &Arc<Inner>, core: Box<Core>) {
    runtime.events.prepare_lane(core.index);
    let worker = Worker::new(Arc::clone(runtime), core);
    let shared = Multi::shared(runtime);
    let activity = &worker.slot().activity;
    activity.set_thread(ThreadId::current());
    activity.polls_nothing();
    activity.set_parked(false);
    // It counts as one that runs already, and has not slept yet.
    shared.monitor.wake_if_asleep();
    work_as(AnyWorker::Multi(&worker), || {
        // User code is fenced everywhere. Should a panic come out of the scheduler itself, its state is worth nothing,
        // and a runtime that lacks a worker would hang at some later time for no visible reason.
        let ran = catch_unwind(AssertUnwindSafe(|| {
            worker.run();
            worker.depart();
        }));
        if ran.is_err() {
            fatal::abort("a worker panicked outside of any task, which is a defect of rt; the process cannot go on");
        }
    });
    activity.set_parked(true);
    activity.set_thread(None);
    current::keep_no_time_here();
    match worker.into_parts().1 {
        Some(core) => shared.leave(runtime, core),
        None => shared.cores.leave_without_core(),
    }
}

impl Shared {
    /// A thread that was to become a spare worker is there.
    fn has_come(&self, core: &Core) {
        let activity = &self.slot(core.index).activity;
        activity.set_thread(ThreadId::current());
        activity.set_parked(false);
        self.spares.set_starting(false);
        self.monitor.wake_if_asleep();
    }

    /// A thread puts its core down. The last one at shutdown performs the finale.
    pub(super) fn leave(&self, runtime: &Arc<Inner>, core: Box<Core>) {
        if let Some(cores) = self.cores.put_down(core) {
            self.finale_here_or_elsewhere(runtime, cores);
        }
    }

    /// Starts a spare worker, or has a waiting thread become one. False if there are as many as there may be, if the
    /// runtime closes, or if the operating system refuses a thread.
    pub(super) fn start_spare(&self, runtime: &Arc<Inner>) -> bool {
        self.take_core_for_spare(runtime).is_some_and(|core| self.start_spare_with(runtime, core))
    }

    /// The same, for the responder.
    pub(super) fn start_responder(&self, runtime: &Arc<Inner>) -> bool {
        let Some(core) = self.take_core_for_spare(runtime) else { return false };
        self.quarantine.appoint(core.index);
        let has_started = self.start_spare_with(runtime, core);
        if !has_started {
            self.quarantine.dismiss();
        }
        has_started
    }

    fn start_spare_with(&self, runtime: &Arc<Inner>, core: Box<Core>) -> bool {
        self.spares.set_starting(true);
        let Err((core, number)) = self.spares.offer(core) else { return true };
        let started = start_with_core(runtime, runtime.threads.spare_builder(number), core, run_spare);
        let has_started = started.is_ok();
        if !has_started {
            self.spares.count.start_failed();
            self.spares.set_starting(false);
        }
        self.spares.thread_started(started.ok());
        has_started
    }

    /// The core of a spare worker that is about to run, and counts already.
    fn take_core_for_spare(&self, runtime: &Arc<Inner>) -> Option<Box<Core>> {
        let limit = self.spares.limit();
        if !self.spares.count.start(limit) {
            return None;
        }
        let core = self.cores.take_for_spare(limit, |number| {
            let (slot, core) = new_worker(self.slots.len() + number, runtime.global_queue_interval, &self.rng);
            slot.arena.bind(Arc::as_ptr(runtime));
            self.spares.add_slot(number, slot);
            core
        });
        match &core {
            // Not watched before its thread is there.
            Some(core) => self.slot(core.index).activity.set_parked(true),
            None => self.spares.count.start_failed(),
        }
        core
    }

    /// A spare that has retired, and put its core down, is needed after all: a thread that wanted one meanwhile may
    /// have found all cores in use.
    fn take_up_again(&self, runtime: &Arc<Inner>) -> Option<Box<Core>> {
        if self.spares.count.is_short() { self.take_core_for_spare(runtime) } else { None }
    }
}
