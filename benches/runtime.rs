//! What the workloads need of a runtime. Implemented for each of them in `runtimes/`.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::time::Duration;

use crate::files::Files;
use crate::system::{Relay, System};

/// The handle of a task of runtime `R`.
pub type Task<R, T> = <<R as Runtime>::Handle as Handle>::Task<T>;

/// A runtime, held by a thread that is not part of it. Dropping it stops its threads.
pub trait Runtime: Sized + Send + Sync + 'static {
    /// As it is called in reports.
    const NAME: &'static str;

    /// What its tasks use.
    type Handle: Handle;

    /// Starts a runtime with that many worker threads.
    fn start(workers: usize) -> Self;

    /// How many worker threads it has.
    fn workers(&self) -> usize;

    /// What to give to tasks.
    fn handle(&self) -> Self::Handle;

    /// Spawns a task from a thread that is not part of the runtime.
    fn spawn<F>(&self, future: F) -> Task<Self, F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static;

    /// Runs a future on the calling thread, the way the runtime's users run their `main`.
    fn block_on<F: Future>(&self, future: F) -> F::Output;
}

/// What a task can ask of its runtime. A task calls these as a program would: rt's and Tokio's are free functions,
/// which find their runtime by a thread-local, and smol's are methods of the executor.
pub trait Handle: Files + System + Copy + Send + Sync + 'static {
    /// Waits for a task's output. Panics if the task did.
    type Task<T: Send + 'static>: Future<Output = T> + Unpin + Send + 'static;
    /// A timer that can be set anew.
    type Timer: Timer;
    /// A TCP listener.
    type Listener: Listener<Stream = Self::Stream>;
    /// A TCP connection.
    type Stream: Stream + Relay;

    /// Spawns a task.
    fn spawn<F>(self, future: F) -> Self::Task<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static;

    /// Spawns a task that nobody waits for.
    fn spawn_detached<F>(self, future: F)
    where
        F: Future<Output = ()> + Send + 'static;

    /// Runs a closure where it may block.
    fn spawn_blocking<F, T>(self, f: F) -> Self::Task<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static;

    /// Lets other tasks run.
    fn yield_now() -> impl Future<Output = ()> + Send;

    /// Runs a future without the budget of operations after which a runtime makes a task wait for its next turn.
    /// Without this, a loop that polls thousands of timers in one go measures timers that were never set.
    fn unconstrained<F: Future + Send>(future: F) -> impl Future<Output = F::Output> + Send;

    /// A timer that has not been polled yet.
    fn timer(duration: Duration) -> Self::Timer;

    /// Waits until the duration has passed.
    fn sleep(duration: Duration) -> impl Future<Output = ()> + Send;

    /// Runs a future for as long as `limit`: `None` if it is not done by then.
    fn timeout<F: Future + Send>(limit: Duration, future: F) -> impl Future<Output = Option<F::Output>> + Send
    where
        F::Output: Send;

    /// Listens on some port of the loopback interface.
    fn listen() -> impl Future<Output = io::Result<Self::Listener>> + Send;

    /// Connects to a listener.
    fn connect(address: SocketAddr) -> impl Future<Output = io::Result<Self::Stream>> + Send;
}

/// A timer that can be set anew. It is set when it is polled first.
pub trait Timer: Future + Send + 'static {
    /// Makes it end that long from now.
    fn reset(self: Pin<&mut Self>, after: Duration);
}

/// A TCP listener.
pub trait Listener: Send + Sync + 'static {
    /// What it accepts.
    type Stream: Stream;

    /// Where it listens.
    fn address(&self) -> io::Result<SocketAddr>;

    /// Waits for a connection.
    fn accept(&self) -> impl Future<Output = io::Result<Self::Stream>> + Send;
}

/// A connection, over TCP with `TCP_NODELAY` set. The methods are the runtime's own, or those of the crate its users
/// take them from.
pub trait Stream: Send + 'static {
    /// Reads what there is, at least one byte unless the other side is done.
    fn read(&mut self, buffer: &mut [u8]) -> impl Future<Output = io::Result<usize>> + Send;

    /// Fills the buffer.
    fn read_exact(&mut self, buffer: &mut [u8]) -> impl Future<Output = io::Result<()>> + Send;

    /// Writes all of the buffer.
    fn write_all(&mut self, buffer: &[u8]) -> impl Future<Output = io::Result<()>> + Send;
}
