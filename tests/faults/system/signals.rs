//! Signals that interrupt whatever the threads of the process are doing, thousands of times: nothing fails with
//! `Interrupted`, no timer is early, and nothing hangs.
//!
//! Mutations that these tests are for: an interrupted wait that is taken for an error, for an event, or for the end of
//! the time.

use std::fs;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::thread;
use std::time::Duration;

use nix::libc;
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal as SignalNumber, sigaction};
use rt::io::{AsyncReadExt, AsyncWriteExt};
use rt::runtime::{Builder, Runtime};
use rt_test_util::*;

/// How many signals have been handled.
static HANDLED: AtomicUsize = AtomicUsize::new(0);

extern "C" fn count(_: libc::c_int) {
    HANDLED.fetch_add(1, SeqCst);
}

/// A handler that does not have interrupted calls restarted.
fn install_handler() {
    let action = SigAction::new(SigHandler::Handler(count), SaFlags::empty(), SigSet::empty());
    // SAFETY: all that the handler does is to add to an atomic number, which may be done at any moment.
    unsafe { sigaction(SignalNumber::SIGUSR1, &action) }.unwrap();
}

/// Sends the signal to every thread of this process but the calling one.
fn shoot_at_all() {
    let (process, this) = (nix::unistd::getpid().as_raw(), nix::unistd::gettid().as_raw());
    for task in fs::read_dir("/proc/self/task").unwrap() {
        // One that has just ended may be listed, and be no more when it comes to it.
        let Ok(thread) = task.unwrap().file_name().to_string_lossy().parse::<libc::pid_t>() else { continue };
        if thread != this {
            // SAFETY: the call takes numbers, and a signal that is handled.
            unsafe { libc::syscall(libc::SYS_tgkill, process, thread, libc::SIGUSR1) };
        }
    }
}

/// Calls the closure while all threads are interrupted all the time, and at least a few thousand times.
fn under_fire(f: impl FnOnce()) {
    let (over, before) = (AtomicBool::new(false), HANDLED.load(SeqCst));
    scope(|scope| {
        scope.spawn(|| {
            while !over.load(SeqCst) {
                shoot_at_all();
                // The threads that are hit must make progress too.
                thread::sleep(Duration::from_micros(50));
            }
        });
        let _end = OnDrop(|| over.store(true, SeqCst));
        f();
        // Threads that wait for something slow are hit while they wait.
        eventually(|| HANDLED.load(SeqCst) - before > 3000);
    });
}

struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Timers that are due at all kinds of times.
async fn sleep_often() {
    let tasks: Vec<_> = (0..20)
        .map(|seed| {
            rt::spawn(async move {
                let mut random = Random::new(seed);
                for _ in 0..10 {
                    let wait = Duration::from_micros(random.below(3000));
                    let start = std::time::Instant::now();
                    match random.below(2) {
                        0 => rt::time::sleep(wait).await,
                        _ => assert!(rt::time::timeout(wait, std::future::pending::<()>()).await.is_err()),
                    }
                    assert!(start.elapsed() >= wait, "{:?} too early", wait - start.elapsed());
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
}

/// Connections, and bytes that fill their buffers and come back.
async fn echo_often() -> io::Result<()> {
    let tasks: Vec<_> = (0..10u8)
        .map(|n| {
            rt::spawn(async move {
                for _ in 0..5 {
                    let (client, mut server) = tcp_pair().await;
                    let echo = rt::spawn(async move {
                        let mut buffer = [0; 5000];
                        loop {
                            match server.read(&mut buffer).await? {
                                0 => return io::Result::Ok(()),
                                n => server.write_all(&buffer[..n]).await?,
                            }
                        }
                    });
                    let (mut reader, mut writer) = client.into_split();
                    let writing = rt::spawn(async move {
                        writer.write_all(&vec![n; 100_000]).await?;
                        writer.shutdown().await
                    });
                    let mut received = Vec::new();
                    reader.read_to_end(&mut received).await?;
                    assert!(received == vec![n; 100_000]);
                    writing.await.unwrap()?;
                    echo.await.unwrap()?;
                }
                io::Result::Ok(())
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap()?;
    }
    Ok(())
}

/// Jobs on threads that come and go, wait, and wait for the runtime.
async fn block_often() {
    let jobs: Vec<_> = (0..50u64)
        .map(|n| {
            rt::spawn_blocking(move || {
                let start = std::time::Instant::now();
                match n % 3 {
                    0 => thread::sleep(Duration::from_micros(n * 20)),
                    1 => rt::runtime::Handle::current().block_on(async {
                        rt::time::sleep(Duration::from_micros(n * 20)).await;
                    }),
                    _ => return n,
                }
                assert!(start.elapsed() >= Duration::from_micros(n * 20));
                n
            })
        })
        .collect();
    for (n, job) in (0..).zip(jobs) {
        assert_eq!(job.await.unwrap(), n);
    }
}

#[test]
fn signals_interrupt_nothing_that_a_program_can_see() {
    in_own_process(|| {
        install_handler();
        on_each_runtime(|runtime| {
            under_fire(|| {
                runtime.block_on(async {
                    let others = [rt::spawn(sleep_often()), rt::spawn(block_often())];
                    echo_often().await.unwrap();
                    for other in others {
                        other.await.unwrap();
                    }
                });
            });
        });
    });
}

#[test]
fn an_idle_runtime_under_fire_keeps_waiting_and_wakes_for_what_is_its_own() {
    in_own_process(|| {
        install_handler();
        on_each_runtime(|runtime| {
            let (fired, reads) = (Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default());
            let (told, read) = (fired.clone(), reads.clone());
            let polls = runtime.metrics().totals().polls;
            under_fire(|| {
                runtime.block_on(async {
                    let (mut ours, mut theirs) = tcp_pair().await;
                    let timer = rt::spawn(async move {
                        rt::time::sleep(Duration::from_millis(100)).await;
                        told.fetch_add(1, SeqCst);
                        theirs.write_all(b"x").await.unwrap();
                    });
                    ours.read_exact(&mut [0]).await.unwrap();
                    read.fetch_add(1, SeqCst);
                    timer.await.unwrap();
                });
            });
            assert_eq!((fired.load(SeqCst), reads.load(SeqCst)), (1, 1));
            // No task was woken by any of the signals.
            assert!(runtime.metrics().totals().polls - polls < 20);
        });
    });
}

#[test]
fn runtimes_are_made_and_shut_down_under_fire() {
    in_own_process(|| {
        install_handler();
        under_fire(|| {
            for n in 0..60 {
                let runtime: Runtime = match n % 3 {
                    0 => current(),
                    1 => multi(2),
                    // Its blocking threads end as soon as they have nothing to do.
                    _ => Builder::new_multi_thread()
                        .worker_threads(1)
                        .thread_keep_alive(Duration::ZERO)
                        .enable_all()
                        .build()
                        .unwrap(),
                };
                let drops = Drops::new();
                let tokens: Vec<_> = (0..10).map(|_| drops.token()).collect();
                runtime.block_on(async {
                    let blocking = [(); 3].map(|()| rt::spawn_blocking(|| thread::sleep(Duration::from_micros(300))));
                    for token in tokens {
                        rt::spawn(async move {
                            let _token = token;
                            rt::time::sleep(Duration::from_secs(3600)).await;
                        });
                    }
                    rt::time::sleep(Duration::from_micros(100)).await;
                    blocking.into_iter().next().unwrap().await.unwrap();
                });
                match n % 4 {
                    0 => runtime.shutdown_timeout(Duration::from_secs(1000)),
                    _ => drop(runtime),
                }
                drops.assert_all();
            }
        });
    });
}
