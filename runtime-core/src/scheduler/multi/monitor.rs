//! The monitor: a thread that notices when a worker is stuck in one poll while something waits behind it.
//!
//! A worker wakes others for its surplus only, so the single task on its lanes waits for the poll at hand to return;
//! and a worker that left the drivers to run a task looks after them when that poll returns. Should a poll not return,
//! the monitor wakes an idle worker, which steals what is stranded, and attends the drivers when it goes back to sleep.
//! This is the place where spare workers will come from when nobody is idle.
//!
//! # How it watches
//!
//! It samples, every millisecond at first and every [`LONGEST`] at most, each slot's count of polls and the length of
//! its lanes. A slot whose lanes hold something while its count stood still for [`THRESHOLD`] is stuck. The drivers are
//! neglected when nobody waits in them and nobody has polled them for as long. All this reads counters that are kept
//! anyway; the workers do nothing for it.
//!
//! When all workers have slept for [`QUIET`], none of them over a task and one of them in the drivers, the monitor
//! sleeps too, without a timeout: an idle runtime makes no system calls. Before it does, it says so in `asleep` and
//! then looks whether all that is still so; a worker that gets up changes the idle word and then looks at `asleep`
//! (both SeqCst): one of the two sees the other. Guests need no watching: what they spawn goes to the injector, which
//! wakes a worker.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use crossbeam_utils::sync::{Parker, Unparker};
use parking_lot::Mutex;

use super::{Multi, Shared};
use crate::runtime::Inner;

/// The time between two samples, at first and at most.
const SHORTEST: Duration = Duration::from_millis(1);
const LONGEST: Duration = Duration::from_millis(10);
/// A poll that lasts longer is taken to be stuck, if anything waits behind it.
const THRESHOLD: Duration = Duration::from_millis(10);
/// How long all workers must have slept before the monitor does.
const QUIET: Duration = Duration::from_millis(100);

/// What the workers see of the monitor.
#[derive(Debug)]
pub(super) struct Monitor {
    asleep: AtomicBool,
    unparker: Unparker,
    /// Until the thread takes it.
    parker: Mutex<Option<Parker>>,
}

/// What was seen of one slot, and for how long it has looked like that.
#[derive(Clone, Copy, Default)]
struct Sighting {
    polls: u64,
    unchanged: Duration,
}

impl Sighting {
    /// Whether the count has stood still for the threshold. Starts anew after each time it says so.
    fn update(&mut self, count: u64, waiting: bool, passed: Duration) -> bool {
        if !waiting || count != self.polls {
            *self = Self { polls: count, unchanged: Duration::ZERO };
            return false;
        }
        self.unchanged += passed;
        let stuck = self.unchanged >= THRESHOLD;
        if stuck {
            self.unchanged = Duration::ZERO;
        }
        stuck
    }
}

impl Monitor {
    pub(super) fn new() -> Self {
        let parker = Parker::new();
        Self { asleep: AtomicBool::new(false), unparker: parker.unparker().clone(), parker: Mutex::new(Some(parker)) }
    }

    /// A worker got up.
    #[inline]
    pub(super) fn wake_if_asleep(&self) {
        if self.asleep.load(SeqCst) && self.asleep.swap(false, SeqCst) {
            self.unparker.unpark();
        }
    }

    /// Ends the monitor's wait, for shutdown.
    pub(super) fn unpark(&self) {
        self.unparker.unpark();
    }

    /// Whether nothing can go wrong unseen: all workers sleep, none over work, and one of them in the drivers.
    fn all_quiet(shared: &Shared) -> bool {
        shared.idle.all_asleep()
            && shared.driver.is_attended()
            && shared.worker_slots().iter().all(|slot| slot.lanes.len() == 0)
    }
}

/// The monitor's thread.
pub(super) fn run(runtime: &Arc<Inner>) {
    let shared = Multi::shared(runtime);
    let monitor = &shared.monitor;
    let parker = monitor.parker.lock().take().expect("a runtime has one monitor");
    let mut slots = vec![Sighting::default(); shared.workers];
    let mut driver = Sighting::default();
    let mut interval = SHORTEST;
    let mut quiet = Duration::ZERO;
    while !shared.is_closing() {
        parker.park_timeout(interval);
        if Monitor::all_quiet(shared) {
            quiet += interval;
            if quiet >= QUIET {
                monitor.asleep.store(true, SeqCst);
                while monitor.asleep.load(SeqCst) && Monitor::all_quiet(shared) && !shared.is_closing() {
                    parker.park();
                }
                monitor.asleep.store(false, SeqCst);
                quiet = Duration::ZERO;
                interval = SHORTEST;
                continue;
            }
        } else {
            quiet = Duration::ZERO;
        }
        let mut stuck = false;
        for (sighting, slot) in slots.iter_mut().zip(shared.worker_slots()) {
            stuck |= sighting.update(slot.counters.polls.get(), slot.lanes.len() > 0, interval);
        }
        let driver_polls = shared.worker_slots().iter().map(|slot| slot.counters.driver_polls.get()).sum();
        stuck |= driver.update(driver_polls, !shared.driver.is_attended(), interval);
        if stuck && let Some(worker) = shared.idle.wake_any() {
            shared.unpark(runtime, worker);
        }
        if stuck {
            quiet = Duration::ZERO;
        }
        interval = if stuck { SHORTEST } else { (interval * 2).min(LONGEST) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_that_stands_still_while_something_waits_is_noticed_once_per_threshold() {
        let mut sighting = Sighting::default();
        let ms = Duration::from_millis;
        assert!(!sighting.update(5, true, ms(9)), "first seen");
        assert!(!sighting.update(5, true, ms(9)));
        assert!(sighting.update(5, true, ms(1)));
        assert!(!sighting.update(5, true, ms(9)));
        assert!(!sighting.update(6, true, ms(9)), "it moved");
        assert!(!sighting.update(6, false, ms(90)), "nothing waits");
        assert!(!sighting.update(6, true, ms(9)));
        assert!(sighting.update(6, true, ms(1)));
    }
}
