//! The protocols of `entry/` and `shared.rs`, on every interleaving of two threads (loom).

use std::pin::Pin;
use std::sync::Arc as StdArc;
use std::sync::atomic::{AtomicUsize as StdAtomicUsize, Ordering as StdOrdering};
use std::task::{Wake, Waker};
use std::time::Duration;

use loom::sync::{Arc, Condvar, Mutex};
use loom::thread;
use runtime_core::clock::Clock;
use runtime_core::driver::{Driver as _, DriverCounters, Service, Unpark, WakeAtOnce, WakeSink};

use crate::batch::WakeBatch;
use crate::driver::{self, Driver, Handle};
use crate::entry::{Entry, State};
use crate::firing;
use crate::shard::Shard;
use crate::shard_ref::ShardRef;
use crate::shared::{NEVER, Shared};

/// Counts wakes. Not modelled itself: it is looked at when all threads have ended.
struct Woken(StdAtomicUsize);

impl Wake for Woken {
    fn wake(self: StdArc<Self>) {
        self.0.fetch_add(1, StdOrdering::Relaxed);
    }
}

fn woken() -> (StdArc<Woken>, Waker) {
    let woken = StdArc::new(Woken(StdAtomicUsize::new(0)));
    (woken.clone(), Waker::from(woken))
}

fn count(woken: &Woken) -> usize {
    woken.0.load(StdOrdering::Relaxed)
}

struct NoUnpark;

impl Unpark for NoUnpark {
    fn unpark(&self) {}
}

fn shard() -> ShardRef {
    ShardRef::new(Shard::new(StdArc::new(Shared::new(StdArc::new(Clock::new()), StdArc::new(NoUnpark)))))
}

/// Runs `race` against a thread that fires everything up to tick 10.
fn against_fire(shard: &ShardRef, race: impl FnOnce()) {
    let theirs = shard.clone();
    let driver = thread::spawn(move || firing::fire(&theirs, 10, &mut WakeBatch::new(), &mut WakeAtOnce));
    race();
    driver.join().unwrap();
}

fn set_entry(shard: &ShardRef, when: u64, waker: &Waker) -> Pin<Box<Entry>> {
    let mut entry = Box::pin(Entry::new(shard.clone(), Clock::real(), State::New));
    assert_eq!(entry.as_mut().set_at(when, waker), State::Waiting);
    entry
}

fn counters(shard: &ShardRef) -> (u64, u64, u64) {
    let mut sum = DriverCounters::default();
    shard.add_counters(&mut sum);
    (sum.timers_set, sum.timers_fired, sum.timers_cancelled)
}

#[test]
fn loom_set_against_fire() {
    loom::model(|| {
        let (shard, (flag, waker)) = (shard(), woken());
        let mut entry = Box::pin(Entry::new(shard.clone(), Clock::real(), State::New));
        let mut state = State::New;
        against_fire(&shard, || state = entry.as_mut().set_at(10, &waker));
        // Set before or after the firing turn; in the second case the wheel is past the tick, or the next turn fires
        // it.
        if state == State::Waiting && entry.state() == State::Waiting {
            assert_eq!(shard.next(), 10, "the next turn must find it");
            firing::fire(&shard, 10, &mut WakeBatch::new(), &mut WakeAtOnce);
        }
        assert_eq!(entry.state(), State::Fired);
        assert_eq!(count(&flag), usize::from(state == State::Waiting));
        drop((entry, waker));
        assert_eq!(StdArc::strong_count(&flag), 1);
    });
}

#[test]
fn loom_drop_against_fire() {
    loom::model(|| {
        let (shard, (flag, waker)) = (shard(), woken());
        let entry = set_entry(&shard, 10, &waker);
        drop(waker);
        against_fire(&shard, || drop(entry));
        let (set, fired, cancelled) = counters(&shard);
        assert_eq!((set, fired + cancelled), (1, 1));
        assert_eq!(count(&flag) as u64, fired);
        assert_eq!(StdArc::strong_count(&flag), 1, "the waker was dropped once");
    });
}

