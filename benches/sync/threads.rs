//! Plain threads, which have no runtime: the methods that block.

use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

use rt::sync as rt_crate;
use tokio::sync as tokio_crate;

use super::kinds::{Channel, Lock};
use super::libraries::{AsyncChannel, AsyncUnbounded, Flume, FlumeUnbounded, rt_sync, tokio_sync};
use super::{LibraryRow, row};
use crate::Runtime;

const THREADS: usize = 2;

pub(super) fn rows() -> Vec<LibraryRow> {
    let rows = [
        row!("bounded channel, from one thread to another, a message", 1, stream: rt_sync::Bounded,
            tokio_sync::Bounded, smol AsyncChannel, flume Flume),
        row!("unbounded channel, from one thread to another, a message", 1, stream: rt_sync::Unbounded,
            tokio_sync::Unbounded, smol AsyncUnbounded, flume FlumeUnbounded),
        row!("`Mutex`, two threads, a lock", THREADS as u64, contend: rt_crate::Mutex<u64>, tokio_crate::Mutex<u64>,
            smol async_lock::Mutex<u64>),
    ];
    rows.into_iter().map(LibraryRow::without_runtime).collect()
}

fn stream<C: Channel, R: Runtime>(_: &R, rounds: u64) -> Duration {
    let (sender, mut receiver) = C::channel(128);
    let send = move || (0..rounds).for_each(|message| C::send_blocking(&sender, message));
    let receive = move || {
        let mut received = 0;
        while C::receive_blocking(&mut receiver).is_some() {
            received += 1;
        }
        assert_eq!(received, rounds);
    };
    at_once([Box::new(send), Box::new(receive)])
}

fn contend<L: Lock, R: Runtime>(_: &R, rounds: u64) -> Duration {
    let lock = Arc::new(L::create());
    let work = |lock: Arc<L>| Box::new(move || (0..rounds).for_each(|_| lock.add_blocking())) as Work;
    let elapsed = at_once([work(lock.clone()), work(lock.clone())]);
    assert_eq!(Arc::into_inner(lock).map(L::into_inner), Some(THREADS as u64 * rounds));
    elapsed
}

type Work = Box<dyn FnOnce() + Send>;

/// Does each on a thread of its own: from the moment in which the first begins to that in which the last is done. (What
/// the caller's clock says would be another thing, on a machine that has other things to do.)
fn at_once(work: [Work; THREADS]) -> Duration {
    let ready = Arc::new(Barrier::new(THREADS));
    let threads = work.map(|work| {
        let ready = ready.clone();
        thread::spawn(move || {
            ready.wait();
            let start = Instant::now();
            work();
            (start, Instant::now())
        })
    });
    let times = threads.map(|thread| thread.join().expect("it works"));
    let start = times.iter().map(|(start, _)| *start).min().expect("there are threads");
    let end = times.iter().map(|(_, end)| *end).max().expect("there are threads");
    end - start
}
