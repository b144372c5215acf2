//! Fork and join: tasks that spawn tasks, and count them.

use std::future::Future;
use std::pin::Pin;

use super::dither;
use crate::ledger::Kind;
use crate::plan::{Rng, one_in};
use crate::stage::Stage;

pub(super) async fn run(stage: Stage, size: usize, rng: Rng) {
    let depth = size as u32 / 2;
    let expected = nodes(depth, rng.clone());
    if let Some(counted) = node(stage.clone(), depth, rng).await
        && counted != expected
    {
        stage.ledger().problem(format!("a tree of {expected} nodes was counted as {counted}"));
    }
}

/// What one node decides.
struct Decisions {
    children: Vec<Rng>,
    rest: Rng,
}

fn decide(depth: u32, mut rng: Rng) -> Decisions {
    let children = if depth == 0 { 0 } else { rng.usize(1..=3) };
    Decisions { children: (0..children).map(|_| rng.fork()).collect(), rest: rng }
}

/// How many nodes there will be.
fn nodes(depth: u32, rng: Rng) -> u64 {
    1 + decide(depth, rng).children.into_iter().map(|rng| nodes(depth - 1, rng)).sum::<u64>()
}

/// Counts the nodes from here on. `None`: one of them was aborted.
fn node(stage: Stage, depth: u32, rng: Rng) -> Pin<Box<dyn Future<Output = Option<u64>> + Send>> {
    Box::pin(async move {
        let Decisions { children, mut rest } = decide(depth, rng);
        let mut tasks = Vec::new();
        for rng in children {
            let task = stage.spawn(Kind::Node, node(stage.clone(), depth - 1, rng));
            stage.expose(&task, &mut rest, 50);
            tasks.push(task);
        }
        // One that nobody counts.
        if one_in(&mut rest, 8) {
            let mut rng = rest.fork();
            drop(stage.spawn(Kind::Node, async move { dither(&mut rng).await }));
        }
        dither(&mut rest).await;
        if rest.bool() {
            tasks.reverse();
        }
        let mut counted = Some(1);
        for task in tasks {
            let below = task.join().await.ok().flatten();
            counted = counted.zip(below).map(|(here, below)| here + below);
        }
        counted
    })
}
