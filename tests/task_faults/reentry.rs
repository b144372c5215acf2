//! Wakers of other people's making, whose functions come back to what they are called from, or wait for the runtime:
//! both must find no lock that is held for their sake.
//!
//! Mutations that these tests are for: a waker that is cloned, called or dropped under a lock: of a descriptor, a
//! timer's shard, the blocking pool, the drivers; and one that is cloned although the same one is there already.

use std::future::{Future, pending};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Waker};
use std::time::Duration;

use rt::io::unix::AsyncFd;
use rt::io::{AsyncRead, AsyncReadExt, AsyncWriteExt, Interest, ReadBuf};
use rt::net::{TcpListener, TcpStream};
use rt::runtime::{Builder, Handle, Runtime};
use rt::time::Instant;

use crate::common::*;
use crate::faulty::Function;

const AN_HOUR: Duration = Duration::from_secs(3600);

pub(crate) type Act = Arc<dyn Fn() + Send + Sync>;

/// Wakers of which one function does something of its own before it does what it should.
struct Meddling(Arc<Family>);

struct Family {
    function: Function,
    act: Act,
    /// What it does may lead to the same function.
    is_inside: AtomicBool,
    begun: AtomicUsize,
    ended: AtomicUsize,
}

impl Family {
    fn call(&self, function: Function) {
        if self.function == function && !self.is_inside.swap(true, SeqCst) {
            self.begun.fetch_add(1, SeqCst);
            (self.act)();
            self.ended.fetch_add(1, SeqCst);
            self.is_inside.store(false, SeqCst);
        }
    }
}

impl Meddling {
    fn new(function: Function, act: Act) -> Self {
        let (begun, ended) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Self(Arc::new(Family { function, act, is_inside: AtomicBool::new(false), begun, ended }))
    }

    fn waker(&self) -> Waker {
        // SAFETY: the functions below keep RawWaker's contract: the data is an `Arc<Family>`, of which each waker owns one count.
        unsafe { Waker::new(Arc::into_raw(self.0.clone()).cast(), &VTABLE) }
    }

    /// How often it has done its thing, and was done with it.
    fn acts(&self) -> usize {
        self.0.ended.load(SeqCst)
    }

    /// How many wakers are left.
    fn alive(&self) -> usize {
        Arc::strong_count(&self.0) - 1
    }
}

static VTABLE: RawWakerVTable = RawWakerVTable::new(clone, wake, wake_by_ref, drop_waker);

unsafe fn clone(data: *const ()) -> RawWaker {
    let family: *const Family = data.cast();
    // SAFETY: the waker that is cloned owns a count.
    unsafe {
        (*family).call(Function::Clone);
        Arc::increment_strong_count(family);
    }
    RawWaker::new(data, &VTABLE)
}

unsafe fn wake(data: *const ()) {
    // SAFETY: the count of the waker, which is used up.
    unsafe { Arc::from_raw(data.cast::<Family>()) }.call(Function::Wake);
}

unsafe fn wake_by_ref(data: *const ()) {
    // SAFETY: the waker owns a count, and outlives the call.
    unsafe { &*data.cast::<Family>() }.call(Function::WakeByRef);
}

unsafe fn drop_waker(data: *const ()) {
    // SAFETY: as in `wake`.
    unsafe { Arc::from_raw(data.cast::<Family>()) }.call(Function::Drop);
}

