//! rt: the multi-thread runtime with sockets and timers.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::time::Duration;

use rt::io::{AsyncReadExt, AsyncWriteExt};
use rt::net::{TcpListener, TcpStream};
use rt::runtime::Builder;
use rt::task::{self, JoinHandle};
use rt::time;

use super::Joined;
use crate::runtime;

/// A multi-thread runtime of rt, built as `rt::main` builds it but for the number of workers.
#[derive(Debug)]
pub struct Rt {
    runtime: rt::runtime::Runtime,
    workers: usize,
}

/// Stands for the runtime of the thread.
#[derive(Clone, Copy, Debug)]
pub struct RtHandle(());

impl Rt {
    /// With something that is not as it is by default.
    pub(super) fn build(workers: usize, set: impl FnOnce(&mut Builder) -> &mut Builder) -> Self {
        let mut builder = Builder::new_multi_thread();
        let runtime = set(builder.worker_threads(workers).enable_all()).build().expect("cannot start a runtime");
        Self { runtime, workers }
    }
}

impl runtime::Runtime for Rt {
    const NAME: &'static str = "rt";

    type Handle = RtHandle;

    fn start(workers: usize) -> Self {
        Self::build(workers, |builder| builder)
    }

    fn workers(&self) -> usize {
        self.workers
    }

    fn handle(&self) -> RtHandle {
        RtHandle(())
    }

    fn spawn<F>(&self, future: F) -> Joined<JoinHandle<F::Output>>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        Joined(self.runtime.spawn(future))
    }

    fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.runtime.block_on(future)
    }
}

impl runtime::Handle for RtHandle {
    type Task<T: Send + 'static> = Joined<JoinHandle<T>>;
    type Timer = time::Sleep;
    type Listener = TcpListener;
    type Stream = TcpStream;

    fn spawn<F>(self, future: F) -> Joined<JoinHandle<F::Output>>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        Joined(rt::spawn(future))
    }

    fn spawn_detached<F>(self, future: F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        drop(rt::spawn(future));
    }

    fn spawn_blocking<F, T>(self, f: F) -> Joined<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        Joined(task::spawn_blocking(f))
    }

    fn yield_now() -> impl Future<Output = ()> + Send {
        task::yield_now()
    }

    fn unconstrained<F: Future + Send>(future: F) -> impl Future<Output = F::Output> + Send {
        task::unconstrained(future)
    }

    fn timer(duration: Duration) -> time::Sleep {
        time::sleep(duration)
    }

    fn sleep(duration: Duration) -> impl Future<Output = ()> + Send {
        time::sleep(duration)
    }

    async fn timeout<F: Future + Send>(limit: Duration, future: F) -> Option<F::Output>
    where
        F::Output: Send,
    {
        time::timeout(limit, future).await.ok()
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

impl runtime::Timer for time::Sleep {
    fn reset(self: Pin<&mut Self>, after: Duration) {
        self.reset(time::Instant::now() + after);
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
        AsyncReadExt::read_exact(self, buffer).await.map(drop)
    }

    async fn write_all(&mut self, buffer: &[u8]) -> io::Result<()> {
        AsyncWriteExt::write_all(self, buffer).await
    }
}
