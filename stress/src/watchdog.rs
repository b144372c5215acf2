//! Notices a round that hangs, says what is outstanding, and aborts the process.

// Nobody is forked here while a thread waits.
#![allow(clippy::disallowed_types)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use rt::runtime::{Counts, RuntimeMetrics};

use crate::ledger::Ledger;
use crate::process::Census;

/// No round takes a tenth of that.
const LIMIT: Duration = Duration::from_secs(60);

/// One for the whole process: its thread is there before the first census.
pub(crate) struct Watchdog(Arc<Watched>);

#[derive(Default)]
struct Watched {
    round: Mutex<Option<Round>>,
    changed: Condvar,
}

struct Round {
    seed: u64,
    begun: Instant,
    phase: &'static str,
    ledger: Arc<Ledger>,
    metrics: Option<RuntimeMetrics>,
    before: Census,
}

/// Watches one round until it is dropped.
pub(crate) struct Watch<'a>(&'a Watched);

impl Watchdog {
    pub(crate) fn start() -> Self {
        let watched = Arc::new(Watched::default());
        let theirs = Arc::clone(&watched);
        std::thread::spawn(move || theirs.watch());
        Self(watched)
    }

    pub(crate) fn watch(&self, seed: u64, ledger: &Arc<Ledger>, before: Census) -> Watch<'_> {
        let ledger = Arc::clone(ledger);
        let round = Round { seed, begun: Instant::now(), phase: "building", ledger, metrics: None, before };
        *self.0.round.lock() = Some(round);
        Watch(&self.0)
    }
}

impl Watch<'_> {
    /// What the round is at.
    pub(crate) fn phase(&self, phase: &'static str) {
        if let Some(round) = &mut *self.0.round.lock() {
            round.phase = phase;
        }
    }

    /// The runtime to tell about, if the round hangs. It must not be kept for longer than the runtime may live.
    pub(crate) fn metrics(&self, metrics: Option<RuntimeMetrics>) {
        if let Some(round) = &mut *self.0.round.lock() {
            round.metrics = metrics;
        }
    }
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        *self.0.round.lock() = None;
    }
}

impl Watched {
    fn watch(&self) {
        let mut round = self.round.lock();
        loop {
            self.changed.wait_for(&mut round, Duration::from_secs(1));
            if let Some(round) = round.as_ref().filter(|round| round.begun.elapsed() > LIMIT) {
                round.report();
                std::process::abort();
            }
        }
    }
}

impl Round {
    fn report(&self) {
        eprintln!("HANG: the round with --round-seed {} has not ended after {LIMIT:?}", self.seed);
        eprintln!("  it is at: {}", self.phase);
        eprintln!("  before it {:?}, now {:?}", self.before, Census::take());
        eprint!("{}", self.ledger);
        let Some(metrics) = &self.metrics else { return };
        eprintln!("  the runtime: {:?}", metrics.totals());
        eprintln!("  drivers: {:?}", metrics.drivers());
        eprintln!("  tasks alive: {}, in the injector: {}", metrics.num_alive_tasks(), metrics.global_queue_depth());
        for worker in 0..metrics.num_workers() {
            let (depth, counts) = (metrics.worker_queue_depth(worker), metrics.worker(worker).map(short));
            eprintln!("  worker {worker}: queued {}, {}", depth.unwrap_or(0), counts.unwrap_or_default());
        }
        eprintln!(
            "  blocking: {} threads, {} idle, {} jobs queued",
            metrics.num_blocking_threads(),
            metrics.num_idle_blocking_threads(),
            metrics.blocking_queue_depth()
        );
    }
}

fn short(counts: Counts) -> String {
    let Counts { polls, parks, steals, driver_polls, .. } = counts;
    format!("polls {polls}, parks {parks}, steals {steals}, driver polls {driver_polls}")
}
