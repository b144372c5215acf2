//! The beginning and the end of the scheduler's threads.
//!
//! # The end
//!
//! Every core is in one of two places: with a thread (a worker, or a guest), or *vacant*, in the [`Lifecycle`]. Closing
//! sets a flag and wakes every thread; each finishes its poll, puts its core down, and goes. The last one to
//! put its core down performs the *finale*, alone: nobody polls tasks of the runtime any more, and none ever will.
//!
//! 1. The gates of the foreign lists are closed: their spawns are refused from now on. (Workers' own lists get tasks
//!    from workers only.)
//! 2. Every task on every list that is not complete is cancelled: its future is dropped, its joiner told.
//! 3. `queues_closed` is set and all queues are emptied. What is in them belongs to complete tasks: references, nothing
//!    more. A waker that was past its change of state but not yet in the queue finds the flag after its push and
//!    empties the queue itself.
//! 4. The driver is closed: whoever still waits on a socket or a timer is woken and finds an error.
//! 5. The lists are given up, and the tasks still held by somebody are counted (`task/orphans.rs`).
//!
//! Then whoever waits for the end is told.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::fence;
use std::thread::JoinHandle;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use super::{Core, Multi, Shared, Worker, monitor};
use crate::clock::Clock;
use crate::context::{self, RuntimeGuard};
use crate::runtime::{Config, Inner, join_threads};
use crate::scheduler::Place;
use crate::task::{Notified, Runner};

/// Who has a core, and how far shutdown has come.
pub(super) struct Lifecycle {
    state: Mutex<State>,
    finished: Condvar,
    /// Cores below this index are for workers, the others for guests.
    workers: usize,
}

struct State {
    /// Cores without a thread: at first all, then the guests', at the end all again.
    vacant: Vec<Core>,
    /// Cores with a thread.
    active: usize,
    closing: bool,
    finished: bool,
    threads: Vec<JoinHandle<()>>,
}

impl Lifecycle {
    pub(super) fn new(vacant: Vec<Core>, workers: usize) -> Self {
        let state = State { vacant, active: 0, closing: false, finished: false, threads: Vec::new() };
        Self { state: Mutex::new(state), finished: Condvar::new(), workers }
    }

    /// A core for a guest.
    pub(super) fn take_vacant(&self) -> Option<Core> {
        let mut state = self.state.lock();
        if state.closing {
            return None;
        }
        // Not one of a worker whose thread is yet to start.
        let at = state.vacant.iter().position(|core| core.index >= self.workers)?;
        state.active += 1;
        Some(state.vacant.swap_remove(at))
    }

    /// Calls the closure if the core of a slot is vacant, and keeps it so meanwhile. Returns whether it was.
    pub(super) fn visit_vacant(&self, slot: usize, f: impl FnOnce()) -> bool {
        let state = self.state.lock();
        let vacant = state.vacant.iter().any(|core| core.index == slot);
        if vacant {
            f();
        }
        vacant
    }
}

/// Starts the workers and the monitor.
pub(super) fn start_threads(runtime: &Arc<Inner>, config: &Config) -> std::io::Result<()> {
    let lifecycle = &Multi::shared(runtime).lifecycle;
    let mut threads = Vec::with_capacity(config.worker_threads + 1);
    for _ in 0..config.worker_threads {
        let core = {
            let mut state = lifecycle.state.lock();
            state.active += 1;
            let at = state.vacant.iter().position(|core| core.index < config.worker_threads);
            state.vacant.swap_remove(at.expect("there is a core for each worker"))
        };
        let index = core.index;
        let hooks_runtime = Arc::clone(runtime);
        // The core must not be lost with a thread that did not start.
        let core = Arc::new(Mutex::new(Some(core)));
        let for_thread = Arc::clone(&core);
        let started = config.thread_builder(index).spawn(move || {
            let core = for_thread.lock().take().expect("a core is for one thread");
            run_worker(&hooks_runtime, core);
        });
        match started {
            Ok(thread) => threads.push(thread),
            Err(error) => {
                let core = core.lock().take().expect("the thread did not start");
                lifecycle.state.lock().threads.append(&mut threads);
                Multi::shared(runtime).leave(runtime, core);
                return Err(error);
            }
        }
    }
    let for_monitor = Arc::clone(runtime);
    let started = config.threads().monitor_builder().spawn(move || monitor::run(&for_monitor));
    let mut state = lifecycle.state.lock();
    state.threads.append(&mut threads);
    state.threads.push(started?);
    Ok(())
}

