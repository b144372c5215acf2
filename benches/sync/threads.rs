//! Plain threads, which have no runtime: the methods that block.

use std::sync::Arc;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use rt::sync as rt_crate;
use tokio::sync as tokio_crate;

use super::kinds::{Channel, Lock};
use super::libraries::{AsyncChannel, AsyncUnbounded, Flume, FlumeUnbounded, rt_sync, tokio_sync};
use super::{LibraryRow, row};
use crate::Runtime;

const THREADS: u64 = 2;

pub(super) fn rows() -> Vec<LibraryRow> {
    let rows = [
        row!("bounded channel, from one thread to another, a message", 1, stream: rt_sync::Bounded,
            tokio_sync::Bounded, smol AsyncChannel, flume Flume),
        row!("unbounded channel, from one thread to another, a message", 1, stream: rt_sync::Unbounded,
            tokio_sync::Unbounded, smol AsyncUnbounded, flume FlumeUnbounded),
        row!("`Mutex`, two threads, a lock", THREADS, contend: rt_crate::Mutex<u64>, tokio_crate::Mutex<u64>,
            smol async_lock::Mutex<u64>),
    ];
    rows.into_iter().map(LibraryRow::without_runtime).collect()
}

fn stream<C: Channel, R: Runtime>(_: &R, rounds: u64) -> Duration {
    let (sender, mut receiver) = C::channel(128);
    let ready = Arc::new(Barrier::new(2));
    let sending = thread::spawn({
        let ready = ready.clone();
        move || {
            ready.wait();
            (0..rounds).for_each(|message| C::send_blocking(&sender, message));
        }
    });
    ready.wait();
    let start = Instant::now();
    let mut received = 0;
    while C::receive_blocking(&mut receiver).is_some() {
        received += 1;
    }
    let elapsed = start.elapsed();
    assert_eq!(received, rounds);
    sending.join().expect("it sends");
    elapsed
}

fn contend<L: Lock, R: Runtime>(_: &R, rounds: u64) -> Duration {
    let lock = L::create();
    let ready = Barrier::new(THREADS as usize + 1);
    let start = thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                ready.wait();
                (0..rounds).for_each(|_| lock.add_blocking());
            });
        }
        ready.wait();
        Instant::now()
    });
    let elapsed = start.elapsed();
    assert_eq!(lock.into_inner(), THREADS * rounds);
    elapsed
}
