//! Models of a task's life, on every interleaving that loom can reach.
//!
//! The task under test is the real one; only the scheduler is a stand-in: one queue, from which the model's threads
//! take tasks and poll them. Futures keep their state in loom's cells, so that two polls at once, or a poll that does
//! not see what was written before a wake, fail the model; `Arc`s that are not dropped, or dropped twice, fail it too.

use std::collections::VecDeque;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context, Poll, Wake, Waker};

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::Mutex;
use loom::sync::atomic::AtomicUsize;
use loom::sync::atomic::Ordering::Relaxed;
use loom::thread;

use super::{Again, Header, Id, JoinHandle, Notified, Runner, Schedule, Site, SpawnInfo, new_task};
use crate::coop::Budget;

loom::lazy_static! {
    static ref QUEUE: Mutex<VecDeque<Notified>> = Mutex::new(VecDeque::new());
    /// How many tasks were freed. Only for the model's own bookkeeping, hence not loom's.
    static ref FREED: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
}

struct Model;

impl Schedule for Model {
    fn schedule(task: Notified) {
        QUEUE.lock().unwrap().push_back(task);
    }
    unsafe fn release(task: NonNull<Header>) {
        // SAFETY: the caller's promise.
        unsafe { super::free(task) };
        FREED.fetch_add(1, Relaxed);
    }
}

/// The model's one task is gone for good: no reference leaked, none was given back twice.
fn assert_freed() {
    assert_eq!(FREED.load(Relaxed), 1, "a reference leaked");
}

/// All interleavings of three threads would take hours, and of two with many steps minutes. This number of preemptions
/// finds every mutation that we tried.
fn check(preemptions: usize, model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}

/// Polls what is queued, until nothing is.
fn run_queued() {
    loop {
        let task = QUEUE.lock().unwrap().pop_front();
        match task {
            Some(task) => {
                if let Again::GaveWay(task) | Again::WokeItself(task) | Again::Woken(task) =
                    task.run_current(&Runner::NOBODY, Budget::UNCONSTRAINED)
                {
                    QUEUE.lock().unwrap().push_back(task);
                }
            }
            None => return,
        }
    }
}

fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + 'static,
{
    let info = SpawnInfo { id: Id(1), site: Site::new(Location::caller(), None), arena: None, original_size: 0 };
    let (task, handle) = new_task::<F, Model>(future, info);
    QUEUE.lock().unwrap().push_back(task);
    handle
}

/// What a future and the model's threads share.
struct Signals {
    /// Written before each wake, with no ordering of its own: only the wake makes it visible.
    raised: AtomicUsize,
    waker: Mutex<Option<Waker>>,
}

/// Waits until a number of signals were raised.
struct WaitFor {
    signals: Arc<Signals>,
    count: usize,
    /// Touched by every poll: loom finds two polls at once.
    polls: UnsafeCell<usize>,
    /// Counted by the model: the future must be dropped once.
    _held: Arc<()>,
}

impl WaitFor {
    fn new(count: usize) -> (Self, Arc<Signals>, Arc<()>) {
        let signals = Arc::new(Signals { raised: AtomicUsize::new(0), waker: Mutex::new(None) });
        let held = Arc::new(());
        let future = Self { signals: signals.clone(), count, polls: UnsafeCell::new(0), _held: held.clone() };
        (future, signals, held)
    }
}

impl Future for WaitFor {
    type Output = Arc<()>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Arc<()>> {
        // SAFETY: a poll has the future for itself; if not, loom says so.
        self.polls.with_mut(|polls| unsafe { *polls += 1 });
        if self.signals.raised.load(Relaxed) >= self.count {
            return Poll::Ready(self._held.clone());
        }
        self.signals.waker.lock().unwrap().get_or_insert_with(|| cx.waker().clone());
        Poll::Pending
    }
}

