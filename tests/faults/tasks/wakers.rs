//! Foreign wakers, which panic when they are cloned, woken or dropped. The panic may reach the code that polls with
//! such a waker. The driver, the worker and the shutdown that wake or drop it later go on, and so do all other waiters.
//!
//! Mutations that these tests are for: a waker that is cloned half-way through a change; one that is called or dropped
//! outside of `catch_unwind`, by a driver or in a drop (two such drops abort the process).

use std::future::Future;
use std::io::Write as _;
use std::os::unix::net::UnixStream;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use rt::io::unix::AsyncFd;
use rt::io::{AsyncRead, ReadBuf};
use rt::net::TcpStream;
use rt::runtime::Runtime;
use rt::task::JoinHandle;
use rt::time::{Instant, Sleep};
use rt_test_util::*;

use super::faulty::{Faulty, Function};
use super::on_each;

const AN_HOUR: Duration = Duration::from_secs(3600);

/// Something to wait for, which keeps the waker that it is polled with.
trait Leaf {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()>;
    /// Has the thing happen that it waits for.
    fn finish(&mut self);
}

struct Join(JoinHandle<()>, Signal);

impl Leaf for Join {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        Pin::new(&mut self.0).poll(cx).map(drop)
    }

    fn finish(&mut self) {
        self.1.set();
    }
}

struct Timer(Pin<Box<Sleep>>);

impl Leaf for Timer {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.0.as_mut().poll(cx)
    }

    fn finish(&mut self) {
        self.0.as_mut().reset(Instant::now() + Duration::from_millis(1));
    }
}

/// Waits in a socket's slot for one reader.
struct Reader(TcpStream, std::net::TcpStream);

impl Leaf for Reader {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        Pin::new(&mut self.0).poll_read(cx, &mut ReadBuf::new(&mut [0; 8])).map(drop)
    }

    fn finish(&mut self) {
        self.1.write_all(b"x").unwrap();
    }
}

/// Waits in a descriptor's list, beside others.
struct Listed {
    fd: Arc<AsyncFd<UnixStream>>,
    /// None before the first poll, and after one that panicked.
    waits: Option<Pin<Box<dyn Future<Output = ()>>>>,
    theirs: UnixStream,
}

impl Leaf for Listed {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let fd = self.fd.clone();
        let mut waits = self.waits.take().unwrap_or_else(|| Box::pin(async move { drop(fd.readable().await) }));
        let polled = waits.as_mut().poll(cx);
        self.waits = Some(waits);
        polled
    }

    fn finish(&mut self) {
        self.theirs.write_all(b"x").unwrap();
    }
}

fn reader(runtime: &Runtime) -> Reader {
    let _guard = runtime.enter();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let theirs = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (ours, _) = listener.accept().unwrap();
    ours.set_nonblocking(true).unwrap();
    Reader(TcpStream::from_std(ours).unwrap(), theirs)
}

fn descriptor(runtime: &Runtime) -> (Arc<AsyncFd<UnixStream>>, UnixStream) {
    let _guard = runtime.enter();
    let (ours, theirs) = UnixStream::pair().unwrap();
    ours.set_nonblocking(true).unwrap();
    (Arc::new(AsyncFd::with_interest(ours, rt::io::Interest::READABLE).unwrap()), theirs)
}

fn listed(fd: Arc<AsyncFd<UnixStream>>, theirs: UnixStream) -> Listed {
    Listed { fd, waits: None, theirs }
}

fn join(runtime: &Runtime) -> Join {
    let end = Signal::new();
    let wait = end.clone();
    Join(runtime.spawn(async move { wait.wait().await }), end)
}

fn timer(runtime: &Runtime) -> Timer {
    let _guard = runtime.enter();
    Timer(Box::pin(rt::time::sleep(AN_HOUR)))
}

/// One of each.
fn leaves(runtime: &Runtime) -> [Box<dyn Leaf>; 4] {
    let (fd, theirs) = descriptor(runtime);
    [Box::new(join(runtime)), Box::new(timer(runtime)), Box::new(reader(runtime)), Box::new(listed(fd, theirs))]
}

fn poll_with(leaf: &mut dyn Leaf, waker: &Waker) -> Poll<()> {
    leaf.poll(&mut Context::from_waker(waker))
}

