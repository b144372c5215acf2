//! Blocking: on the threads that are made for it, and on the workers, which are not.

use std::hint::spin_loop;
use std::thread;
use std::time::{Duration, Instant};

use rt::runtime::RuntimeFlavor;
use rt::task::block_in_place;

use super::dither;
use crate::ledger::{Count, Kind};
use crate::panics::excused;
use crate::plan::Rng;
use crate::stage::Stage;

pub(super) async fn run(stage: Stage, size: usize, mut rng: Rng) {
    let mut jobs = Vec::new();
    for number in 0..size * 2 {
        let (inner, mut own) = (stage.clone(), rng.fork());
        // No job waits for another one: there may be one thread for all.
        let job = stage.spawn_blocking(move |_| {
            match own.u32(..6) {
                0 => thread::sleep(Duration::from_micros(own.u64(..2000))),
                1 => spin(Duration::from_micros(own.u64(..1000))),
                2 | 3 => wait_inside(&inner, own),
                _ => {}
            }
            number
        });
        stage.expose(&job, &mut rng, 5);
        jobs.push((number, job));
        dither(&mut rng).await;
    }
    for (number, job) in jobs {
        match rng.u32(..4) {
            0 => job.abort(),
            1 => continue,
            _ => {}
        }
        if job.join().await.is_ok_and(|output| output != number) {
            stage.ledger().problem("a job gave the output of another".into());
        }
    }
}

/// Blocks for tasks, and for what they do.
fn wait_inside(stage: &Stage, mut rng: Rng) {
    let inner = stage.clone();
    let main = async move {
        let mut own = rng.fork();
        let task = inner.spawn(Kind::Outsider, async move { dither(&mut own).await });
        inner.expose(&task, &mut rng, 4);
        dither(&mut rng).await;
        let _ = task.join().await;
    };
    stage.ledger().count(Count::ForeignWaits);
    // Polling a sleep panics when the runtime has ended meanwhile.
    if excused(|| stage.handle().block_on(main)).is_none() && !stage.life().is_closing() {
        stage.ledger().problem("`block_on` panicked in a job, though its runtime was alive".into());
    }
}

/// Blocks with a word to the runtime; perhaps for a task and a future as well, which somebody else must see to.
fn in_place(stage: &Stage, wait: Option<Rng>, block: impl FnOnce()) {
    block_in_place(|| {
        block();
        if let Some(rng) = wait {
            wait_inside(stage, rng);
        }
    });
}

fn spin(time: Duration) {
    let begun = Instant::now();
    while begun.elapsed() < time {
        spin_loop();
    }
}

/// Tasks that block their workers.
pub(super) async fn hogs(stage: Stage, size: usize, mut rng: Rng) {
    let tasks: Vec<_> = (0..size.div_ceil(4))
        .map(|_| {
            let (inner, mut own) = (stage.clone(), rng.fork());
            let task = stage.spawn(Kind::Hog, async move {
                for _ in 0..own.u32(1..3) {
                    let time = Duration::from_micros(own.u64(1_000..30_000));
                    let sleeps = own.bool();
                    let block = || if sleeps { thread::sleep(time) } else { spin(time) };
                    if own.bool() && inner.handle().runtime_flavor() == RuntimeFlavor::MultiThread {
                        let waits = inner.has_spares() && own.bool();
                        in_place(&inner, waits.then(|| own.fork()), block);
                        inner.ledger().count(Count::Asides);
                    } else {
                        block();
                        inner.ledger().count(Count::Hogs);
                    }
                    dither(&mut own).await;
                }
            });
            stage.expose(&task, &mut rng, 6);
            task
        })
        .collect();
    for task in tasks {
        let _ = task.join().await;
    }
}
