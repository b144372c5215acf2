//! The auto traits of every public type, and of the future of every public async function: which there are, and which
//! there are not. A field that is added deep inside can change them, and programs elsewhere no longer compile.
//!
//! They are Tokio's for the same names. Where rt's differ, the tables say why; a type may have more of them than
//! Tokio's has, and none has fewer. A new public type or function belongs into these tables.

use std::cell::Cell;
use std::future::{Ready, ready};
use std::marker::PhantomData;
use std::net::SocketAddr;
use std::panic::{RefUnwindSafe, UnwindSafe, catch_unwind};
use std::rc::Rc;
use std::time::Duration;

use rt::net::{TcpListener, TcpSocket, TcpStream, UdpSocket, tcp};
use rt::runtime::{Builder, Runtime};
use rt::{io, net, runtime, task, time};

/// Stands for a type that is asked about. The question is a method: that of the type itself, which there is only if it
/// has the trait, goes before that of [`Otherwise`].
struct Of<T: ?Sized>(PhantomData<fn() -> Box<T>>);

/// The type of what a closure would return.
fn of<T>(_: impl FnOnce() -> T) -> Of<T> {
    Of(PhantomData)
}

/// A value, for closures that are never called.
fn any<T>() -> T {
    unreachable!("only its type is wanted")
}

macro_rules! questions {
    ($($question:ident $auto_trait:ident),+) => {
        trait Otherwise {
            $(fn $question(&self) -> bool {
                false
            })+
        }
        impl<T: ?Sized> Otherwise for Of<T> {}
        $(impl<T: ?Sized + $auto_trait> Of<T> {
            fn $question(&self) -> bool {
                true
            }
        })+
        /// The names of the traits that it has.
        macro_rules! answers {
            ($of:expr) => {{
                let of = $of;
                let answers = [$((of.$question(), stringify!($auto_trait))),+];
                answers.into_iter().filter(|answer| answer.0).map(|answer| answer.1).collect::<Vec<_>>().join(" ")
            }};
        }
    };
}

questions!(send Send, sync Sync, unpin Unpin, unwind_safe UnwindSafe, ref_unwind_safe RefUnwindSafe);

/// One line for each: what was expected, what it is, and its name.
struct Table(Vec<(&'static str, String, &'static str)>);

impl Table {
    #[track_caller]
    fn check(self) {
        let wrong: Vec<_> = self.0.into_iter().filter(|(expected, is, _)| expected != is).collect();
        assert!(wrong.is_empty(), "expected, is, of what: {wrong:#?}");
    }
}

macro_rules! types {
    ($($expected:expr => [$($type:ty),+ $(,)?])+) => {
        Table(vec![$($(($expected, answers!(Of::<$type>(PhantomData)), stringify!($type))),+),+])
    };
}

macro_rules! futures {
    ($($expected:expr => [$($future:expr),+ $(,)?])+) => {
        Table(vec![$($(($expected, answers!(of(|| $future)), stringify!($future))),+),+])
    };
}

#[path = "auto_traits/sync.rs"]
mod sync;

const ALL: &str = "Send Sync Unpin UnwindSafe RefUnwindSafe";
/// It is part of the thread that made it.
const OF_ITS_THREAD: &str = "Unpin UnwindSafe RefUnwindSafe";
/// Likewise, and may be looked at from others.
const OF_ITS_THREAD_BUT_SYNC: &str = "Sync Unpin UnwindSafe RefUnwindSafe";
/// It has a mutable reference in it.
const BORROWS: &str = "Send Sync Unpin RefUnwindSafe";
/// It must stay where it is, and what it waits in is foreign code's in the end: the waker's.
const WAITS: &str = "Send Sync";

