//! What the schedulers do with the wakers that a driver hands over. The driver is one whose events the test makes.

use std::future::poll_fn;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::task::{Poll, Wake, Waker};
use std::time::Duration;

use crossbeam_utils::sync::{Parker, Unparker};
use parking_lot::Mutex;

use crate::clock::Clock;
use crate::driver::{Driver, DriverStack, Unpark, WakeSink};
use crate::events::TaskEventKind;
use crate::runtime::{Config, Flavor, Handle, control};

/// As what the driver hands a waker over.
enum Wakes {
    Event(Waker),
    Timer(Waker),
}

/// What the driver is to deliver.
struct Desk {
    pending: Mutex<Vec<Wakes>>,
    /// Whether a thread is in the driver and hands wakers over.
    delivers: AtomicBool,
    unparker: Unparker,
}

impl Desk {
    /// Has the driver hand all of these over in one visit.
    fn raise(&self, wakes: impl IntoIterator<Item = Wakes>) {
        self.pending.lock().extend(wakes);
        self.unpark();
    }
}

impl Unpark for Desk {
    fn unpark(&self) {
        self.unparker.unpark();
    }
}

struct Fake {
    desk: Arc<Desk>,
    parker: Parker,
}

impl Fake {
    fn deliver(&self, woken: &mut dyn WakeSink) -> bool {
        let pending = std::mem::take(&mut *self.desk.pending.lock());
        if pending.is_empty() {
            return false;
        }
        self.desk.delivers.store(true, SeqCst);
        for wakes in pending {
            match wakes {
                Wakes::Event(waker) => woken.event(waker),
                Wakes::Timer(waker) => woken.timer(waker),
            }
        }
        self.desk.delivers.store(false, SeqCst);
        true
    }
}

impl Driver for Fake {
    fn park(&mut self, timeout: Option<Duration>, woken: &mut dyn WakeSink) -> bool {
        match timeout {
            Some(timeout) => self.parker.park_timeout(timeout),
            None => self.parker.park(),
        }
        self.deliver(woken)
    }

    fn poll(&mut self, woken: &mut dyn WakeSink) -> bool {
        self.deliver(woken)
    }

    fn shutdown(&mut self, woken: &mut dyn WakeSink) {
        self.deliver(woken);
    }
}

/// A runtime with such a driver.
struct Runtime {
    handle: Handle,
    desk: Arc<Desk>,
    /// How many wakes the observer was told of, if there is one, and how many of these while a thread had the driver.
    told: Arc<AtomicUsize>,
    told_in_driver: Arc<AtomicUsize>,
}

impl Runtime {
    fn new(flavor: Flavor, is_observed: bool) -> Self {
        let parker = Parker::new();
        let desk = Arc::new(Desk {
            pending: Mutex::default(),
            delivers: AtomicBool::new(false),
            unparker: parker.unparker().clone(),
        });
        let (told, told_in_driver) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let mut config = Config::new(flavor);
        config.worker_threads = 2;
        if is_observed {
            let (desk, told, told_in_driver) = (desk.clone(), told.clone(), told_in_driver.clone());
            config.on_task_event = Some(Arc::new(move |event| {
                if event.kind == TaskEventKind::Woken {
                    told_in_driver.fetch_add(usize::from(desk.delivers.load(SeqCst)), SeqCst);
                    told.fetch_add(1, SeqCst);
                }
            }));
        }
        let driver = Box::new(Fake { desk: desk.clone(), parker });
        let drivers = DriverStack { driver, unpark: desk.clone(), io: None, time: None };
        let handle = control::start(&config, Arc::new(Clock::new()), drivers).unwrap();
        Self { handle, desk, told, told_in_driver }
    }

    /// Drives the runtime until it holds.
    fn until(&self, holds: impl Fn() -> bool) {
        let start = Clock::real();
        self.handle.block_on(poll_fn(|cx| {
            if holds() {
                return Poll::Ready(());
            }
            assert!(start.elapsed() < Duration::from_secs(60), "in vain");
            std::thread::yield_now();
            cx.waker().wake_by_ref();
            Poll::Pending
        }));
    }

    /// Tasks that note their number in each poll, and never end. They have had the first poll. With their wakers, by
    /// number.
    fn waiting_tasks(&self, number: usize) -> (Arc<Mutex<Vec<usize>>>, Vec<Waker>) {
        let polls = Arc::new(Mutex::new(Vec::new()));
        let wakers = Arc::new(Mutex::new(vec![Waker::noop().clone(); number]));
        for at in 0..number {
            let (polls, wakers) = (polls.clone(), wakers.clone());
            drop(self.handle.spawn(poll_fn(move |cx| {
                wakers.lock()[at] = cx.waker().clone();
                polls.lock().push(at);
                Poll::<()>::Pending
            })));
        }
        let first_polls = || polls.lock().len() == number;
        self.until(first_polls);
        // The last of the polls may not be over.
        self.until(|| self.is_idle());
        polls.lock().clear();
        let wakers = wakers.lock().clone();
        (polls, wakers)
    }

    /// Whether no worker polls a task.
    fn is_idle(&self) -> bool {
        let ended = || {
            let totals = self.handle.metrics().totals();
            (totals.polls, totals.parks)
        };
        let before = ended();
        std::thread::sleep(Duration::from_millis(5));
        ended() == before
    }

    fn close(self) {
        control::close(&self.handle);
        assert!(control::wait_closed(&self.handle, None));
    }
}

/// A waker that is not of a task.
struct ExternalWaker {
    desk: Arc<Desk>,
    calls: AtomicUsize,
    calls_in_driver: AtomicUsize,
    panics: bool,
}

