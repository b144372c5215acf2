//! [`Barrier`]: tasks wait for each other.
//!
//! A lock guards how many have arrived, and the list of those that wait. Each waiter knows its *round*. Who arrives
//! last begins the next round, and takes the waiters of the old one out, which are the oldest in the list.

use std::fmt;
use std::future::Future;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use runtime_core::coop;
use runtime_core::primitive::{Mutex, MutexGuard};
use runtime_core::task::LockKind;
use runtime_core::task::waits::{self, Leaf};

use crate::waiters::{LISTED, List, TOLD, Waiter, WakeBatch};

/// Lets a number of tasks wait for each other.
///
/// Each calls [`wait`](Self::wait). When as many have arrived as the barrier is for, all of them go on, and the barrier
/// begins anew.
///
/// # Memory
///
/// Six words. A waiter is part of the future that waits; nothing is allocated.
///
/// # Example
///
/// ```
/// use std::sync::Arc;
/// use rt::sync::Barrier;
///
/// # #[rt::main]
/// # async fn main() {
/// let barrier = Arc::new(Barrier::new(3));
/// let tasks: Vec<_> = (0..3)
///     .map(|_| {
///         let barrier = barrier.clone();
///         rt::spawn(async move { barrier.wait().await.is_leader() })
///     })
///     .collect();
/// let mut leaders = 0;
/// for task in tasks {
///     leaders += u32::from(task.await.unwrap());
/// }
/// assert_eq!(leaders, 1);
/// # }
/// ```
pub struct Barrier {
    n: usize,
    state: Mutex<State>,
}

struct State {
    /// In this round.
    arrived: usize,
    round: u64,
    waiters: List<u64>,
}

// What is behind the lock is in order whenever foreign code runs, so a panic of that does no harm.
impl UnwindSafe for Barrier {}
impl RefUnwindSafe for Barrier {}

impl Barrier {
    /// Makes one for `n` tasks. Zero counts as one: nobody waits.
    pub fn new(n: usize) -> Self {
        Self { n: n.max(1), state: Mutex::new(State { arrived: 0, round: 0, waiters: List::new() }) }
    }

    /// Waits until all have arrived. One of them is told that it is the leader: the one that came last.
    ///
    /// # Cancel safety
    ///
    /// Not cancel safe: who was polled once has arrived, and counts as that also if the future is dropped.
    pub async fn wait(&self) -> BarrierWaitResult {
        Wait { barrier: self, has_arrived: false, waiter: Waiter::new() }.await
    }

    /// Somebody has arrived. Returns whether it was the last.
    ///
    /// # Safety
    ///
    /// The waiter is the caller's, in no list, stays where it is, and takes itself out before its memory goes.
    unsafe fn arrive(&self, waiter: &Waiter<u64>, cx: &Context<'_>) -> bool {
        // There is no telling beforehand whether it is wanted. One that is last drops it.
        let waker = cx.waker().clone();
        let mut state = self.state.lock();
        state.arrived += 1;
        let round = state.round;
        if state.arrived < self.n {
            // SAFETY: passed on to the caller.
            unsafe { state.waiters.push(waiter, Some(waker), round) };
            return false;
        }
        state.arrived = 0;
        state.round += 1;
        let mut batch = WakeBatch::new();
        while state.waiters.oldest().is_some_and(|oldest| oldest <= round) {
            batch.push(state.waiters.pop_oldest(TOLD));
            if batch.is_full() {
                MutexGuard::unlocked(&mut state, || batch.wake());
            }
        }
        drop(state);
        batch.wake();
        // It may panic: after those that are out of the list already have been woken.
        drop(waker);
        batch.finish();
        true
    }
}

impl fmt::Debug for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Barrier").field("n", &self.n).finish_non_exhaustive()
    }
}

struct Wait<'a> {
    barrier: &'a Barrier,
    /// And was not the last.
    has_arrived: bool,
    waiter: Waiter<u64>,
}

impl Wait<'_> {
    /// Ready when the last one has arrived.
    fn poll_through(&self, cx: &Context<'_>) -> Poll<()> {
        let mut new = None;
        while self.waiter.status() == LISTED {
            let mut state = self.barrier.state.lock();
            if self.waiter.status() != LISTED {
                break;
            }
            // SAFETY: by the status it is in this list.
            if unsafe { state.waiters.has_waker(&self.waiter, cx.waker()) } {
                return Poll::Pending;
            }
            if let Some(new) = new.take() {
                // SAFETY: as above.
                let old = unsafe { state.waiters.replace_waker(&self.waiter, new) };
                drop(state);
                drop(old);
                return Poll::Pending;
            }
            drop(state);
            new = Some(cx.waker().clone());
        }
        Poll::Ready(())
    }
}

