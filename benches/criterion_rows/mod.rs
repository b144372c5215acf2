//! [`CriterionRows`]: what the criterion targets are made of.

mod in_turn;

use std::time::Duration;
use std::{env, fmt};

use criterion::{BenchmarkId, Criterion, SamplingMode, Throughput};

use self::in_turn::{InTurn, Side};
use crate::trio::Trio;
use crate::workload::{Reference, Workload};

/// Without `RT_BENCH_WORKERS`.
const WORKERS: [usize; 3] = [1, 2, 4];

/// How long all runtimes of a group are warmed up, and then measured, together.
const WARM_UP: Duration = Duration::from_millis(400);
const MEASUREMENT: Duration = Duration::from_secs(3);

/// Modes of criterion that want each benchmark by itself: for a profiler, and for a rough figure at once.
const ALONE: [&str; 2] = ["--profile-time", "--quick"];

/// Runs workloads under criterion, each in a group with an entry for each runtime and number of workers. Criterion's
/// times are those of a round; its "elements" are operations.
pub struct CriterionRows {
    criterion: Criterion,
    workers: Vec<usize>,
    in_turn: bool,
}

impl CriterionRows {
    /// Reads the command line that `cargo bench` passes on.
    ///
    /// The times are short, so that all rows together take minutes. `--measurement-time` and its like override them.
    pub fn from_args() -> Self {
        let criterion = Criterion::default()
            .warm_up_time(WARM_UP)
            .measurement_time(MEASUREMENT)
            .sample_size(15)
            .nresamples(10_000)
            .without_plots()
            .configure_from_args();
        let in_turn = !env::args().any(|argument| ALONE.iter().any(|mode| argument.starts_with(mode)));
        Self { criterion, workers: crate::workers(&WORKERS), in_turn }
    }

    /// Measures a workload on the runtimes, in turn.
    pub fn row(&mut self, workload: impl Workload) -> &mut Self {
        for workers in self.workers.clone() {
            self.group(&workload, workers);
        }
        self
    }

    fn group<W: Workload>(&mut self, workload: &W, workers: usize) {
        let trio = Trio::start(workers);
        let mut sides = Vec::new();
        for (index, name) in Trio::NAMES.into_iter().enumerate() {
            let trio = &trio;
            let run = move |rounds| trio.visit(index, in_turn::Rounds { workload, rounds });
            sides.push(Side::new(name, Box::new(run)));
        }
        if let Some(Reference { name, run }) = workload.reference(workers) {
            sides.push(Side::new(name, run));
        }
        let mut in_turn = InTurn::new(sides, self.in_turn);

        let mut group = self.criterion.benchmark_group(workload.name());
        group.throughput(Throughput::Elements(workload.operations()));
        // All samples are of the same length, so their order does not matter.
        group.sampling_mode(SamplingMode::Flat);
        for side in 0..in_turn.len() {
            let id = BenchmarkId::new(in_turn.name(side), format!("{workers}_workers"));
            group.bench_function(id, |bencher| bencher.iter_custom(|rounds| in_turn.sample(side, rounds)));
            if self.in_turn {
                // From here on there is nothing to warm up: one call, for criterion to know how long a round takes.
                group.warm_up_time(Duration::from_nanos(1));
            }
        }
        group.finish();
    }

    /// Prints criterion's summary.
    pub fn finish(&mut self) {
        self.criterion.final_summary();
    }
}

impl fmt::Debug for CriterionRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CriterionRows").field("workers", &self.workers).finish_non_exhaustive()
    }
}
