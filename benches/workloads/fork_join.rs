//! A binary tree of tasks: each spawns two and waits for both.

use std::time::{Duration, Instant};

use crate::{Handle, Reference, Runtime, Task, Workload, on_worker};

const DEPTH: u32 = 9;
const NODES: u64 = (1 << (DEPTH + 1)) - 1;

/// An operation is one node of a tree of 1023, which does nothing but count.
///
/// It measures what divide-and-conquer costs: spawning, stealing large parts, and joining across workers. With real
/// work in the leaves all runtimes are closer together.
///
/// rayon, which is made for this and nothing else, does the same tree with `rayon::join`, on a pool of as many threads.
/// It allocates nothing, and runs the first of the two at once; its threads cannot wait for anything but each other.
#[derive(Clone, Debug)]
pub struct ForkJoin;

fn node<R: Runtime>(handle: R::Handle, depth: u32) -> Task<R, u64> {
    handle.spawn(async move {
        if depth == 0 {
            return 1;
        }
        let left = node::<R>(handle, depth - 1);
        let right = node::<R>(handle, depth - 1);
        left.await + right.await + 1
    })
}

fn node_of_rayon(depth: u32) -> u64 {
    if depth == 0 {
        return 1;
    }
    let (left, right) = rayon::join(|| node_of_rayon(depth - 1), || node_of_rayon(depth - 1));
    left + right + 1
}

impl Workload for ForkJoin {
    fn name(&self) -> &'static str {
        "spawn/fork_join"
    }

    fn title(&self) -> &'static str {
        "fork-join tree, a node"
    }

    fn operations(&self) -> u64 {
        NODES
    }

    fn run<R: Runtime>(&self, runtime: &R, rounds: u64) -> Duration {
        let handle = runtime.handle();
        on_worker(runtime, async move {
            let start = Instant::now();
            for _ in 0..rounds {
                assert_eq!(node::<R>(handle, DEPTH).await, NODES);
            }
            start.elapsed()
        })
    }

    fn reference(&self, threads: usize) -> Option<Reference<u64, Duration>> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("cannot start a pool");
        let run = move |rounds| {
            pool.install(|| {
                let start = Instant::now();
                for _ in 0..rounds {
                    assert_eq!(node_of_rayon(DEPTH), NODES);
                }
                start.elapsed()
            })
        };
        Some(Reference { name: "rayon", run: Box::new(run) })
    }
}
