//! What the workloads need of a library, one trait for each kind of channel or lock.

use std::future::Future;

/// A lock around a number.
pub trait Lock: Send + Sync + 'static {
    /// Makes one.
    fn create() -> Self;

    /// Locks, adds one, and unlocks.
    fn add(&self) -> impl Future<Output = ()> + Send;

    /// The same, and lets other tasks run before it unlocks.
    fn add_slowly<Y: Future<Output = ()> + Send>(
        &self,
        pause: impl FnOnce() -> Y + Send,
    ) -> impl Future<Output = ()> + Send;

    /// As [`add`](Self::add), on a plain thread.
    fn add_blocking(&self);

    /// The number.
    fn into_inner(self) -> u64;
}

/// A lock around a number that readers share.
pub trait SharedLock: Send + Sync + 'static {
    /// Makes one.
    fn create() -> Self;

    /// Locks, reads and unlocks.
    fn get(&self) -> impl Future<Output = u64> + Send;

    /// Locks, adds one, and unlocks.
    fn add(&self) -> impl Future<Output = ()> + Send;
}

/// A semaphore.
pub trait Permits: Send + Sync + 'static {
    /// Makes one.
    fn create(permits: usize) -> Self;

    /// Acquires a permit and gives it back.
    fn acquire(&self) -> impl Future<Output = ()> + Send;
}

/// A channel for one value.
pub trait Once: 'static {
    /// The half that sends.
    type Sender: Send;
    /// The half that receives.
    type Receiver: Send;

    /// Makes one.
    fn channel() -> (Self::Sender, Self::Receiver);

    /// Sends.
    fn send(sender: Self::Sender, value: u64);

    /// Receives.
    fn receive(receiver: Self::Receiver) -> impl Future<Output = u64> + Send;
}

/// A notification without data.
pub trait Signal: Send + Sync + 'static {
    /// Makes one.
    fn create() -> Self;

    /// Begins to listen, notifies one, and waits for it.
    fn notify_and_wait(&self) -> impl Future<Output = ()> + Send;
}

/// A channel for many values: from many senders, to one receiver at least.
pub trait Channel: 'static {
    /// The half that sends.
    type Sender: Clone + Send + Sync + 'static;
    /// The half that receives.
    type Receiver: Send + 'static;

    /// Makes one, with that bound if it has one.
    fn channel(bound: usize) -> (Self::Sender, Self::Receiver);

    /// Sends.
    fn send(sender: &Self::Sender, value: u64) -> impl Future<Output = ()> + Send;

    /// Receives. `None` when all senders are gone.
    fn receive(receiver: &mut Self::Receiver) -> impl Future<Output = Option<u64>> + Send;

    /// As [`send`](Self::send), on a plain thread.
    fn send_blocking(sender: &Self::Sender, value: u64);

    /// As [`receive`](Self::receive), on a plain thread.
    fn receive_blocking(receiver: &mut Self::Receiver) -> Option<u64>;
}

/// A channel whose receiver can take many values at once.
pub trait DrainedChannel: Channel {
    /// Receives at least one value, and as many as there are up to a limit. Returns how many: none when all senders are
    /// gone.
    fn receive_many(
        receiver: &mut Self::Receiver,
        buffer: &mut Vec<u64>,
        limit: usize,
    ) -> impl Future<Output = usize> + Send;
}

/// A channel from one sender to many receivers.
pub trait FanOut: 'static {
    /// The half that sends.
    type Sender: Send + 'static;
    /// The half that receives.
    type Receiver: Send + 'static;

    /// Makes one, with room for that many values if it has any bound, and with that many receivers.
    fn channel(bound: usize, receivers: usize) -> (Self::Sender, Vec<Self::Receiver>);

    /// Sends.
    fn send(sender: &Self::Sender, value: u64);

    /// Receives. False when the sender is gone.
    fn receive(receiver: &mut Self::Receiver) -> impl Future<Output = bool> + Send;
}

/// Tasks wait for each other.
pub trait Meeting: Send + Sync + 'static {
    /// Makes one for that many tasks.
    fn create(tasks: usize) -> Self;

    /// Waits for the others.
    fn wait(&self) -> impl Future<Output = ()> + Send;
}
