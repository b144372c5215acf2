//! Timers: none may be early. (That none is lost shows in that the round ends.)

use std::future::{Future, pending, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use rt::time::{self, MissedTickBehavior, Sleep};

use super::dither;
use crate::ledger::{Count, Kind};
use crate::plan::{Rng, pick};
use crate::stage::Stage;

const FAR: Duration = Duration::from_secs(3600);

pub(super) async fn run(stage: Stage, size: usize, mut rng: Rng) {
    let tasks: Vec<_> = (0..size * 4)
        .map(|_| {
            let task = stage.spawn(Kind::Timer, one(stage.clone(), rng.fork()));
            stage.expose(&task, &mut rng, 15);
            task
        })
        .collect();
    for task in tasks {
        let _ = task.join().await;
    }
}

/// A length of time that occupies one level of the wheel or another.
fn some_time(rng: &mut Rng) -> Duration {
    let limit = pick(rng, &[1, 200, 1_000, 3_000, 10_000, 45_000]);
    Duration::from_micros(rng.u64(..limit))
}

/// A timer fired: not before its time, by the system's own clock.
fn fired(stage: &Stage, what: &str, due: Instant) {
    let now = Instant::now();
    stage.ledger().count(Count::Timers);
    if now < due {
        stage.ledger().problem(format!("{what} was {:?} early", due - now));
    }
}

async fn poll_once(sleep: &mut Pin<Box<Sleep>>) -> bool {
    poll_fn(|cx: &mut Context<'_>| Poll::Ready(sleep.as_mut().poll(cx).is_ready())).await
}

async fn one(stage: Stage, mut rng: Rng) {
    for _ in 0..rng.u32(1..6) {
        let time = some_time(&mut rng);
        let due = Instant::now() + time;
        match rng.u32(..9) {
            0 => {
                time::sleep(time).await;
                fired(&stage, "a sleep", due);
            }
            1 => {
                let until = time::Instant::now() + time;
                time::sleep_until(until).await;
                fired(&stage, "a sleep until then", due);
            }
            2 => interval(&stage, &mut rng).await,
            3 => {
                if time::timeout(time, pending::<()>()).await.is_ok() {
                    stage.ledger().problem("a future that never ends ended in time".into());
                }
                fired(&stage, "a timeout", due);
            }
            4 => {
                if time::timeout(FAR, dither(&mut rng)).await.is_err() {
                    stage.ledger().problem("a timeout of an hour has passed".into());
                }
                stage.ledger().count(Count::Cancelled);
            }
            5 => reset(&stage, &mut rng).await,
            6 => moved(&stage, &mut rng).await,
            7 => {
                let mut far = Box::pin(time::sleep(FAR));
                if poll_once(&mut far).await {
                    stage.ledger().problem("an hour has passed".into());
                }
                dither(&mut rng).await;
                drop(far);
                stage.ledger().count(Count::Cancelled);
            }
            _ => {
                let other = some_time(&mut rng);
                let other_due = Instant::now() + other;
                rt::select! {
                    () = time::sleep(time) => fired(&stage, "the first of two sleeps", due),
                    () = time::sleep(other) => fired(&stage, "the second of two sleeps", other_due),
                }
                stage.ledger().count(Count::Cancelled);
            }
        }
    }
}

async fn interval(stage: &Stage, rng: &mut Rng) {
    let period = Duration::from_micros(rng.u64(100..2000));
    let mut due = Instant::now();
    let mut interval = time::interval(period);
    let behavior = pick(rng, &[MissedTickBehavior::Burst, MissedTickBehavior::Delay, MissedTickBehavior::Skip]);
    interval.set_missed_tick_behavior(behavior);
    for _ in 0..rng.u32(1..8) {
        interval.tick().await;
        fired(stage, "a tick", due);
        // Whatever becomes of a late tick, the next is a period after this one was due, or later.
        due += period;
    }
}

/// A timer that is set again, to an earlier or to a later time, while it waits.
async fn reset(stage: &Stage, rng: &mut Rng) {
    let (first, second) = (some_time(rng), some_time(rng));
    let mut sleep = Box::pin(time::sleep(if rng.bool() { FAR } else { first }));
    poll_once(&mut sleep).await;
    dither(rng).await;
    let due = Instant::now() + second;
    sleep.as_mut().reset(time::Instant::now() + second);
    stage.ledger().count(Count::Cancelled);
    sleep.await;
    fired(stage, "a sleep that was reset", due);
}

/// A timer that was polled by one task, and is waited for by another.
async fn moved(stage: &Stage, rng: &mut Rng) {
    let time = some_time(rng);
    let due = Instant::now() + time;
    let mut sleep = Box::pin(time::sleep(time));
    poll_once(&mut sleep).await;
    let inner = stage.clone();
    let task = stage.spawn(Kind::Timer, async move {
        sleep.await;
        fired(&inner, "a sleep that was moved", due);
    });
    if rng.bool() {
        let _ = task.join().await;
    }
}
