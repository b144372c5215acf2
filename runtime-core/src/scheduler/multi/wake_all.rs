//! [`wake_all`]: many wakers at once, whose tasks reach the scheduler as one push.
//!
//! For code that wakes many at once outside of the drivers: the channels and locks. (What the drivers wake is queued by
//! `driver_events.rs`, when they have been given back.)
//!
//! # The protocol
//!
//! To queue a task is two things: to put it into a queue, and to *announce* it: to pass a fence, and look whether a
//! worker has to be woken for it (`idle/`), and whether shutdown has emptied the queue for the last time (`Closing`).
//! Both protocols allow any number of tasks before the fence. So each task is put into its queue as soon as its state
//! is changed, where others may already take it, and all together are announced once. Nothing is kept anywhere else,
//! and nothing is allocated.
//!
//! From the first task on until they are announced this thread does nothing but change states and fill queues. Before
//! it calls another's code, which may block, or go on with the tasks of another runtime, it announces what there is:
//! that code may wait for one of these tasks, and nobody else might come for them.
//!
//! Tasks of a runtime with listeners are woken one by one, as these are told of each before it is queued. So are those
//! of a current-thread runtime, where there is nobody to announce anything to but the one thread.
//!
//! On a worker of the tasks' runtime the tasks go onto its LIFO queue, as they would one by one; on any other thread,
//! into the injector. There a task that is taken at once may be the last of its runtime, so a reference to the first is
//! kept until all are announced.

use std::any::Any;
use std::ptr;
use std::task::Waker;

use super::{Multi, Shared, Worker};
use crate::events::TaskEventKind;
use crate::runtime::Inner;
use crate::scheduler::{AtWork, Scheduler, runtime_of_any};
use crate::task::{self, Header, Notified, TaskRef, catch, discard, waker_events};

/// Calls all wakers, which are taken out, in their order. The tasks of one runtime reach its scheduler as one push.
///
/// To be called where the code of others may run: not under a lock.
///
/// # Errors
///
/// If a waker panicked: what the first of them panicked with. All have been called nevertheless.
///
/// # Example
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicU32, Ordering};
/// use std::task::{Wake, Waker};
///
/// struct Count(AtomicU32);
///
/// impl Wake for Count {
///     fn wake(self: Arc<Self>) {
///         self.0.fetch_add(1, Ordering::Relaxed);
///     }
/// }
///
/// let count = Arc::new(Count(AtomicU32::new(0)));
/// let waker = Waker::from(count.clone());
/// let mut wakers = [Some(waker.clone()), None, Some(waker)];
/// assert!(runtime_core::wake_all(&mut wakers).is_ok());
/// assert_eq!(count.0.load(Ordering::Relaxed), 2);
/// assert!(wakers.iter().all(Option::is_none));
/// ```
pub fn wake_all(wakers: &mut [Option<Waker>]) -> Result<(), Box<dyn Any + Send>> {
    let mut result = Ok(());
    let mut unannounced = Unannounced::Nothing;
    for waker in wakers.iter_mut().filter_map(Option::take) {
        let mut runtime = ptr::null();
        let is_own = |task: &Header| {
            let found = runtime_of_any(task).filter(|runtime| can_announce(runtime));
            found.inspect(|&found| runtime = found).is_some()
        };
        // Nobody hears, or else the task would not count as its own.
        match task::wake_own(waker, is_own, |_| ()) {
            // SAFETY: the runtime was found by the task, which keeps it.
            Ok(Some(task)) => unsafe { unannounced.queue(task, runtime) },
            Ok(None) => {}
            Err(waker) => {
                unannounced.announce();
                if let Err(panic) = catch(|| waker.wake()) {
                    match result {
                        Ok(()) => result = Err(panic),
                        Err(_) => discard(Err::<(), _>(panic)),
                    }
                }
            }
        }
    }
    unannounced.announce();
    result
}

/// Whether tasks of this runtime can be announced together.
fn can_announce(runtime: &Inner) -> bool {
    let is_heard = runtime.events.listeners_to(TaskEventKind::Woken).is_some() || waker_events::hear();
    matches!(runtime.scheduler, Scheduler::Multi(_)) && !is_heard
}

/// Tasks of one runtime that are in a queue, and not announced yet.
enum Unannounced {
    Nothing,
    /// On the queue of this worker, which this thread is.
    Here(AtWork<Worker>),
    /// In the injector of this runtime: one of the tasks, which keeps it, and how many there are.
    Injected(TaskRef, *const Inner, u64),
}

impl Unannounced {
    /// # Safety
    ///
    /// The task is one of this runtime, which is multi-threaded.
    unsafe fn queue(&mut self, task: Notified, runtime: *const Inner) {
        if !self.is_of(runtime) {
            self.announce();
            // SAFETY: the task, which is in no queue yet, keeps its runtime.
            *self = Self::begin(unsafe { &*runtime }, &task);
        }
        // SAFETY: as above: the task is in no queue yet.
        if let Some(events) = unsafe { &*runtime }.events.heard() {
            let lane = match self {
                Self::Here(worker) => worker.with(Worker::lane),
                Self::Injected(..) | Self::Nothing => Shared::lane_elsewhere(),
            };
            events.record(lane, task.task(), TaskEventKind::Woken);
        }
        match self {
            Self::Here(worker) => worker.with(|worker| worker.queue_unannounced(task)),
            Self::Injected(_, runtime, count) => {
                *count += 1;
                // SAFETY: `self` has a task of this runtime, too.
                Multi::shared(unsafe { &**runtime }).injector.push(task);
            }
            Self::Nothing => unreachable!("it has begun"),
        }
    }

    fn begin(runtime: &Inner, first: &Notified) -> Self {
        match Shared::worker_here(runtime) {
            Some(worker) if worker.with(Worker::serves_its_queues) => Self::Here(worker),
            _ => Self::Injected(TaskRef::clone(first.task()), runtime, 0),
        }
    }

    fn is_of(&self, runtime: *const Inner) -> bool {
        match self {
            Self::Nothing => false,
            Self::Here(worker) => worker.with(|worker| ptr::eq(&**worker.runtime(), runtime)),
            Self::Injected(_, of, _) => ptr::eq(*of, runtime),
        }
    }

    fn announce(&mut self) {
        match std::mem::replace(self, Self::Nothing) {
            Self::Nothing => {}
            Self::Here(worker) => worker.with(Worker::offer_surplus),
            Self::Injected(task, runtime, count) => {
                // SAFETY: the task keeps its runtime.
                let runtime = unsafe { &*runtime };
                let shared = Multi::shared(runtime);
                shared.remote_spawns_here().count_wakes(count);
                shared.announce_injected(runtime);
                drop(task);
            }
        }
    }
}
