//! [`InTurn`]: interleaved runs for a criterion that knows only one benchmark after the other.
//!
//! Criterion warms one benchmark up, takes all its samples, and goes on to the next. A machine that is shared, or gets
//! warm, is another one by then, and what looks like a difference between two runtimes is one between two moments. So
//! when the first runtime is asked for a sample, all are run, one after the other, and the others' times are kept. When
//! criterion gets to the others, they hand back what was kept, as if it were measured then. What a group compares was
//! thus measured within a fraction of a second of each other.
//!
//! - **Lengths.** The first runs the number of rounds that criterion asks for. The others run as many as take about as
//!   long, going by their own last run: each gets an equal share of the time, whatever it makes of it. Criterion, which
//!   times the call, plans with the sum of all.
//! - **Handing back.** A kept time is one a round, and is scaled to the rounds asked for. It is the last one first: the
//!   samples of the warm-up lie at the bottom, and are never reached. That reverses the order in time, which no
//!   statistics of criterion's depend on as long as sampling is flat.
//! - **The others' warm-up** is one call, which waits as long as a kept sample says that a round takes, so that
//!   criterion plans with a figure that is about right. The number of samples is the same for all, and does not depend
//!   on it.
//! - **Alone.** If the first is not asked for (a filter names another), or there are no samples left, everybody is
//!   simply run. So they are under `--profile-time` and `--quick`.

use std::time::{Duration, Instant};
use std::{hint, mem};

use crate::runtime::Runtime;
use crate::trio::Visitor;
use crate::workload::Workload;

/// That many rounds of a workload.
pub(super) struct Rounds<'a, W> {
    pub(super) workload: &'a W,
    pub(super) rounds: u64,
}

impl<W: Workload> Visitor for Rounds<'_, W> {
    type Output = Duration;

    fn visit<R: Runtime>(self, runtime: &R) -> Duration {
        self.workload.run(runtime, self.rounds)
    }
}

/// One of those that are run in turn.
pub(super) struct Side<'a> {
    name: &'static str,
    run: Box<dyn Fn(u64) -> Duration + 'a>,
    /// How long a round took on the clock, in seconds, the last time.
    pace: Option<f64>,
    /// Seconds a round, as the workload tells it.
    kept: Vec<f64>,
    asked_before: bool,
}

impl<'a> Side<'a> {
    pub(super) fn new(name: &'static str, run: Box<dyn Fn(u64) -> Duration + 'a>) -> Self {
        Self { name, run, pace: None, kept: Vec::new(), asked_before: false }
    }

    fn run(&mut self, rounds: u64) -> Duration {
        let start = Instant::now();
        let told = (self.run)(rounds);
        self.pace = Some(start.elapsed().as_secs_f64() / rounds as f64);
        told
    }
}

/// Those that are run in turn; the first leads.
pub(super) struct InTurn<'a> {
    sides: Vec<Side<'a>>,
    in_turn: bool,
}

impl<'a> InTurn<'a> {
    pub(super) fn new(sides: Vec<Side<'a>>, in_turn: bool) -> Self {
        Self { sides, in_turn }
    }

    pub(super) fn len(&self) -> usize {
        self.sides.len()
    }

    pub(super) fn name(&self, side: usize) -> &'static str {
        self.sides[side].name
    }

    /// What criterion asks for: a time for that many rounds.
    pub(super) fn sample(&mut self, side: usize, rounds: u64) -> Duration {
        if side == 0 && self.in_turn { self.run_all(rounds) } else { self.hand_back(side, rounds) }
    }

    fn run_all(&mut self, rounds: u64) -> Duration {
        let (first, others) = self.sides.split_first_mut().expect("there are several runtimes");
        let told = first.run(rounds);
        let pace = first.pace.expect("it has just run");
        for other in others {
            // Before there is anything to go by: the same number, which is one in the first call.
            let rounds =
                other.pace.map_or(rounds, |its_pace| (rounds as f64 * pace / its_pace).round().max(1.0) as u64);
            let told = other.run(rounds);
            other.kept.push(told.as_secs_f64() / rounds as f64);
        }
        told
    }

    fn hand_back(&mut self, side: usize, rounds: u64) -> Duration {
        let side = &mut self.sides[side];
        let warms_up = !mem::replace(&mut side.asked_before, true) && side.kept.len() > 1;
        if warms_up {
            let start = Instant::now();
            let round = Duration::from_secs_f64(side.kept[side.kept.len() - 1]);
            while start.elapsed() < round {
                hint::spin_loop();
            }
            return round * u32::try_from(rounds).unwrap_or(u32::MAX);
        }
        match side.kept.pop() {
            Some(seconds) => Duration::from_secs_f64(seconds * rounds as f64),
            None => side.run(rounds),
        }
    }
}