#[test]
fn loom_a_fired_entry_can_be_set_again() {
    loom::model(|| {
        let (shard, (flag, waker)) = (shard(), woken());
        let mut entry = set_entry(&shard, 10, &waker);
        against_fire(&shard, || {
            entry.as_mut().rest(State::New);
            assert_eq!(entry.as_mut().set_at(20, &waker), State::Waiting);
        });
        firing::fire(&shard, 20, &mut WakeBatch::new(), &mut WakeAtOnce);
        assert_eq!(entry.state(), State::Fired);
        let (set, fired, cancelled) = counters(&shard);
        assert_eq!((set, fired + cancelled, fired), (2, 2, count(&flag) as u64));
    });
}

#[test]
fn loom_a_waker_that_is_kept_after_a_fire_is_called_by_the_next() {
    loom::model(|| {
        let (shard, (flag, waker)) = (shard(), woken());
        let mut entry = set_entry(&shard, 10, &waker);
        let mut is_kept = false;
        against_fire(&shard, || {
            if entry.state() == State::Fired {
                entry.as_mut().note_told();
                entry.as_mut().keep(&waker);
                entry.as_mut().set_unpolled(20);
                is_kept = true;
            }
        });
        firing::fire(&shard, 20, &mut WakeBatch::new(), &mut WakeAtOnce);
        let end = if is_kept { State::Past } else { State::Fired };
        assert_eq!((entry.state(), count(&flag)), (end, 1 + usize::from(is_kept)));
        entry.as_mut().note_told();
        entry.as_mut().keep(&waker);
        drop((entry, waker));
        assert_eq!(StdArc::strong_count(&flag), 1, "what is kept goes with the entry");
    });
}

#[test]
fn loom_first_poll_after_a_reset_against_fire() {
    loom::model(|| {
        let (shard, (flag, waker)) = (shard(), woken());
        let mut entry = Box::pin(Entry::new(shard.clone(), Clock::real(), State::New));
        entry.as_mut().set_unpolled(10);
        let mut state = State::New;
        against_fire(&shard, || state = entry.as_mut().refresh(&waker));
        // Whoever was told to wait has waited, and is woken. Another one may be, if it fired in the poll.
        let has_waited = state == State::Waiting;
        assert_eq!(entry.state(), if has_waited { State::Fired } else { State::Past });
        assert!(count(&flag) == 1 || !has_waited);
    });
}

#[test]
fn loom_poll_with_another_waker_against_fire() {
    loom::model(|| {
        let (shard, (old_flag, old), (new_flag, new)) = (shard(), woken(), woken());
        let mut entry = set_entry(&shard, 10, &old);
        let mut state = State::New;
        against_fire(&shard, || state = entry.as_mut().refresh(&new));
        assert_eq!(entry.state(), State::Fired);
        // Pending was reported to the task of the new waker, so that is the one to wake.
        let pending = state == State::Waiting;
        assert_eq!((count(&new_flag), count(&old_flag)), (usize::from(pending), usize::from(!pending)));
        drop((entry, old, new));
        assert_eq!((StdArc::strong_count(&old_flag), StdArc::strong_count(&new_flag)), (1, 1));
    });
}

#[test]
fn loom_poll_with_the_same_waker_against_fire() {
    loom::model(|| {
        let (shard, (flag, waker)) = (shard(), woken());
        let mut entry = set_entry(&shard, 10, &waker);
        against_fire(&shard, || {
            entry.as_mut().refresh(&waker);
            entry.as_mut().refresh(&waker);
            drop(entry);
        });
        let (_, fired, _) = counters(&shard);
        assert_eq!(count(&flag) as u64, fired);
    });
}

#[test]
fn loom_move_against_fire() {
    loom::model(|| {
        let (shard, (flag, waker)) = (shard(), woken());
        let mut entry = set_entry(&shard, 10, &waker);
        let mut moved = false;
        against_fire(&shard, || moved = entry.as_mut().move_in_wheel(20));
        assert_eq!(count(&flag), usize::from(!moved));
        assert_eq!(entry.state(), if moved { State::Waiting } else { State::Fired });
        firing::fire(&shard, 20, &mut WakeBatch::new(), &mut WakeAtOnce);
        assert_eq!(count(&flag), 1);
    });
}