/// A worker's thread.
fn run_worker(runtime: &Arc<Inner>, core: Core) {
    let _runtime = RuntimeGuard::enter(Arc::clone(runtime));
    let _entered = context::try_enter().expect("a new thread has entered nothing");
    runtime.hooks.on_thread_start();
    let worker = Worker::new(Arc::clone(runtime), core);
    {
        let _place = context::take_place(Place::Multi((&worker).into()));
        // User code is fenced everywhere. Should a panic come out of the scheduler itself, its state is worth nothing,
        // and a runtime that lacks a worker would hang at some later time for no visible reason.
        if catch_unwind(AssertUnwindSafe(|| worker.run())).is_err() {
            eprintln!("rt: a worker panicked outside of any task, which is a defect of rt; the process cannot go on");
            std::process::abort();
        }
    }
    Multi::shared(runtime).leave(runtime, worker.into_core());
    runtime.hooks.on_thread_stop();
}

impl Shared {
    /// A thread puts its core down. The last one at shutdown performs the finale.
    pub(super) fn leave(&self, runtime: &Arc<Inner>, core: Core) {
        let cores = {
            let mut state = self.lifecycle.state.lock();
            state.vacant.push(core);
            state.active -= 1;
            if !state.closing || state.active > 0 {
                return;
            }
            std::mem::take(&mut state.vacant)
        };
        self.finale(runtime, cores);
    }

    /// Begins the shutdown. Any number of threads may; it happens once.
    pub(crate) fn close(&self, runtime: &Arc<Inner>) {
        let cores = {
            let mut state = self.lifecycle.state.lock();
            if std::mem::replace(&mut state.closing, true) {
                return;
            }
            self.closing.store(true, SeqCst);
            (state.active == 0).then(|| std::mem::take(&mut state.vacant))
        };
        for slot in 0..self.slots.len() {
            self.unpark(runtime, slot);
        }
        self.monitor.unpark();
        if let Some(cores) = cores {
            self.finale(runtime, cores);
        }
    }

    /// Waits until the finale is over and the threads are gone. False if that takes longer than the limit.
    pub(crate) fn wait_closed(&self, limit: Option<Duration>) -> bool {
        let deadline = limit.and_then(|limit| Clock::real().checked_add(limit));
        let threads = {
            let mut state = self.lifecycle.state.lock();
            while !state.finished {
                match deadline {
                    None => self.lifecycle.finished.wait(&mut state),
                    Some(deadline) => {
                        if self.lifecycle.finished.wait_until(&mut state, deadline).timed_out() {
                            return state.finished;
                        }
                    }
                }
            }
            std::mem::take(&mut state.threads)
        };
        join_threads(threads, limit);
        true
    }

    /// See the module.
    fn finale(&self, runtime: &Arc<Inner>, cores: Vec<Core>) {
        // What runs here of the user's finds the runtime around it, as on a worker, even if this thread is not one.
        let _runtime = RuntimeGuard::enter(Arc::clone(runtime));
        let _entered = context::try_enter();
        // It counts as the owner of no list: what dies while the lists are walked goes to the return stacks.
        let completions = Some(&self.foreign[0].gated_counters().completions);
        let runner = Runner { observer: runtime.observer.as_ref(), completions, home: None };
        self.foreign.iter().for_each(|foreign| foreign.close_gate());
        // SAFETY: all cores are here, so nobody polls tasks of this runtime, and all lists are this thread's. It has no
        // place at the scheduler, so a task released meanwhile goes to its list's return stack.
        self.owners().for_each(|owner| unsafe { owner.cancel_all(&runner) });
        self.queues_closed.store(true, SeqCst);
        // Pairs with the fence in `Shared::notify`, which `inject` passes between its push and its look at the flag.
        fence(SeqCst);
        self.empty_queues();
        cores.iter().flat_map(|core| core.lanes.drain()).for_each(drop::<Notified>);
        self.driver.shutdown();
        // SAFETY: as above.
        let left = self.owners().map(|owner| unsafe { owner.close() }).sum();
        runtime.tasks_left_behind(left);
        let mut state = self.lifecycle.state.lock();
        state.finished = true;
        self.lifecycle.finished.notify_all();
    }

    /// Drops the references that lie in the injector, all of tasks that are complete.
    pub(super) fn empty_queues(&self) {
        while let Some(task) = super::lanes::take_one(&self.injector) {
            drop(task);
        }
    }
}