impl Future for Wait<'_> {
    type Output = BarrierWaitResult;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<BarrierWaitResult> {
        // SAFETY: the waiter, which is the part that must stay, is not moved.
        let this = unsafe { self.get_unchecked_mut() };
        if !this.has_arrived {
            if this.barrier.n == 1 {
                // Nobody is told, so it can be held back, and a loop that never waits has to be.
                drop(ready!(coop::poll_proceed(cx)));
            }
            // SAFETY: the future is pinned, and takes the waiter out when it is dropped.
            if unsafe { this.barrier.arrive(&this.waiter, cx) } {
                // Also without budget: if it were dropped before the next poll, the round would have no leader.
                coop::charge();
                return Poll::Ready(BarrierWaitResult(true));
            }
            this.has_arrived = true;
        } else if this.poll_through(cx).is_ready() {
            ready!(coop::poll_proceed(cx)).made_progress();
            return Poll::Ready(BarrierWaitResult(false));
        }
        waits::pending(Leaf::Lock(LockKind::Barrier, 0))
    }
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        if self.has_arrived && self.waiter.status() == LISTED {
            let mut state = self.barrier.state.lock();
            // SAFETY: it is in this list, if in any.
            let waker = unsafe { state.waiters.remove(&self.waiter) };
            drop(state);
            drop(waker);
        }
    }
}

/// What [`Barrier::wait`] returns.
#[derive(Debug, Clone)]
pub struct BarrierWaitResult(bool);

impl BarrierWaitResult {
    /// Whether this is the one of its round that came last.
    pub fn is_leader(&self) -> bool {
        self.0
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::test_wakers::Count;

    #[test]
    fn the_last_one_leads_and_the_next_round_is_its_own() {
        let barrier = Barrier::new(50);
        for _ in 0..3 {
            let counts: [_; 49] = std::array::from_fn(|_| Count::new());
            let mut waits: Vec<_> = counts.iter().map(|_| Box::pin(barrier.wait())).collect();
            for (wait, count) in waits.iter_mut().zip(&counts) {
                assert!(wait.as_mut().poll(&mut Context::from_waker(&count.waker())).is_pending());
            }
            // It has arrived, though it goes away.
            drop(waits.pop());
            let last = Box::pin(barrier.wait()).as_mut().poll(&mut Context::from_waker(&Count::new().waker()));
            assert!(matches!(last, Poll::Ready(BarrierWaitResult(true))));
            for (wait, count) in waits.iter_mut().zip(&counts) {
                assert_eq!(count.wakes(), 1);
                let result = wait.as_mut().poll(&mut Context::from_waker(&count.waker()));
                assert!(matches!(result, Poll::Ready(BarrierWaitResult(false))));
            }
        }
    }

    #[test]
    fn the_last_one_leads_in_the_poll_in_which_it_arrives_and_needs_no_budget() {
        let runtime = rt::runtime::Builder::new_current_thread().build().unwrap();
        let task = async {
            let barrier = Barrier::new(2);
            let mut first = Box::pin(barrier.wait());
            std::future::poll_fn(|cx| {
                assert!(first.as_mut().poll(cx).is_pending());
                while rt::task::coop::has_budget_remaining() {
                    assert!(std::pin::pin!(rt::task::consume_budget()).poll(cx).is_ready());
                }
                let last = Box::pin(barrier.wait()).as_mut().poll(cx);
                assert!(matches!(last, Poll::Ready(BarrierWaitResult(true))));
                assert!(first.as_mut().poll(cx).is_pending(), "the others may wait for budget");
                Poll::Ready(())
            })
            .await;
            assert!(!first.await.is_leader());
            std::future::poll_fn(|cx| {
                for _ in 0..1000 {
                    assert!(Box::pin(barrier.wait()).as_mut().poll(cx).is_pending());
                    assert!(Box::pin(barrier.wait()).as_mut().poll(cx).is_ready());
                }
                assert!(!rt::task::coop::has_budget_remaining(), "it spends what there is");
                Poll::Ready(())
            })
            .await;
        };
        runtime.block_on(async { rt::spawn(task).await.unwrap() });
    }

    #[test]
    fn a_barrier_for_nobody_is_one_for_one() {
        let barrier = Barrier::new(0);
        let result = Box::pin(barrier.wait()).as_mut().poll(&mut Context::from_waker(&Count::new().waker()));
        assert!(matches!(result, Poll::Ready(BarrierWaitResult(true))));
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use loom::future::block_on;
    use loom::sync::Arc;
    use loom::thread;

    use super::Barrier;

    /// Two rounds of two: in each both go on, and one of them leads.
    #[test]
    fn loom_both_go_on_and_one_leads() {
        loom::model(|| {
            let barrier = Arc::new(Barrier::new(2));
            let theirs = barrier.clone();
            let other = thread::spawn(move || [(); 2].map(|()| block_on(theirs.wait()).is_leader()));
            let ours = [(); 2].map(|()| block_on(barrier.wait()).is_leader());
            let others = other.join().unwrap();
            assert!(ours.iter().zip(others).all(|(&ours, other)| ours != other));
        });
    }
}