#[test]
fn loom_extended_against_fire() {
    loom::model(|| {
        let (shard, (flag, waker)) = (shard(), woken());
        let mut entry = set_entry(&shard, 10, &waker);
        let mut extend = false;
        against_fire(&shard, || extend = entry.extend(20));
        assert_eq!(count(&flag), usize::from(!extend), "early, or never");
        assert_eq!(entry.state(), if extend { State::Waiting } else { State::Fired });
        firing::fire(&shard, 19, &mut WakeBatch::new(), &mut WakeAtOnce);
        assert_eq!(count(&flag), usize::from(!extend), "early");
        if extend {
            assert_eq!(shard.next(), 20);
            entry.as_mut().rest(State::New);
        }
        drop((entry, waker));
        assert_eq!(StdArc::strong_count(&flag), 1, "the waker was dropped once");
    });
}

#[test]
fn loom_extended_and_dropped_against_fire() {
    loom::model(|| {
        let (shard, (flag, waker)) = (shard(), woken());
        let entry = set_entry(&shard, 10, &waker);
        drop(waker);
        against_fire(&shard, || {
            entry.extend(20);
            entry.extend(30);
            drop(entry);
        });
        let (set, fired, cancelled) = counters(&shard);
        assert_eq!((set, fired + cancelled), (1, 1));
        assert_eq!(count(&flag) as u64, fired);
        assert_eq!(StdArc::strong_count(&flag), 1, "the waker was dropped once");
    });
}

#[test]
fn loom_set_against_close() {
    loom::model(|| {
        let (shard, (flag, waker)) = (shard(), woken());
        let mut entry = Box::pin(Entry::new(shard.clone(), Clock::real(), State::New));
        let theirs = shard.clone();
        let driver = thread::spawn(move || firing::close(&theirs, &mut WakeBatch::new(), &mut WakeAtOnce));
        let state = entry.as_mut().set_at(10, &waker);
        driver.join().unwrap();
        assert_eq!(entry.state(), State::Closed);
        assert_eq!(count(&flag), usize::from(state == State::Waiting), "whoever waits is told");
    });
}

/// An inner driver whose long waits end only by an unpark: one that should come and does not is a deadlock.
struct Inner {
    token: Arc<Token>,
    /// Waits shorter than this end by themselves.
    short: Duration,
}

struct Token {
    given: Mutex<bool>,
    changed: Condvar,
    unparks: StdAtomicUsize,
}

const MINUTE: u64 = 60_000;
const HOUR: u64 = 60 * MINUTE;

impl runtime_core::driver::Driver for Inner {
    fn park(&mut self, timeout: Option<Duration>, _: &mut dyn WakeSink) -> bool {
        if timeout.is_some_and(|timeout| timeout < self.short) {
            return false;
        }
        let mut given = self.token.given.lock().unwrap();
        while !*given {
            given = self.token.changed.wait(given).unwrap();
        }
        *given = false;
        false
    }

    fn poll(&mut self, _: &mut dyn WakeSink) -> bool {
        false
    }

    fn shutdown(&mut self, _: &mut dyn WakeSink) {}
}

struct Give(Arc<Token>);

impl Unpark for Give {
    fn unpark(&self) {
        self.0.unparks.fetch_add(1, StdOrdering::Relaxed);
        *self.0.given.lock().unwrap() = true;
        self.0.changed.notify_one();
    }
}

/// A driver whose waits of more than a minute and a half end by an unpark only.
fn driver() -> (Driver, StdArc<Handle>, Arc<Token>) {
    let token = Arc::new(Token { given: Mutex::new(false), changed: Condvar::new(), unparks: StdAtomicUsize::new(0) });
    let inner = Inner { token: token.clone(), short: Duration::from_secs(90) };
    let unpark = StdArc::new(Give(token.clone()));
    let (driver, handle) = driver::Driver::new(Box::new(inner), unpark, StdArc::new(Clock::new()), 1);
    (driver, handle, token)
}

#[test]
fn loom_a_parked_driver_hears_of_an_earlier_deadline() {
    for known in [None, Some(HOUR)] {
        loom::model(move || {
            let (mut driver, handle, token) = driver();
            let (_, waker) = woken();
            let earlier = known.map(|when| set_entry(handle.shard_at(0), when, &waker));
            let parked = thread::spawn(move || driver.park(None, &mut WakeAtOnce));
            let entry = set_entry(handle.shard_at(1), MINUTE, &waker);
            parked.join().unwrap();
            assert!(token.unparks.load(StdOrdering::Relaxed) <= 1);
            drop((earlier, entry));
            assert_eq!(handle.counters().timers_fired, 0);
        });
    }
}

