//! All that can be waited for: what the wakers are left with.

use std::future::{Future, pending};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use rt::io::unix::AsyncFd;
use rt::io::{AsyncRead, Interest, ReadBuf};
use rt::net::{TcpListener, TcpStream};
use rt::runtime::Handle;
use rt::time::Instant;
use rt_test_util::*;

use super::Act;

const AN_HOUR: Duration = Duration::from_secs(3600);

type PollFn = dyn FnMut(&mut Context<'_>) -> Poll<()> + Send;

/// Something to wait for.
pub(super) struct Leaf {
    pub(super) name: &'static str,
    pub(super) poll: Box<PollFn>,
    /// Has the thing happen that it waits for.
    pub(super) finish: Box<dyn FnOnce() + Send>,
    /// Uses the same thing, unless it is just being dropped, or one that has a lock in common with it, from anywhere.
    pub(super) touch: Act,
    /// Whether it may happen without `finish`, by itself.
    pub(super) may_be_over: bool,
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
        poll: Box::new(move |cx| stream.poll_peek(cx, &mut ReadBuf::new(&mut [0; 8])).map(drop)),
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
    // In the runtime's context, wherever it is polled.
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
pub(super) type Make = fn(&Handle) -> Leaf;

pub(super) const LEAVES: [Make; 12] =
    [reader, read_ready, peek, listed, accept, full_descriptor, connect, sleep, interval, timeout, join, blocking];
