//! The monitor: a thread that notices when a worker is stuck in one poll while something waits behind it, and sees to
//! it that others take over.
//!
//! A worker wakes others for its surplus only, so the single task on its lanes waits for the poll at hand to return;
//! and a worker that left the drivers to run a task looks after them when that poll returns. Should a poll not return,
//! the monitor wakes an idle worker, which steals what is stranded, and attends the drivers when it goes back to sleep;
//! if none is idle, it starts a spare worker (`../spares.rs`).
//!
//! # How it watches
//!
//! It samples, every millisecond to every ten (`pace.rs`), what each worker has counted and the length of its lanes.
//! All that is kept by the workers anyway, or stored as they go; they never wait for the monitor, and do not answer it.
//! `watch.rs` decides from the samples which are stuck, and `policy.rs` what to do; spare workers are watched as the
//! others are. A poll that was blocked while something waited is an *event*: it is counted, and reported once for each
//! place where such tasks are spawned (`report.rs`).
//!
//! When the stuck workers are back there are too many: those spares that sleep are woken to retire, and those that work
//! do so at their next maintenance.
//!
//! A thread that the operating system lets wait for a processor looks stuck, too. It is not: on an overloaded machine
//! more threads would make it worse. So a thread counts as stuck only if the system says that it sleeps, or that it has
//! had processor time since it was first suspected.
//!
//! # When it sleeps
//!
//! When all workers have slept for a while or are aside, none of them over a task and one of them in the drivers, and
//! no more spares are left than workers are aside, the monitor sleeps too, without a timeout, until a worker gets up
//! (`doze.rs`): an idle runtime makes no system calls. Guests need no watching: what they spawn goes to the injector,
//! which wakes a worker.
//!
//! # What it must never do
//!
//! Wait for anybody. Whatever it waited for might wait for a blocked task, and then nobody helps any more, and the
//! runtime, whose end joins this thread, never ends. So nothing runs here that is not the runtime's own: no hook, no
//! observer of task events, no waker, no write to stderr. Reports are made by the reporter (`crate::reporter`); the
//! names of the threads that it starts were made before (`runtime/names.rs`).

mod doze;
mod pace;
mod policy;
mod report;
mod sites;
mod watch;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;

use self::doze::Doze;
use self::pace::{Mood, Pace};
use self::policy::{Action, Snapshot};
use self::report::Reports;
use self::sites::{BlockingSites, Former};
use self::watch::{Event, Passed, Progress, Seen, Watch};
use super::{Multi, Shared, Slot};
use crate::blocked::{BlockedHook, Stack};
use crate::clock::Clock;
use crate::fatal;
use crate::metrics::Counter;
use crate::primitive::Parker;
use crate::runtime::{Config, Inner};

/// For this long after a standstill a worker that has not moved for one sample is taken to be stuck.
const TROUBLE: Duration = Duration::from_secs(1);
/// A poll that is blocked for this long is reported before it ends.
const REPORT_AFTER: Duration = Duration::from_secs(1);
/// The most threads whose state is read at each sample. That of further threads is read once a poll. (To read one takes
/// some ten microseconds.)
const MAX_READINGS: usize = 32;

/// What the workers see of the monitor.
pub(super) struct Monitor {
    doze: Doze,
    /// Until the thread takes it.
    parker: Mutex<Option<Parker>>,
    threshold: Duration,
    /// Whether spares are started, and polls that are blocked are counted and reported.
    rescues: bool,
    hook: Option<BlockedHook>,
    blocked: AtomicU64,
}

impl Monitor {
    pub(super) fn new(config: &Config) -> Self {
        let (doze, parker) = Doze::new();
        Self {
            doze,
            parker: Mutex::new(Some(parker)),
            threshold: config.blocked_threshold.max(pace::ALERT),
            rescues: config.rescue_blocked,
            hook: config.on_blocked.clone(),
            blocked: AtomicU64::new(0),
        }
    }

    /// A worker got up.
    #[inline]
    pub(super) fn wake_if_asleep(&self) {
        self.doze.wake();
    }

    /// Ends the monitor's wait, for shutdown.
    pub(super) fn unpark(&self) {
        self.doze.unpark();
    }

    /// How many events there have been.
    pub(super) fn blocked(&self) -> u64 {
        self.blocked.load(Relaxed)
    }

    /// Whether nothing can go wrong unseen: all workers sleep or are aside, none over work, and one of them is in the
    /// drivers.
    fn all_quiet(shared: &Shared) -> bool {
        // The two words are read one after the other: see `doze.rs`.
        shared.spares.balance.at_rest(shared.workers).is_some_and(|sleepers| shared.idle.sleepers() == sleepers)
            && shared.driver.is_attended()
            && shared.victims().all(|slot| slot.lanes.len() == 0)
            && shared.response.responder().is_none()
            && shared.response.quarantined() == 0
    }
}

