//! What safe code can do to an `AsyncFd`'s descriptor: close it early, have the object name another one, hand over the
//! numbers of others. The code that does so may lose its own events; no other registration misses one.
//!
//! Mutations that these tests are for: a registration that is taken out by the number that its object names at the end,
//! or by a number that has another holder by then; a holder that is noted though the poller has refused it.

use std::cell::Cell;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags};
use nix::sys::eventfd::{EfdFlags, EventFd};
use rt::io::unix::AsyncFd;
use rt::io::{AsyncReadExt, AsyncWriteExt, Interest};
use rt::net::{TcpListener, TcpStream};
use rt::runtime::Runtime;
use rt_test_util::*;

/// An object that names the descriptor that it is told to name.
#[derive(Debug)]
struct Number(Cell<RawFd>);

impl Number {
    fn new(number: RawFd) -> Self {
        Self(Cell::new(number))
    }
}

impl AsRawFd for Number {
    fn as_raw_fd(&self) -> RawFd {
        self.0.get()
    }
}

fn nonblocking_pair() -> (UnixStream, UnixStream) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    ours.set_nonblocking(true).unwrap();
    (ours, theirs)
}

/// All that this process may have open by now.
fn numbers() -> impl Iterator<Item = RawFd> {
    0..64
}

/// Connections of which each must hear of what is sent, however long ago they were made.
struct Bystanders(Vec<(TcpStream, TcpStream)>);

impl Bystanders {
    async fn new() -> Self {
        let mut all = Vec::new();
        for _ in 0..4 {
            all.push(tcp_pair().await);
        }
        Self(all)
    }

    /// Each is waited for before it is written to, so that only the event can tell.
    async fn assert_unhurt(&mut self) {
        for (ours, theirs) in &mut self.0 {
            let mut byte = [0];
            {
                let mut read = std::pin::pin!(ours.read(&mut byte));
                assert!(poll_once(read.as_mut()).await.is_pending());
                theirs.write_all(b"x").await.unwrap();
                assert_eq!(read.await.unwrap(), 1);
            }
        }
        // The driver is woken from other threads, and by timers.
        rt::spawn_blocking(|| std::thread::sleep(Duration::from_millis(1))).await.unwrap();
        rt::spawn(rt::time::sleep(Duration::from_millis(1))).await.unwrap();
    }
}

/// Runs a test in a process of its own, so that numbers are used again, on each runtime.
fn on_each_alone(test: impl AsyncFn(&Runtime, &mut Bystanders)) {
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let mut bystanders = Bystanders::new().await;
            test(&runtime, &mut bystanders).await;
            bystanders.assert_unhurt().await;
        });
    });
}

#[test]
fn an_object_that_changes_its_number_takes_nobody_out_but_itself() {
    in_own_process(|| {
        on_each_alone(async |runtime, bystanders| {
            let registered = runtime.metrics().drivers().io_registered;
            for other in numbers().chain([-1, RawFd::MIN, RawFd::MAX]) {
                for by_drop in [false, true] {
                    let (ours, mut theirs) = nonblocking_pair();
                    let fd = AsyncFd::with_interest(Number::new(ours.as_raw_fd()), Interest::READABLE).unwrap();
                    fd.get_ref().0.set(other);
                    // It is still told of what was registered.
                    theirs.write_all(b"x").unwrap();
                    fd.readable().await.unwrap().clear_ready();
                    if by_drop {
                        drop(fd)
                    } else {
                        assert_eq!(fd.into_inner().0.get(), other)
                    }
                    // And that is out, so that it can be registered again.
                    drop(AsyncFd::with_interest(ours, Interest::READABLE).unwrap());
                }
            }
            assert_eq!(runtime.metrics().drivers().io_registered, registered);
            bystanders.assert_unhurt().await;
        });
    });
}

#[test]
fn numbers_of_other_descriptors_are_refused_and_stay_theirs() {
    in_own_process(|| {
        on_each_alone(async |runtime, bystanders| {
            let registered = runtime.metrics().drivers().io_registered;
            // What the runtime has open, its pollers and its wake-up included; and no numbers at all.
            for number in numbers().chain([-1, RawFd::MIN, RawFd::MAX]) {
                // Some may be let in: what this process was started with, and one end of a bystander's.
                drop(AsyncFd::new(Number::new(number)));
            }
            for (ours, theirs) in &bystanders.0 {
                for number in [ours.as_raw_fd(), theirs.as_raw_fd()] {
                    let (_, error) = AsyncFd::try_new(Number::new(number)).unwrap_err().into_parts();
                    assert_eq!(error.kind(), ErrorKind::AlreadyExists);
                }
            }
            // An object that is refused does not become the holder: the first one can still let go of the number.
            let (ours, _theirs) = nonblocking_pair();
            let fd = AsyncFd::new(ours).unwrap();
            AsyncFd::new(Number::new(fd.as_raw_fd())).unwrap_err();
            drop(AsyncFd::new(fd.into_inner()).unwrap());
            let nobodys = AsyncFd::new(Number::new(-1)).unwrap_err();
            assert_eq!(nobodys.raw_os_error(), Some(nix::errno::Errno::EBADF as i32));
            assert_eq!(runtime.metrics().drivers().io_registered, registered);
            bystanders.assert_unhurt().await;
        });
    });
}