type PollFn = dyn FnMut(&mut Context<'_>) -> Poll<()> + Send;

/// Something to wait for.
struct Leaf {
    name: &'static str,
    poll: Box<PollFn>,
    /// Has the thing happen that it waits for.
    finish: Box<dyn FnOnce() + Send>,
    /// Uses the same thing, unless it is just being dropped, or one that has a lock in common with it, from anywhere.
    touch: Act,
    /// Whether it may happen without `finish`, by itself.
    may_be_over: bool,
}

fn poll_once_here<F: Future>(future: F) {
    let _ = std::pin::pin!(future).poll(&mut Context::from_waker(Waker::noop()));
}

fn tcp_pair(runtime: &Handle) -> (Arc<TcpStream>, std::net::TcpStream) {
    let _guard = runtime.enter();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let theirs = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (ours, _) = listener.accept().unwrap();
    ours.set_nonblocking(true).unwrap();
    (Arc::new(TcpStream::from_std(ours).unwrap()), theirs)
}

fn touch_stream(stream: &Arc<TcpStream>) -> Act {
    let stream = Arc::downgrade(stream);
    Arc::new(move || {
        let Some(stream) = stream.upgrade() else { return };
        let mut cx = Context::from_waker(Waker::noop());
        let _ = stream.poll_read_ready(&mut cx);
        let _ = stream.poll_write_ready(&mut cx);
        let _ = Pin::new(&mut &*stream).poll_read(&mut cx, &mut ReadBuf::new(&mut []));
        poll_once_here(stream.readable());
        poll_once_here(stream.ready(Interest::PRIORITY));
        let _ = stream.try_read(&mut []);
    })
}

fn reader(runtime: &Handle) -> Leaf {
    let (stream, mut theirs) = tcp_pair(runtime);
    Leaf {
        name: "a read",
        touch: touch_stream(&stream),
        poll: Box::new(move |cx| Pin::new(&mut &*stream).poll_read(cx, &mut ReadBuf::new(&mut [0; 8])).map(drop)),
        finish: Box::new(move || theirs.write_all(b"x").unwrap()),
        may_be_over: false,
    }
}

fn read_ready(runtime: &Handle) -> Leaf {
    let (stream, mut theirs) = tcp_pair(runtime);
    Leaf {
        name: "readable, in the slot",
        touch: touch_stream(&stream),
        poll: Box::new(move |cx| stream.poll_read_ready(cx).map(drop)),
        finish: Box::new(move || theirs.write_all(b"x").unwrap()),
        may_be_over: false,
    }
}

fn peek(runtime: &Handle) -> Leaf {
    let (stream, mut theirs) = tcp_pair(runtime);
    Leaf {
        name: "a peek",
        touch: touch_stream(&stream),
        poll: Box::new(move |cx| stream.poll_peek(cx, &mut [0; 8]).map(drop)),
        finish: Box::new(move || theirs.write_all(b"x").unwrap()),
        may_be_over: false,
    }
}

fn listed(runtime: &Handle) -> Leaf {
    let (stream, mut theirs) = tcp_pair(runtime);
    let touch = touch_stream(&stream);
    let mut readable = Box::pin(async move { stream.readable().await.unwrap() });
    Leaf {
        name: "readable, in the list",
        touch,
        poll: Box::new(move |cx| readable.as_mut().poll(cx)),
        finish: Box::new(move || theirs.write_all(b"x").unwrap()),
        may_be_over: false,
    }
}

fn accept(runtime: &Handle) -> Leaf {
    let _guard = runtime.enter();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let listener = Arc::new(TcpListener::from_std(listener).unwrap());
    let (address, same) = (listener.local_addr().unwrap(), Arc::downgrade(&listener));
    Leaf {
        name: "an accept",
        touch: Arc::new(move || {
            let Some(same) = same.upgrade() else { return };
            let _ = same.poll_accept(&mut Context::from_waker(Waker::noop()));
            poll_once_here(same.accept());
        }),
        poll: Box::new(move |cx| listener.poll_accept(cx).map(drop)),
        finish: Box::new(move || drop(std::net::TcpStream::connect(address).unwrap())),
        may_be_over: false,
    }
}

fn full_descriptor(runtime: &Handle) -> Leaf {
    let _guard = runtime.enter();
    let (ours, theirs) = UnixStream::pair().unwrap();
    ours.set_nonblocking(true).unwrap();
    while (&ours).write(&[0; 4096]).is_ok() {}
    let fd = Arc::new(AsyncFd::new(ours).unwrap());
    let same = Arc::downgrade(&fd);
    Leaf {
        name: "writable",
        touch: Arc::new(move || {
            let Some(same) = same.upgrade() else { return };
            let mut cx = Context::from_waker(Waker::noop());
            let _ = same.poll_write_ready(&mut cx).map(|guard| guard.unwrap().retain_ready());
            poll_once_here(same.writable());
            poll_once_here(same.ready(Interest::READABLE | Interest::WRITABLE));
        }),
        poll: Box::new(move |cx| {
            // As an operation would that is refused.
            while let Poll::Ready(Ok(mut guard)) = fd.poll_write_ready(cx) {
                if guard.try_io(|fd| fd.get_ref().write(b"x")).is_ok() {
                    return Poll::Ready(());
                }
            }
            Poll::Pending
        }),
        finish: Box::new(move || {
            // And then the end.
            theirs.set_nonblocking(true).unwrap();
            while (&theirs).read(&mut [0; 4096]).is_ok() {}
        }),
        may_be_over: false,
    }
}

fn connect(runtime: &Handle) -> Leaf {
    let _guard = runtime.enter();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, handle) = (listener.local_addr().unwrap(), runtime.clone());
    // In the runtime whoever polls it.
    let mut connecting: Option<Pin<Box<dyn Future<Output = ()> + Send>>> = None;
    let touching = handle.clone();
    Leaf {
        name: "a connect",
        touch: Arc::new(move || {
            let _guard = touching.enter();
            poll_once_here(TcpStream::connect(address));
        }),
        poll: Box::new(move |cx| {
            let _guard = handle.enter();
            let connect = || Box::pin(async move { drop(TcpStream::connect(address).await) }) as Pin<Box<_>>;
            connecting.get_or_insert_with(connect).as_mut().poll(cx)
        }),
        finish: Box::new(move || drop(listener)),
        may_be_over: true,
    }
}