/// The monitor's thread.
pub(super) fn run(runtime: &Arc<Inner>) {
    // Nothing of the user's runs here. What panics is a defect, and a runtime without its monitor would hang one day,
    // for no visible reason.
    if catch_unwind(AssertUnwindSafe(|| watch_over(runtime))).is_err() {
        fatal::abort("the monitor panicked, which is a defect of rt; the process cannot go on");
    }
}

fn watch_over(runtime: &Arc<Inner>) {
    let shared = Multi::shared(runtime);
    let monitor = &shared.monitor;
    let parker = monitor.parker.lock().take().expect("a runtime has one monitor");
    let mut rounds = Rounds::new(runtime, shared);
    let mut pace = Pace::new();
    let mut last = Clock::real();
    while !shared.is_closing() {
        parker.park_timeout(pace.interval());
        let is_quiet = Monitor::all_quiet(shared);
        let parks = is_quiet.then(|| shared.victims().map(|slot| slot.counters.parks.get()).sum());
        let now = Clock::real();
        let real = now.saturating_duration_since(std::mem::replace(&mut last, now));
        let passed = Passed { real, counted: real.min(pace.expected()) };
        let mood = rounds.go(passed);
        if pace.may_sleep(parks) {
            let is_quiet = || Monitor::all_quiet(shared) && !shared.is_closing();
            let slept = loop {
                monitor.doze.sleep_while(&parker, is_quiet);
                let now = Clock::real();
                let slept = now.saturating_duration_since(std::mem::replace(&mut last, now));
                rounds.has_dozed(slept);
                // The worker that woke this thread may have lost its processor to it.
                thread::yield_now();
                // All may sleep again by now.
                if !(Pace::may_sleep_on(slept) && is_quiet()) {
                    break slept;
                }
            };
            // To know what somebody does who is still at it at the next look.
            let mood = rounds.go(Passed { real: Duration::ZERO, counted: Duration::ZERO });
            pace.restart(slept, rounds.at_rest(mood));
        } else {
            pace.go_on(if is_quiet { rounds.at_rest(mood) } else { mood });
        }
    }
    rounds.end();
}

/// The monitor's rounds.
struct Rounds<'a> {
    runtime: &'a Arc<Inner>,
    shared: &'a Shared,
    /// By victim's number.
    watches: Vec<Watch>,
    drivers: Drivers,
    reports: Reports,
    /// How long ago trouble will be forgotten.
    trouble: Duration,
    /// How many spares are needed for those that are stuck.
    needed: usize,
    sites: BlockingSites,
    former: Former,
}

/// For how long nobody has looked after the drivers.
#[derive(Default)]
struct Drivers {
    polls: u64,
    neglected: Duration,
}

impl<'a> Rounds<'a> {
    fn new(runtime: &'a Arc<Inner>, shared: &'a Shared) -> Self {
        Self {
            runtime,
            shared,
            watches: Vec::new(),
            drivers: Drivers::default(),
            reports: Reports::new(shared.monitor.hook.clone()),
            trouble: Duration::ZERO,
            needed: 0,
            sites: BlockingSites::default(),
            former: Former::default(),
        }
    }

    /// The monitor has slept for so long.
    fn has_dozed(&mut self, time: Duration) {
        self.trouble = self.trouble.saturating_sub(time);
    }

    /// The same mood when nobody is up, or somebody has just got up.
    fn at_rest(&self, mood: Mood) -> Mood {
        if mood == Mood::Calm && self.trouble.is_zero() { Mood::Still } else { mood }
    }

    /// Looks at everybody once, and helps.
    fn go(&mut self, passed: Passed) -> Mood {
        let shared = self.shared;
        let mut progress = self.look(passed);
        self.trouble = self.trouble.saturating_sub(passed.counted);
        if progress.contains(&Progress::Stuck) || !self.trouble.is_zero() && progress.contains(&Progress::Slow) {
            self.read_threads(&mut progress);
        }
        self.watch_responder(&mut progress, passed.counted);
        let snapshot = self.snapshot(&progress, passed.counted);
        if snapshot.stuck > 0 && snapshot.is_nobody_moving() && snapshot.waits() > 0 {
            self.trouble = TROUBLE;
        }
        let action = snapshot.action();
        if action.respond || snapshot.has_responder {
            self.note_sites(&progress);
        }
        self.note_events(&progress, &snapshot, action);
        if action.wake {
            shared.wake_somebody(self.runtime);
        }
        let surplus = self.retire(&snapshot, action);
        if shared.monitor.rescues {
            self.start(action);
        }
        if surplus > 0 { Mood::Alert } else { snapshot.mood(action) }
    }