/// What has taken over the number of a descriptor that was closed.
enum Heir {
    Fd(AsyncFd<UnixStream>, UnixStream),
    Client(TcpStream, TcpStream),
    Listener(TcpListener),
}

impl Heir {
    /// Each kind in turn.
    async fn new(kind: usize, listener: &TcpListener) -> Self {
        match kind % 3 {
            0 => {
                let (ours, theirs) = nonblocking_pair();
                Self::Fd(AsyncFd::new(ours).unwrap(), theirs)
            }
            1 => {
                let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
                Self::Client(client, listener.accept().await.unwrap().0)
            }
            _ => Self::Listener(TcpListener::bind("127.0.0.1:0").await.unwrap()),
        }
    }

    fn number(&self) -> RawFd {
        match self {
            Self::Fd(fd, _) => fd.as_raw_fd(),
            Self::Client(client, _) => client.as_raw_fd(),
            Self::Listener(listener) => listener.as_raw_fd(),
        }
    }

    async fn assert_hears(self) {
        match self {
            Self::Fd(fd, mut theirs) => {
                let mut readable = std::pin::pin!(fd.readable());
                assert!(poll_once(readable.as_mut()).await.is_pending());
                theirs.write_all(b"x").unwrap();
                readable.await.unwrap().clear_ready();
            }
            Self::Client(mut client, mut server) => {
                let mut byte = [0];
                let mut read = std::pin::pin!(client.read(&mut byte));
                assert!(poll_once(read.as_mut()).await.is_pending());
                server.write_all(b"x").await.unwrap();
                assert_eq!(read.await.unwrap(), 1);
            }
            Self::Listener(listener) => {
                let mut accept = std::pin::pin!(listener.accept());
                assert!(poll_once(accept.as_mut()).await.is_pending());
                let client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
                assert_eq!(accept.await.unwrap().1, client.local_addr().unwrap());
            }
        }
    }
}

#[test]
fn the_next_holder_of_a_descriptors_number_keeps_it_when_the_first_one_goes() {
    in_own_process(|| {
        on_each_alone(async |runtime, _| {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let registered = runtime.metrics().drivers().io_registered;
            let mut same = 0;
            for n in 0..60 {
                let (ours, theirs) = nonblocking_pair();
                // As of a library that closes its descriptors itself; and of an object that does.
                let mut gone = AsyncFd::new(Closable(Some(ours))).unwrap();
                let number = gone.as_raw_fd();
                drop(gone.get_mut().0.take());
                let heir = Heir::new(n, &listener).await;
                same += usize::from(heir.number() == number);
                if n % 2 == 0 {
                    drop(gone)
                } else {
                    drop(gone.into_inner())
                }
                heir.assert_hears().await;
                drop(theirs);
            }
            assert!(same > 30, "hardly any number was used again: nothing was tested");
            assert_eq!(runtime.metrics().drivers().io_registered, registered);
        });
    });
}

/// A stream that may be gone.
struct Closable(Option<UnixStream>);

impl AsRawFd for Closable {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_ref().map_or(-1, AsRawFd::as_raw_fd)
    }
}

#[test]
fn of_many_that_had_the_same_number_only_the_last_is_taken_out() {
    in_own_process(|| {
        on_each_alone(async |_, _| {
            for last_first in [false, true] {
                let mut gone = Vec::new();
                let mut peers = Vec::new();
                for _ in 0..10 {
                    let (ours, theirs) = nonblocking_pair();
                    let number = ours.as_raw_fd();
                    let fd = AsyncFd::<RawFd>::new(number).unwrap();
                    drop(ours);
                    // The number is free again, and the next one's.
                    gone.push(fd);
                    peers.push(theirs);
                }
                assert!(gone.iter().filter(|fd| fd.get_ref() == gone[0].get_ref()).count() > 1);
                let (ours, mut theirs) = nonblocking_pair();
                let living = AsyncFd::new(ours).unwrap();
                while let Some(fd) = if last_first { gone.pop() } else { (!gone.is_empty()).then(|| gone.remove(0)) } {
                    drop(fd);
                }
                theirs.write_all(b"x").unwrap();
                living.readable().await.unwrap().clear_ready();
                let ours = living.into_inner();
                // It is out.
                drop(AsyncFd::new(ours).unwrap());
            }
        });
    });
}

