//! Tasks that foreign threads wake. See `office.rs`.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;

use super::dither;
use crate::ledger::Kind;
use crate::plan::Rng;
use crate::stage::Stage;

pub(super) async fn run(stage: Stage, size: usize, mut rng: Rng) {
    let tasks: Vec<_> = (0..size * 2)
        .map(|_| {
            let (inner, mut own) = (stage.clone(), rng.fork());
            let task = stage.spawn(Kind::Waiter, async move {
                for _ in 0..own.u32(1..20) {
                    wake(&inner).await;
                    dither(&mut own).await;
                }
            });
            stage.expose(&task, &mut rng, 10);
            task
        })
        .collect();
    for task in tasks {
        let _ = task.join().await;
    }
}

/// Waits for a wake from a foreign thread.
pub(crate) async fn wake(stage: &Stage) {
    let (flag, mut posted) = (Arc::new(AtomicBool::new(false)), false);
    poll_fn(|cx| {
        if flag.load(Ordering::Acquire) {
            return Poll::Ready(());
        }
        // One letter, whatever else wakes the task: in a main future and in a task the waker stays good.
        if !std::mem::replace(&mut posted, true) {
            stage.office().post(Arc::clone(&flag), cx.waker().clone());
        }
        Poll::Pending
    })
    .await;
}
