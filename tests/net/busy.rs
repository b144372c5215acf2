//! Connections that are in constant use: each message arrives, whatever the workers do meanwhile.
//!
//! Mutations that these tests are for: events are left to a worker that is stuck or sleeps; a stream that is given back
//! stays in the poller; a read that filled its buffer is taken for the last; a worker takes all the events that there
//! are; the drivers wait as long beside tasks that give way as beside others.

use std::io::{self, Read as _, Write as _};
use std::net::TcpStream as StdStream;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::{Duration, Instant};

use rt::io::{AsyncReadExt, AsyncWriteExt};
use rt::net::{TcpListener, TcpStream};
use rt::runtime::{Builder, Runtime};
use rt::task::{JoinHandle, JoinSet};
use rt_test_util::*;

const CONNECTIONS: usize = 32;
const ROUNDS: usize = 400;

/// With help for blocked workers.
fn runtime() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

async fn serve(mut socket: TcpStream) -> io::Result<()> {
    let mut buffer = [0; 64];
    loop {
        let n = socket.read(&mut buffer).await?;
        if n == 0 {
            return Ok(());
        }
        socket.write_all(&buffer[..n]).await?;
    }
}

/// Sends a message and receives it back, `rounds` times. Returns the socket.
async fn call(mut socket: TcpStream, rounds: usize) -> io::Result<TcpStream> {
    let mut buffer = [0; 64];
    for round in 0..rounds {
        let message = [round as u8; 64];
        socket.write_all(&message).await?;
        socket.read_exact(&mut buffer).await?;
        assert_eq!(buffer, message);
    }
    Ok(socket)
}

/// Connections that are being talked through.
async fn busy_connections(rounds: usize) -> Vec<JoinHandle<io::Result<TcpStream>>> {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let mut callers = Vec::new();
    for _ in 0..CONNECTIONS {
        let (ours, theirs) = rt::join!(TcpStream::connect(address), listener.accept());
        rt::spawn(serve(theirs.unwrap().0));
        callers.push(rt::spawn(call(ours.unwrap(), rounds)));
    }
    callers
}

#[test]
fn busy_connections_get_on_beside_a_task_that_blocks_its_worker() {
    let _watchdog = watchdog();
    runtime().block_on(async {
        let callers = busy_connections(ROUNDS).await;
        let blocker = rt::spawn(async {
            for _ in 0..10 {
                thread::sleep(Duration::from_millis(20));
                rt::task::yield_now().await;
            }
        });
        for caller in callers {
            caller.await.unwrap().unwrap();
        }
        blocker.await.unwrap();
    });
}

#[test]
fn busy_connections_get_on_after_a_rest() {
    let _watchdog = watchdog();
    let runtime = runtime();
    let callers = runtime.block_on(busy_connections(ROUNDS));
    let mut sockets: Vec<_> = callers.into_iter().map(|caller| runtime.block_on(caller).unwrap().unwrap()).collect();
    for _ in 0..20 {
        // One after the other, so that most workers sleep.
        sockets = runtime.block_on(async {
            let mut rested = Vec::new();
            for socket in sockets {
                rested.push(rt::spawn(call(socket, 2)).await.unwrap().unwrap());
            }
            rested
        });
    }
}

#[test]
fn a_busy_socket_can_be_given_back_and_taken_over_again() {
    let _watchdog = watchdog();
    let runtime = runtime();
    runtime.block_on(async {
        let mut again = Vec::new();
        for caller in busy_connections(ROUNDS).await {
            let socket = caller.await.unwrap().unwrap().into_std().unwrap();
            again.push(rt::spawn(call(TcpStream::from_std(socket).unwrap(), ROUNDS)));
        }
        for caller in again {
            caller.await.unwrap().unwrap();
        }
    });
}

#[test]
fn a_runtime_ends_in_the_midst_of_busy_connections() {
    let _watchdog = watchdog();
    let runtime = runtime();
    let callers = runtime.block_on(busy_connections(usize::MAX));
    eventually(|| runtime.metrics().drivers().io_events > (CONNECTIONS * ROUNDS) as u64);
    drop(runtime);
    assert!(callers.iter().all(JoinHandle::is_finished));
}

