//! A channel for one value, from one sender to one receiver.
//!
//! [`channel`] makes both halves. [`Sender::send`] never waits. The [`Receiver`] is a future of the value. For the
//! answer to a request, say: the request carries the sender along.
//!
//! Either half notices when the other goes: a receiver whose sender was dropped gets an error, and a sender can wait
//! until nobody wants its value any more ([`Sender::closed`]).
//!
//! # Memory
//!
//! One allocation for a channel, of the size of the value and five words, until both halves are gone. Waiting allocates
//! nothing. The value is moved into the allocation and out of it.
//!
//! # Cancel safety
//!
//! A `&mut Receiver` can be awaited in `select!`: if another branch is first nothing is lost. So can
//! [`Sender::closed`].

mod channel;
pub mod error;
#[cfg(all(test, loom))]
mod loom_tests;
#[cfg(all(test, not(loom)))]
mod tests;

use std::fmt;
use std::future::{Future, poll_fn};
use std::mem::ManuallyDrop;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use runtime_core::coop;

use self::channel::Half;
use self::error::{RecvError, TryRecvError};
use crate::blocking;

/// Makes a channel for one value.
///
/// # Example
///
/// ```
/// use rt::sync::oneshot;
///
/// # #[rt::main]
/// # async fn main() {
/// let (tx, rx) = oneshot::channel();
/// rt::spawn(async move {
///     tx.send(6 * 7).expect("the receiver waits");
/// });
/// assert_eq!(rx.await, Ok(42));
/// # }
/// ```
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let (tx, rx) = channel::new();
    (Sender { half: ManuallyDrop::new(tx) }, Receiver { half: Some(rx) })
}

/// The half of a [`channel`] that sends the value.
///
/// Dropped without sending, it leaves the receiver with an error.
pub struct Sender<T> {
    /// Taken by `send` and by the drop, which leave the channel.
    half: ManuallyDrop<Half<T>>,
}

// SAFETY: the halves share the value, which moves to the receiver's thread, and is never seen by both. What of a half
// is done by reference is a load of the word.
unsafe impl<T: Send> Send for Sender<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Sender<T> {}

impl<T> Sender<T> {
    /// Sends the value. It does not wait: there is always room.
    ///
    /// Success does not mean that the value is received: the receiver may be dropped before it looks.
    ///
    /// # Errors
    ///
    /// Gives the value back if the receiver was dropped or [closed](Receiver::close).
    ///
    /// # Example
    ///
    /// ```
    /// use rt::sync::oneshot;
    ///
    /// let (tx, rx) = oneshot::channel();
    /// drop(rx);
    /// assert_eq!(tx.send("too late"), Err("too late"));
    /// ```
    pub fn send(self, value: T) -> Result<(), T> {
        let mut this = ManuallyDrop::new(self);
        // SAFETY: it is not dropped, so this is the only time.
        let half = unsafe { ManuallyDrop::take(&mut this.half) };
        // SAFETY: this is the sender, it was there until now, and is consumed.
        unsafe { half.send(value) }
    }

    /// Waits until the receiver is dropped or [closed](Receiver::close).
    ///
    /// For a task that should not go on to work out what nobody wants to have.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: if the future is dropped, nothing happens.
    ///
    /// # Example
    ///
    /// ```
    /// use rt::sync::oneshot;
    ///
    /// # #[rt::main]
    /// # async fn main() {
    /// let (mut tx, rx) = oneshot::channel::<u32>();
    /// let worker = rt::spawn(async move {
    ///     rt::select! {
    ///         () = tx.closed() => "nobody wants it",
    ///         () = std::future::pending() => "worked it out",
    ///     }
    /// });
    /// drop(rx);
    /// assert_eq!(worker.await.unwrap(), "nobody wants it");
    /// # }
    /// ```
    pub async fn closed(&mut self) {
        poll_fn(|cx| self.poll_closed(cx)).await;
    }

    /// Whether the receiver was dropped or [closed](Receiver::close), so that [`send`](Self::send) would fail.
    ///
    /// # Example
    ///
    /// ```
    /// let (tx, mut rx) = rt::sync::oneshot::channel::<u32>();
    /// assert!(!tx.is_closed());
    /// rx.close();
    /// assert!(tx.is_closed());
    /// ```
    pub fn is_closed(&self) -> bool {
        // SAFETY: this is the sender, and it is still there.
        unsafe { self.half.has_ended() }
    }

    /// As [`closed`](Self::closed), for a future that is written by hand. The waker of the last call is woken.
    ///
    /// # Example
    ///
    /// ```
    /// use std::future::poll_fn;
    ///
    /// # #[rt::main]
    /// # async fn main() {
    /// let (mut tx, rx) = rt::sync::oneshot::channel::<u32>();
    /// rt::spawn(async move { drop(rx) });
    /// poll_fn(|cx| tx.poll_closed(cx)).await;
    /// # }
    /// ```
    pub fn poll_closed(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let coop = ready!(coop::poll_proceed(cx));
        // SAFETY: this is the sender, it is still there, and borrowed exclusively.
        ready!(unsafe { self.half.poll_closed(cx) });
        coop.made_progress();
        Poll::Ready(())
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        // SAFETY: `send` does not come here, so this is the only time.
        let half = unsafe { ManuallyDrop::take(&mut self.half) };
        // SAFETY: this is the sender, it was there until now, and goes.
        unsafe { half.drop_sender() };
    }
}