/// The first setter ends the first wait. The second setter may have looked before that, and then the second wait must
/// know of it.
#[test]
fn loom_a_driver_that_waits_again_hears_of_the_other_setter() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(|| {
        let (mut driver, handle, _token) = driver();
        let (_, waker) = woken();
        let (other, other_waker) = (handle.clone(), waker.clone());
        let setter = thread::spawn(move || drop(set_entry(other.shard_at(0), 2 * MINUTE, &other_waker)));
        let parked = thread::spawn(move || {
            driver.park(None, &mut WakeAtOnce);
            driver.park(None, &mut WakeAtOnce);
        });
        let entry = set_entry(handle.shard_at(1), MINUTE, &waker);
        setter.join().unwrap();
        parked.join().unwrap();
        drop(entry);
    });
}

/// The second look of the driver may find a later deadline than the first, because another thread fired in between. It
/// has told the setters of the first, so that is what it must keep to.
#[test]
fn loom_a_driver_sleeps_no_longer_than_it_told() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(|| {
        let (mut driver, handle, _token) = driver();
        let (_, waker) = woken();
        let stale = set_entry(handle.shard_at(0), MINUTE / 2, &waker);
        drop(stale);
        let parked = thread::spawn(move || driver.park(None, &mut WakeAtOnce));
        // Forgets the cancelled timer, as anybody who fires may.
        handle.shard_at(0).exact_next();
        let entry = set_entry(handle.shard_at(0), MINUTE, &waker);
        parked.join().unwrap();
        drop(entry);
    });
}

/// A sleep that is not to end before some tick, for which no timer is set yet: it lasts until then, if an earlier timer
/// is found set; else the thread that sets one ends it.
#[test]
fn loom_a_driver_that_waits_for_a_tick_at_least_hears_of_an_earlier_deadline() {
    for when in [MINUTE, HOUR] {
        loom::model(move || {
            let (_driver, handle, token) = driver();
            let (_, waker) = woken();
            let setter = thread::spawn({
                let handle = handle.clone();
                move || set_entry(handle.shard_at(0), when, &waker)
            });
            let not_before = 2 * MINUTE;
            let until = handle.shared().begin_wait(not_before, || handle.earliest());
            let entry = setter.join().unwrap();
            let unparks = token.unparks.load(StdOrdering::Relaxed);
            assert!(until == when.max(not_before) || (until == NEVER && unparks == 1), "{until}, {unparks}");
            drop(entry);
        });
    }
}

/// If a timer is due before the tick up to which the driver sleeps at least, no other one can end that sleep.
#[test]
fn loom_nobody_wakes_a_driver_that_waits_for_a_tick_at_least() {
    loom::model(|| {
        let (_driver, handle, token) = driver();
        let (_, waker) = woken();
        let due = set_entry(handle.shard_at(0), MINUTE, &waker);
        let setter = thread::spawn({
            let handle = handle.clone();
            move || set_entry(handle.shard_at(1), MINUTE / 2, &waker)
        });
        let not_before = 2 * MINUTE;
        assert_eq!(handle.shared().begin_wait(not_before, || handle.earliest()), not_before);
        let entry = setter.join().unwrap();
        assert_eq!(token.unparks.load(StdOrdering::Relaxed), 0);
        drop((due, entry));
    });
}

#[test]
fn loom_a_later_deadline_wakes_nobody() {
    loom::model(|| {
        let (mut driver, handle, token) = driver();
        let (_, waker) = woken();
        let earlier = set_entry(handle.shard_at(0), MINUTE, &waker);
        let parked = thread::spawn(move || driver.park(None, &mut WakeAtOnce));
        let later = set_entry(handle.shard_at(1), HOUR, &waker);
        parked.join().unwrap();
        assert_eq!(token.unparks.load(StdOrdering::Relaxed), 0);
        drop((earlier, later));
    });
}
