//! Tasks that want the same lock.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rt::sync as rt_crate;
use tokio::sync as tokio_crate;

use super::kinds::Lock;
use super::{LibraryRow, row};
use crate::{Handle, Runtime, on_worker};

const TASKS: u64 = 8;

pub(super) fn rows() -> Vec<LibraryRow> {
    vec![
        row!("`Mutex`, 8 tasks, held for a moment, a lock", TASKS, briefly: rt_crate::Mutex<u64>,
            tokio_crate::Mutex<u64>, smol async_lock::Mutex<u64>),
        row!("`Mutex`, 8 tasks, held over a yield, a lock", TASKS, slowly: rt_crate::Mutex<u64>,
            tokio_crate::Mutex<u64>, smol async_lock::Mutex<u64>),
    ]
}

/// Each task locks the lock a number of times, and yields now and then, so that each waits for others.
fn contend<L: Lock, R: Runtime>(runtime: &R, rounds: u64, is_slow: bool) -> Duration {
    let handle = runtime.handle();
    on_worker(runtime, async move {
        let lock = Arc::new(L::create());
        let work = |lock: Arc<L>| async move {
            for round in 1..=rounds {
                if is_slow {
                    lock.add_slowly(R::Handle::yield_now).await;
                } else {
                    lock.add().await;
                    if round % 128 == 0 {
                        R::Handle::yield_now().await;
                    }
                }
            }
        };
        let start = Instant::now();
        let others: Vec<_> = (1..TASKS).map(|_| handle.spawn(work(lock.clone()))).collect();
        work(lock.clone()).await;
        for other in others {
            other.await;
        }
        let elapsed = start.elapsed();
        assert_eq!(Arc::into_inner(lock).map(L::into_inner), Some(TASKS * rounds));
        elapsed
    })
}

/// With one worker nobody ever waits for the lock. With more, tasks of two workers do.
fn briefly<L: Lock, R: Runtime>(runtime: &R, rounds: u64) -> Duration {
    contend::<L, R>(runtime, rounds, false)
}

/// Nearly everybody waits for the lock nearly always.
fn slowly<L: Lock, R: Runtime>(runtime: &R, rounds: u64) -> Duration {
    contend::<L, R>(runtime, rounds, true)
}
