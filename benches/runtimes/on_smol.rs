//! smol: one `Executor`, run by a thread for each worker, each in `smol::block_on`.
//!
//! This is how smol's documentation says to run it on several threads, and how its own global executor does. The
//! executor is a `&'static`, as programs keep it; the sockets and timers are smol's, and wait in its one reactor, which
//! belongs to the process and has a thread of its own for when no worker waits there.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::thread;
use std::time::Duration;

use smol::channel::Sender;
use smol::io::{AsyncReadExt, AsyncWriteExt};
use smol::net::{TcpListener, TcpStream};
use smol::{Executor, Task, Timer, future};

use crate::runtime;

/// A smol executor and the threads that run it.
#[derive(Debug)]
pub struct Smol {
    executor: &'static Executor<'static>,
    threads: Vec<thread::JoinHandle<()>>,
    /// Dropping it ends the threads.
    stop: Option<Sender<()>>,
}

/// The executor.
#[derive(Clone, Copy, Debug)]
pub struct SmolHandle(&'static Executor<'static>);

impl runtime::Runtime for Smol {
    const NAME: &'static str = "smol";

    type Handle = SmolHandle;

    fn start(workers: usize) -> Self {
        // It is small, and there are not many of them: it may stay for good.
        let executor: &'static Executor<'static> = Box::leak(Box::new(Executor::new()));
        let (stop, stopped) = smol::channel::bounded::<()>(1);
        let threads = (0..workers)
            .map(|n| {
                let stopped = stopped.clone();
                thread::Builder::new()
                    .name(format!("smol-{n}"))
                    .spawn(move || {
                        // It is an error, for nothing is ever sent.
                        let _ = smol::block_on(executor.run(stopped.recv()));
                    })
                    .expect("cannot start a thread")
            })
            .collect();
        Self { executor, threads, stop: Some(stop) }
    }

    fn workers(&self) -> usize {
        self.threads.len()
    }

    fn handle(&self) -> SmolHandle {
        SmolHandle(self.executor)
    }

    fn spawn<F>(&self, future: F) -> Task<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.executor.spawn(future)
    }

    fn block_on<F: Future>(&self, future: F) -> F::Output {
        smol::block_on(self.executor.run(future))
    }
}

impl Drop for Smol {
    fn drop(&mut self) {
        self.stop = None;
        for thread in self.threads.drain(..) {
            thread.join().expect("a worker panicked");
        }
    }
}

impl runtime::Handle for SmolHandle {
    type Task<T: Send + 'static> = Task<T>;
    type Timer = Timer;
    type Listener = TcpListener;
    type Stream = TcpStream;

    fn spawn<F>(self, future: F) -> Task<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.0.spawn(future)
    }

    fn spawn_detached<F>(self, future: F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.0.spawn(future).detach();
    }

    fn spawn_blocking<F, T>(self, f: F) -> Task<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        smol::unblock(f)
    }

    fn yield_now() -> impl Future<Output = ()> + Send {
        future::yield_now()
    }

    fn unconstrained<F: Future + Send>(future: F) -> impl Future<Output = F::Output> + Send {
        // It has no budget.
        future
    }

    fn timer(duration: Duration) -> Timer {
        Timer::after(duration)
    }

    async fn sleep(duration: Duration) {
        Timer::after(duration).await;
    }

    fn timeout<F: Future + Send>(limit: Duration, future: F) -> impl Future<Output = Option<F::Output>> + Send
    where
        F::Output: Send,
    {
        future::or(async { Some(future.await) }, async move {
            Timer::after(limit).await;
            None
        })
    }

    fn listen() -> impl Future<Output = io::Result<TcpListener>> + Send {
        TcpListener::bind("127.0.0.1:0")
    }

    async fn connect(address: SocketAddr) -> io::Result<TcpStream> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }
}

impl runtime::Timer for Timer {
    fn reset(mut self: Pin<&mut Self>, after: Duration) {
        self.set_after(after);
    }
}

impl runtime::Listener for TcpListener {
    type Stream = TcpStream;

    fn address(&self) -> io::Result<SocketAddr> {
        self.local_addr()
    }

    async fn accept(&self) -> io::Result<TcpStream> {
        let (stream, _) = self.accept().await?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }
}

impl runtime::Stream for TcpStream {
    async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        AsyncReadExt::read(self, buffer).await
    }

    async fn read_exact(&mut self, buffer: &mut [u8]) -> io::Result<()> {
        AsyncReadExt::read_exact(self, buffer).await
    }

    async fn write_all(&mut self, buffer: &[u8]) -> io::Result<()> {
        AsyncWriteExt::write_all(self, buffer).await
    }
}