fn raise(signals: &Signals, waker: &Waker) {
    signals.raised.fetch_add(1, Relaxed);
    waker.wake_by_ref();
}

/// The waker that the first poll left.
fn waker_of(signals: &Signals) -> Waker {
    signals.waker.lock().unwrap().clone().expect("the first poll leaves one")
}

fn forget_waker(signals: &Signals) {
    drop(signals.waker.lock().unwrap().take());
}

/// Waits for a signal, and in its second poll yields besides, without a word to its state.
struct YieldAndWaitFor(WaitFor, usize);

impl Future for YieldAndWaitFor {
    type Output = Arc<()>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Arc<()>> {
        self.1 += 1;
        let polled = Pin::new(&mut self.0).poll(cx);
        if self.1 == 2 {
            super::current::wake_in_poll(cx.waker());
        }
        polled
    }
}

/// I1, I2: a task yields while another thread wakes it. It is queued once, and the last poll
/// sees what was written before the wake.
#[test]
fn loom_a_yield_beside_a_wake_is_one_requeue_and_loses_neither() {
    check(3, || {
        let (future, signals, held) = WaitFor::new(1);
        let handle = spawn(YieldAndWaitFor(future, 0));
        run_queued();
        let waker = waker_of(&signals);
        let raiser = {
            let (signals, waker) = (signals.clone(), waker.clone());
            thread::spawn(move || raise(&signals, &waker))
        };
        waker.wake();
        run_queued();
        raiser.join().unwrap();
        run_queued();
        assert!(handle.is_finished());
        drop(handle);
        forget_waker(&signals);
        drop(signals);
        assert_eq!(Arc::strong_count(&held), 1);
        assert_freed();
    });
}

/// I1, I2: two threads wake while a third polls; the last poll sees what both wrote, and no two polls overlap.
#[test]
fn loom_no_wake_is_lost_and_no_two_polls_overlap() {
    check(3, || {
        let (future, signals, held) = WaitFor::new(2);
        let handle = spawn(future);
        run_queued();
        let waker = waker_of(&signals);
        let wakers: Vec<_> = (0..2)
            .map(|_| {
                let (signals, waker) = (signals.clone(), waker.clone());
                thread::spawn(move || {
                    raise(&signals, &waker);
                    // The thread that wakes may find itself the one to poll.
                    run_queued();
                })
            })
            .collect();
        wakers.into_iter().for_each(|waker| waker.join().unwrap());
        run_queued();
        assert!(handle.is_finished(), "a wake was lost");
        forget_waker(&signals);
        drop((handle, waker));
        assert_eq!(Arc::strong_count(&held), 1, "future and output are dropped");
    });
}

/// A wake by value gives its reference to the queue or away, on every path.
#[test]
fn loom_a_waker_given_away_is_counted_once() {
    check(6, || {
        let (future, signals, held) = WaitFor::new(1);
        let handle = spawn(future);
        run_queued();
        let waker = signals.waker.lock().unwrap().take().expect("the first poll leaves one");
        let again = waker.clone();
        let other = {
            let signals = signals.clone();
            thread::spawn(move || {
                signals.raised.fetch_add(1, Relaxed);
                waker.wake();
                run_queued();
            })
        };
        again.wake();
        run_queued();
        other.join().unwrap();
        run_queued();
        assert!(handle.is_finished());
        forget_waker(&signals);
        drop(handle);
        assert_eq!(Arc::strong_count(&held), 1);
        assert_freed();
    });
}

/// The joiner's waker is registered while the task completes: it gets the output, or the wake.
#[test]
fn loom_a_joiner_is_told_of_the_completion() {
    check(3, || {
        let handle = spawn(async { 7 });
        let worker = thread::spawn(run_queued);
        assert_eq!(loom::future::block_on(handle).unwrap(), 7);
        worker.join().unwrap();
    });
}