#[test]
fn an_object_is_asked_for_its_descriptor_once() {
    struct Counted(UnixStream, AtomicUsize);
    impl AsRawFd for Counted {
        fn as_raw_fd(&self) -> RawFd {
            self.1.fetch_add(1, SeqCst);
            self.0.as_raw_fd()
        }
    }

    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let (ours, mut theirs) = nonblocking_pair();
            let fd = AsyncFd::new(Counted(ours, AtomicUsize::new(0))).unwrap();
            theirs.write_all(b"x").unwrap();
            fd.async_io(Interest::READABLE, |object| (&object.0).read(&mut [0])).await.unwrap();
            assert_eq!(fd.into_inner().1.into_inner(), 1);
        });
    });
}

#[test]
fn an_object_may_use_the_runtime_when_it_is_asked_for_its_descriptor() {
    /// Waits for a task, and for a registration of another, when it is asked.
    struct Busy(UnixStream, rt::runtime::Handle);
    impl AsRawFd for Busy {
        fn as_raw_fd(&self) -> RawFd {
            let task = self.1.spawn(async {
                let (ours, mut theirs) = nonblocking_pair();
                let fd = AsyncFd::new(ours).unwrap();
                theirs.write_all(b"x").unwrap();
                fd.readable().await.unwrap().clear_ready();
                rt::time::sleep(Duration::from_millis(1)).await;
            });
            eventually(|| task.is_finished());
            self.0.as_raw_fd()
        }
    }

    let _watchdog = watchdog();
    // On a thread that is not a worker: the runtime has those that it needs.
    let runtime = multi(2);
    let _guard = runtime.enter();
    let (ours, _theirs) = nonblocking_pair();
    let fd = AsyncFd::new(Busy(ours, runtime.handle().clone())).unwrap();
    drop(fd.into_inner());
}

#[test]
fn pollers_of_others_and_counters_can_be_waited_for() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let counter = EventFd::from_flags(EfdFlags::EFD_NONBLOCK).unwrap();
            let poller = Epoll::new(EpollCreateFlags::empty()).unwrap();
            poller.add(&counter, EpollEvent::new(EpollFlags::EPOLLIN, 0)).unwrap();
            // A poller has no mode of its own, and takes the flag like all others.
            set_nonblocking(&poller.0);
            let poller = AsyncFd::with_interest(poller.0, Interest::READABLE).unwrap();
            let mut readable = std::pin::pin!(poller.readable());
            assert!(poll_once(readable.as_mut()).await.is_pending());
            counter.write(1).unwrap();
            readable.await.unwrap().clear_ready();
        });
    });
}

/// Sets the flag on any descriptor: by `ioctl`, which each understands.
fn set_nonblocking(fd: &std::os::fd::OwnedFd) {
    UnixStream::from(fd.try_clone().unwrap()).set_nonblocking(true).unwrap();
}

/// Many are only ever waited for, and have no use for the flag: pollers, counters, processes, rings.
#[test]
fn a_descriptor_in_blocking_mode_is_waited_for_like_any_other() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let (mut ours, mut theirs) = UnixStream::pair().unwrap();
            let fd = AsyncFd::with_interest(ours.try_clone().unwrap(), Interest::READABLE).unwrap();
            assert!(poll_once(std::pin::pin!(fd.readable())).await.is_pending());
            theirs.write_all(b"x").unwrap();
            let mut guard = fd.readable().await.unwrap();
            ours.read_exact(&mut [0]).unwrap();
            guard.clear_ready();
            assert!(poll_once(std::pin::pin!(fd.readable())).await.is_pending());
            let counter = EventFd::from_flags(EfdFlags::empty()).unwrap();
            assert!(AsyncFd::new(counter).is_ok());
            // What cannot be waited for in either mode is told that, and comes back.
            let file = std::fs::File::open("/").unwrap();
            let (file, error) = AsyncFd::try_new(file).unwrap_err().into_parts();
            assert_eq!(error.kind(), ErrorKind::PermissionDenied);
            assert!(file.metadata().unwrap().is_dir());
        });
    });
}