/// A read that fills its buffer says nothing about what is behind it. Messages of the size of the buffer come alone for
/// a while, and then in twos and threes, into a runtime that is now idle and now busy.
#[test]
fn messages_that_come_alone_or_together_all_get_there() {
    const SIZE: usize = 16;
    const CONNECTIONS: usize = 8;
    const WRITES: usize = 600;
    let _watchdog = watchdog();
    let runtime = runtime();
    // How many messages a write consists of.
    let together = |number: usize, write: usize| if write % 20 < 14 { 1 } else { 1 + (write + number) % 3 };
    let busy = Arc::new(AtomicBool::new(true));
    let stop = Arc::new(AtomicBool::new(false));
    let (yielder, told) = (Arc::clone(&busy), Arc::clone(&stop));
    let yielder = runtime.spawn(async move {
        while !told.load(Relaxed) {
            if yielder.load(Relaxed) {
                rt::task::yield_now().await;
            } else {
                rt::time::sleep(Duration::from_millis(1)).await;
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
                    let together = together(number, write);
                    socket.write_all(&vec![7; together * SIZE]).unwrap();
                    socket.read_exact(&mut answers[..together]).unwrap();
                    busy.store(write / 100 % 2 == 0, Relaxed);
                }
            });
        }
    });
    let sent: usize = (0..CONNECTIONS).flat_map(|number| (0..WRITES).map(move |write| together(number, write))).sum();
    assert_eq!(runtime.block_on(server).unwrap(), sent);
    stop.store(true, Relaxed);
    runtime.block_on(yielder).unwrap();
}

/// Without budget the loop of a task is to let others run, but a poll with another waker is told how it is.
#[test]
fn readiness_is_withheld_from_the_task_alone() {
    fn poll_with_foreign_waker<F: Future>(future: F) -> std::task::Poll<F::Output> {
        std::pin::pin!(future).poll(&mut std::task::Context::from_waker(std::task::Waker::noop()))
    }
    async fn check() {
        let socket = rt::net::UdpSocket::bind("127.0.0.1:0").await.unwrap();
        socket.writable().await.unwrap();
        while rt::task::coop::has_budget_remaining() {
            socket.writable().await.unwrap();
        }
        assert!(poll_with_foreign_waker(socket.writable()).is_ready());
        assert!(poll_once(std::pin::pin!(socket.writable())).await.is_pending());
    }
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(check());
        runtime.block_on(runtime.spawn(check())).unwrap();
    });
}

/// Of two hundred events that are there at the same time a worker takes 32, and as many again if those woke 16 tasks
/// or fewer; it polls the first of these tasks before it comes for more. The others stay where any worker finds them.
/// (Some events are of the sockets that have just been made, and wake nobody.)
#[test]
#[cfg(unix)]
fn a_worker_leaves_events_that_it_has_no_time_for_to_others() {
    use std::sync::OnceLock;

    use rt::net::UnixStream;
    const MOST: usize = 16 + 32;
    let _watchdog = watchdog();
    // Nobody stands in for the worker, however long its polls take.
    let runtime = Builder::new_multi_thread().worker_threads(1).rescue_blocked(false).enable_all().build().unwrap();
    let metrics = runtime.metrics();
    let left_at_first = Arc::new(OnceLock::new());
    let left = left_at_first.clone();
    runtime
        .block_on(runtime.spawn(async move {
            let mut readers = JoinSet::new();
            let mut writers = Vec::new();
            for _ in 0..200 {
                let (ours, mut theirs) = UnixStream::pair().unwrap();
                writers.push(ours);
                let (metrics, left) = (metrics.clone(), left.clone());
                readers.spawn(async move {
                    theirs.read_u8().await.unwrap();
                    left.get_or_init(|| metrics.worker_queue_depth(0).unwrap());
                });
                // It waits by then.
                rt::task::yield_now().await;
            }
            for writer in &writers {
                assert_eq!(writer.try_write(b"!").unwrap(), 1);
            }
            readers.join_all().await;
        }))
        .unwrap();
    let left = left_at_first.get().copied().unwrap();
    assert!(left > 0 && left < MOST, "{left} tasks were queued");
}

/// A task that computes for 30 us and gives way does so to the drivers, too: they have their turn after each poll, or
/// nearly so, and not once in 200 us.
#[test]
fn a_task_that_gives_way_does_so_to_the_drivers() {
    const TURNS: u64 = 400;
    let _watchdog = watchdog();
    for runtime in [multi(1), current()] {
        let metrics = runtime.metrics();
        let looks = move || metrics.totals().driver_polls;
        let turns = runtime.spawn(async move {
            let before = looks();
            for _ in 0..TURNS {
                let since = Instant::now();
                while since.elapsed() < Duration::from_micros(30) {}
                rt::task::yield_now().await;
            }
            looks() - before
        });
        let looks = runtime.block_on(turns).unwrap();
        assert!(looks > TURNS / 2, "{looks} times in {TURNS} polls");
    }
}
