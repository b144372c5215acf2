//! The tasks and jobs of a runtime that is going to end: all that it may be in the middle of.

use std::future::{Future, pending, poll_fn};
use std::panic::resume_unwind;
use std::pin::Pin;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use rt::io::AsyncReadExt;
use rt::net::{TcpListener, TcpStream};
use rt::runtime::Handle;
use rt_test_util::*;

const AN_HOUR: Duration = Duration::from_secs(3600);

/// What the tasks of one runtime share.
#[derive(Clone)]
pub(crate) struct Life {
    pub(crate) drops: Drops,
    /// Where tasks send their wakers.
    wakers: mpsc::Sender<Waker>,
    /// The end is over: from here on nothing is polled.
    pub(crate) over: Arc<AtomicBool>,
    pub(crate) too_late: Arc<AtomicUsize>,
}

impl Life {
    pub(crate) fn new() -> (Self, mpsc::Receiver<Waker>) {
        let (wakers, receiver) = mpsc::channel();
        let (over, too_late) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        (Self { drops: Drops::new(), wakers, over, too_late }, receiver)
    }
}

/// How many kinds there are.
pub(crate) const KINDS: u64 = 12;

/// A future of this kind, which counts its drop, and its polls after the end.
pub(crate) fn task(kind: u64, life: &Life, handle: &Handle) -> Watched {
    let (life, handle) = (life.clone(), handle.clone());
    Watched { over: life.over.clone(), too_late: life.too_late.clone(), inner: Box::pin(of_kind(kind, life, handle)) }
}

pub(crate) struct Watched {
    over: Arc<AtomicBool>,
    too_late: Arc<AtomicUsize>,
    inner: Pin<Box<dyn Future<Output = Token> + Send>>,
}

impl Future for Watched {
    type Output = Token;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Token> {
        if self.over.load(SeqCst) {
            self.too_late.fetch_add(1, SeqCst);
        }
        self.inner.as_mut().poll(cx)
    }
}

async fn of_kind(kind: u64, life: Life, handle: Handle) -> Token {
    let _token = life.drops.token();
    match kind {
        // Done, with an output that is taken or not.
        0 => return life.drops.token(),
        // Parked: for good, on a timer, a socket, a channel, another task.
        1 => pending().await,
        2 => {
            let _ = rt::time::timeout(AN_HOUR, rt::time::sleep(AN_HOUR)).await;
        }
        3 => {
            if let Ok(listener) = TcpListener::bind("127.0.0.1:0").await {
                let _ = listener.accept().await;
            }
        }
        4 => {
            let _ = read_for_ever().await;
        }
        5 => drop(Channel::<Token>::new().receive().await),
        6 => {
            let token = life.drops.token();
            let inner = rt::spawn(async move {
                let _token = token;
                pending::<()>().await;
            });
            let _ = inner.await;
        }
        // Running, or queued, all the time.
        7 => loop {
            (0..200).for_each(|_| std::hint::spin_loop());
            rt::task::yield_now().await;
        },
        // Woken by other threads at any time.
        8 => {
            let mut told = false;
            poll_fn(|cx| {
                if !std::mem::replace(&mut told, true) {
                    let _ = life.wakers.send(cx.waker().clone());
                }
                Poll::<()>::Pending
            })
            .await;
        }
        // With a drop that spawns, or panics.
        9 => {
            let _spawns = Spawns(2, life.drops.clone(), handle);
            pending().await
        }
        10 => {
            let _bomb = Bomb::new(&life.drops);
            pending().await
        }
        // Or panics.
        _ => {
            rt::task::yield_now().await;
            resume_unwind(Box::new(life.drops.token()));
        }
    }
    pending().await
}

async fn read_for_ever() -> std::io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let mut client = TcpStream::connect(listener.local_addr()?).await?;
    let _server = listener.accept().await?;
    client.read(&mut [0]).await?;
    Ok(())
}

/// Spawns when it is dropped, in both ways, a few generations deep.
struct Spawns(u32, Drops, Handle);

impl Drop for Spawns {
    fn drop(&mut self) {
        if self.0 > 0 {
            let next = || (Spawns(self.0 - 1, self.1.clone(), self.2.clone()), self.1.token());
            let (task, job) = (next(), next());
            self.2.spawn(async move {
                let _task = task;
                pending::<()>().await;
            });
            self.2.spawn_blocking(move || drop(job));
        }
    }
}

/// A job that waits at the gate, if it gets to run.
pub(crate) fn job(kind: u64, life: &Life, gate: &Gate) -> impl FnOnce() -> Token + Send + use<> {
    let (token, drops, gate) = (life.drops.token(), life.drops.clone(), gate.clone());
    let bomb = (kind == 2).then(|| Bomb::new(&life.drops));
    move || {
        let held = (token, bomb);
        gate.pass();
        // Not on the way out: a drop that panics there leaks what is being returned.
        drop(held);
        if kind == 1 {
            resume_unwind(Box::new(drops.token()));
        }
        drops.token()
    }
}
