//! Values that go with a task: seen in each of its polls and when it is dropped, by nobody else, and dropped once.

use std::sync::Arc;

use super::dither;
use super::sync::perhaps;
use crate::ledger::{Count, Kind};
use crate::parcel::{Flow, Parcel};
use crate::plan::{Rng, one_in};
use crate::stage::Stage;

rt::task_local! {
    static OWN: Parcel;
}

/// What the task-local has here.
fn here() -> Option<u64> {
    OWN.try_with(Parcel::number).ok()
}

fn expect(stage: &Stage, expected: Option<u64>, place: &str) {
    let here = here();
    if here != expected {
        stage.ledger().problem(format!("a task-local has {here:?} {place}, and not {expected:?}"));
    }
}

/// Lies in a future inside of a scope, and is dropped inside of it.
struct AtDrop(Stage, u64);

impl Drop for AtDrop {
    fn drop(&mut self) {
        expect(&self.0, Some(self.1), "in a drop");
    }
}

pub(super) async fn run(stage: Stage, size: usize, mut rng: Rng) {
    let flow = Arc::<Flow>::default();
    let tasks: Vec<_> = (0..size as u64 * 2)
        .map(|number| {
            let (inner, flow, own) = (stage.clone(), Arc::clone(&flow), rng.fork());
            let value = parcel(&stage, &flow, number);
            let work = Work { stage: inner, flow, number };
            let task = if rng.bool() {
                stage.spawn(Kind::Scoped, OWN.scope(value, inside(work.at_drop(), work, own)))
            } else {
                stage.spawn(Kind::Scoped, take_back(value, work, own))
            };
            stage.expose(&task, &mut rng, 10);
            task
        })
        .collect();
    for task in tasks {
        let _ = task.join().await;
        expect(&stage, None, "in a task without a value");
    }
}

fn parcel(stage: &Stage, flow: &Arc<Flow>, number: u64) -> Parcel {
    stage.ledger().count(Count::Scopes);
    Parcel::new(stage, flow, 0, number)
}

struct Work {
    stage: Stage,
    flow: Arc<Flow>,
    number: u64,
}

impl Work {
    fn at_drop(&self) -> AtDrop {
        AtDrop(self.stage.clone(), self.number)
    }
}

async fn inside(at_drop: AtDrop, Work { stage, flow, number }: Work, mut rng: Rng) {
    for _ in 0..rng.u32(..10) {
        expect(&stage, Some(number), "in its task");
        match rng.u32(..6) {
            0 => {
                let other = number + 1000;
                let at_drop = AtDrop(stage.clone(), other);
                let nested = OWN.scope(parcel(&stage, &flow, other), async {
                    let _at_drop = at_drop;
                    expect(&stage, Some(other), "in a scope inside of another");
                    dither(&mut rng).await;
                    expect(&stage, Some(other), "in a scope inside of another, later");
                });
                nested.await;
            }
            1 => OWN.sync_scope(parcel(&stage, &flow, number + 2000), || {
                expect(&stage, Some(number + 2000), "in a closure");
            }),
            2 => {
                let inner = stage.clone();
                let task = stage.spawn(Kind::Scoped, async move { expect(&inner, None, "in a child") });
                if one_in(&mut rng, 2) {
                    let _ = task.join().await;
                }
            }
            _ => dither(&mut rng).await,
        }
    }
    drop(at_drop);
}

/// Polls the scope to its end, or not, and takes the value back.
async fn take_back(value: Parcel, work: Work, mut rng: Rng) {
    let (stage, number) = (work.stage.clone(), work.number);
    let mut scope = Box::pin(OWN.scope(value, inside(work.at_drop(), work, rng.fork())));
    let ended = perhaps(&stage, &mut rng, scope.as_mut()).await.is_some();
    expect(&stage, None, "outside of the scope");
    if ended && rng.bool() {
        match scope.as_mut().take_value() {
            Some(mut parcel) if parcel.number() == number => parcel.receive(),
            other => {
                let other = other.map(|parcel| parcel.number());
                stage.ledger().problem(format!("a scope gave {other:?} back, and not {number}"));
            }
        }
        if scope.as_mut().take_value().is_some() {
            stage.ledger().problem("a scope gave its value back twice".into());
        }
    }
}
