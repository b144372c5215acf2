//! The monitor's thread: it takes samples, and acts on them.
//!
//! Each turn of its loop samples all workers, asks the operating system about those that do not move, has `policy.rs`
//! decide, and does what that says. How long it waits in between is said in `sample_interval.rs`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;

use super::policy::{Action, Snapshot};
use super::report::Reports;
use super::sample_interval::{self, Cadence, SampleInterval};
use super::sampler::{self, Elapsed, Event, Progress, Sample, Sampler};
use super::sites::{BlockingSites, FormerResponders};
use super::{LONG_BLOCK, Monitor};
use crate::blocked::Stack;
use crate::clock::Moment;
use crate::fatal;
use crate::metrics::Counter;
use crate::runtime::Inner;
use crate::scheduler::multi::{Multi, Shared, Slot};

/// The most threads whose state is read at each sample. That of further threads is read once a poll. (To read one takes
/// some ten microseconds.)
pub(super) const MAX_THREAD_READINGS: usize = 32;

/// The monitor's thread.
pub(in crate::scheduler::multi) fn run(runtime: &Arc<Inner>) {
    // Nothing of the user's runs here. What panics is a defect, and a runtime without its monitor would hang one day,
    // for no visible reason.
    if catch_unwind(AssertUnwindSafe(|| run_monitor(runtime))).is_err() {
        fatal::abort("the monitor panicked, which is a defect of rt; the process cannot go on");
    }
}

fn run_monitor(runtime: &Arc<Inner>) {
    let shared = Multi::shared(runtime);
    let monitor = &shared.monitor;
    let parker = monitor.parker.lock().take().expect("a runtime has one monitor");
    let mut monitor_thread = MonitorThread::new(runtime, shared);
    let mut interval = SampleInterval::new();
    let mut last = Moment::now();
    while !shared.is_closing() {
        parker.park_timeout(interval.interval());
        let is_quiet = Monitor::all_quiet(shared);
        let parks = is_quiet.then(|| shared.victims().map(|slot| slot.counters.parks.get()).sum());
        let now = Moment::now();
        let real = now.since(std::mem::replace(&mut last, now));
        let elapsed = Elapsed { real, counted: real.min(interval.expected()) };
        let cadence = monitor_thread.sample_once(elapsed);
        if interval.may_sleep(parks) {
            let is_quiet = || Monitor::all_quiet(shared) && !shared.is_closing();
            let slept = loop {
                monitor.park.sleep_while(&parker, is_quiet);
                let now = Moment::now();
                let slept = now.since(std::mem::replace(&mut last, now));
                monitor_thread.note_slept(slept);
                // The worker that woke this thread may have lost its processor to it.
                thread::yield_now();
                // All may sleep again by now.
                if !(SampleInterval::may_keep_sleeping(slept) && is_quiet()) {
                    break slept;
                }
            };
            // To have something to compare the next sample with.
            let cadence = monitor_thread.sample_once(Elapsed { real: Duration::ZERO, counted: Duration::ZERO });
            interval.restart(slept, monitor_thread.at_rest(cadence));
        } else {
            interval.adapt(if is_quiet { monitor_thread.at_rest(cadence) } else { cadence });
        }
    }
    monitor_thread.end();
}

/// What the monitor's thread knows from one sample to the next.
pub(super) struct MonitorThread<'a> {
    pub(super) runtime: &'a Arc<Inner>,
    pub(super) shared: &'a Shared,
    /// By victim's number.
    pub(super) samplers: Vec<Sampler>,
    drivers: Drivers,
    reports: Reports,
    /// For how much longer the last standstill is remembered.
    pub(super) standstill_memory: Duration,
    /// How many spares are needed for those that are stuck.
    needed: usize,
    pub(super) sites: BlockingSites,
    pub(super) former: FormerResponders,
}

/// For how long nobody has looked after the drivers.
#[derive(Default)]
struct Drivers {
    polls: u64,
    neglected: Duration,
}

impl<'a> MonitorThread<'a> {
    fn new(runtime: &'a Arc<Inner>, shared: &'a Shared) -> Self {
        Self {
            runtime,
            shared,
            samplers: Vec::new(),
            drivers: Drivers::default(),
            reports: Reports::new(shared.monitor.hook.clone()),
            standstill_memory: Duration::ZERO,
            needed: 0,
            sites: BlockingSites::default(),
            former: FormerResponders::default(),
        }
    }

    /// The monitor has slept for `time`.
    fn note_slept(&mut self, time: Duration) {
        self.standstill_memory = self.standstill_memory.saturating_sub(time);
    }

