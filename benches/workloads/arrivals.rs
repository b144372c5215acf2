//! What comes from outside while every worker computes.

use std::io::Read as _;
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use futures_lite::future;

use super::company::{Hogs, hog};
use crate::{Handle, Listener, Measure, Percentiles, Runtime, Stream, Task};

const HOGS_A_WORKER: usize = 2;
const BURN: Duration = Duration::from_micros(100);

/// Not in the figures.
const WARM_UP: usize = 30;
/// Between an arrival and the next.
const PAUSE: Duration = Duration::from_micros(500);

/// Two tasks a worker burn 100 us of processor time and yield, for ever. Beside them something arrives from outside,
/// again and again, with a pause before each.
///
/// It measures how soon busy workers look at their shared queue, and when what they find there has its turn. A worker
/// cannot look before the poll at hand is over, so 100 us is a good figure with one worker, and less with more, of
/// which the first to come takes it. With two workers and two processors the thread outside needs one of these for a
/// moment, too.
#[derive(Clone, Debug)]
pub struct Arrivals {
    connections: bool,
    /// That are measured.
    number: usize,
}

impl Arrivals {
    /// A thread spawns a task. The figure is the time from before that to the task's first line.
    pub const TASKS: Self = Self { connections: false, number: 1000 };
    /// A thread connects to a server that runs on the runtime, and blocks until it has read a byte. The server accepts
    /// in `block_on`, as a program's `main` would, and spawns a task for each connection, which writes the byte. The
    /// figure is the time from before the connection was made until the byte is there.
    pub const CONNECTIONS: Self = Self { connections: true, number: 300 };
}

impl Measure for Arrivals {
    fn titles(&self) -> Vec<String> {
        Percentiles::titles(match self.connections {
            false => "task spawned from outside beside 2 yielding hogs a worker, waits",
            true => "connect to first byte beside 2 yielding hogs a worker",
        })
    }

    fn runs(&self) -> usize {
        3
    }

    /// Each run leaves out its own beginning.
    fn prepare<R: Runtime>(&self, _runtime: &R) -> u64 {
        0
    }

    fn run<R: Runtime>(&self, runtime: &R, _prepared: u64) -> Vec<f64> {
        let stop = Arc::new(AtomicBool::new(false));
        let hogs: Vec<Task<R, ()>> = (0..HOGS_A_WORKER * runtime.workers())
            .map(|_| runtime.spawn(hog::<R>(Hogs::Yield, BURN, Arc::clone(&stop))))
            .collect();
        let number = WARM_UP + self.number;
        let waits = if self.connections { connections(runtime, number) } else { tasks(runtime, number) };
        stop.store(true, Ordering::Relaxed);
        future::block_on(async {
            for hog in hogs {
                hog.await;
            }
        });
        Percentiles::new(waits[WARM_UP..].to_vec()).micros()
    }
}

/// The waits of that number of arrivals.
fn arrivals(number: usize, mut wait: impl FnMut() -> Duration) -> Vec<Duration> {
    let with_pause = |_| {
        thread::sleep(PAUSE);
        wait()
    };
    (0..number).map(with_pause).collect()
}

fn tasks<R: Runtime>(runtime: &R, number: usize) -> Vec<Duration> {
    let (sender, began) = mpsc::channel();
    arrivals(number, || {
        let sender = sender.clone();
        let spawned = Instant::now();
        let task = runtime.spawn(async move { sender.send(spawned.elapsed()).expect("the receiver is alive") });
        let wait = began.recv().expect("the task has sent");
        future::block_on(task);
        wait
    })
}

fn connections<R: Runtime>(runtime: &R, number: usize) -> Vec<Duration> {
    let (sender, address) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(|| {
            runtime.block_on(async {
                let listener = R::Handle::listen().await.expect("loopback works");
                sender.send(listener.address().expect("it is bound")).expect("the receiver is alive");
                for _ in 0..number {
                    let mut stream = listener.accept().await.expect("loopback works");
                    runtime
                        .handle()
                        .spawn_detached(async move { stream.write_all(b"!").await.expect("the client reads") });
                }
            });
        });
        let address = address.recv().expect("the server has sent");
        arrivals(number, || {
            let before = Instant::now();
            let mut client = TcpStream::connect(address).expect("loopback works");
            client.read_exact(&mut [0]).expect("the server writes");
            before.elapsed()
        })
    })
}
