//! Crates that belong to no runtime: async-lock, async-channel and event-listener, which smol's users have; flume; and
//! the oneshot of futures.

use std::future::Future;
use std::pin::pin;

use event_listener::{Event, IntoNotification};
use futures_channel::oneshot;

use crate::sync::kinds;

const IN_USE: &str = "the other half is in use";

impl kinds::Lock for async_lock::Mutex<u64> {
    fn create() -> Self {
        Self::new(0)
    }

    async fn add(&self) {
        *self.lock().await += 1;
    }

    async fn add_slowly<Y: Future<Output = ()> + Send>(&self, pause: impl FnOnce() -> Y + Send) {
        let mut guard = self.lock().await;
        *guard += 1;
        pause().await;
    }

    fn add_blocking(&self) {
        *self.lock_blocking() += 1;
    }

    fn into_inner(self) -> u64 {
        Self::into_inner(self)
    }
}

impl kinds::SharedLock for async_lock::RwLock<u64> {
    fn create() -> Self {
        Self::new(0)
    }

    async fn get(&self) -> u64 {
        *self.read().await
    }

    async fn add(&self) {
        *self.write().await += 1;
    }
}

impl kinds::Permits for async_lock::Semaphore {
    fn create(permits: usize) -> Self {
        Self::new(permits)
    }

    async fn acquire(&self) {
        drop(self.acquire().await);
    }
}

impl kinds::Meeting for async_lock::Barrier {
    fn create(tasks: usize) -> Self {
        Self::new(tasks)
    }

    async fn wait(&self) {
        self.wait().await;
    }
}

impl kinds::Signal for Event {
    fn create() -> Self {
        Self::new()
    }

    async fn notify_and_wait(&self) {
        event_listener::listener!(self => listener);
        self.notify(1.additional());
        pin!(listener).await;
    }
}

/// `futures_channel::oneshot`.
#[derive(Debug)]
pub struct FuturesOneshot;

impl kinds::Once for FuturesOneshot {
    type Sender = oneshot::Sender<u64>;
    type Receiver = oneshot::Receiver<u64>;

    fn channel() -> (Self::Sender, Self::Receiver) {
        oneshot::channel()
    }

    fn send(sender: Self::Sender, value: u64) {
        sender.send(value).expect(IN_USE);
    }

    async fn receive(receiver: Self::Receiver) -> u64 {
        receiver.await.expect(IN_USE)
    }
}

macro_rules! channel {
    ($(#[$meta:meta])* $name:ident, $sender:ty, $receiver:ty, $make:expr, $send:ident, $receive:ident,
        $send_blocking:ident, $receive_blocking:ident) => {
        $(#[$meta])*
        #[derive(Debug)]
        pub struct $name;

        impl kinds::Channel for $name {
            type Sender = $sender;
            type Receiver = $receiver;

            fn channel(bound: usize) -> (Self::Sender, Self::Receiver) {
                $make(bound)
            }

            async fn send(sender: &Self::Sender, value: u64) {
                sender.$send(value).await.expect(IN_USE);
            }

            async fn receive(receiver: &mut Self::Receiver) -> Option<u64> {
                receiver.$receive().await.ok()
            }

            fn send_blocking(sender: &Self::Sender, value: u64) {
                sender.$send_blocking(value).expect(IN_USE);
            }

            fn receive_blocking(receiver: &mut Self::Receiver) -> Option<u64> {
                receiver.$receive_blocking().ok()
            }
        }
    };
}

channel! {
    /// `async_channel` with a bound.
    AsyncChannel, async_channel::Sender<u64>, async_channel::Receiver<u64>, async_channel::bounded,
    send, recv, send_blocking, recv_blocking
}
channel! {
    /// `async_channel` without a bound.
    AsyncUnbounded, async_channel::Sender<u64>, async_channel::Receiver<u64>, |_| async_channel::unbounded(),
    send, recv, send_blocking, recv_blocking
}
channel! {
    /// flume with a bound.
    Flume, flume::Sender<u64>, flume::Receiver<u64>, flume::bounded, send_async, recv_async, send, recv
}
channel! {
    /// flume without a bound.
    FlumeUnbounded, flume::Sender<u64>, flume::Receiver<u64>, |_| flume::unbounded(), send_async, recv_async, send, recv
}
