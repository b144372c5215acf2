//! One task does the same again and again, and nobody else is there: what an operation costs that waits for nothing.

use std::hint::black_box;
use std::time::{Duration, Instant};

use rt::sync as rt_crate;
use tokio::sync as tokio_crate;

use super::kinds::{Channel, Lock, Once, Permits, SharedLock, Signal};
use super::libraries::{AsyncChannel, AsyncUnbounded, Flume, FlumeUnbounded, FuturesOneshot, rt_sync, tokio_sync};
use super::{LibraryRow, row};
use crate::{Runtime, on_worker};

pub(super) fn rows() -> Vec<LibraryRow> {
    vec![
        row!("`Mutex`, lock and unlock", 1, lock: rt_crate::Mutex<u64>, tokio_crate::Mutex<u64>,
            smol async_lock::Mutex<u64>),
        row!("`RwLock`, read", 1, read: rt_crate::RwLock<u64>, tokio_crate::RwLock<u64>, smol async_lock::RwLock<u64>),
        row!("`RwLock`, write", 1, write: rt_crate::RwLock<u64>, tokio_crate::RwLock<u64>,
            smol async_lock::RwLock<u64>),
        row!("`Semaphore`, acquire and release", 1, acquire: rt_crate::Semaphore, tokio_crate::Semaphore,
            smol async_lock::Semaphore),
        row!("`oneshot`: make, send, receive", 1, once: rt_sync::Oneshot, tokio_sync::Oneshot,
            futures FuturesOneshot),
        row!("`Notify`: listen, notify, wait", 1, signal: rt_crate::Notify, tokio_crate::Notify,
            smol event_listener::Event),
        row!("bounded channel, send and receive in one task", 1, channel: rt_sync::Bounded, tokio_sync::Bounded,
            smol AsyncChannel, flume Flume),
        row!("unbounded channel, send and receive in one task", 1, channel: rt_sync::Unbounded, tokio_sync::Unbounded,
            smol AsyncUnbounded, flume FlumeUnbounded),
    ]
}

/// A loop in a task, timed.
macro_rules! repeat {
    ($runtime:ident, $rounds:ident, $body:expr) => {
        on_worker($runtime, async move {
            let start = Instant::now();
            for _ in 0..$rounds {
                $body;
            }
            start.elapsed()
        })
    };
}

fn lock<L: Lock, R: Runtime>(runtime: &R, rounds: u64) -> Duration {
    let lock = L::create();
    repeat!(runtime, rounds, lock.add().await)
}

fn read<L: SharedLock, R: Runtime>(runtime: &R, rounds: u64) -> Duration {
    let lock = L::create();
    repeat!(runtime, rounds, black_box(lock.get().await))
}

fn write<L: SharedLock, R: Runtime>(runtime: &R, rounds: u64) -> Duration {
    let lock = L::create();
    repeat!(runtime, rounds, lock.add().await)
}

fn acquire<P: Permits, R: Runtime>(runtime: &R, rounds: u64) -> Duration {
    let permits = P::create(2);
    repeat!(runtime, rounds, permits.acquire().await)
}

/// An allocation is in the figure.
fn once<O: Once, R: Runtime>(runtime: &R, rounds: u64) -> Duration {
    repeat!(runtime, rounds, {
        let (sender, receiver) = O::channel();
        O::send(sender, black_box(1));
        black_box(O::receive(receiver).await)
    })
}

fn signal<S: Signal, R: Runtime>(runtime: &R, rounds: u64) -> Duration {
    let signal = S::create();
    repeat!(runtime, rounds, signal.notify_and_wait().await)
}

fn channel<C: Channel, R: Runtime>(runtime: &R, rounds: u64) -> Duration {
    let (sender, mut receiver) = C::channel(128);
    repeat!(runtime, rounds, {
        C::send(&sender, black_box(1)).await;
        black_box(C::receive(&mut receiver).await)
    })
}
