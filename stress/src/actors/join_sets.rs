//! Join sets: each task of a set is joined once, however it ends, or goes on, or is aborted with the set.

use super::dither;
use crate::group::Group;
use crate::panics::planned;
use crate::plan::{Rng, one_in};
use crate::stage::Stage;
use crate::tracked::End;

pub(super) async fn run(stage: Stage, size: usize, mut rng: Rng) {
    for _ in 0..rng.u32(1..4) {
        let mut group = Group::new(&stage);
        let (spawned, mut joined) = (rng.usize(..=size * 5), 0);
        for _ in 0..spawned {
            spawn(&stage, &mut group, &mut rng);
            if one_in(&mut rng, 10) {
                dither(&mut rng).await;
            }
            if one_in(&mut rng, 10) {
                joined += group.try_join_next().is_some_and(|result| check(&stage, result)) as usize;
            }
        }
        let early = rng.usize(..=spawned);
        while joined < early && join(&stage, &mut group, &mut rng).await {
            joined += 1;
        }
        match rng.u32(..6) {
            0 => drop(group),
            1 => group.shutdown().await,
            2 => group.detach_all(),
            kind => {
                if kind == 3 {
                    group.abort_all();
                }
                while join(&stage, &mut group, &mut rng).await {
                    joined += 1;
                }
                if joined != spawned {
                    stage.ledger().problem(format!("{joined} of the {spawned} tasks of a join set were joined"));
                }
            }
        }
    }
}

/// What a task gives that planned to panic.
const NEVER: u32 = 1000;

fn spawn(stage: &Stage, group: &mut Group<u32>, rng: &mut Rng) {
    let (mut own, by_handle) = (rng.fork(), rng.bool());
    let target = match rng.u32(..8) {
        0 => group.spawn_blocking(|| 0),
        1 => group.spawn(by_handle, |id| async move {
            dither(&mut own).await;
            if own.u32(..) < u32::MAX {
                planned(id);
            }
            NEVER
        }),
        2 => {
            // Ends at once, if not before somebody looks.
            group.spawn(by_handle, |_| async { 1 })
        }
        3 => {
            let target = group.spawn(by_handle, |_| std::future::pending());
            target.abort();
            target
        }
        _ => group.spawn(by_handle, |_| async move {
            dither(&mut own).await;
            2
        }),
    };
    stage.expose_target(|| target, rng, 10);
}

/// Joins the next one, perhaps at the second attempt. False: there is none.
async fn join(stage: &Stage, group: &mut Group<u32>, rng: &mut Rng) -> bool {
    if one_in(rng, 4)
        && let Some(result) = super::sync::perhaps(stage, rng, group.join_next()).await
    {
        return result.is_some_and(|result| check(stage, result));
    }
    group.join_next().await.is_some_and(|result| check(stage, result))
}

fn check(stage: &Stage, result: Result<u32, End>) -> bool {
    if result == Ok(NEVER) {
        stage.ledger().problem("a task that panicked gave an output".into());
    }
    true
}
