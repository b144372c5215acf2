//! Tasks that yield: through the runtime, by hand, by waking themselves more often than once, and by spending their
//! budget.

use std::future::poll_fn;
use std::task::{Poll, Waker};

use crate::ledger::Kind;
use crate::plan::Rng;
use crate::stage::Stage;

pub(super) async fn run(stage: Stage, size: usize, mut rng: Rng) {
    let tasks: Vec<_> = (0..size * 3)
        .map(|_| {
            let mut own = rng.fork();
            let task = stage.spawn(Kind::Yielder, async move {
                for _ in 0..own.u32(..100) {
                    match own.u32(..4) {
                        0 => by_hand(1).await,
                        1 => by_hand(3).await,
                        2 => {
                            for _ in 0..own.u32(..300) {
                                rt::task::consume_budget().await;
                            }
                        }
                        _ => rt::task::yield_now().await,
                    }
                }
            });
            stage.expose(&task, &mut rng, 10);
            task
        })
        .collect();
    for task in tasks {
        match rng.u32(..4) {
            0 => stage.keep(task),
            1 => drop(task),
            _ => {
                let _ = task.join().await;
            }
        }
    }
}

/// Is pending, and woken at once, a number of times.
pub(super) async fn by_hand(wakes: u32) {
    let mut yielded = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        let copies = vec![cx.waker().clone(); wakes as usize];
        copies.into_iter().for_each(Waker::wake);
        Poll::Pending
    })
    .await;
}
