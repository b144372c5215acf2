//! The beginning and the end of the scheduler's threads.
//!
//! # The end
//!
//! Closing sets a flag and wakes every thread that has a core (`cores.rs`); each finishes its poll, puts its core down,
//! and goes. The last one to put its core down performs the *finale*, alone: nobody polls tasks of the runtime any
//! more, and none ever will, but for those threads that block in place.
//!
//! 1. The spawn locks of the remote arenas are closed: their spawns are refused from now on. (Workers' own arenas get
//!    tasks from workers only.)
//! 2. Every task in every arena that is not complete is cancelled: its future is dropped, its joiner told. One that is
//!    being polled by a thread that blocks in place (`block_in_place.rs`) is marked, and cancelled by that thread.
//! 3. All queues are closed (`../closing.rs`) and emptied. What is in them belongs to complete tasks: references,
//!    nothing more. A waker that was past its change of state but not yet in the queue finds the flag after its push
//!    and empties the queue itself.
//! 4. The driver is closed: whoever still waits on a socket or a timer is woken and finds an error. So is whoever the
//!    workers were yet to wake.
//! 5. The arenas are given up, and the tasks still held by somebody are counted (`task/outstanding.rs`).
//!
//! Then whoever waits for the end is told.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;

use super::cores::AllCores;
use super::{Core, Multi, Shared, Worker, new_worker, rescue};
use crate::blocked::ThreadId;
use crate::clock::Clock;
use crate::context::{self, RuntimeGuard};
use crate::fatal;
use crate::runtime::{Config, Inner, join_threads};
use crate::scheduler::{AnyWorker, ThreadRole, work_as};
use crate::task::{Notified, Runner};