/// Drives the runtime, if it needs that, until something is so.
fn drive_until(runtime: &Runtime, mut so: impl FnMut() -> bool) {
    runtime.block_on(async {
        while !so() {
            rt::task::yield_now().await;
        }
    });
}

/// Lets it happen, and waits for it with a good waker.
fn completes(runtime: &Runtime, leaf: &mut dyn Leaf) {
    leaf.finish();
    runtime.block_on(std::future::poll_fn(|cx| leaf.poll(cx)));
}

#[test]
fn a_waker_that_cannot_be_cloned_spoils_nothing_but_that_poll() {
    let _watchdog = watchdog();
    on_each(|runtime, blast| {
        for mut leaf in leaves(runtime) {
            let faulty = Faulty::new(Function::Clone, blast);
            for _ in 0..3 {
                let waker = faulty.waker();
                assert!(survives(|| _ = poll_with(&mut *leaf, &waker)), "the poller hears of it");
            }
            assert_eq!((faulty.faults(), faulty.alive()), (3, 0));
            // Over a good one as well.
            assert!(poll_with(&mut *leaf, Waker::noop()).is_pending());
            let waker = faulty.waker();
            assert!(survives(|| _ = poll_with(&mut *leaf, &waker)));
            completes(runtime, &mut *leaf);
        }
    });
}

#[test]
fn a_waker_that_panics_when_it_is_woken_hurts_nobody() {
    let _watchdog = watchdog();
    on_each(|runtime, blast| {
        for mut leaf in leaves(runtime) {
            let faulty = Faulty::new(Function::Wake, blast);
            {
                let waker = faulty.waker();
                assert!(poll_with(&mut *leaf, &waker).is_pending());
                faulty.disarm();
            }
            assert_eq!(faulty.alive(), 1);
            faulty.arm();
            leaf.finish();
            drive_until(runtime, || (faulty.faults(), faulty.alive()) == (1, 0));
            runtime.block_on(std::future::poll_fn(|cx| leaf.poll(cx)));
        }
    });
}

#[test]
fn wakers_that_panic_in_the_middle_of_a_batch_are_not_in_the_way_of_the_others() {
    let _watchdog = watchdog();
    on_each(|runtime, blast| {
        // All of one descriptor, so that one event wakes them; and as many timers of one moment.
        let (fd, mut theirs) = descriptor(runtime);
        let families: Vec<_> = (0..9).map(|_| Faulty::new(Function::Wake, blast)).collect();
        let good = Faulty::new(Function::Drop, blast);
        good.disarm();
        let mut waiting: Vec<Box<dyn Leaf>> = Vec::new();
        let mut timers = Vec::new();
        for (n, family) in families.iter().enumerate() {
            let mut leaf = listed(fd.clone(), theirs.try_clone().unwrap());
            let mut timer = timer(runtime);
            let waker = if n % 3 == 1 { good.waker() } else { family.waker() };
            assert!(poll_with(&mut leaf, &waker).is_pending() && poll_with(&mut timer, &waker).is_pending());
            waiting.push(Box::new(leaf));
            timers.push(timer);
        }
        let soon = Instant::now() + Duration::from_millis(2);
        for timer in &mut timers {
            timer.0.as_mut().reset(soon);
        }
        theirs.write_all(b"x").unwrap();
        drive_until(runtime, || good.wakes() == 6);
        drive_until(runtime, || families.iter().chain([&good]).all(|family| family.alive() == 0));
        assert_eq!(families.iter().map(Faulty::faults).sum::<usize>(), 12);
    });
}

#[test]
fn a_waker_that_panics_when_dropped_hurts_neither_the_next_poller_nor_the_owner() {
    let _watchdog = watchdog();
    on_each(|runtime, blast| {
        let registered = runtime.metrics().drivers().io_registered;
        let leave = |leaf: &mut dyn Leaf| {
            let faulty = Faulty::new(Function::Drop, blast);
            faulty.disarm();
            assert!(poll_with(leaf, &faulty.waker()).is_pending());
            faulty.arm();
            faulty
        };
        for mut leaf in leaves(runtime) {
            // Replaced by a good one.
            let faulty = leave(&mut *leaf);
            assert!(
                !survives(|| assert!(poll_with(&mut *leaf, Waker::noop()).is_pending())),
                "not the next one's fault"
            );
            assert_eq!((faulty.faults(), faulty.alive()), (1, 0));
            completes(runtime, &mut *leaf);
        }
        for mut leaf in leaves(runtime) {
            // Still there when the thing goes.
            let faulty = leave(&mut *leaf);
            assert!(!survives(|| drop(leaf)));
            assert_eq!((faulty.faults(), faulty.alive()), (1, 0));
        }
        assert_eq!(runtime.metrics().drivers().io_registered, registered, "slots were lost");
    });
}