    fn look(&mut self, passed: Passed) -> Vec<Progress> {
        let count = self.shared.num_victims();
        if self.watches.len() < count {
            self.watches.resize_with(count, Watch::default);
        }
        let now = self.shared.since_start(Clock::real());
        let mut progress = Vec::with_capacity(count);
        // Also those that have retired since the last look, whose events have ended.
        for number in 0..self.watches.len() {
            let Some(slot) = self.shared.victim(number) else {
                progress.push(Progress::Away);
                continue;
            };
            let got_up = slot.in_first_poll(now).map(Duration::from_micros);
            let seen = Seen { steps: steps(slot), is_away: !is_up(slot), got_up };
            let watch = &mut self.watches[number];
            let (how, ended) = watch.look(seen, passed, self.shared.monitor.threshold);
            progress.push(how);
            if let Some((watch, event)) = ended {
                self.reports.report(&self.runtime.reporter, &watch, &event, true);
            }
        }
        progress
    }

    /// Starts spares, until there may be no more, or the operating system refuses one.
    fn start(&mut self, action: Action) {
        let shared = self.shared;
        if action.respond {
            // Should it be refused there is none.
            shared.start_responder(self.runtime);
        }
        if !(0..action.start).all(|_| shared.start_spare(self.runtime)) && shared.response.responder().is_some() {
            // What it leaves alone may be what the others wait for.
            self.dismiss_responder();
        }
    }

    fn snapshot(&mut self, progress: &[Progress], passed: Duration) -> Snapshot {
        let shared = self.shared;
        let polls = shared.victims().map(|slot| slot.counters.driver_polls.get()).sum();
        if shared.driver.is_attended() || polls != self.drivers.polls {
            self.drivers = Drivers { polls, neglected: Duration::ZERO };
        } else {
            self.drivers.neglected += passed;
            // A worker that still runs tasks will see this.
            if is_anything_awaited(self.runtime) {
                shared.signal.call_to_drivers();
            }
        }
        let has_responder = shared.response.responder().is_some();
        let in_trouble = !self.trouble.is_zero();
        let patience = if in_trouble { pace::ALERT } else { shared.monitor.threshold };
        let mut snapshot = Snapshot {
            coming: shared.spares.coming(),
            aside: shared.spares.balance.aside(),
            queued: shared.injector_depth() + shared.foreign_wakers.len(),
            stranded: shared.foreign_wakers.len(),
            injected: shared.injector.len(),
            drivers_wait: self.drivers.neglected >= patience && is_anything_awaited(self.runtime),
            has_responder,
            former_responders: self.former.count(|slot| shared.lifecycle.visit_vacant(slot, || ())),
            has_sleepers: shared.has_sleepers(),
            spares: shared.spares.balance.running().saturating_sub(usize::from(has_responder)),
            workers: shared.workers,
            in_trouble,
            ..Snapshot::default()
        };
        for ((&how, watch), slot) in progress.iter().zip(&self.watches).zip(shared.victims()) {
            let queued = slot.lanes.len();
            snapshot.queued += queued;
            match how {
                Progress::Away => {}
                Progress::Moving => snapshot.moving += 1,
                Progress::Excused => {
                    snapshot.moving += 1;
                    snapshot.excused += 1;
                }
                Progress::Slow => {
                    snapshot.slow += 1;
                    snapshot.stranded += if in_trouble { queued } else { 0 };
                }
                Progress::Stuck => {
                    snapshot.stuck += 1;
                    snapshot.stuck_asleep += usize::from(watch.is_asleep());
                    snapshot.stranded += queued;
                }
            }
            if matches!(how, Progress::Slow | Progress::Stuck) {
                snapshot.asleep += usize::from(watch.is_asleep() && watch.has_reading());
                snapshot.unknown += usize::from(!watch.has_reading());
            }
        }
        snapshot
    }