/// A joiner that comes again with another waker: the new one is woken.
#[test]
fn loom_a_joiner_may_change_its_waker() {
    check(3, || {
        let mut handle = spawn(async { 7 });
        let old = Waker::noop();
        let polled = Pin::new(&mut handle).poll(&mut Context::from_waker(old));
        assert!(polled.is_pending());
        let worker = thread::spawn(run_queued);
        assert_eq!(loom::future::block_on(handle).unwrap(), 7);
        worker.join().unwrap();
    });
}

/// Whom the join waker wakes: counts it. (And is counted itself: every waker must be dropped.)
#[derive(Default)]
struct Joiner(std::sync::atomic::AtomicUsize);

impl Wake for Joiner {
    fn wake(self: std::sync::Arc<Self>) {
        self.0.fetch_add(1, Relaxed);
    }
}

impl Joiner {
    fn poll<T>(self: &std::sync::Arc<Self>, handle: &mut JoinHandle<T>) -> Poll<<JoinHandle<T> as Future>::Output> {
        Pin::new(handle).poll(&mut Context::from_waker(&Waker::from(self.clone())))
    }
}

/// The handle is dropped while the task completes: the output is dropped once, by the one or the other, and so is the
/// join waker.
#[test]
fn loom_a_dropped_handle_leaves_no_output_behind() {
    for polled_before in [false, true] {
        loom::model(move || {
            let held = Arc::new(());
            let output = held.clone();
            let mut handle = spawn(async move { output });
            let joiner = std::sync::Arc::new(Joiner::default());
            // A waker that is dropped twice must not free it, but be counted.
            let _spare = joiner.clone();
            if polled_before {
                assert!(joiner.poll(&mut handle).is_pending());
            }
            let worker = thread::spawn(run_queued);
            drop(handle);
            worker.join().unwrap();
            assert_eq!(std::sync::Arc::strong_count(&joiner), 2, "its waker is dropped, once");
            assert_eq!(Arc::strong_count(&held), 1);
            assert_freed();
        });
    }
}

/// An abort beside a wake and a poll: the task ends once, as cancelled or with its output, and its future is dropped.
#[test]
fn loom_an_abort_in_any_state_ends_the_task_once() {
    check(6, || {
        let (future, signals, held) = WaitFor::new(1);
        let handle = spawn(future);
        run_queued();
        let waker = waker_of(&signals);
        let abort = handle.abort_handle();
        let aborter = thread::spawn(move || {
            abort.abort();
            run_queued();
        });
        raise(&signals, &waker);
        run_queued();
        aborter.join().unwrap();
        run_queued();
        assert!(handle.is_finished());
        match loom::future::block_on(handle) {
            Ok(output) => drop(output),
            Err(error) => assert!(error.is_cancelled()),
        }
        forget_waker(&signals);
        drop(waker);
        assert_eq!(Arc::strong_count(&held), 1);
        assert_freed();
    });
}

/// An abort beside a poll is the only thing that can end the task: it must not be lost.
#[test]
fn loom_an_abort_beside_a_poll_is_not_lost() {
    loom::model(|| {
        let (future, signals, held) = WaitFor::new(usize::MAX);
        let handle = spawn(future);
        let abort = handle.abort_handle();
        let worker = thread::spawn(run_queued);
        abort.abort();
        run_queued();
        worker.join().unwrap();
        run_queued();
        assert!(handle.is_finished());
        assert!(loom::future::block_on(handle).unwrap_err().is_cancelled());
        forget_waker(&signals);
        drop(abort);
        assert_eq!(Arc::strong_count(&held), 1);
        assert_freed();
    });
}

/// The last references go on two threads at once: one of them frees the task.
#[test]
fn loom_the_last_reference_frees_the_task() {
    check(3, || {
        let (future, signals, held) = WaitFor::new(1);
        let handle = spawn(future);
        run_queued();
        raise(&signals, &waker_of(&signals));
        let waker = signals.waker.lock().unwrap().take();
        let worker = thread::spawn(run_queued);
        let dropper = thread::spawn(move || drop(waker));
        drop(handle);
        worker.join().unwrap();
        dropper.join().unwrap();
        run_queued();
        forget_waker(&signals);
        assert_eq!(Arc::strong_count(&held), 1);
        assert_freed();
    });
}

