//! Reads that are not tried, because on their sockets such reads have always been refused: nothing is overlooked when that is
//! wrong for once.
//!
//! Mutations that these tests are for: a presumption is kept when its worker sleeps, comes by late, steps aside or is stuck;
//! one that is given up wakes nobody.

use std::future::Future;
use std::io::Write as _;
use std::net::TcpStream as StdStream;
use std::pin::pin;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, mpsc};
use std::task::{Context, Waker};

use rt::io::{AsyncReadExt, AsyncWriteExt};
use rt::net::{TcpListener, TcpStream};
use rt::runtime::{Builder, Handle, Runtime};
use rt::task;

use crate::common::*;

/// Where presumptions are made at all.
const PRESUMES: bool = cfg!(any(target_os = "linux", target_os = "android"));

const SIZE: usize = 16;
/// More than it takes to get used to refused reads.
const MESSAGES: usize = 50;

/// With help for blocked workers.
fn runtime(workers: usize) -> Runtime {
    Builder::new_multi_thread().worker_threads(workers).enable_all().build().unwrap()
}

fn reads_spared() -> u64 {
    Handle::current().metrics().drivers().io_reads_spared
}

fn reads_resumed() -> u64 {
    Handle::current().metrics().drivers().io_reads_resumed
}

async fn read_one(socket: &mut TcpStream) {
    let mut message = [0; SIZE];
    socket.read_exact(&mut message).await.unwrap();
    assert_eq!(message, [1; SIZE]);
}

async fn write_one(socket: &mut TcpStream) {
    socket.write_all(&[1; SIZE]).await.unwrap();
}

/// A connection whose ends have exchanged messages that fill their buffers, one by one, until that has become a habit. The other
/// end is no longer the runtime's.
async fn used_connection() -> (TcpStream, StdStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (theirs, ours) = rt::join!(TcpStream::connect(listener.local_addr().unwrap()), listener.accept());
    let (mut theirs, mut ours) = (theirs.unwrap(), ours.unwrap().0);
    let echo = rt::spawn(async move {
        for _ in 0..MESSAGES {
            read_one(&mut ours).await;
            write_one(&mut ours).await;
        }
        ours
    });
    for _ in 0..MESSAGES {
        write_one(&mut theirs).await;
        read_one(&mut theirs).await;
    }
    let theirs = theirs.into_std().unwrap();
    theirs.set_nonblocking(false).unwrap();
    (echo.await.unwrap(), theirs)
}

