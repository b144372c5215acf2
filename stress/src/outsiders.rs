//! Foreign threads that spawn, wait and abort while the runtime lives, and for a moment longer.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use async_channel::{Receiver, Sender};

use crate::actors::foreign;
use crate::ledger::{Count, Kind};
use crate::panics;
use crate::plan::Rng;
use crate::stage::Stage;
use crate::tracked::Life;

pub(crate) struct Outsiders {
    threads: Vec<JoinHandle<()>>,
    /// Closed when all of them have finished.
    finished: Receiver<()>,
}

impl Outsiders {
    pub(crate) fn start(stage: &Stage, plans: Vec<Rng>) -> Self {
        let (working, finished) = async_channel::bounded(1);
        let start = |rng| {
            let (stage, working) = (stage.clone(), working.clone());
            thread::spawn(move || act(&stage, rng, &working))
        };
        Self { threads: plans.into_iter().map(start).collect(), finished }
    }

    /// Waits for them without blocking the thread, which may be the one that drives the runtime.
    pub(crate) async fn finished(&self) {
        let closed = self.finished.recv().await;
        assert!(closed.is_err(), "nobody sends anything");
    }

    pub(crate) fn join(self) {
        for thread in self.threads {
            thread.join().expect("an outsider catches what may be thrown at it");
        }
    }
}

fn act(stage: &Stage, mut rng: Rng, _working: &Sender<()>) {
    let life = Arc::clone(stage.life());
    let mut left = rng.u32(1..40);
    while left > 0 {
        left -= 1;
        if life.is_closing() {
            // A few more, onto a runtime that is ending or has ended.
            left = left.min(3);
        }
        one_act(stage, &life, &mut rng);
    }
}

fn one_act(stage: &Stage, life: &Life, rng: &mut Rng) {
    let yields = rng.u32(0..4);
    let task = async move {
        for _ in 0..yields {
            rt::task::yield_now().await;
        }
        yields
    };
    let spawn = |task| {
        stage.ledger().count(Count::ForeignSpawns);
        stage.spawn_from_outside(Kind::Outsider, task)
    };
    match rng.u32(..8) {
        0 => drop(spawn(task)),
        1 => {
            let task = spawn(task);
            stage.expose(&task, rng, 2);
            stage.ledger().count(Count::ForeignWaits);
            let result = stage.handle().block_on(task.join());
            if result.is_ok_and(|result| result != yields) {
                stage.ledger().problem("a task gave the output of another".into());
            }
        }
        2 => {
            stage.ledger().count(Count::ForeignWaits);
            let inside = main_future(stage.clone(), rng.fork());
            // Polling a sleep panics when the runtime has ended meanwhile.
            if panics::excused(|| stage.handle().block_on(inside)).is_none() && !life.is_closing() {
                stage.ledger().problem("a main future panicked, though its runtime was alive".into());
            }
        }
        3 => stage.abort_somebody(rng),
        4 => drop(stage.spawn_blocking(|_| ())),
        5 => {
            let _guard = stage.handle().enter();
            drop(stage.spawn(Kind::Outsider, task));
        }
        6 => {
            // A look at the handle, and no second one.
            let task = spawn(task);
            let _ = pin!(task.join()).poll(&mut Context::from_waker(Waker::noop()));
        }
        _ => thread::sleep(Duration::from_micros(rng.u64(..1000))),
    }
}

/// What a thread does in `block_on`.
async fn main_future(stage: Stage, mut rng: Rng) {
    for _ in 0..rng.u32(1..4) {
        match rng.u32(..4) {
            0 => rt::time::sleep(Duration::from_micros(rng.u64(..2000))).await,
            1 => rt::task::yield_now().await,
            2 => foreign::wake(&stage).await,
            _ => {
                let (inner, mut own) = (stage.clone(), rng.fork());
                let task = stage.spawn(Kind::Outsider, async move {
                    foreign::wake(&inner).await;
                    if own.bool() {
                        rt::time::sleep(Duration::from_micros(own.u64(..1000))).await;
                    }
                });
                if rng.bool() {
                    let _ = task.join().await;
                }
            }
        }
    }
}
