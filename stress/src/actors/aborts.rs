//! Tasks that are aborted at random moments: before their first poll, while they wait, run, or have just ended; once or
//! twice; by tasks, by blocking jobs, and by the tasks that abort those that are exposed.

use std::future::pending;
use std::thread;
use std::time::Duration;

use super::{dither, yields};
use crate::ledger::Kind;
use crate::plan::Rng;
use crate::stage::Stage;
use crate::tracked::{End, Leash};

pub(super) async fn run(stage: Stage, size: usize, mut rng: Rng) {
    let mut victims: Vec<_> = (0..size * 3).map(|_| victim(&stage, &mut rng)).collect();
    rng.shuffle(&mut victims);
    for (victim, for_ever) in victims {
        stage.abort_somebody(&mut rng);
        dither(&mut rng).await;
        // Leashed: whatever is not aborted here is when this actor is dropped.
        match rng.u32(..4) {
            0 => {
                let target = victim.0.target();
                drop(stage.spawn_blocking(move |_| target.abort()));
            }
            1 => {
                victim.0.abort();
                victim.0.abort();
            }
            _ => victim.0.abort(),
        }
        if rng.bool() {
            continue;
        }
        let ended = { victim }.0.wait().await;
        if ended == Err(End::Panicked) || for_ever && ended.is_ok() {
            stage.ledger().problem(format!("a task that was aborted (for ever: {for_ever}) ended with {ended:?}"));
        }
    }
}

/// A task that waits for its end, and whether it would do so for ever.
fn victim(stage: &Stage, rng: &mut Rng) -> (Leash<()>, bool) {
    let (inner, mut own) = (stage.clone(), rng.fork());
    let style = rng.u32(..7);
    let task = stage.spawn(Kind::Victim, async move {
        let _slow = SlowDrop(own.u64(..200));
        match style {
            0 => pending().await,
            1 => rt::time::sleep(Duration::from_secs(3600)).await,
            2 => loop {
                rt::task::yield_now().await;
            },
            3 => loop {
                yields::by_hand(2).await;
                rt::time::sleep(Duration::from_micros(own.u64(..300))).await;
            },
            4 => {
                // Waits for one that waits, and takes it along.
                let mut child = inner.spawn(Kind::Victim, pending::<()>()).leash();
                let _ = child.0.wait().await;
            }
            _ => dither(&mut own).await,
        }
    });
    (task.leash(), style <= 4)
}

/// Takes some microseconds to be dropped.
struct SlowDrop(u64);

impl Drop for SlowDrop {
    fn drop(&mut self) {
        match self.0 {
            0..20 => thread::sleep(Duration::from_micros(self.0)),
            20..50 => thread::yield_now(),
            _ => {}
        }
    }
}
