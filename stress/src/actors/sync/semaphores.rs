//! Semaphores: no more inside than there are permits, and all permits there at the end.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rt::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit, TryAcquireError};

use super::{dither, perhaps};
use crate::ledger::{Count, Kind};
use crate::plan::{Rng, one_in};
use crate::stage::Stage;

struct Gate {
    stage: Stage,
    semaphore: Arc<Semaphore>,
    permits: u32,
    /// Relaxed: the semaphore has to order it.
    inside: AtomicU64,
}

/// Has come in with some permits. To be dropped before they are.
struct Inside<'a>(&'a Gate, u64);

impl Gate {
    fn enter(&self, permits: usize) -> Inside<'_> {
        self.stage.ledger().add(Count::Permits, permits as u64);
        let inside = self.inside.fetch_add(permits as u64, Ordering::Relaxed) + permits as u64;
        if inside > u64::from(self.permits) {
            self.stage.ledger().problem(format!("{inside} have come in with {} permits", self.permits));
        }
        Inside(self, permits as u64)
    }
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        self.0.inside.fetch_sub(self.1, Ordering::Relaxed);
    }
}

pub(in crate::actors) async fn run(stage: Stage, size: usize, mut rng: Rng) {
    let permits = [1, 2, 3, 7][rng.usize(..4)];
    let semaphore = Arc::new(Semaphore::new(permits as usize));
    let gate = Gate { stage: stage.clone(), semaphore: Arc::clone(&semaphore), permits, inside: AtomicU64::new(0) };
    let gate = Arc::new(gate);
    let closes = one_in(&mut rng, 6).then(|| rng.usize(..size * 2));
    let mut job = one_in(&mut rng, 3);
    let tasks: Vec<_> = (0..size * 2)
        .map(|number| {
            let (gate, mut own) = (Arc::clone(&gate), rng.fork());
            let task = if std::mem::take(&mut job) {
                stage.spawn_blocking(move |_| block(&gate, &mut own))
            } else {
                stage.spawn(Kind::User, come_and_go(gate, own, closes == Some(number)))
            };
            stage.expose(&task, &mut rng, 10);
            task
        })
        .collect();
    for task in tasks {
        let _ = task.join().await;
    }
    let left = semaphore.available_permits();
    if left != permits as usize {
        stage.ledger().problem(format!("of {permits} permits {left} are left, and nobody has one"));
    }
}

async fn come_and_go(gate: Arc<Gate>, mut rng: Rng, closes: bool) {
    let semaphore = &gate.semaphore;
    for _ in 0..rng.u32(1..30) {
        let wanted = rng.u32(1..=gate.permits);
        let came = match rng.u32(..8) {
            0 | 1 => perhaps(&gate.stage, &mut rng, semaphore.acquire()).await.map(|permit| permit.map(One::Borrowed)),
            2 | 3 => {
                let acquire = semaphore.acquire_many(wanted);
                perhaps(&gate.stage, &mut rng, acquire).await.map(|permit| permit.map(One::Borrowed))
            }
            4 => match semaphore.try_acquire_many(wanted) {
                Ok(permit) => Some(Ok(One::Borrowed(permit))),
                Err(TryAcquireError::Closed) => return,
                Err(TryAcquireError::NoPermits) => None,
            },
            5 => {
                let acquire = Arc::clone(semaphore).acquire_owned();
                perhaps(&gate.stage, &mut rng, acquire).await.map(|permit| permit.map(One::Owned))
            }
            _ => {
                let acquire = Arc::clone(semaphore).acquire_many_owned(wanted);
                perhaps(&gate.stage, &mut rng, acquire).await.map(|permit| permit.map(One::Owned))
            }
        };
        match came {
            Some(Ok(permit)) => stay(&gate, permit, &mut rng).await,
            Some(Err(_)) => {
                if !semaphore.is_closed() {
                    gate.stage.ledger().problem("a semaphore that is open let nobody in".into());
                }
                return;
            }
            None => rt::task::yield_now().await,
        }
    }
    if closes {
        semaphore.close();
    }
}

enum One<'a> {
    Borrowed(SemaphorePermit<'a>),
    Owned(OwnedSemaphorePermit),
}

macro_rules! stay {
    ($gate:ident, $permit:ident, $rng:ident) => {{
        let mut permit = $permit;
        let inside = $gate.enter(permit.num_permits());
        if one_in($rng, 3) {
            dither($rng).await;
        }
        drop(inside);
        match $rng.u32(..6) {
            // A part goes earlier, and the rest later.
            0 => {
                let part = permit.split(permit.num_permits() / 2);
                let inside = $gate.enter(permit.num_permits());
                drop(part);
                dither($rng).await;
                drop(inside);
            }
            1 => {
                let part = permit.split(1).expect("there is one");
                permit.merge(part);
            }
            2 => {
                let permits = permit.num_permits();
                permit.forget();
                $gate.semaphore.add_permits(permits);
            }
            3 => {
                $gate.semaphore.add_permits(1);
                // Somebody may have come in on that, so it is no more than its own that it takes away.
                permit.split(1).expect("there is one").forget();
            }
            _ => {}
        }
    }};
}

async fn stay(gate: &Gate, permit: One<'_>, rng: &mut Rng) {
    match permit {
        One::Borrowed(permit) => stay!(gate, permit, rng),
        One::Owned(permit) => stay!(gate, permit, rng),
    }
}

/// The same as a job.
fn block(gate: &Gate, rng: &mut Rng) {
    for _ in 0..rng.u32(1..10) {
        let Ok(permit) = gate.semaphore.blocking_acquire_many(rng.u32(1..=gate.permits)) else { return };
        let inside = gate.enter(permit.num_permits());
        drop(inside);
        drop(permit);
    }
}
