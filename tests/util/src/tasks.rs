//! How tasks wait for each other. None of it is of rt, so that the tests of rt do not rest on what they test.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::task::{Context, Poll, Wake, Waker};

use parking_lot::Mutex;

/// An event that tasks wait for without blocking a thread. The clones of a signal are the same signal.
#[derive(Clone, Debug, Default)]
pub struct Signal(Arc<Mutex<SignalState>>);

#[derive(Debug, Default)]
struct SignalState {
    set: bool,
    wakers: Vec<Waker>,
}

impl Signal {
    /// A signal that is not set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the signal for good, and wakes the tasks that wait for it.
    pub fn set(&self) {
        let wakers = {
            let mut state = self.0.lock();
            state.set = true;
            std::mem::take(&mut state.wakers)
        };
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Whether the signal is set.
    pub fn is_set(&self) -> bool {
        self.0.lock().set
    }

    /// How many are waiting. A task that polls twice counts twice.
    pub fn waiters(&self) -> usize {
        self.0.lock().wakers.len()
    }

    /// Waits until the signal is set.
    pub async fn wait(&self) {
        poll_fn(|cx| {
            let mut state = self.0.lock();
            if state.set {
                return Poll::Ready(());
            }
            state.wakers.push(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }
}

/// An unbounded channel from tasks and threads to one receiving task. Its clones are the same channel.
#[derive(Debug)]
pub struct Channel<T>(Arc<Mutex<ChannelState<T>>>);

#[derive(Debug)]
struct ChannelState<T> {
    items: VecDeque<T>,
    receiver: Option<Waker>,
}

impl<T> Clone for Channel<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Default for Channel<T> {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(ChannelState { items: VecDeque::new(), receiver: None })))
    }
}

impl<T> Channel<T> {
    /// An empty channel.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an item, and wakes the receiver.
    pub fn send(&self, item: T) {
        let receiver = {
            let mut state = self.0.lock();
            state.items.push_back(item);
            state.receiver.take()
        };
        if let Some(waker) = receiver {
            waker.wake();
        }
    }

    /// Takes the oldest item. Waits for one if there is none.
    pub async fn receive(&self) -> T {
        poll_fn(|cx| {
            let mut state = self.0.lock();
            if let Some(item) = state.items.pop_front() {
                return Poll::Ready(item);
            }
            state.receiver = Some(cx.waker().clone());
            Poll::Pending
        })
        .await
    }
}

/// Yields as a foreign library would: wakes itself, and is pending once.
pub async fn yield_by_hand() {
    let mut yielded = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Polls a pinned future once.
pub async fn poll_once<F: Future>(mut future: Pin<&mut F>) -> Poll<F::Output> {
    poll_fn(|cx: &mut Context<'_>| Poll::Ready(future.as_mut().poll(cx))).await
}

/// What a waker is made of that counts its wakes.
#[derive(Debug, Default)]
pub struct Wakes(AtomicUsize);

impl Wakes {
    /// How often it was woken.
    pub fn count(&self) -> usize {
        self.0.load(SeqCst)
    }
}

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, SeqCst);
    }
}
