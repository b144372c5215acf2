//! One task tells many at once, which all have to be woken.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rt::sync as rt_crate;
use tokio::sync as tokio_crate;

use super::countdown::Countdown;
use super::kinds::{FanOut, Meeting};
use super::libraries::{rt_sync, tokio_sync};
use super::{LibraryRow, row};
use crate::{Handle, Runtime, on_worker};

const RECEIVERS: u64 = 8;
const BURST: u64 = 16;
const MEETING: u64 = 64;

pub(super) fn rows() -> Vec<LibraryRow> {
    vec![
        row!("`broadcast`, 1 to 8, a message at a time, a receipt", RECEIVERS, one_by_one: rt_sync::Broadcast,
            tokio_sync::Broadcast),
        row!("`broadcast`, 1 to 8, 16 messages at a time, a receipt", RECEIVERS * BURST, in_bursts: rt_sync::Broadcast,
            tokio_sync::Broadcast),
        row!("`watch`, 1 to 8, a change at a time, a receipt", RECEIVERS, one_by_one: rt_sync::Watch,
            tokio_sync::Watch),
        row!("`Barrier` of 64 tasks, an arrival", MEETING, meet: rt_crate::Barrier, tokio_crate::Barrier,
            smol async_lock::Barrier),
    ]
}

/// The sender waits until all have received what it has sent.
fn fan_out<F: FanOut, R: Runtime>(runtime: &R, burst: u64, rounds: u64) -> Duration {
    let handle = runtime.handle();
    on_worker(runtime, async move {
        let (sender, receivers) = F::channel(BURST as usize, RECEIVERS as usize);
        let left = Arc::new(Countdown::default());
        for mut receiver in receivers {
            let left = left.clone();
            handle.spawn_detached(async move {
                while F::receive(&mut receiver).await {
                    left.count();
                }
            });
        }
        let start = Instant::now();
        for round in 0..rounds {
            left.set(burst * RECEIVERS);
            (0..burst).for_each(|_| F::send(&sender, round));
            left.wait().await;
        }
        start.elapsed()
    })
}

fn one_by_one<F: FanOut, R: Runtime>(runtime: &R, rounds: u64) -> Duration {
    fan_out::<F, R>(runtime, 1, rounds)
}

fn in_bursts<F: FanOut, R: Runtime>(runtime: &R, rounds: u64) -> Duration {
    fan_out::<F, R>(runtime, BURST, rounds)
}

fn meet<M: Meeting, R: Runtime>(runtime: &R, rounds: u64) -> Duration {
    let handle = runtime.handle();
    on_worker(runtime, async move {
        let barrier = Arc::new(M::create(MEETING as usize));
        let meet = |barrier: Arc<M>| async move {
            for _ in 0..rounds {
                barrier.wait().await;
            }
        };
        let start = Instant::now();
        let others: Vec<_> = (1..MEETING).map(|_| handle.spawn(meet(barrier.clone()))).collect();
        meet(barrier).await;
        for other in others {
            other.await;
        }
        start.elapsed()
    })
}