impl<T: fmt::Debug> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").field("is_closed", &self.is_closed()).finish()
    }
}

/// The half of a [`channel`] that receives the value: a future of it.
///
/// # Errors
///
/// It is an error if there will be no value: the sender was dropped without sending, or this half was
/// [closed](Self::close) first.
///
/// # Panics
///
/// Panics if it is polled again after it was ready, or after [`try_recv`](Self::try_recv) has returned anything but
/// [`Empty`](TryRecvError::Empty).
///
/// # Cancel safety
///
/// A `&mut Receiver` is a future, too. If that is dropped, the value is still to come.
pub struct Receiver<T> {
    /// `None` when there is nothing more to come, and the receiver knows it.
    half: Option<Half<T>>,
}

// SAFETY: as for the sender.
unsafe impl<T: Send> Send for Receiver<T> {}
// SAFETY: as for the sender.
unsafe impl<T: Send> Sync for Receiver<T> {}

impl<T> Receiver<T> {
    /// Makes every later `send` fail, and wakes a sender that waits in [`Sender::closed`].
    ///
    /// A value that was sent before is still received. Call [`try_recv`](Self::try_recv) or await the receiver to get
    /// it.
    ///
    /// # Example
    ///
    /// ```
    /// let (tx, mut rx) = rt::sync::oneshot::channel();
    /// assert_eq!(tx.send(1), Ok(()));
    /// rx.close();
    /// assert_eq!(rx.try_recv(), Ok(1));
    /// ```
    pub fn close(&mut self) {
        if let Some(half) = &self.half {
            // SAFETY: this is the receiver, it is still there, and borrowed exclusively.
            unsafe { half.close() };
        }
    }

    /// Whether nothing can be received any more: the value was received, or an error that says that there will be none.
    ///
    /// # Example
    ///
    /// ```
    /// let (tx, mut rx) = rt::sync::oneshot::channel();
    /// assert_eq!(tx.send(1), Ok(()));
    /// assert!(!rx.is_terminated());
    /// assert_eq!(rx.try_recv(), Ok(1));
    /// assert!(rx.is_terminated());
    /// ```
    pub fn is_terminated(&self) -> bool {
        self.half.is_none()
    }

    /// Whether there is no value in the channel at the moment.
    ///
    /// # Example
    ///
    /// ```
    /// let (tx, rx) = rt::sync::oneshot::channel();
    /// assert!(rx.is_empty());
    /// assert_eq!(tx.send(1), Ok(()));
    /// assert!(!rx.is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        // SAFETY: this is the receiver, and it is still there.
        !self.half.as_ref().is_some_and(|half| unsafe { half.has_value() })
    }

    /// The value, if it is there.
    ///
    /// # Errors
    ///
    /// [`Empty`](TryRecvError::Empty) if there is none yet; [`Closed`](TryRecvError::Closed) if there will be none, or
    /// it has been received.
    ///
    /// # Example
    ///
    /// ```
    /// use rt::sync::oneshot::{self, error::TryRecvError};
    ///
    /// let (tx, mut rx) = oneshot::channel();
    /// assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
    /// assert_eq!(tx.send(1), Ok(()));
    /// assert_eq!(rx.try_recv(), Ok(1));
    /// assert_eq!(rx.try_recv(), Err(TryRecvError::Closed));
    /// ```
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        // SAFETY: this is the receiver, and it is still there.
        match self.half.take_if(|half| unsafe { half.has_ended() }) {
            // SAFETY: as above; the channel has ended, and the half goes.
            Some(half) => unsafe { half.take() }.ok_or(TryRecvError::Closed),
            None if self.half.is_some() => Err(TryRecvError::Empty),
            None => Err(TryRecvError::Closed),
        }
    }

    /// Waits for the value on this thread. For threads of the program's own, and for the blocking pool.
    ///
    /// # Errors
    ///
    /// As for the receiver as a future.
    ///
    /// # Panics
    ///
    /// Panics inside a runtime: in a task, and in `block_on`. There, await the receiver.
    ///
    /// # Example
    ///
    /// ```
    /// let (tx, rx) = rt::sync::oneshot::channel();
    /// let thread = std::thread::spawn(move || rx.blocking_recv());
    /// assert_eq!(tx.send(1), Ok(()));
    /// assert_eq!(thread.join().unwrap(), Ok(1));
    /// ```
    #[track_caller]
    pub fn blocking_recv(self) -> Result<T, RecvError> {
        blocking::block_on(self)
    }
}

impl<T> Future for Receiver<T> {
    type Output = Result<T, RecvError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let half = self.half.as_ref().expect("a oneshot receiver was polled after it was ready");
        let coop = ready!(coop::poll_proceed(cx));
        // SAFETY: this is the receiver, it is still there, and borrowed exclusively.
        ready!(unsafe { half.poll_ready(cx) });
        coop.made_progress();
        let half = self.half.take().expect("it was there above");
        // SAFETY: as above; the channel has ended, and the half goes.
        Poll::Ready(unsafe { half.take() }.ok_or(RecvError(())))
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        if let Some(half) = self.half.take() {
            // SAFETY: this is the receiver, it was there until now, and goes.
            unsafe { half.drop_receiver() };
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver")
            .field("is_empty", &self.is_empty())
            .field("is_terminated", &self.is_terminated())
            .finish()
    }
}