    /// Asks the operating system what the threads do that do not move. Those that it lets wait for a processor would.
    fn read_threads(&mut self, progress: &mut [Progress]) {
        let mut readings = 0;
        let threshold = self.shared.monitor.threshold;
        let responder = self.shared.response.responder().map(|responder| self.number_of(responder));
        for (number, how) in progress.iter_mut().enumerate() {
            if !matches!(how, Progress::Slow | Progress::Stuck) {
                continue;
            }
            let watch = &mut self.watches[number];
            let is_worth_it = readings < MAX_READINGS || !watch.is_proven(threshold) || !watch.has_reading();
            if (is_worth_it || Some(number) == responder)
                && let Some(reading) = self.shared.victim(number).and_then(|slot| slot.current.thread()?.read())
            {
                readings += 1;
                watch.note(reading);
            }
            if !watch.is_its_own_doing(threshold) {
                *how = Progress::Excused;
            }
        }
    }

    /// Counts the polls that are blocked while something waits, and reports those that take very long.
    fn note_events(&mut self, progress: &[Progress], snapshot: &Snapshot, action: Action) {
        let monitor = &self.shared.monitor;
        if !monitor.rescues || snapshot.stuck + snapshot.slow == 0 {
            return;
        }
        for (number, slot) in self.shared.victims().enumerate().take(progress.len()) {
            let watch = &mut self.watches[number];
            match progress[number] {
                Progress::Stuck => {}
                // Help may come before the threshold is reached, when there is trouble.
                Progress::Slow if action.start > 0 => {}
                _ => continue,
            }
            watch.note_waiting(self::tasks_waiting(slot, watch, snapshot), snapshot.drivers_wait);
            if progress[number] == Progress::Slow || !watch.anything_waited() || !watch.is_proven(monitor.threshold) {
                continue;
            }
            // Not for what the runtime does by itself: then some thread waits for a lock whose holder has no processor.
            if watch.event.is_none()
                && let Some(doing) = slot.current.doing()
            {
                monitor.blocked.fetch_add(1, Relaxed);
                let mut event = Event { doing, is_reported: false, stack: None };
                if self.reports.wants_stack(&event) {
                    event.stack = slot.current.thread().and_then(Stack::of);
                }
                watch.event = Some(event);
            }
            if watch.age() >= REPORT_AFTER
                && let Some(mut event) = watch.event.take()
            {
                self.reports.report(&self.runtime.reporter, watch, &event, false);
                event.is_reported = true;
                watch.event = Some(event);
            }
        }
    }

    /// Says how many spares are needed, and has those go that are too many. Returns how many these are.
    fn retire(&mut self, snapshot: &Snapshot, action: Action) -> usize {
        let shared = self.shared;
        self.needed = if snapshot.in_trouble && snapshot.queued > 0 || action.start > 0 {
            // Also for those that are only slow yet, and no fewer than there were: else the new ones would go at once.
            self.needed.max(snapshot.stuck + snapshot.slow).max(snapshot.spares + action.start)
        } else {
            snapshot.stuck
        };
        let responder = shared.response.responder();
        let surplus = shared.spares.balance.set_stuck(self.needed + usize::from(responder.is_some() || action.respond));
        for _ in 0..surplus {
            // It finds nothing to do, and that it is not needed.
            let may_go = |worker| worker >= shared.slots.len() && Some(worker) != responder;
            let Some(spare) = shared.idle.wake_one_of(may_go) else { break };
            shared.unpark(self.runtime, spare);
        }
        surplus
    }

    /// The runtime closes.
    fn end(&mut self) {
        for watch in &mut self.watches {
            if let Some(event) = watch.event.take() {
                self.reports.report(&self.runtime.reporter, watch, &event, false);
            }
        }
    }
}

/// Whether it neither sleeps nor has stepped aside.
fn is_up(slot: &Slot) -> bool {
    !slot.current.is_resting() && !slot.current.is_aside()
}

/// A count that stands still only if the worker does.
fn steps(slot: &Slot) -> u64 {
    let counters = &slot.counters;
    let steps = [&counters.polls, &counters.parks, &counters.driver_polls, &counters.foreign_wakes];
    steps.map(Counter::get).iter().sum()
}

/// Whether there is a socket or a timer that the drivers could have news for.
fn is_anything_awaited(runtime: &Inner) -> bool {
    let services = [&runtime.drivers.io, &runtime.drivers.time];
    services.into_iter().flatten().map(|service| service.counters()).any(|counters| {
        counters.io_registered > 0 || counters.timers_set > counters.timers_fired + counters.timers_cancelled
    })
}

/// How many tasks wait because of a stuck worker: those on its lanes, which would have been its next. And all others
/// too, if nobody is free, and it keeps its processor from them or everybody is stuck.
fn tasks_waiting(slot: &Slot, watch: &Watch, snapshot: &Snapshot) -> usize {
    if !snapshot.has_sleepers && (watch.is_asleep() || snapshot.moving == 0) {
        snapshot.queued
    } else {
        slot.lanes.len()
    }
}
