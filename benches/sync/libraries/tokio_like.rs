//! `rt::sync` and `tokio::sync`: they have the same names.

macro_rules! library {
    ($(#[$meta:meta])* $name:ident: $library:ident) => {
        $(#[$meta])*
        pub mod $name {
            use std::future::Future;
            use std::pin::pin;

            use $library::sync::{
                Barrier, Mutex, Notify, RwLock, Semaphore, broadcast, mpsc, oneshot, watch,
            };

            use crate::sync::kinds;

            const IN_USE: &str = "the other half is in use";

            impl kinds::Lock for Mutex<u64> {
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
                    *self.blocking_lock() += 1;
                }

                fn into_inner(self) -> u64 {
                    Self::into_inner(self)
                }
            }

            impl kinds::SharedLock for RwLock<u64> {
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

            impl kinds::Permits for Semaphore {
                fn create(permits: usize) -> Self {
                    Self::new(permits)
                }

                async fn acquire(&self) {
                    drop(self.acquire().await.expect("it is not closed"));
                }
            }

            /// `oneshot`.
            #[derive(Debug)]
            pub struct Oneshot;

            impl kinds::Once for Oneshot {
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

            impl kinds::Signal for Notify {
                fn create() -> Self {
                    Self::new()
                }

                async fn notify_and_wait(&self) {
                    let mut notified = pin!(self.notified());
                    notified.as_mut().enable();
                    self.notify_one();
                    notified.await;
                }
            }

            /// `mpsc` with a bound.
            #[derive(Debug)]
            pub struct Bounded;

            impl kinds::Channel for Bounded {
                type Sender = mpsc::Sender<u64>;
                type Receiver = mpsc::Receiver<u64>;

                fn channel(bound: usize) -> (Self::Sender, Self::Receiver) {
                    mpsc::channel(bound)
                }

                async fn send(sender: &Self::Sender, value: u64) {
                    sender.send(value).await.expect(IN_USE);
                }

                async fn receive(receiver: &mut Self::Receiver) -> Option<u64> {
                    receiver.recv().await
                }

                fn send_blocking(sender: &Self::Sender, value: u64) {
                    sender.blocking_send(value).expect(IN_USE);
                }

                fn receive_blocking(receiver: &mut Self::Receiver) -> Option<u64> {
                    receiver.blocking_recv()
                }
            }

            impl kinds::DrainedChannel for Bounded {
                async fn receive_many(receiver: &mut Self::Receiver, buffer: &mut Vec<u64>, limit: usize) -> usize {
                    receiver.recv_many(buffer, limit).await
                }
            }

            /// `mpsc` without a bound.
            #[derive(Debug)]
            pub struct Unbounded;

            impl kinds::Channel for Unbounded {
                type Sender = mpsc::UnboundedSender<u64>;
                type Receiver = mpsc::UnboundedReceiver<u64>;

                fn channel(_: usize) -> (Self::Sender, Self::Receiver) {
                    mpsc::unbounded_channel()
                }

                async fn send(sender: &Self::Sender, value: u64) {
                    sender.send(value).expect(IN_USE);
                }

                async fn receive(receiver: &mut Self::Receiver) -> Option<u64> {
                    receiver.recv().await
                }

                fn send_blocking(sender: &Self::Sender, value: u64) {
                    sender.send(value).expect(IN_USE);
                }

                fn receive_blocking(receiver: &mut Self::Receiver) -> Option<u64> {
                    receiver.blocking_recv()
                }
            }

            /// `broadcast`.
            #[derive(Debug)]
            pub struct Broadcast;

            impl kinds::FanOut for Broadcast {
                type Sender = broadcast::Sender<u64>;
                type Receiver = broadcast::Receiver<u64>;

                fn channel(bound: usize, receivers: usize) -> (Self::Sender, Vec<Self::Receiver>) {
                    let sender = broadcast::Sender::new(bound);
                    let receivers = (0..receivers).map(|_| sender.subscribe()).collect();
                    (sender, receivers)
                }

                fn send(sender: &Self::Sender, value: u64) {
                    sender.send(value).expect(IN_USE);
                }

                async fn receive(receiver: &mut Self::Receiver) -> bool {
                    receiver.recv().await.is_ok()
                }
            }

            /// `watch`.
            #[derive(Debug)]
            pub struct Watch;

            impl kinds::FanOut for Watch {
                type Sender = watch::Sender<u64>;
                type Receiver = watch::Receiver<u64>;

                fn channel(_: usize, receivers: usize) -> (Self::Sender, Vec<Self::Receiver>) {
                    let sender = watch::Sender::new(0);
                    let receivers = (0..receivers).map(|_| sender.subscribe()).collect();
                    (sender, receivers)
                }

                fn send(sender: &Self::Sender, value: u64) {
                    sender.send(value).expect(IN_USE);
                }

                async fn receive(receiver: &mut Self::Receiver) -> bool {
                    receiver.changed().await.is_ok()
                }
            }

            impl kinds::Meeting for Barrier {
                fn create(tasks: usize) -> Self {
                    Self::new(tasks)
                }

                async fn wait(&self) {
                    self.wait().await;
                }
            }
        }
    };
}

library! {
    /// `rt::sync`.
    rt_sync: rt
}
library! {
    /// `tokio::sync`.
    tokio_sync: tokio
}
