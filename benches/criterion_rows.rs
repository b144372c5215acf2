//! [`CriterionRows`]: what the criterion targets are made of.

use std::fmt;
use std::time::Duration;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, Throughput};

use crate::runtime::Runtime;
use crate::runtimes::{Rt, Smol, Tokio};
use crate::workload::Workload;

/// Runs workloads under criterion, each in a group with one entry a runtime. Criterion's times are those of a round;
/// its "elements" are operations.
pub struct CriterionRows {
    criterion: Criterion,
    workers: usize,
}

impl CriterionRows {
    /// Reads the command line that `cargo bench` passes on.
    ///
    /// The times are short, so that all rows together take minutes. `--measurement-time` and its like override them.
    pub fn from_args() -> Self {
        let criterion = Criterion::default()
            .warm_up_time(Duration::from_millis(500))
            .measurement_time(Duration::from_secs(2))
            .sample_size(15)
            .nresamples(10_000)
            .without_plots()
            .configure_from_args();
        Self { criterion, workers: crate::workers() }
    }

    /// Measures a workload on each runtime, one after the other.
    pub fn row(&mut self, workload: impl Workload) -> &mut Self {
        let rt = Rt::start(self.workers);
        let tokio = Tokio::start(self.workers);
        let smol = Smol::start(self.workers);

        let mut group = self.criterion.benchmark_group(workload.name());
        group.throughput(Throughput::Elements(workload.operations()));
        side(&mut group, &workload, &rt);
        side(&mut group, &workload, &tokio);
        side(&mut group, &workload, &smol);
        group.finish();
        self
    }

    /// Prints criterion's summary.
    pub fn finish(&mut self) {
        self.criterion.final_summary();
    }
}

fn side<W: Workload, R: Runtime>(group: &mut BenchmarkGroup<'_, WallTime>, workload: &W, runtime: &R) {
    group.bench_with_input(BenchmarkId::from_parameter(R::NAME), runtime, |bencher, runtime| {
        bencher.iter_custom(|rounds| workload.run(runtime, rounds));
    });
}

impl fmt::Debug for CriterionRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CriterionRows").field("workers", &self.workers).finish_non_exhaustive()
    }
}