/// Starts the monitor and the workers.
pub(super) fn start_threads(runtime: &Arc<Inner>, config: &Config) -> std::io::Result<()> {
    let shared = Multi::shared(runtime);
    let for_monitor = Arc::clone(runtime);
    // The first to be joined: it may start others.
    shared.cores.add_thread(runtime.threads.monitor_builder().spawn(move || rescue::run(&for_monitor))?);
    for _ in 0..config.worker_threads {
        let core = Box::new(shared.cores.take_for_worker());
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
) -> std::io::Result<thread::JoinHandle<()>> {
    // The core must not be lost with a thread that did not start.
    let core = Arc::new(Mutex::new(Some(core)));
    let (for_thread, its_runtime) = (Arc::clone(&core), Arc::clone(runtime));
    let started = builder.spawn(move || {
        let core = for_thread.lock().take().expect("a core is for one thread");
        run(&its_runtime, core);
    });
    started.inspect_err(|_| {
        let core = core.lock().take().expect("the thread did not start");
        Multi::shared(runtime).leave(runtime, *core);
    })
}

/// The thread of a worker.
fn run_worker(runtime: &Arc<Inner>, core: Box<Core>) {
    Multi::shared(runtime).slot(core.index).activity.calls_user_code();
    in_worker_thread(runtime, || work(runtime, *core));
}

/// The thread of a spare worker: it works, and waits for other cores.
fn run_spare(runtime: &Arc<Inner>, core: Box<Core>) {
    let shared = Multi::shared(runtime);
    // From here on it is watched: also the hook may block.
    shared.has_come(&core);
    shared.slot(core.index).activity.calls_user_code();
    in_worker_thread(runtime, || {
        work(runtime, *core);
        while let Some(core) = shared.take_up_again(runtime).or_else(|| {
            let core = shared.spares.wait_for_core();
            core.inspect(|core| shared.has_come(core))
        }) {
            work(runtime, *core);
        }
    });
}

fn in_worker_thread(runtime: &Arc<Inner>, work: impl FnOnce()) {
    let _runtime = RuntimeGuard::enter(Arc::clone(runtime));
    let _entered = context::try_enter().expect("a new thread has entered nothing");
    runtime.hooks.on_thread_start();
    work();
    runtime.hooks.on_thread_stop();
}

/// What a thread does with a core, until it puts it down.
fn work(runtime: &Arc<Inner>, core: Core) {
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
    match worker.into_core() {
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
    pub(super) fn leave(&self, runtime: &Arc<Inner>, core: Core) {
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

    /// A spare that has retired, and put its core down, is needed after all: whoever wanted one meanwhile may have
    /// found all cores in use.
    fn take_up_again(&self, runtime: &Arc<Inner>) -> Option<Box<Core>> {
        if self.spares.count.is_short() { self.take_core_for_spare(runtime) } else { None }
    }

    /// Begins the shutdown. Any number of threads may; it happens once.
    pub(crate) fn close(&self, runtime: &Arc<Inner>) {
        let (is_first, cores) = self.cores.close(|| self.control.close());
        if !is_first {
            return;
        }
        self.all_slots().for_each(|slot| slot.wakeup.unpark(&*runtime.drivers.unpark, || ()));
        self.spares.close();
        self.monitor.unpark();
        if let Some(cores) = cores {
            self.finale_here_or_elsewhere(runtime, cores);
        }
    }

    /// Waits until the finale is over and the threads are gone. False if that takes longer than the limit.
    pub(crate) fn wait_closed(&self, runtime: &Inner, limit: Option<Duration>) -> bool {
        // Not for itself.
        let own = usize::from(
            matches!(context::role(), ThreadRole::BlockingInPlace(of) | ThreadRole::CoreRevoked(of) if ptr::eq(of.as_ptr(), runtime)),
        );
        let start = Clock::real();
        let Some(threads) = self.cores.wait_finished(own, limit) else { return false };
        let left = limit.map(|limit| limit.saturating_sub(Clock::real().saturating_duration_since(start)));
        join_threads(threads, left);
        // Only now is nobody left who could start one.
        join_threads(self.spares.take_threads(), left);
        true
    }

    /// See the module.
    pub(super) fn finale(&self, runtime: &Arc<Inner>, cores: &AllCores) {
        // What runs here of the user's finds the runtime around it, as on a worker, even if this thread is not one.
        let _runtime = RuntimeGuard::enter(Arc::clone(runtime));
        let _entered = context::try_enter();
        // It counts as the owner of no arena: what dies while the arenas are walked goes to the return stacks.
        let completions = Some(&self.remote_spawns[0].locked_counters().completions);
        let runner = Runner { observer: runtime.observer.as_ref(), completions, ..Runner::NOBODY };
        self.remote_spawns.iter().for_each(|remote| remote.close_spawns());
        // SAFETY: no core is in use. So nobody polls tasks of this runtime but those who block in place, and those do
        // not touch their arenas until they are back, and not then either: all arenas are this thread's. It has no
        // place at the scheduler, so a task released meanwhile goes to its arena's return stack.
        self.arenas().for_each(|arena| unsafe { arena.guard().cancel_all(&runner) });
        self.queues.close(|| {
            self.empty_queues();
            cores.iter().flat_map(|core| core.run_queue.drain()).for_each(drop::<Notified>);
            // Of those whose cores are lent; nobody pushes there any more.
            self.all_slots().flat_map(|slot| slot.run_queue.drain()).for_each(drop::<Notified>);
        });
        self.driver.shutdown();
        self.call_external_wakers(|| ());
        // SAFETY: as above.
        let left = self.arenas().map(|arena| unsafe { arena.guard().close() }).sum();
        runtime.add_outstanding(left);
        self.cores.finish();
    }

    /// Drops the references that lie in queues of all workers, all of tasks that are complete. (After this no worker
    /// holds any more; waking may still inject.)
    pub(super) fn empty_queues(&self) {
        while let Some(task) = super::run_queue::take_one(&self.injector) {
            drop(task);
        }
        self.quarantine.drain().for_each(drop::<Notified>);
    }
}