/// An abort beside the only poll, and a joiner that waits: one outcome, and the joiner is told of it.
#[test]
fn loom_an_abort_beside_the_last_poll_leaves_one_outcome() {
    check(2, || {
        let held = Arc::new(());
        let output = held.clone();
        let mut handle = spawn(async move { output });
        let joiner = std::sync::Arc::new(Joiner::default());
        assert!(joiner.poll(&mut handle).is_pending());
        let abort = handle.abort_handle();
        let worker = thread::spawn(run_queued);
        abort.abort();
        worker.join().unwrap();
        assert_eq!(joiner.0.load(Relaxed), 1, "the joiner is told once");
        match joiner.poll(&mut handle) {
            Poll::Ready(Ok(output)) => assert_eq!(Arc::strong_count(&output), 2, "the future is gone"),
            Poll::Ready(Err(error)) => assert!(error.is_cancelled()),
            Poll::Pending => panic!("the task has ended"),
        }
        drop((handle, abort));
        assert_eq!(Arc::strong_count(&held), 1);
        assert_freed();
    });
}

/// Two aborts of a task that waits, while its handle is dropped: it is queued once, ends, and is freed.
#[test]
fn loom_aborts_beside_the_drop_of_the_handle_end_the_task_once() {
    check(2, || {
        let (future, signals, held) = WaitFor::new(usize::MAX);
        let handle = spawn(future);
        run_queued();
        forget_waker(&signals);
        let aborters = [handle.abort_handle(), handle.abort_handle()].map(|abort| {
            thread::spawn(move || {
                abort.abort();
                run_queued();
            })
        });
        drop(handle);
        aborters.into_iter().for_each(|aborter| aborter.join().unwrap());
        assert_eq!(Arc::strong_count(&held), 1, "an abort was lost");
        assert_freed();
    });
}

/// Shutdown claims a task that waits, beside an abort, a wake by value, and a joiner: it is cancelled by shutdown
/// alone, the joiner is told, and what the others queued is a mere reference.
#[test]
fn loom_shutdown_cancels_a_task_beside_wakes_aborts_and_a_joiner() {
    for aborted in [false, true] {
        check(2, move || {
            let (future, signals, held) = WaitFor::new(usize::MAX);
            let mut handle = spawn(future);
            let task = QUEUE.lock().unwrap().front().expect("it was just queued").task().as_raw();
            run_queued();
            let waker = signals.waker.lock().unwrap().take().expect("the first poll leaves one");
            let abort = handle.abort_handle();
            let other = thread::spawn(move || {
                if aborted {
                    abort.abort();
                }
                waker.wake();
            });
            let joining = thread::spawn(move || {
                let joiner = std::sync::Arc::new(Joiner::default());
                let waits = joiner.poll(&mut handle).is_pending();
                (joiner, waits, handle)
            });
            // SAFETY: until it is complete the task has the reference of a list, which it is not on; nobody polls.
            unsafe {
                assert!(task.as_ref().state.claim_for_shutdown());
                (task.as_ref().vtable.cancel_claimed)(task, &Runner::NOBODY);
            }
            other.join().unwrap();
            let (joiner, waits, mut handle) = joining.join().unwrap();
            assert_eq!(joiner.0.load(Relaxed), usize::from(waits), "a joiner that waits is told");
            assert!(!waits || matches!(joiner.poll(&mut handle), Poll::Ready(Err(error)) if error.is_cancelled()));
            drop(handle);
            QUEUE.lock().unwrap().drain(..).for_each(drop);
            assert_eq!(Arc::strong_count(&held), 1);
            assert_freed();
        });
    }
}
