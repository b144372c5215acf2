//! Local sets, each run by a blocking job inside `block_on`: their tasks stay on its thread, whatever wakes or aborts
//! them from elsewhere, and end by themselves or with the set.
//!
//! No task of a set waits for time: the runtime, and its clock with it, may be ended while the job goes on.

use std::cell::Cell;
use std::rc::Rc;

use rt::task::LocalSet;

use super::local::Bound;
use super::{foreign, yields};
use crate::ledger::{Count, Kind};
use crate::panics::excused;
use crate::plan::{Rng, one_in};
use crate::stage::Stage;
use crate::tracked::Joined;

pub(super) async fn run(stage: Stage, size: usize, mut rng: Rng) {
    let mut jobs = Vec::new();
    for _ in 0..size.div_ceil(3) {
        let (inner, own) = (stage.clone(), rng.fork());
        jobs.push(stage.spawn_blocking(move |_| live(&inner, size, own)));
    }
    for job in jobs {
        let _ = job.join().await;
    }
}

/// That of the runtime, and that of the set.
#[derive(Clone)]
struct Stages {
    outer: Stage,
    inner: Stage,
}

fn live(outer: &Stage, size: usize, mut rng: Rng) {
    let (stage, set) = (outer.for_set(), LocalSet::new());
    let stages = Stages { outer: outer.clone(), inner: stage.clone() };
    let uses = Rc::new(Cell::new(0));
    // Some are there before it runs.
    let early: Vec<_> = {
        let _guard = set.enter();
        (0..rng.usize(..=size)).map(|_| spawn(&stages, &uses, rng.fork(), 2)).collect()
    };
    for _ in 0..rng.u32(1..4) {
        let main = main_future(&stages, &uses, size, &mut rng);
        if excused(|| outer.handle().block_on(set.run_until(main))).is_none() && !outer.life().is_closing() {
            outer.ledger().problem("a local set panicked, though its runtime was alive".into());
        }
    }
    if rng.bool() {
        let mut set = set;
        let ended = excused(|| outer.handle().block_on(&mut set)).is_some();
        if ended && stage.life().alive() != 0 {
            outer.ledger().problem("a local set has ended, and its tasks have not".into());
        }
        stage.life().close();
        drop(set);
    } else {
        stage.life().close();
        drop(set);
    }
    if stage.life().alive() != 0 {
        outer
            .ledger()
            .problem(format!("a local set was dropped, and {} of its futures are there", stage.life().alive()));
    }
    early.into_iter().for_each(|task| stage.keep(task));
    if Rc::strong_count(&uses) != 1 {
        outer.ledger().problem("a local set was dropped, and something of its tasks is there".into());
    }
}

async fn main_future(stages: &Stages, uses: &Rc<Cell<u64>>, size: usize, rng: &mut Rng) {
    let tasks: Vec<_> = (0..rng.usize(..=size)).map(|_| spawn(stages, uses, rng.fork(), 2)).collect();
    stages.inner.abort_somebody(rng);
    for task in tasks {
        match rng.u32(..4) {
            0 => drop(task),
            1 => stages.inner.keep(task),
            2 => task.abort(),
            _ => {
                let _ = task.join().await;
            }
        }
    }
}

/// A task of the set that runs, or is entered, on this thread.
fn spawn(stages: &Stages, uses: &Rc<Cell<u64>>, mut rng: Rng, depth: u32) -> Joined<()> {
    let Stages { inner: stage, .. } = stages;
    stage.ledger().count(Count::Local);
    let (bound, uses, stages) = (Bound::new(stage, uses), Rc::clone(uses), stages.clone());
    let mut own = rng.fork();
    let task = stage.spawn_local(async move {
        let Stages { outer, inner } = &stages;
        for _ in 0..rng.u32(..10) {
            bound.touch();
            match rng.u32(..6) {
                0 => foreign::wake(inner).await,
                1 => yields::by_hand(rng.u32(1..3)).await,
                2 => {
                    // Work for the runtime, which may be gone.
                    let task = outer.spawn_from_outside(Kind::Outsider, async {});
                    let _ = task.join().await;
                }
                3 if depth > 0 => {
                    let task = spawn(&stages, &uses, rng.fork(), depth - 1);
                    if rng.bool() {
                        let _ = task.join().await;
                    }
                }
                4 => {
                    let (tx, rx) = rt::sync::oneshot::channel();
                    let task = spawn_sender(inner, tx);
                    if one_in(&mut rng, 4) {
                        task.abort();
                    }
                    let _ = rx.await;
                }
                _ => rt::task::yield_now().await,
            }
        }
    });
    stage.expose(&task, &mut own, 10);
    task
}

fn spawn_sender(stage: &Stage, tx: rt::sync::oneshot::Sender<()>) -> Joined<()> {
    stage.spawn_local(async move {
        rt::task::yield_now().await;
        let _ = tx.send(());
    })
}