/// Has two messages come as one, of which the second lies there when the first has been read, and is presumed not to. Then `wait` is
/// awaited, and the second must be read. Again and again, until it has been one that was presumed not to be there.
fn reads_what_was_presumed_not_to_be_there<F>(wait: impl Fn() -> F + Clone + Send + 'static)
where
    F: Future<Output = mpsc::Sender<()>> + Send,
{
    // One worker, so that the task which is spawned next is the next that it polls.
    on_runtimes_reads_what_was_presumed_not_to_be_there(|| runtime(1), wait);
}

fn on_runtimes_reads_what_was_presumed_not_to_be_there<F>(
    runtime: impl Fn() -> Runtime,
    wait: impl Fn() -> F + Clone + Send + 'static,
) where
    F: Future<Output = mpsc::Sender<()>> + Send,
{
    let mut seen = false;
    while !seen {
        let wait = wait.clone();
        let runtime = runtime();
        let reader = runtime.spawn(async move {
            let (mut ours, mut theirs) = used_connection().await;
            theirs.write_all(&[1; 2 * SIZE]).unwrap();
            let before = reads_resumed();
            read_one(&mut ours).await;
            let done = wait().await;
            read_one(&mut ours).await;
            // Nobody may wait any more.
            let _ = done.send(());
            reads_resumed() > before || !PRESUMES
        });
        seen = runtime.block_on(reader).unwrap();
    }
}

#[test]
fn a_message_each_way_needs_no_read_that_is_refused() {
    let _watchdog = watchdog();
    let runtime = runtime(1);
    let task = runtime.spawn(async {
        // Should this machine have been too busy to answer in time, it may have taken more than one connection.
        while reads_spared() == 0 && PRESUMES {
            used_connection().await;
        }
    });
    runtime.block_on(task).unwrap();
}

#[test]
fn before_the_worker_sleeps() {
    let _watchdog = watchdog();
    reads_what_was_presumed_not_to_be_there(|| async { mpsc::channel().0 });
}

#[test]
fn when_the_worker_has_been_busy_for_a_while() {
    let _watchdog = watchdog();
    reads_what_was_presumed_not_to_be_there(|| async {
        let (done, is_done) = mpsc::channel();
        rt::spawn(async move {
            while is_done.try_recv() == Err(mpsc::TryRecvError::Empty) {
                task::yield_now().await;
            }
        });
        done
    });
}

#[test]
fn when_the_worker_is_stuck() {
    let _watchdog = watchdog();
    reads_what_was_presumed_not_to_be_there(|| async {
        let (done, is_done) = mpsc::channel();
        rt::spawn(async move { is_done.recv().unwrap() });
        done
    });
}

#[test]
fn when_the_worker_steps_aside() {
    let _watchdog = watchdog();
    reads_what_was_presumed_not_to_be_there(|| async {
        let (done, is_done) = mpsc::channel();
        rt::spawn(async move { task::block_in_place(|| is_done.recv().unwrap()) });
        done
    });
}

/// Somebody with a waker of its own, that is no task's, asks whether there is something to read, for whose sake a presumption ends at
/// once; and does not read. The task that waits on it must hear.
#[test]
fn when_somebody_else_asks_and_does_not_read() {
    let _watchdog = watchdog();
    let mut seen = false;
    while !seen {
        // One worker, so that the task which is spawned next is the next that it polls, before it comes by the drivers.
        let runtime = runtime(1);
        let reader = runtime.spawn(async move {
            let (ours, mut theirs) = used_connection().await;
            let (mut ours, other_half) = ours.into_split();
            theirs.write_all(&[1; 2 * SIZE]).unwrap();
            let mut message = [0; SIZE];
            let before = reads_spared();
            ours.read_exact(&mut message).await.unwrap();
            let is_presumed = reads_spared() > before;
            let asked = rt::spawn(async move {
                let stream: &TcpStream = other_half.as_ref();
                pin!(stream.readable()).poll(&mut Context::from_waker(Waker::noop())).is_ready()
            });
            ours.read_exact(&mut message).await.unwrap();
            assert!(asked.await.unwrap());
            is_presumed || !PRESUMES
        });
        seen = runtime.block_on(reader).unwrap();
    }
}

/// Messages that fill their buffers come alone for a while, and then in twos and threes, into a runtime that is now idle and now busy.
#[test]
fn messages_that_come_alone_or_together_all_get_there() {
    const CONNECTIONS: usize = 8;
    const WRITES: usize = 600;
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let busy = Arc::new(AtomicBool::new(true));
    let stop = Arc::new(AtomicBool::new(false));
    let (yielder, told) = (Arc::clone(&busy), Arc::clone(&stop));
    let yielder = runtime.spawn(async move {
        while !told.load(Relaxed) {
            if yielder.load(Relaxed) {
                task::yield_now().await;
            } else {
                rt::time::sleep(std::time::Duration::from_millis(1)).await;
            }
        }
    });
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let address = listener.local_addr().unwrap();
    let server = runtime.spawn(async move {
        let mut readers = Vec::new();
        for _ in 0..CONNECTIONS {
            let (mut socket, _) = listener.accept().await.unwrap();
            readers.push(rt::spawn(async move {
                let (mut message, mut read) = ([0; SIZE], 0_usize);
                while socket.read_exact(&mut message).await.is_ok() {
                    read += 1;
                    // So that the writer knows when to write again.
                    socket.write_all(&message[..1]).await.unwrap();
                }
                read
            }));
        }
        let mut read = 0;
        for reader in readers {
            read += reader.await.unwrap();
        }
        read
    });
    scope(|scope| {
        for number in 0..CONNECTIONS {
            let busy = &busy;
            scope.spawn(move || {
                let mut socket = StdStream::connect(address).unwrap();
                socket.set_nodelay(true).unwrap();
                let mut answers = [0; 3];
                for write in 0..WRITES {
                    let together = if write % 20 < 14 { 1 } else { 1 + (write + number) % 3 };
                    socket.write_all(&vec![7; together * SIZE]).unwrap();
                    std::io::Read::read_exact(&mut socket, &mut answers[..together]).unwrap();
                    busy.store(write / 100 % 2 == 0, Relaxed);
                }
            });
        }
    });
    let sent: usize = (0..CONNECTIONS)
        .flat_map(|number| (0..WRITES).map(move |write| if write % 20 < 14 { 1 } else { 1 + (write + number) % 3 }))
        .sum();
    assert_eq!(runtime.block_on(server).unwrap(), sent);
    stop.store(true, Relaxed);
    runtime.block_on(yielder).unwrap();
}

/// The monitor, which wakes the reader then, must not wait for an observer.
#[test]
fn when_the_worker_is_stuck_and_an_observer_blocks_whoever_calls_it_on_the_monitor() {
    let _watchdog = watchdog();
    let never = Gate::new();
    let observed = || {
        let never = never.clone();
        Builder::new_multi_thread()
            .worker_threads(1)
            .on_task_event(move |_| {
                if std::thread::current().name() == Some("rt-monitor") {
                    never.pass();
                }
            })
            .enable_all()
            .build()
            .unwrap()
    };
    on_runtimes_reads_what_was_presumed_not_to_be_there(observed, || async {
        let (done, is_done) = mpsc::channel();
        rt::spawn(async move { is_done.recv().unwrap() });
        done
    });
}
