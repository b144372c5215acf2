//! What others still hold of a runtime that has ended, and what they do with it.

use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::Waker;
use std::thread;
use std::time::Duration;

use rt::io::AsyncReadExt;
use rt::io::unix::AsyncFd;
use rt::net::{TcpListener, TcpStream};
use rt::runtime::{Handle, Runtime};
use rt::task::{AbortHandle, JoinHandle};
use rt::time::Sleep;
use rt_test_util::*;

use super::work::Life;

/// Sockets, a descriptor and a timer of a runtime, each waited for once.
pub(crate) struct Things {
    client: TcpStream,
    listener: TcpListener,
    fd: AsyncFd<UnixStream>,
    _theirs: UnixStream,
    sleep: Pin<Box<Sleep>>,
}

pub(crate) async fn things() -> Things {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let (ours, theirs) = UnixStream::pair().unwrap();
    ours.set_nonblocking(true).unwrap();
    let mut things = Things {
        client,
        listener,
        fd: AsyncFd::new(ours).unwrap(),
        _theirs: theirs,
        sleep: Box::pin(rt::time::sleep(Duration::from_secs(3600))),
    };
    assert!(poll_once(things.sleep.as_mut()).await.is_pending());
    assert!(poll_once(Box::pin(things.client.read(&mut [0])).as_mut()).await.is_pending());
    assert!(poll_once(Box::pin(things.fd.readable()).as_mut()).await.is_pending());
    things
}

/// Uses each, in the context of another runtime.
async fn use_them(mut things: Things) {
    assert!(things.client.read(&mut [0]).await.is_err());
    // The one that it had not accepted: there, and not to be waited for.
    let _ = things.listener.accept().await;
    assert!(things.listener.accept().await.is_err());
    assert!(things.fd.readable().await.is_err());
    drop(things.fd.into_inner());
}

/// Everything, with what to do about it.
pub(crate) struct Leftovers {
    pub(crate) handle: Handle,
    pub(crate) tasks: Vec<JoinHandle<Token>>,
    pub(crate) aborts: Vec<AbortHandle>,
    pub(crate) things: Things,
}

impl Leftovers {
    /// Uses some, drops the others; here, and on a thread of its own.
    pub(crate) fn use_up(self, random: &mut Random, life: &Life, other: &Runtime, wakers: Vec<Waker>) {
        let Self { handle, tasks, aborts, mut things } = self;
        assert!(other.block_on(handle.spawn(std::future::pending::<()>())).unwrap_err().is_cancelled());
        let token = life.drops.token();
        assert!(other.block_on(handle.spawn_blocking(move || drop(token))).unwrap_err().is_cancelled());
        handle.block_on(yield_by_hand());
        let polled = catch_unwind(AssertUnwindSafe(|| other.block_on(things.sleep.as_mut())));
        assert!(polled.is_err(), "it can never end, and says so");
        if random.below(2) == 0 {
            other.block_on(use_them(things));
        }
        let joined = random.below(2) == 0;
        let (here, there): (Vec<_>, Vec<_>) = tasks.into_iter().partition(|_| random.below(2) == 0);
        let thread = thread::spawn(move || {
            for (n, waker) in wakers.into_iter().enumerate() {
                match n % 3 {
                    0 => waker.wake(),
                    1 => drop(waker.clone()),
                    _ => waker.wake_by_ref(),
                }
            }
            aborts.iter().for_each(AbortHandle::abort);
            drop((there, aborts, handle));
        });
        for task in here {
            assert!(task.is_finished());
            if joined {
                drop(other.block_on(task));
            }
        }
        thread.join().unwrap();
    }
}