/// Others of the same shard: that of the calling thread.
fn touch_timers(handle: &Handle) -> Act {
    let handle = handle.clone();
    Arc::new(move || {
        let _guard = handle.enter();
        for _ in 0..4 {
            let mut other = Box::pin(rt::time::sleep(AN_HOUR));
            assert!(other.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
            other.as_mut().reset(Instant::now() + Duration::from_secs(7));
        }
    })
}

fn sleep(runtime: &Handle) -> Leaf {
    let _guard = runtime.enter();
    // One for the test, which has it in its hands, and one that ends it.
    let sleep = Arc::new(parking_lot::Mutex::new(Box::pin(rt::time::sleep(AN_HOUR))));
    let same = sleep.clone();
    Leaf {
        name: "a sleep",
        touch: touch_timers(runtime),
        poll: Box::new(move |cx| sleep.lock().as_mut().poll(cx)),
        finish: Box::new(move || same.lock().as_mut().reset(Instant::now() + Duration::from_millis(1))),
        may_be_over: false,
    }
}

fn interval(runtime: &Handle) -> Leaf {
    let _guard = runtime.enter();
    let interval = Arc::new(parking_lot::Mutex::new(rt::time::interval_at(Instant::now() + AN_HOUR, AN_HOUR)));
    let same = interval.clone();
    Leaf {
        name: "an interval",
        touch: touch_timers(runtime),
        poll: Box::new(move |cx| interval.lock().poll_tick(cx).map(drop)),
        finish: Box::new(move || same.lock().reset_after(Duration::from_millis(1))),
        may_be_over: false,
    }
}

fn timeout(runtime: &Handle) -> Leaf {
    let _guard = runtime.enter();
    let mut timeout = Box::pin(rt::time::timeout(Duration::from_millis(300), pending::<()>()));
    Leaf {
        name: "a timeout",
        touch: touch_timers(runtime),
        poll: Box::new(move |cx| timeout.as_mut().poll(cx).map(drop)),
        finish: Box::new(|| ()),
        may_be_over: true,
    }
}

fn join(runtime: &Handle) -> Leaf {
    let end = Signal::new();
    let wait = end.clone();
    let mut task = runtime.spawn(async move { wait.wait().await });
    let (abort, handle) = (task.abort_handle(), runtime.clone());
    Leaf {
        name: "a task",
        touch: Arc::new(move || {
            let _ = abort.is_finished();
            let other = handle.spawn(pending::<()>());
            other.abort();
            drop(abort.clone());
        }),
        poll: Box::new(move |cx| Pin::new(&mut task).poll(cx).map(drop)),
        finish: Box::new(move || end.set()),
        may_be_over: false,
    }
}

fn blocking(runtime: &Handle) -> Leaf {
    struct Opens(Gate);
    impl Drop for Opens {
        fn drop(&mut self) {
            self.0.open();
        }
    }

    let gate = Opens(Gate::new());
    let wait = gate.0.clone();
    let mut task = runtime.spawn_blocking(move || wait.pass());
    let handle = runtime.clone();
    Leaf {
        name: "a blocking task",
        touch: Arc::new(move || {
            let other = handle.spawn_blocking(|| ());
            other.abort();
            handle.metrics();
        }),
        poll: Box::new(move |cx| Pin::new(&mut task).poll(cx).map(drop)),
        finish: Box::new(move || drop(gate)),
        may_be_over: false,
    }
}

/// How a leaf is made: on the thread that makes a timer is its shard.
type Make = fn(&Handle) -> Leaf;

const LEAVES: [Make; 12] =
    [reader, read_ready, peek, listed, accept, full_descriptor, connect, sleep, interval, timeout, join, blocking];

/// Waits for a task of the runtime that needs its workers, its timers, its sockets and its blocking pool.
pub(crate) fn wait_for_a_task(handle: &Handle) -> Act {
    let handle = handle.clone();
    Arc::new(move || {
        let task = handle.spawn(async {
            rt::time::sleep(Duration::from_millis(1)).await;
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let mut client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
            let (mut server, _) = listener.accept().await.unwrap();
            server.write_all(b"x").await.unwrap();
            client.read_exact(&mut [0]).await.unwrap();
            rt::spawn_blocking(|| ()).await.unwrap();
        });
        eventually(|| task.is_finished());
    })
}

/// What a waker does.
#[derive(Clone, Copy)]
enum Does {
    Touches,
    Waits,
}

impl Does {
    fn act(self, leaf: &Leaf, handle: &Handle) -> Act {
        match self {
            Does::Touches => leaf.touch.clone(),
            Does::Waits => wait_for_a_task(handle),
        }
    }
}

/// Calls a function with each kind of leaf and each thing that wakers may do.
fn on_each(all: &[Does], test: impl Fn(Make, Does)) {
    LEAVES.into_iter().for_each(|make| all.iter().for_each(|&does| test(make, does)));
}

const ALL: [Does; 2] = [Does::Touches, Does::Waits];

/// Two workers, of which one may be blocked by a waker that waits.
pub(crate) fn runtime() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

fn poll(leaf: &mut Leaf, waker: &Waker) -> Poll<()> {
    (leaf.poll)(&mut Context::from_waker(waker))
}

/// Has a waker cloned into an empty place, and into one where there is another.
fn clones(handle: &Handle, make: Make, does: Does) {
    for is_replaced in [false, true] {
        let mut leaf = make(handle);
        let meddling = Meddling::new(Function::Clone, does.act(&leaf, handle));
        let waker = meddling.waker();
        let (name, may_be_over) = (leaf.name, leaf.may_be_over);
        let is_over = is_replaced && poll(&mut leaf, Waker::noop()).is_ready();
        if is_over || poll(&mut leaf, &waker).is_ready() {
            assert!(may_be_over, "{name}");
            continue;
        }
        let acts = meddling.acts();
        assert!(acts >= 1, "{name}: it was cloned");
        if !may_be_over {
            assert!(poll(&mut leaf, &waker).is_pending(), "{name}");
            assert_eq!(meddling.acts(), acts, "{name}: it is there already");
        }
        drop(leaf);
        drop(waker);
        assert_eq!(meddling.alive(), 0, "{name}");
    }
}

/// Has a waker dropped as it is replaced, and as its thing is dropped.
fn drops(handle: &Handle, make: Make, does: Does) {
    let mut leaf = make(handle);
    let meddling = Meddling::new(Function::Drop, does.act(&leaf, handle));
    // The waker of the poll itself would do it, too.
    let waker = std::mem::ManuallyDrop::new(meddling.waker());
    let (name, may_be_over) = (leaf.name, leaf.may_be_over);
    let mut expected = 0;
    for polled_with in [&waker, Waker::noop(), &waker] {
        if poll(&mut leaf, polled_with).is_ready() {
            assert!(may_be_over, "{name}");
            break;
        }
        expected += usize::from(polled_with.will_wake(&waker));
    }
    drop(leaf);
    assert!(meddling.acts() >= expected || may_be_over, "{name}: {} of {expected}", meddling.acts());
    assert_eq!(meddling.alive(), 1, "{name}");
    drop(std::mem::ManuallyDrop::into_inner(waker));
}

/// Leaves a waker, and has the thing happen. `None` if it has happened before.
fn wakes(handle: &Handle, make: Make, does: Does) -> Option<(Leaf, Meddling)> {
    let mut leaf = make(handle);
    let meddling = Meddling::new(Function::Wake, does.act(&leaf, handle));
    let is_pending = poll(&mut leaf, &meddling.waker()).is_pending();
    assert!(is_pending || leaf.may_be_over, "{}", leaf.name);
    if !is_pending {
        return None;
    }
    std::mem::replace(&mut leaf.finish, Box::new(|| ()))();
    Some((leaf, meddling))
}

#[test]
fn a_clone_may_come_back_to_what_it_is_cloned_for_or_wait_for_a_task() {
    let _watchdog = watchdog();
    let runtime = runtime();
    on_each(&ALL, |make, does| clones(runtime.handle(), make, does));
}

#[test]
fn a_drop_may_come_back_to_what_it_was_for_or_wait_for_a_task() {
    let _watchdog = watchdog();
    let runtime = runtime();
    on_each(&ALL, |make, does| drops(runtime.handle(), make, does));
}

#[test]
fn clones_and_drops_on_a_worker_may_do_so_too() {
    let _watchdog = watchdog();
    let runtime = runtime();
    for test in [clones, drops] {
        on_each(&ALL, |make, does| {
            let task = runtime.spawn(async move { test(&Handle::current(), make, does) });
            runtime.block_on(task).unwrap();
        });
    }
}

#[test]
fn a_wake_may_come_back_to_what_it_is_for_or_wait_for_a_task() {
    let _watchdog = watchdog();
    let runtime = runtime();
    on_each(&ALL, |make, does| {
        if let Some((leaf, meddling)) = wakes(runtime.handle(), make, does) {
            eventually(|| meddling.acts() == 1 && meddling.alive() == 0);
            drop(leaf);
        }
    });
}

#[test]
fn on_one_thread_wakers_may_come_back_to_what_they_are_for() {
    let _watchdog = watchdog();
    let runtime = current();
    for test in [clones, drops] {
        on_each(&[Does::Touches], |make, does| test(runtime.handle(), make, does));
        on_each(&[Does::Touches], |make, does| runtime.block_on(async { test(runtime.handle(), make, does) }));
    }
    let woken = async |leaf: Option<(Leaf, Meddling)>| {
        while leaf.as_ref().is_some_and(|(_, meddling)| meddling.acts() == 0) {
            rt::task::yield_now().await;
        }
    };
    on_each(&[Does::Touches], |make, does| {
        let from_outside = wakes(runtime.handle(), make, does);
        runtime.block_on(woken(from_outside));
        runtime.block_on(async { woken(wakes(runtime.handle(), make, does)).await });
    });
}

#[test]
fn another_threads_clones_and_drops_may_wait_for_the_one_that_drives() {
    let _watchdog = watchdog();
    let runtime = current();
    let stop = Signal::new();
    /// Also if the test fails, which waits for the other thread.
    struct Stops(Signal);
    impl Drop for Stops {
        fn drop(&mut self) {
            self.0.set();
        }
    }
    scope(|scope| {
        scope.spawn(|| runtime.block_on(stop.wait()));
        let _stops = Stops(stop.clone());
        for test in [clones, drops] {
            on_each(&ALL, |make, does| test(runtime.handle(), make, does));
        }
    });
}

#[test]
fn what_is_told_of_the_end_may_come_back_to_what_it_was_for() {
    let _watchdog = watchdog();
    for function in Function::ALL {
        for make in LEAVES {
            for runtime in [current(), multi(2)] {
                let mut leaf = make(runtime.handle());
                // A timer of a runtime that is gone says so by a panic, which is not what is asked for here.
                let act: Act = match leaf.name {
                    "a sleep" | "an interval" | "a timeout" | "a connect" => Arc::new(|| ()),
                    _ => leaf.touch.clone(),
                };
                let meddling = Meddling::new(function, act);
                let waker = std::mem::ManuallyDrop::new(meddling.waker());
                let _ = poll(&mut leaf, &waker);
                if leaf.name == "a blocking task" {
                    // The end waits for it.
                    std::mem::replace(&mut leaf.finish, Box::new(|| ()))();
                }
                drop(runtime);
                drop(leaf);
                assert_eq!(meddling.alive(), 1);
                drop(std::mem::ManuallyDrop::into_inner(waker));
            }
        }
    }
}