#[test]
fn of_runtimes() {
    types! {
        ALL => [
            runtime::Runtime,
            runtime::Handle,
            runtime::RuntimeMetrics,
            runtime::RuntimeFlavor,
            runtime::TryCurrentError,
            runtime::RngSeed,
            // What Tokio does not have:
            runtime::Counts,
            runtime::DriverCounters,
            runtime::TaskEvent,
            runtime::TaskEventKind,
            runtime::BlockedTask,
            runtime::Stall,
            runtime::StalledTask,
            runtime::Activity,
        ]
        // Hooks may be anything.
        "Send Sync Unpin" => [runtime::Builder]
        OF_ITS_THREAD => [runtime::LocalRuntime]
        // Tokio's is not unwind safe, by what it happens to be made of.
        OF_ITS_THREAD_BUT_SYNC => [runtime::EnterGuard<'static>]
    }
    .check();
}

#[test]
fn of_tasks() {
    types! {
        ALL => [
            task::AbortHandle,
            task::Builder<'static>,
            task::Id,
            // Tokio's is not unwind safe, because of the panic in it, which a shared one does not give out.
            task::JoinError,
            task::JoinHandle<u8>,
            task::JoinHandle<Cell<u8>>,
            task::coop::Unconstrained<Ready<u8>>,
            task::coop::Coop<Ready<u8>>,
            // What tokio-util has:
            task::CancellationToken,
            task::AbortOnDropHandle<Cell<u8>>,
            task::DropGuard,
            task::DropGuardRef<'static>,
            task::TaskTracker,
            task::task_tracker::TaskTrackerToken,
            task::task_tracker::TrackedFuture<Ready<u8>>,
            // What neither has:
            task::Scope<u8>,
            task::Scope<Cell<u8>>,
        ]
        WAITS => [
            task::WaitForCancellationFuture<'static>,
            task::WaitForCancellationFutureOwned,
            task::task_tracker::TaskTrackerWaitFuture<'static>,
        ]
        // The output comes from another thread.
        "Unpin UnwindSafe RefUnwindSafe" => [task::JoinHandle<Rc<u8>>]
        // What is around a future is as the future is.
        "Send Unpin UnwindSafe" => [
            task::coop::Unconstrained<Ready<Cell<u8>>>,
            task::coop::Coop<Ready<Cell<u8>>>,
        ]
        "Unpin UnwindSafe RefUnwindSafe" => [
            task::coop::Unconstrained<Ready<Rc<u8>>>,
            task::coop::Coop<Ready<Rc<u8>>>,
            // Its errors stay on their thread, as do its children.
            task::Scope<Rc<u8>>,
        ]
        // It belongs to a poll of a task, and has a cell, as Tokio's.
        "Unpin UnwindSafe" => [task::coop::RestoreOnPending]
    }
    .check();
    futures! {
        ALL => [
            task::unconstrained(ready(7)),
            task::coop::cooperative(ready(7)),
            rt::spawn(ready(7)),
            rt::spawn_local(ready(7)),
            rt::spawn_blocking(|| 7),
        ]
        "Send Sync UnwindSafe RefUnwindSafe" => [task::consume_budget()]
        // It never waits, so no waker is kept in it; the flag in it is changed through a mutable reference.
        "Send Sync RefUnwindSafe" => [task::yield_now()]
        WAITS => [
            any::<&'static task::CancellationToken>().run_until_cancelled(ready(7)),
            any::<task::CancellationToken>().run_until_cancelled_owned(ready(7)),
            task::scope(|_: task::Scope<u8>| ready(Ok(7))),
        ]
    }
    .check();
}

#[test]
fn of_time() {
    types! {
        ALL => [time::Duration, time::Instant, time::MissedTickBehavior, time::error::Elapsed]
        ALL => [time::delay_queue::Key, time::delay_queue::Expired<u8>]
        "Send Sync Unpin" => [time::Interval, time::DelayQueue<u8>]
        "Send Unpin" => [time::DelayQueue<Cell<u8>>]
        "Unpin" => [time::DelayQueue<Rc<u8>>]
        WAITS => [time::Sleep, time::Timeout<Ready<u8>>]
        "Send" => [time::Timeout<Ready<Cell<u8>>>]
        "" => [time::Timeout<Ready<Rc<u8>>>]
    }
    .check();
    futures! {
        WAITS => [
            time::sleep(any()),
            time::sleep_until(any()),
            time::timeout(any(), ready(7)),
            time::timeout_at(any(), ready(7)),
        ]
        "Send Sync" => [any::<&'static mut time::Interval>().tick()]
        // `Unpin` as well, which that of tokio-util is not.
        "Send Sync Unpin" => [any::<&'static mut time::DelayQueue<u8>>().next()]
        "Send Sync UnwindSafe RefUnwindSafe" => [time::advance(any())]
    }
    .check();
}

#[test]
fn of_sockets() {
    types! {
        ALL => [
            TcpListener,
            TcpSocket,
            TcpStream,
            tcp::ReadHalf<'static>,
            tcp::WriteHalf<'static>,
            tcp::OwnedReadHalf,
            tcp::OwnedWriteHalf,
            tcp::ReuniteError,
        ]
    }
    .check();
    futures! {
        WAITS => [
            TcpListener::bind(any::<SocketAddr>()),
            TcpStream::connect(any::<SocketAddr>()),
            TcpStream::connect(any::<&'static str>()),
            any::<&'static TcpListener>().accept(),
            any::<&'static TcpStream>().readable(),
            any::<&'static TcpStream>().writable(),
            any::<&'static TcpStream>().ready(any()),
            any::<&'static TcpStream>().peek(any()),
            any::<&'static TcpStream>().async_io(any(), any::<fn() -> io::Result<u8>>()),
            any::<&'static tcp::ReadHalf<'static>>().readable(),
            any::<&'static tcp::ReadHalf<'static>>().ready(any()),
            any::<&'static tcp::WriteHalf<'static>>().writable(),
            any::<&'static tcp::WriteHalf<'static>>().ready(any()),
            any::<&'static tcp::OwnedReadHalf>().readable(),
            any::<&'static tcp::OwnedReadHalf>().ready(any()),
            any::<&'static tcp::OwnedWriteHalf>().writable(),
            any::<&'static tcp::OwnedWriteHalf>().ready(any()),
            // Tokio's are `RefUnwindSafe` or both, because they wait in another way. (Its unwind safety depends on the
            // kind of address, for example.)
            TcpListener::bind(any::<&'static str>()),
            any::<TcpSocket>().connect(any()),
            any::<&'static mut tcp::ReadHalf<'static>>().peek(any()),
            any::<&'static mut tcp::OwnedReadHalf>().peek(any()),
        ]
        // With an address that needs no looking up, Tokio's is not unwind safe.
        "Send Sync UnwindSafe RefUnwindSafe" => [
            net::lookup_host(any::<SocketAddr>()),
            net::lookup_host(any::<&'static str>()),
        ]
    }
    .check();
}

#[test]
fn of_datagram_sockets() {
    types! {
        ALL => [UdpSocket]
    }
    .check();
    futures! {
        WAITS => [
            UdpSocket::bind(any::<SocketAddr>()),
            UdpSocket::bind(any::<&'static str>()),
            any::<&'static UdpSocket>().connect(any::<SocketAddr>()),
            any::<&'static UdpSocket>().connect(any::<&'static str>()),
            any::<&'static UdpSocket>().readable(),
            any::<&'static UdpSocket>().ready(any()),
            any::<&'static UdpSocket>().send(any()),
            any::<&'static UdpSocket>().send_to(any(), any::<SocketAddr>()),
            any::<&'static UdpSocket>().send_to(any(), any::<&'static str>()),
            any::<&'static UdpSocket>().recv(any()),
            any::<&'static UdpSocket>().recv_from(any()),
            any::<&'static UdpSocket>().peek_from(any()),
            any::<&'static UdpSocket>().peek_sender(),
            any::<&'static UdpSocket>().recv_buf_from(any::<&'static mut Vec<u8>>()),
        ]
    }
    .check();
}

#[cfg(unix)]
#[test]
fn of_unix_sockets_and_pipes() {
    use rt::net::{UnixDatagram, UnixListener, UnixSocket, UnixStream, unix};

    types! {
        ALL => [
            UnixDatagram,
            UnixListener,
            UnixSocket,
            UnixStream,
            unix::SocketAddr,
            unix::UCred,
            unix::ReadHalf<'static>,
            unix::WriteHalf<'static>,
            unix::OwnedReadHalf,
            unix::OwnedWriteHalf,
            unix::ReuniteError,
            unix::pipe::OpenOptions,
            unix::pipe::Receiver,
            unix::pipe::Sender,
        ]
    }
    .check();
    futures! {
        WAITS => [
            UnixStream::connect(any::<&'static str>()),
            UnixStream::connect_addr(any()),
            any::<UnixSocket>().connect(any::<&'static str>()),
            any::<&'static UnixListener>().accept(),
            any::<&'static UnixStream>().readable(),
            any::<&'static UnixStream>().ready(any()),
            any::<&'static UnixDatagram>().send(any()),
            any::<&'static UnixDatagram>().send_to(any(), any::<&'static str>()),
            any::<&'static UnixDatagram>().recv(any()),
            any::<&'static UnixDatagram>().recv_from(any()),
            any::<&'static unix::pipe::Receiver>().readable(),
            any::<&'static unix::pipe::Sender>().writable(),
        ]
    }
    .check();
}

#[cfg(unix)]
#[test]
fn of_processes_and_signals() {
    use rt::{process, signal};

    types! {
        // Tokio's are not unwind safe, by what they happen to be made of.
        ALL => [
            process::Child,
            process::ChildStdin,
            process::ChildStdout,
            process::ChildStderr,
            signal::unix::Signal,
            signal::unix::SignalKind,
        ]
        // The closures to be run in the child may be anything.
        "Send Sync Unpin" => [process::Command]
    }
    .check();
    futures! {
        "Send Sync" => [
            any::<&'static mut process::Command>().status(),
            any::<&'static mut process::Command>().output(),
        ]
        "Send Sync UnwindSafe RefUnwindSafe" => [signal::ctrl_c()]
        "Send Sync RefUnwindSafe" => [
            any::<process::Child>().wait_with_output(),
            any::<&'static mut process::Child>().wait(),
            any::<&'static mut process::Child>().kill(),
            any::<&'static mut signal::unix::Signal>().recv(),
        ]
    }
    .check();
}

#[cfg(unix)]
#[test]
fn of_descriptors() {
    use std::os::fd::{AsRawFd, RawFd};
    use std::os::unix::net::UnixStream;

    use rt::io::unix::{AsyncFd, AsyncFdReadyGuard, AsyncFdReadyMutGuard, AsyncFdRegisterError, TryIoError};

    /// A descriptor that is not `Sync`.
    struct InCell(Cell<RawFd>);
    impl AsRawFd for InCell {
        fn as_raw_fd(&self) -> RawFd {
            self.0.get()
        }
    }
    type Read = fn(&UnixStream) -> io::Result<u8>;
    type ReadMut = fn(&mut UnixStream) -> io::Result<u8>;

    types! {
        // Tokio's and its guards are not unwind safe, by what they happen to be made of.
        ALL => [AsyncFd<UnixStream>, AsyncFdReadyGuard<'static, UnixStream>, TryIoError]
        "Send Unpin UnwindSafe" => [AsyncFd<InCell>]
        BORROWS => [AsyncFdReadyMutGuard<'static, UnixStream>]
        // The error that is its cause is an `io::Error`, which is neither.
        "Send Sync Unpin" => [AsyncFdRegisterError<UnixStream>]
    }
    .check();
    futures! {
        WAITS => [
            any::<&'static AsyncFd<UnixStream>>().readable(),
            any::<&'static AsyncFd<UnixStream>>().writable(),
            any::<&'static AsyncFd<UnixStream>>().ready(any()),
            any::<&'static AsyncFd<UnixStream>>().async_io(any(), any::<Read>()),
            any::<&'static mut AsyncFd<UnixStream>>().readable_mut(),
            any::<&'static mut AsyncFd<UnixStream>>().writable_mut(),
            any::<&'static mut AsyncFd<UnixStream>>().ready_mut(any()),
            any::<&'static mut AsyncFd<UnixStream>>().async_io_mut(any(), any::<ReadMut>()),
        ]
    }
    .check();
}

#[test]
fn of_streams_in_general() {
    types! {
        ALL => [
            io::Interest,
            io::Ready,
            io::BufReader<TcpStream>,
            io::BufWriter<TcpStream>,
            io::BufStream<TcpStream>,
            io::Chain<TcpStream, TcpStream>,
            io::DuplexStream,
            io::Empty,
            io::Join<TcpStream, TcpStream>,
            io::Lines<io::BufReader<TcpStream>>,
            io::ReadHalf<TcpStream>,
            io::WriteHalf<TcpStream>,
            io::Repeat,
            io::SimplexStream,
            io::Sink,
            io::Split<io::BufReader<TcpStream>>,
            io::Take<TcpStream>,
        ]
    }
    .check();
    futures! {
        "Send Sync RefUnwindSafe" => [
            io::copy(any::<&'static mut TcpStream>(), any::<&'static mut TcpStream>()),
        ]
    }
    .check();
}

/// What unwind safety promises: after a panic that was caught they are as good as before.
#[test]
fn a_runtime_and_its_sockets_go_on_after_a_panic_that_was_caught() {
    for runtime in [
        Builder::new_current_thread().enable_all().build().unwrap(),
        Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap(),
    ] {
        let in_main = catch_unwind(|| runtime.block_on(async { panic!("in the main future") }));
        assert!(in_main.is_err());
        let handle = runtime.handle();
        let in_context = catch_unwind(|| {
            let _guard = handle.enter();
            panic!("in the runtime's context");
        });
        assert!(in_context.is_err());

        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = catch_unwind(|| listener.local_addr().unwrap()).unwrap();
        let client = runtime.block_on(TcpStream::connect(address)).unwrap();
        let in_operation = catch_unwind(|| {
            runtime
                .block_on(client.async_io(io::Interest::WRITABLE, || -> io::Result<()> { panic!("in the operation") }))
        });
        assert!(in_operation.is_err());
        runtime.block_on(async {
            let (server, _) = listener.accept().await.unwrap();
            client.writable().await.unwrap();
            assert_eq!(client.try_write(b"!").unwrap(), 1);
            server.readable().await.unwrap();
            assert_eq!(server.try_read(&mut [0; 2]).unwrap(), 1);
            rt::spawn(time::sleep(Duration::from_micros(1))).await.unwrap();
        });
        assert_eq!(catch_unwind(|| Runtime::metrics(&runtime).num_workers()).unwrap(), handle.metrics().num_workers());
    }
}
