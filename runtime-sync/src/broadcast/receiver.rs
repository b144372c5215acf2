//! The half that receives.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use runtime_core::coop::cooperative;
use runtime_core::primitive::atomic::Ordering::Acquire;
use runtime_core::task::ChannelKind;
use runtime_core::task::waits::{self, Leaf};

use super::error::{RecvError, TryRecvError};
use super::shared::{Next, Shared};
use crate::blocking;
use crate::panics::Panics;
use crate::waiters::Waiter;

/// Receives each value that is sent through a [broadcast channel](super) while it exists.
pub struct Receiver<T> {
    pub(super) shared: Arc<Shared<T>>,
    /// The number of the value that it wants next.
    pub(super) next: u64,
}

impl<T> Receiver<T> {
    pub(super) fn new(shared: Arc<Shared<T>>) -> Self {
        let next = shared.add_receiver();
        Self { shared, next }
    }

    /// How many values have been sent that this receiver has not received.
    ///
    /// If these are more than the channel keeps, it has missed some.
    ///
    /// # Example
    ///
    /// ```
    /// let (tx, mut rx) = rt::sync::broadcast::channel(16);
    /// tx.send(1).unwrap();
    /// tx.send(2).unwrap();
    /// assert_eq!(rx.len(), 2);
    /// rx.try_recv().unwrap();
    /// assert_eq!(rx.len(), 1);
    /// ```
    pub fn len(&self) -> usize {
        self.shared.sent_since(self.next)
    }

    /// Whether this receiver has received, or missed and been told of, all that was sent.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether both receive from the same senders.
    pub fn same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    /// How many senders there are.
    pub fn sender_strong_count(&self) -> usize {
        self.shared.senders.load(Acquire)
    }

    /// How many weak senders there are.
    pub fn sender_weak_count(&self) -> usize {
        self.shared.weak_senders.load(Acquire)
    }

    /// Whether all senders are gone. There may be values left to receive.
    ///
    /// # Example
    ///
    /// ```
    /// let (tx, rx) = rt::sync::broadcast::channel::<u32>(16);
    /// assert!(!rx.is_closed());
    /// drop(tx);
    /// assert!(rx.is_closed());
    /// ```
    pub fn is_closed(&self) -> bool {
        self.sender_strong_count() == 0
    }
}

impl<T: Clone> Receiver<T> {
    /// Makes another receiver of the same channel, of what is sent from here on.
    ///
    /// # Example
    ///
    /// ```
    /// let (tx, mut first) = rt::sync::broadcast::channel(16);
    /// tx.send(1).unwrap();
    /// let mut second = first.resubscribe();
    /// tx.send(2).unwrap();
    /// assert_eq!(first.try_recv(), Ok(1));
    /// assert_eq!(second.try_recv(), Ok(2));
    /// ```
    pub fn resubscribe(&self) -> Self {
        Self::new(self.shared.clone())
    }

    /// Waits for the next value.
    ///
    /// # Errors
    ///
    /// [`Closed`](RecvError::Closed) if all senders are gone and every value has been received;
    /// [`Lagged`](RecvError::Lagged) if the next value was lost: then the following call goes on with the oldest that
    /// is left.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: if the future is dropped, no value is received.
    ///
    /// # Example
    ///
    /// ```
    /// use rt::sync::broadcast::{self, error::RecvError};
    ///
    /// # #[rt::main]
    /// # async fn main() {
    /// let (tx, mut rx) = broadcast::channel(2);
    /// for number in 1..=3 {
    ///     tx.send(number).unwrap();
    /// }
    /// drop(tx);
    /// assert_eq!(rx.recv().await, Err(RecvError::Lagged(1)));
    /// assert_eq!(rx.recv().await, Ok(2));
    /// assert_eq!(rx.recv().await, Ok(3));
    /// assert_eq!(rx.recv().await, Err(RecvError::Closed));
    /// # }
    /// ```
    pub async fn recv(&mut self) -> Result<T, RecvError> {
        cooperative(Recv { receiver: self, waiter: Waiter::new() }).await
    }

    /// The next value, if it is there.
    ///
    /// # Errors
    ///
    /// As [`recv`](Self::recv), and [`Empty`](TryRecvError::Empty) if it has not been sent yet.
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        loop {
            if let Some(value) = self.take() {
                return Ok(value);
            }
            match self.shared.look(self.next) {
                Next::Empty => return Err(TryRecvError::Empty),
                Next::Closed => return Err(TryRecvError::Closed),
                Next::Missed(oldest) => return Err(TryRecvError::Lagged(self.skip_to(oldest))),
                // It has come meanwhile.
                Next::There => {}
            }
        }
    }

    /// Waits for the next value on this thread. For threads of the program's own, and for the blocking pool.
    ///
    /// # Errors
    ///
    /// As [`recv`](Self::recv).
    ///
    /// # Panics
    ///
    /// Panics inside a runtime: in a task, and in `block_on`. There, await [`recv`](Self::recv).
    ///
    /// # Example
    ///
    /// ```
    /// let (tx, mut rx) = rt::sync::broadcast::channel(16);
    /// let thread = std::thread::spawn(move || rx.blocking_recv());
    /// tx.send(1).unwrap();
    /// assert_eq!(thread.join().unwrap(), Ok(1));
    /// ```
    #[track_caller]
    pub fn blocking_recv(&mut self) -> Result<T, RecvError> {
        blocking::block_on(self.recv())
    }

    fn take(&mut self) -> Option<T> {
        // First, so that a clone that panics counts as received.
        let number = self.next;
        self.next += 1;
        let value = self.shared.take(number);
        if value.is_none() {
            self.next = number;
        }
        value
    }

    /// Returns how many were missed.
    fn skip_to(&mut self, oldest: u64) -> u64 {
        oldest - std::mem::replace(&mut self.next, oldest)
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        let (unreceived, is_last) = self.shared.remove_receiver(self.next);
        // The drop of a value may panic. All others are dropped nevertheless, and the end is told.
        let mut panics = Panics::new();
        for number in unreceived {
            panics.catch(|| drop(self.shared.skip(number)));
        }
        if is_last {
            panics.catch(|| self.shared.unwatched.notify_waiters());
        }
        panics.pass_on();
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}

/// The future of [`Receiver::recv`].
struct Recv<'a, T> {
    receiver: &'a mut Receiver<T>,
    waiter: Waiter<u64>,
}

impl<T: Clone> Future for Recv<'_, T> {
    type Output = Result<T, RecvError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: nothing is moved.
        let this = unsafe { self.get_unchecked_mut() };
        loop {
            if let Some(value) = this.receiver.take() {
                return Poll::Ready(Ok(value));
            }
            // SAFETY: the drop takes it out.
            match unsafe { this.receiver.shared.wait(this.receiver.next, &this.waiter, cx.waker()) } {
                Next::Empty => return waits::pending(Leaf::Channel(ChannelKind::BroadcastReceiver)),
                Next::Closed => return Poll::Ready(Err(RecvError::Closed)),
                Next::Missed(oldest) => return Poll::Ready(Err(RecvError::Lagged(this.receiver.skip_to(oldest)))),
                // It has come meanwhile.
                Next::There => {}
            }
        }
    }
}

impl<T> Drop for Recv<'_, T> {
    fn drop(&mut self) {
        self.receiver.shared.stop_waiting(&self.waiter);
    }
}