impl ExternalWaker {
    fn new(runtime: &Runtime, panics: bool) -> (Arc<Self>, Waker) {
        let (calls, calls_in_driver) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let external = Arc::new(Self { desk: runtime.desk.clone(), calls, calls_in_driver, panics });
        (external.clone(), external.into())
    }

    fn calls(&self) -> usize {
        self.calls.load(SeqCst)
    }
}

impl Wake for ExternalWaker {
    fn wake(self: Arc<Self>) {
        self.calls_in_driver.fetch_add(usize::from(self.desk.delivers.load(SeqCst)), SeqCst);
        self.calls.fetch_add(1, SeqCst);
        if self.panics {
            resume_unwind(Box::new("a waker that panics"));
        }
    }
}

#[test]
fn a_worker_calls_other_peoples_wakers_when_it_has_given_the_driver_back() {
    let (runtime, other) = (Runtime::new(Flavor::MultiThread, false), Runtime::new(Flavor::MultiThread, false));
    let (others_polls, others_wakers) = other.waiting_tasks(1);
    let (calm, calm_waker) = ExternalWaker::new(&runtime, false);
    let (panics, panicking_waker) = ExternalWaker::new(&runtime, true);
    runtime.desk.raise([
        Wakes::Event(panicking_waker.clone()),
        Wakes::Event(calm_waker.clone()),
        Wakes::Timer(panicking_waker),
        Wakes::Timer(calm_waker),
        Wakes::Event(others_wakers[0].clone()),
    ]);
    runtime.until(|| (calm.calls(), panics.calls(), others_polls.lock().len()) == (2, 2, 1));
    assert_eq!((calm.calls_in_driver.load(SeqCst), panics.calls_in_driver.load(SeqCst)), (0, 0));
    assert_eq!(runtime.handle.metrics().totals().foreign_wakes, 5);
    runtime.close();
    other.close();
}

#[test]
fn a_task_that_is_woken_several_times_in_a_batch_is_queued_once() {
    for flavor in [Flavor::MultiThread, Flavor::CurrentThread] {
        let runtime = Runtime::new(flavor, false);
        let (polls, wakers) = runtime.waiting_tasks(2);
        let queued = || runtime.handle.metrics().totals().local_schedules;
        let before = queued();
        let [again, last] = &*wakers else { unreachable!("there are two tasks") };
        let again = [Wakes::Event(again.clone()), Wakes::Timer(again.clone()), Wakes::Event(again.clone())];
        runtime.desk.raise(again.into_iter().chain([Wakes::Event(last.clone())]));
        runtime.until(|| polls.lock().contains(&1));
        runtime.until(|| polls.lock().contains(&0));
        runtime.until(|| runtime.is_idle());
        assert_eq!((polls.lock().len(), queued() - before), (2, 2), "{flavor:?}");
        runtime.close();
    }
}

/// More than what is queued at once.
const CROWD: usize = 700;

#[test]
fn each_task_of_a_long_batch_runs_once_and_its_wake_is_told_outside_of_the_driver() {
    for is_observed in [false, true] {
        let runtime = Runtime::new(Flavor::MultiThread, is_observed);
        let (polls, wakers) = runtime.waiting_tasks(CROWD);
        let told = runtime.told.load(SeqCst);
        let wakes = wakers.into_iter().enumerate();
        runtime
            .desk
            .raise(wakes.map(|(at, waker)| if at % 3 == 0 { Wakes::Timer(waker) } else { Wakes::Event(waker) }));
        runtime.until(|| polls.lock().len() >= CROWD);
        runtime.until(|| runtime.is_idle());
        polls.lock().sort_unstable();
        assert!(polls.lock().iter().copied().eq(0..CROWD));
        assert_eq!(runtime.told.load(SeqCst) - told, if is_observed { CROWD } else { 0 });
        assert_eq!(runtime.told_in_driver.load(SeqCst), 0);
        runtime.close();
    }
}

#[test]
fn on_one_thread_tasks_run_in_the_order_in_which_the_driver_wakes_them() {
    let runtime = Runtime::new(Flavor::CurrentThread, true);
    let (polls, wakers) = runtime.waiting_tasks(CROWD);
    let (external, external_waker) = ExternalWaker::new(&runtime, true);
    let wakes = wakers.into_iter().enumerate();
    let wakes = wakes.map(|(at, waker)| if at % 3 == 0 { Wakes::Timer(waker) } else { Wakes::Event(waker) });
    runtime.desk.raise([Wakes::Event(external_waker)].into_iter().chain(wakes));
    runtime.until(|| polls.lock().len() >= CROWD);
    assert!(polls.lock().iter().copied().eq(0..CROWD));
    assert_eq!((external.calls(), runtime.told.load(SeqCst)), (1, CROWD));
    runtime.close();
}

#[test]
fn what_the_driver_wakes_at_the_end_is_called_whatever_the_wakers_do() {
    for flavor in [Flavor::MultiThread, Flavor::CurrentThread] {
        let runtime = Runtime::new(flavor, false);
        let (_polls, wakers) = runtime.waiting_tasks(1);
        let (calm, calm_waker) = ExternalWaker::new(&runtime, false);
        let (panics, panicking_waker) = ExternalWaker::new(&runtime, true);
        // Nobody calls the workers to the driver: as a rule it is delivered by `shutdown`.
        runtime.desk.pending.lock().extend([
            Wakes::Event(panicking_waker.clone()),
            Wakes::Timer(panicking_waker),
            Wakes::Event(wakers[0].clone()),
            Wakes::Event(calm_waker),
        ]);
        drop(wakers);
        runtime.close();
        assert_eq!((calm.calls(), panics.calls()), (1, 2), "{flavor:?}");
    }
}
