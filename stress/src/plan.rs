//! What a round will be like: a pure function of its seed (and of the number of workers, if that was asked for).
//!
//! Randomness comes as [`Rng`]s that are split from each other. A task gets its own before it starts, so that what it
//! decides depends on the seed alone, and not on which thread was quicker.

use std::time::Duration;

pub(crate) use fastrand::Rng;

use crate::actors::Role;

/// The kinds of runtimes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Threads(usize),
    Current,
    /// Current-thread, with tasks that are not `Send`.
    Local,
}

/// How a runtime ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Dropped, after everything has ended.
    Quiet,
    /// The others come in the middle of it. Dropped by the thread that made it,
    Dropped,
    /// or by another one.
    DroppedElsewhere,
    Timeout(Duration),
    Background,
    /// In the background, by one of its own tasks.
    FromTask,
}

impl Ending {
    /// Whether everything has ended by itself before.
    pub(crate) fn is_quiet(self) -> bool {
        self == Ending::Quiet
    }
}

/// The options of a runtime.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) kind: Kind,
    pub(crate) seed: u64,
    pub(crate) coop_budget: u32,
    pub(crate) event_interval: u32,
    pub(crate) global_queue_interval: u32,
    pub(crate) blocking_threads: usize,
    pub(crate) keep_alive: Duration,
    pub(crate) io_events: usize,
    pub(crate) blocked_threshold: Duration,
    pub(crate) spare_workers: usize,
    /// Whether hooks around tasks are told, and of latencies.
    pub(crate) hooks: Option<Latencies>,
}

/// Whether hooks are told how long a task had waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Latencies {
    Untold,
    Told,
}

impl Options {
    /// Whether any number of tasks may wait in place for others.
    pub(crate) fn has_spares(&self) -> bool {
        self.spare_workers == 512
    }

    pub(crate) fn random(kind: Kind, rng: &mut Rng) -> Self {
        Self {
            kind,
            seed: rng.u64(..),
            coop_budget: pick(rng, &[128, 128, 1, 2, 17]),
            event_interval: pick(rng, &[61, 61, 1, 7, 1000]),
            global_queue_interval: pick(rng, &[61, 61, 1, 2, 1000]),
            blocking_threads: pick(rng, &[512, 1, 2, 4]),
            keep_alive: pick(rng, &[Duration::from_secs(10), Duration::from_millis(1), Duration::ZERO]),
            io_events: pick(rng, &[32, 1024, 1, 3]),
            blocked_threshold: pick(rng, &[Duration::from_millis(10), Duration::from_millis(1)]),
            spare_workers: pick(rng, &[512, 512, 0, 1, 3]),
            hooks: pick(rng, &[None, Some(Latencies::Untold), Some(Latencies::Told)]),
        }
    }
}

/// One actor's part.
pub(crate) struct Part {
    pub(crate) role: Role,
    /// How much of it, from 1 to [`MAX_SIZE`].
    pub(crate) size: usize,
    pub(crate) rng: Rng,
}

/// See [`Part`].
const MAX_SIZE: usize = 12;

/// See the module.
pub(crate) struct Plan {
    pub(crate) options: Options,
    pub(crate) ending: Ending,
    /// How long a round that does not end quietly goes on before it is ended.
    pub(crate) patience: Duration,
    /// Whether tasks are aborted that did not ask for it.
    pub(crate) is_rough: bool,
    pub(crate) parts: Vec<Part>,
    /// What the foreign threads decide with, one each.
    pub(crate) outsiders: Vec<Rng>,
    pub(crate) office: Rng,
}

impl Plan {
    pub(crate) fn new(seed: u64, workers: Option<usize>) -> Self {
        let mut rng = Rng::with_seed(seed);
        let threads = Kind::Threads(rng.usize(1..=4));
        let kind = pick(&mut rng, &[threads, threads, threads, threads, Kind::Current, Kind::Local]);
        let kind = match (kind, workers) {
            (Kind::Threads(_), Some(workers)) => Kind::Threads(workers),
            (kind, _) => kind,
        };
        let ending = random_ending(kind, &mut rng);
        let parts = (0..rng.usize(2..=10))
            .map(|_| Part { role: Role::random(kind, &mut rng), size: rng.usize(1..=MAX_SIZE), rng: rng.fork() })
            .collect();
        Self {
            options: Options::random(kind, &mut rng),
            ending,
            patience: Duration::from_micros(rng.u64(0..60_000)),
            is_rough: rng.bool(),
            parts,
            outsiders: (0..rng.usize(0..=3)).map(|_| rng.fork()).collect(),
            office: rng.fork(),
        }
    }
}

/// One half of the runtimes ends quietly, the other in the middle of their work.
pub(crate) fn random_ending(kind: Kind, rng: &mut Rng) -> Ending {
    let timeout = Ending::Timeout(Duration::from_micros(rng.u64(0..30_000)));
    let early = match kind {
        // Bound to its thread.
        Kind::Local => pick(rng, &[Ending::Dropped, timeout, Ending::Background]),
        _ => pick(
            rng,
            &[
                Ending::Dropped,
                Ending::Dropped,
                Ending::DroppedElsewhere,
                timeout,
                Ending::Background,
                Ending::FromTask,
            ],
        ),
    };
    if rng.bool() { Ending::Quiet } else { early }
}

/// One of these.
pub(crate) fn pick<T: Copy>(rng: &mut Rng, of: &[T]) -> T {
    of[rng.usize(..of.len())]
}

/// True once in `n` times.
pub(crate) fn one_in(rng: &mut Rng, n: u32) -> bool {
    rng.u32(..n) == 0
}

/// The seed of a round. (Neighbouring numbers give unrelated seeds: Fibonacci hashing, then the generator's own
/// mixing.)
pub(crate) fn round_seed(seed: u64, number: u64) -> u64 {
    Rng::with_seed(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(number)).u64(..)
}