#[test]
fn many_wakers_that_panic_when_they_are_dropped_at_once_do_not_end_the_process() {
    let _watchdog = watchdog();
    on_each(|runtime, blast| {
        let registered = runtime.metrics().drivers().io_registered;
        let faulty = Faulty::new(Function::Drop, blast);
        faulty.disarm();
        {
            // In both slots of one descriptor and in its list; in two timers and two join handles of one future.
            let _guard = runtime.enter();
            let (ours, _theirs) = UnixStream::pair().unwrap();
            ours.set_nonblocking(true).unwrap();
            let fd = AsyncFd::new(ours).unwrap();
            while fd.get_ref().write(&[0; 4096]).is_ok() {}
            let waker = faulty.waker();
            let mut cx = Context::from_waker(&waker);
            while let Poll::Ready(Ok(mut guard)) = fd.poll_write_ready(&mut cx) {
                guard.clear_ready();
            }
            assert!(fd.poll_read_ready(&mut cx).is_pending());
            let fd = Arc::new(fd);
            let forgotten = fd.clone();
            let mut waits = Box::pin(async move { drop(forgotten.readable().await) });
            assert!(waits.as_mut().poll(&mut cx).is_pending());
            let mut leaves = (timer(runtime), join(runtime), timer(runtime), join(runtime));
            let all: [&mut dyn Leaf; 4] = [&mut leaves.0, &mut leaves.1, &mut leaves.2, &mut leaves.3];
            all.into_iter().for_each(|leaf| assert!(leaf.poll(&mut cx).is_pending()));
            assert_eq!(faulty.alive(), 8);
            faulty.arm();
            let together = (waits, leaves, fd);
            assert!(!survives(|| drop(together)));
            assert_eq!(faulty.faults(), 7);
            faulty.disarm();
        }
        assert_eq!(faulty.alive(), 0);
        assert_eq!(runtime.metrics().drivers().io_registered, registered, "slots were lost");
    });
}

#[test]
fn a_waker_that_panics_when_the_budget_is_spent_ends_that_poll_only() {
    let _watchdog = watchdog();
    on_each(|runtime, blast| {
        let task = runtime.spawn(async move {
            let faulty = Faulty::new(Function::WakeByRef, blast);
            let waker = faulty.waker();
            let spends = || {
                let mut future = std::pin::pin!(rt::task::consume_budget());
                let _ = future.as_mut().poll(&mut Context::from_waker(&waker));
            };
            let mut tries = 0;
            while !survives(spends) {
                tries += 1;
                assert!(tries < 1000, "the budget never ends");
            }
            assert_eq!(faulty.faults(), 1);
            rt::task::yield_now().await;
            rt::task::consume_budget().await;
            "went on"
        });
        assert_eq!(runtime.block_on(task).unwrap(), "went on");
    });
}

#[test]
fn the_shutdown_survives_all_panics_of_the_wakers_that_it_wakes() {
    let _watchdog = watchdog();
    for function in Function::ALL {
        for blast in Blast::ALL {
            for runtime in [current(), multi(1), multi(3)] {
                let faulty = Faulty::new(function, blast);
                faulty.disarm();
                let mut all = leaves(&runtime);
                for leaf in &mut all {
                    assert!(poll_with(&mut **leaf, &faulty.waker()).is_pending());
                }
                assert_eq!(faulty.alive(), 4);
                faulty.arm();
                drop(runtime);
                assert_eq!((faulty.wakes(), faulty.alive()), (4, 0), "all were told");
                for leaf in &mut all {
                    // An error, a panic, or a task that was cancelled: an answer in any case.
                    let mut pending = false;
                    survives(|| pending = poll_with(&mut **leaf, Waker::noop()).is_pending());
                    assert!(!pending);
                }
            }
        }
    }
}
