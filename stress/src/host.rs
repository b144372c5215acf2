//! The runtime of a round, of whatever kind, and its end.

use std::future::Future;
use std::sync::Arc;
use std::thread;

use rt::runtime::{Builder, Handle, LocalRuntime, RngSeed, Runtime};

use crate::ledger::{Count, Kind as TaskKind, Ledger};
use crate::plan::{Ending, Kind, Latencies, Options};
use crate::stage::Stage;

pub(crate) enum Host {
    Sendable(Runtime),
    Local(LocalRuntime),
}

impl Host {
    pub(crate) fn build(options: &Options, ledger: &Arc<Ledger>) -> Self {
        let mut builder = match options.kind {
            Kind::Threads(_) => Builder::new_multi_thread(),
            Kind::Current | Kind::Local => Builder::new_current_thread(),
        };
        if let Kind::Threads(workers) = options.kind {
            builder.worker_threads(workers);
        }
        builder
            .enable_all()
            .rng_seed(RngSeed::from_u64(options.seed))
            .coop_budget(options.coop_budget)
            .event_interval(options.event_interval)
            .global_queue_interval(options.global_queue_interval)
            .max_blocking_threads(options.blocking_threads)
            .thread_keep_alive(options.keep_alive)
            .max_io_events_per_tick(options.io_events)
            .blocked_threshold(options.blocked_threshold)
            .max_spare_workers(options.spare_workers)
            // Many are, and are meant to be.
            .on_blocked(|_| ());
        if let Some(latencies) = options.hooks {
            hang_hooks(&mut builder, latencies, ledger);
        }
        if options.kind == Kind::Local {
            Self::Local(builder.build_local(Default::default()).expect("a local runtime"))
        } else {
            Self::Sendable(builder.build().expect("a runtime"))
        }
    }

    pub(crate) fn handle(&self) -> &Handle {
        match self {
            Self::Sendable(runtime) => runtime.handle(),
            Self::Local(runtime) => runtime.handle(),
        }
    }

    pub(crate) fn block_on<F: Future>(&self, future: F) -> F::Output {
        match self {
            Self::Sendable(runtime) => runtime.block_on(future),
            Self::Local(runtime) => runtime.block_on(future),
        }
    }

    /// Ends the runtime. Its tasks may be dropped from here on.
    pub(crate) fn end(self, ending: Ending, stage: &Stage) {
        stage.life().close();
        match (self, ending) {
            (Self::Sendable(runtime), Ending::Timeout(limit)) => runtime.shutdown_timeout(limit),
            (Self::Local(runtime), Ending::Timeout(limit)) => runtime.shutdown_timeout(limit),
            (Self::Sendable(runtime), Ending::Background) => runtime.shutdown_background(),
            (Self::Local(runtime), Ending::Background) => runtime.shutdown_background(),
            (Self::Sendable(runtime), Ending::DroppedElsewhere) => {
                thread::spawn(move || drop(runtime)).join().expect("a runtime can be dropped on any thread");
            }
            (Self::Sendable(runtime), Ending::FromTask) => {
                let handle = runtime.handle().clone();
                let task = stage.spawn_from_outside(TaskKind::Ender, async move { runtime.shutdown_background() });
                // It ends the runtime that it is waited for on, and completes all the same.
                let ended = handle.block_on(task.join());
                if ended.is_err() {
                    stage.ledger().problem(format!("the task that ends its runtime: {ended:?}"));
                }
            }
            (host, _) => drop(host),
        }
    }
}

/// Has hooks count what begins and ends.
fn hang_hooks(builder: &mut Builder, latencies: Latencies, ledger: &Arc<Ledger>) {
    let [spawns, ends, befores, afters] = std::array::from_fn(|_| ledger.clone());
    if latencies == Latencies::Told {
        builder.track_task_schedule_latency();
    }
    builder
        .on_task_spawn(move |_| spawns.begun(TaskKind::Hooked))
        .on_task_terminate(move |_| ends.gone(TaskKind::Hooked))
        .on_before_task_poll(move |task| {
            befores.count(Count::Polls);
            befores.begun(TaskKind::Poll);
            if task.schedule_latency().is_some() != (latencies == Latencies::Told) {
                befores.problem(format!("latency of a poll: {:?}, {latencies:?}", task.schedule_latency()));
            }
        })
        .on_after_task_poll(move |_| afters.gone(TaskKind::Poll));
}
