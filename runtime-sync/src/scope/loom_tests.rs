//! The protocol of groups, on every interleaving (loom). The scope's future and its children are played by threads.

use std::task::Waker;

use loom::cell::UnsafeCell;
use loom::sync::Arc as LoomArc;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;

use super::entry::Abort;
use super::group::Group;
use crate::test_wakers::Count;

/// Counts how often the child is aborted.
struct Aborts(LoomArc<AtomicUsize>);

impl Abort for Aborts {
    fn abort(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

type Tested = Group<Aborts>;

fn model(f: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(f);
}

/// A child that has a further one ends: the scope hears of the end of both, and sees what they did.
#[test]
fn loom_a_scope_hears_of_its_last_end() {
    model(|| {
        let group = Tested::new(None);
        let shared = LoomArc::new(UnsafeCell::new(0));
        let (child, theirs) = (group.enter_child().unwrap(), shared.clone());
        let ends = thread::spawn(move || {
            let further = child.group().enter_child().expect("it is open while it has members");
            drop(child);
            theirs.with_mut(|number| unsafe { *number = 7 });
            drop(further);
        });
        let check = || shared.with(|number| assert_eq!(unsafe { *number }, 7));
        let count = Count::new();
        let early = group.poll_empty(&count.waker());
        if early.is_ready() {
            check();
        }
        ends.join().unwrap();
        if early.is_pending() {
            assert_eq!(count.wakes(), 1, "a waiter that was told to wait is woken");
            assert!(group.poll_empty(Waker::noop()).is_ready());
            check();
        }
        assert!(group.enter().is_none(), "it is over");
    });
}

/// A group is closed while a child is spawned into it: the child is not begun, or is aborted once; and the scope, which
/// waits in its body, is woken.
#[test]
fn loom_a_child_beside_a_failure_is_refused_or_aborted() {
    model(|| {
        let group = Tested::new(None);
        let aborts = LoomArc::new(AtomicUsize::new(0));
        let theirs = group.clone();
        let fails = thread::spawn(move || theirs.close());
        let count = Count::new();
        let early = group.poll_closed(&count.waker());
        let seat = group.enter_child();
        let is_begun = seat.is_some();
        if let Some(seat) = &seat {
            group.spawned(seat.number(), Aborts(aborts.clone()));
        }
        fails.join().unwrap();
        assert_eq!(aborts.load(Ordering::Relaxed), usize::from(is_begun));
        if early.is_pending() {
            assert_eq!(count.wakes(), 1, "a waiter that was told to wait is woken");
        }
        assert!(group.poll_closed(Waker::noop()).is_ready());
        assert_eq!(group.poll_empty(Waker::noop()).is_pending(), is_begun);
        drop(seat);
        assert!(group.poll_empty(Waker::noop()).is_ready());
    });
}

/// A child ends, and another one begins, while the handle of the first is brought: that is not taken for the other's,
/// and is dropped.
#[test]
fn loom_the_handle_of_a_child_that_has_ended_is_dropped() {
    model(|| {
        let group = Tested::new(None);
        let aborts = LoomArc::new(AtomicUsize::new(0));
        let seat = group.enter_child().unwrap();
        let (number, theirs) = (seat.number(), group.clone());
        let ends = thread::spawn(move || {
            drop(seat);
            theirs.enter_child().unwrap()
        });
        group.spawned(number, Aborts(aborts.clone()));
        let other = ends.join().unwrap();
        group.abort_all();
        assert_eq!(aborts.load(Ordering::Relaxed), 0, "the first has ended, the other has no handle yet");
        drop(other);
        assert_eq!(LoomArc::strong_count(&aborts), 1);
    });
}

/// The members of a nested group come and go beside each other: the outer one waits for all of them, and hears of the
/// end.
#[test]
fn loom_an_outer_scope_waits_for_those_of_an_inner_one() {
    model(|| {
        let outer = Tested::new(None);
        let inner = Tested::new(Some(outer.clone()));
        let first = inner.enter().unwrap();
        let theirs = (outer.clone(), inner.clone());
        let comes = thread::spawn(move || {
            let second = theirs.1.enter().unwrap();
            assert!(theirs.0.members() > 0);
            drop(second);
        });
        let count = Count::new();
        assert!(outer.poll_empty(&count.waker()).is_pending());
        drop(first);
        comes.join().unwrap();
        assert!(count.wakes() > 0);
        assert!(outer.poll_empty(Waker::noop()).is_ready());
    });
}
