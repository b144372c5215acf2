//! Channels of which only the last value counts: versions go up, a change is a change, and the last one is seen by all.

use std::sync::Arc;

use rt::sync::watch::{Receiver, Sender, channel};

use super::{dither, perhaps, some_polls};
use crate::ledger::{Count, Kind};
use crate::parcel::{Flow, Parcel};
use crate::plan::{Rng, one_in};
use crate::stage::Stage;

/// The parcel's number is that of the version.
struct Version(Parcel);

impl Version {
    fn number(&self) -> u64 {
        self.0.number()
    }
}

/// Makes versions.
#[derive(Clone)]
struct Press {
    stage: Stage,
    flow: Arc<Flow>,
}

impl Press {
    fn version(&self, number: u64) -> Version {
        Version(Parcel::new(&self.stage, &self.flow, 0, number))
    }
}

pub(in crate::actors) async fn run(stage: Stage, size: usize, mut rng: Rng) {
    let press = Press { stage: stage.clone(), flow: Arc::default() };
    let (tx, rx) = channel(press.version(0));
    let senders = rng.usize(1..=size.div_ceil(3));
    let receivers: Vec<_> = (0..size)
        .map(|_| {
            let task = stage.spawn(Kind::Receiver, receive(stage.clone(), rx.clone(), rng.fork()));
            stage.expose(&task, &mut rng, 40);
            task
        })
        .collect();
    drop(rx);
    let senders: Vec<_> = (0..senders)
        .map(|_| {
            let task = stage.spawn(Kind::Sender, send(press.clone(), tx.clone(), senders == 1, rng.fork()));
            stage.expose(&task, &mut rng, 40);
            task
        })
        .collect();
    drop(tx);
    let mut last = Some(0);
    for task in senders {
        let made = task.join().await.ok();
        last = last.zip(made).map(|(all, made)| all + made);
    }
    for task in receivers {
        if let (Ok(Some(seen)), Some(last)) = (task.join().await, last)
            && seen != last
        {
            stage.ledger().problem(format!("of {last} versions of a watch the last that was seen is {seen}"));
        }
    }
}

/// How many versions it made.
async fn send(press: Press, tx: Sender<Version>, is_alone: bool, mut rng: Rng) -> u64 {
    let mut made = 0;
    for _ in 0..rng.u32(1..80) {
        let next = |version: &mut Version| *version = press.version(version.number() + 1);
        match rng.u32(..8) {
            0 => {
                let changes = rng.bool();
                let changed = tx.send_if_modified(|version| {
                    if changes {
                        next(version);
                    }
                    changes
                });
                made += u64::from(changed);
            }
            1 if is_alone => {
                let old = tx.send_replace(press.version(made + 1));
                if old.number() != made {
                    press.stage.ledger().problem(format!("version {} was replaced, not {made}", old.number()));
                }
                made += 1;
            }
            // Refused if there is no receiver.
            2 if is_alone => made += u64::from(tx.send(press.version(made + 1)).is_ok()),
            3 => {
                let mut rx = tx.subscribe();
                some_polls(rng.u32(1..4), rx.changed()).await;
            }
            4 => drop(some_polls(2, tx.closed()).await),
            5 => dither(&mut rng).await,
            _ => {
                tx.send_modify(next);
                made += 1;
            }
        }
    }
    made
}

/// The last version that it saw, when all senders were gone. `None`: it went away early.
async fn receive(stage: Stage, mut rx: Receiver<Version>, mut rng: Rng) -> Option<u64> {
    let mut left = if one_in(&mut rng, 8) { rng.u32(..40) } else { u32::MAX };
    let mut seen = rx.borrow_and_update().number();
    while left > 0 {
        left -= 1;
        // The version must not be less than that, once something is seen.
        let (end, least) = match rng.u32(..8) {
            0 => {
                rx.mark_changed();
                (Some(rx.changed().await.is_err()), seen)
            }
            1 => {
                let target = seen + rng.u64(..3);
                let reached = perhaps(&stage, &mut rng, rx.wait_for(|version| version.number() >= target)).await;
                let reached = reached.map(|reached| reached.map(|version| version.number()));
                if let Some(Ok(reached)) = reached
                    && reached < target
                {
                    stage.ledger().problem(format!("waited for version {target}, and saw {reached}"));
                }
                (reached.map(|reached| reached.is_err()), seen)
            }
            2 => {
                // A second receiver goes its own way.
                let mut other = rx.clone();
                some_polls(2, other.changed()).await;
                (None, seen)
            }
            3..5 => (perhaps(&stage, &mut rng, rx.changed()).await.map(|changed| changed.is_err()), seen + 1),
            _ => (Some(rx.changed().await.is_err()), seen + 1),
        };
        match end {
            Some(true) => {
                let last = rx.borrow().number();
                if last < seen {
                    stage.ledger().problem(format!("a watch ended at version {last}, after {seen}"));
                }
                return Some(last);
            }
            Some(false) => {
                let now = rx.borrow_and_update().number();
                if now < least {
                    stage.ledger().problem(format!("a watch changed from version {seen} to {now}"));
                }
                seen = now;
                stage.ledger().count(Count::Versions);
            }
            None => rt::task::yield_now().await,
        }
        if one_in(&mut rng, 8) {
            dither(&mut rng).await;
        }
    }
    None
}