    /// The same cadence when nobody is awake, or somebody has just woken up.
    fn at_rest(&self, cadence: Cadence) -> Cadence {
        if cadence == Cadence::Normal && self.standstill_memory.is_zero() { Cadence::Idle } else { cadence }
    }

    /// Looks at everybody once, and helps.
    fn sample_once(&mut self, elapsed: Elapsed) -> Cadence {
        let shared = self.shared;
        let mut progress = self.take_samples(elapsed);
        self.standstill_memory = self.standstill_memory.saturating_sub(elapsed.counted);
        if progress.contains(&Progress::Stuck)
            || !self.standstill_memory.is_zero() && progress.contains(&Progress::Slow)
        {
            self.read_threads(&mut progress);
            let read = |number| shared.victim(number)?.activity.thread()?.read()?.times;
            sampler::excuse_sleepers(&mut progress, &mut self.samplers, shared.monitor.threshold, read);
        }
        self.supervise_responder(&mut progress, elapsed.counted);
        let snapshot = self.snapshot(&progress, elapsed.counted);
        if snapshot.stuck > 0 && snapshot.is_nobody_moving() && snapshot.waits() > 0 {
            self.standstill_memory = LONG_BLOCK;
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
        if surplus > 0 { Cadence::Fast } else { snapshot.cadence(action) }
    }

    fn take_samples(&mut self, elapsed: Elapsed) -> Vec<Progress> {
        let count = self.shared.num_victims();
        if self.samplers.len() < count {
            self.samplers.resize_with(count, Sampler::default);
        }
        let now = Moment::now();
        let mut progress = Vec::with_capacity(count);
        // Also those that have retired since the last look, whose events have ended.
        for number in 0..self.samplers.len() {
            let Some(slot) = self.shared.victim(number) else {
                progress.push(Progress::Away);
                continue;
            };
            // The clock is read anew: after it was seen which poll it is.
            slot.times.watch.find(slot.counters.polls.get(), Moment::now);
            let woke_up = slot.time_in_first_poll(now);
            let sample = Sample { steps: steps(slot), is_away: !is_awake(slot), woke_up };
            let sampler = &mut self.samplers[number];
            let (how, ended) = sampler.add(sample, elapsed, self.shared.monitor.threshold);
            progress.push(how);
            if let Some((sampler, event)) = ended {
                self.reports.report(self.runtime, &sampler, &event, true);
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
        if !(0..action.start).all(|_| shared.start_spare(self.runtime)) && shared.quarantine.responder().is_some() {
            // What it leaves alone may be what the others wait for.
            self.dismiss_responder();
        }
    }

    fn snapshot(&mut self, progress: &[Progress], elapsed: Duration) -> Snapshot {
        let shared = self.shared;
        let polls = shared.victims().map(|slot| slot.counters.driver_polls.get()).sum();
        if shared.driver.is_attended() || polls != self.drivers.polls {
            self.drivers = Drivers { polls, neglected: Duration::ZERO };
        } else {
            self.drivers.neglected += elapsed;
            // A worker that still runs tasks will see this.
            if is_anything_awaited(self.runtime) {
                shared.control.request_driver_poll();
            }
        }
        let has_responder = shared.quarantine.responder().is_some();
        let recent_standstill = !self.standstill_memory.is_zero();
        let patience = if recent_standstill { sample_interval::FAST_INTERVAL } else { shared.monitor.threshold };
        let mut snapshot = Snapshot {
            starting: shared.spares.starting(),
            blocking_in_place: shared.spares.count.blocking_in_place(),
            queued: shared.injector_depth() + shared.external_wakers.len(),
            stranded: shared.external_wakers.len(),
            injected: shared.injector.len(),
            drivers_wait: self.drivers.neglected >= patience && is_anything_awaited(self.runtime),
            has_responder,
            former_responders: self.former.count(|slot| shared.cores.visit_vacant(slot, || ())),
            has_sleepers: shared.has_sleepers(),
            spares: shared.spares.count.running().saturating_sub(usize::from(has_responder)),
            workers: shared.workers,
            recent_standstill,
            ..Snapshot::default()
        };
        for ((&how, sampler), slot) in progress.iter().zip(&self.samplers).zip(shared.victims()) {
            let queued = slot.run_queue.len();
            snapshot.queued += queued;
            match how {
                // It does not come back for them before the blocking code returns.
                Progress::Away if slot.activity.is_blocking_in_place() => snapshot.stranded += queued,
                Progress::Away => {}
                Progress::Moving => snapshot.moving += 1,
                Progress::Preempted => {
                    snapshot.moving += 1;
                    snapshot.preempted += 1;
                }
                Progress::Slow => {
                    snapshot.slow += 1;
                    snapshot.stranded += if recent_standstill { queued } else { 0 };
                }
                Progress::Stuck => {
                    snapshot.stuck += 1;
                    snapshot.stuck_asleep += usize::from(sampler.is_asleep());
                    snapshot.stranded += queued;
                }
            }
            if matches!(how, Progress::Slow | Progress::Stuck) {
                snapshot.asleep += usize::from(sampler.is_asleep() && sampler.has_reading());
                snapshot.unknown += usize::from(!sampler.has_reading());
            }
        }
        snapshot
    }

    /// Asks the operating system what the threads do that do not move. Those that it lets wait for a processor would.
    fn read_threads(&mut self, progress: &mut [Progress]) {
        let mut readings = 0;
        let threshold = self.shared.monitor.threshold;
        let responder = self.shared.quarantine.responder().map(|responder| self.number_of(responder));
        for (number, how) in progress.iter_mut().enumerate() {
            if !matches!(how, Progress::Slow | Progress::Stuck) {
                continue;
            }
            let sampler = &mut self.samplers[number];
            let is_worth_it = readings < MAX_THREAD_READINGS || !sampler.is_proven(threshold) || !sampler.has_reading();
            if (is_worth_it || Some(number) == responder)
                && let Some(reading) = self.shared.victim(number).and_then(|slot| slot.activity.thread()?.read())
            {
                readings += 1;
                sampler.note(reading);
            }
            if !sampler.is_long_poll(threshold) {
                *how = Progress::Preempted;
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
            let sampler = &mut self.samplers[number];
            match progress[number] {
                Progress::Stuck => {}
                // Help may come before the threshold is reached, when there is trouble.
                Progress::Slow if action.start > 0 => {}
                _ => continue,
            }
            sampler.note_waiting(tasks_waiting(slot, sampler, snapshot), snapshot.drivers_wait);
            if progress[number] == Progress::Slow || !sampler.anything_waited() || !sampler.is_proven(monitor.threshold)
            {
                continue;
            }
            // Not for what the runtime does by itself: then some thread waits for a lock whose holder has no processor.
            if sampler.event.is_none()
                && let Some(user_code) = slot.activity.user_code()
            {
                monitor.blocked.fetch_add(1, Relaxed);
                let mut event = Event { user_code, is_reported: false, stack: None };
                if self.reports.wants_stack(&event) {
                    event.stack = slot.activity.thread().and_then(Stack::of);
                }
                sampler.event = Some(event);
            }
            if sampler.age() >= LONG_BLOCK
                && let Some(mut event) = sampler.event.take()
            {
                self.reports.report(self.runtime, sampler, &event, false);
                event.is_reported = true;
                sampler.event = Some(event);
            }
        }
    }

    /// Says how many spares are needed, and has those go that are too many. Returns how many these are.
    fn retire(&mut self, snapshot: &Snapshot, action: Action) -> usize {
        let shared = self.shared;
        self.needed = if snapshot.recent_standstill && snapshot.queued > 0 || action.start > 0 {
            // Also for those that are only slow yet, and no fewer than there were: else the new ones would go at once.
            self.needed.max(snapshot.stuck + snapshot.slow).max(snapshot.spares + action.start)
        } else {
            snapshot.stuck
        };
        let responder = shared.quarantine.responder();
        let surplus = shared.spares.count.set_stuck(self.needed + usize::from(responder.is_some() || action.respond));
        for _ in 0..surplus {
            // It finds nothing to do, and that it is not needed.
            let may_go = |worker| worker >= shared.slots.len() && Some(worker) != responder;
            let Some(spare) = shared.idle.wake_one_of(may_go) else { break };
            shared.wake_worker(self.runtime, spare);
        }
        surplus
    }

    /// The runtime closes.
    fn end(&mut self) {
        for sampler in &mut self.samplers {
            if let Some(event) = sampler.event.take() {
                self.reports.report(self.runtime, sampler, &event, false);
            }
        }
    }
}

/// Whether it neither sleeps nor blocks in place.
fn is_awake(slot: &Slot) -> bool {
    !slot.activity.is_parked() && !slot.activity.is_blocking_in_place()
}

/// A count that stands still only if the worker does.
pub(super) fn steps(slot: &Slot) -> u64 {
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

/// How many tasks wait because of a stuck worker: those on its queues, which would have been its next. And all others
/// too, if nobody is free, and it keeps its processor from them or everybody is stuck.
fn tasks_waiting(slot: &Slot, sampler: &Sampler, snapshot: &Snapshot) -> usize {
    if !snapshot.has_sleepers && (sampler.is_asleep() || snapshot.moving == 0) {
        snapshot.queued
    } else {
        slot.run_queue.len()
    }
}
