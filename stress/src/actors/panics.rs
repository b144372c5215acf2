//! Tasks that panic: in a poll, while they are dropped, in a blocking job; and outputs that panic when dropped.

use std::future::{Future, pending};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::thread;

use super::dither;
use crate::ledger::Kind;
use crate::panics::{excused, planned};
use crate::plan::Rng;
use crate::stage::Stage;
use crate::tracked::End;

pub(super) async fn run(stage: Stage, size: usize, mut rng: Rng) {
    for _ in 0..size * 2 {
        let mut own = rng.fork();
        let wait = rng.bool();
        match rng.u32(..6) {
            0 => {
                let task = stage.spawn_numbered(Kind::Panicker, |id| async move {
                    dither(&mut own).await;
                    planned(id)
                });
                stage.expose(&task, &mut rng, 4);
                if wait && task.join().await == Ok(()) {
                    stage.ledger().problem("a task that panicked gave an output".into());
                }
            }
            1 => {
                let task = stage.spawn_numbered(Kind::Panicker, |id| {
                    let bomb = Bomb(id);
                    async move {
                        let _bomb = bomb;
                        pending::<()>().await;
                    }
                });
                let mut task = task.leash();
                dither(&mut own).await;
                task.0.abort();
                if wait && task.0.wait().await != Err(End::Panicked) {
                    stage.ledger().problem("the panic of a drop was lost".into());
                }
            }
            2 => {
                let task = stage.spawn_numbered(Kind::Panicker, |id| Ready { _bomb: Bomb(id) });
                if wait && task.join().await != Err(End::Panicked) {
                    stage.ledger().problem("the panic of a drop after the output was lost".into());
                }
            }
            3 => {
                // Mostly dropped by the runtime, for want of somebody who awaits it.
                let task = stage.spawn_numbered(Kind::Panicker, |id| async move {
                    dither(&mut own).await;
                    Bomb(id)
                });
                if wait {
                    let output = task.join().await;
                    excused(|| drop(output));
                }
            }
            4 => {
                let task = stage.spawn_blocking(|id| planned(id));
                stage.expose(&task, &mut rng, 4);
                if wait && task.join().await == Ok(()) {
                    stage.ledger().problem("a job that panicked gave an output".into());
                }
            }
            _ => {
                // A bomb that goes with a panic must keep quiet.
                let task = stage.spawn_numbered(Kind::Panicker, |id| async move {
                    let _bomb = Bomb(id);
                    dither(&mut own).await;
                    planned(id)
                });
                if wait {
                    let _: Result<(), End> = task.join().await;
                }
            }
        }
    }
}

/// Panics when dropped, for the task of this number.
struct Bomb(u64);

impl Drop for Bomb {
    fn drop(&mut self) {
        if !thread::panicking() {
            planned(self.0);
        }
    }
}

/// Ready at once; the bomb goes off when the future is dropped after that.
struct Ready {
    _bomb: Bomb,
}

impl Future for Ready {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        Poll::Ready(())
    }
}
