//! Groups without tasks: wakers that panic, and groups nested deeper than the stack is.

use std::future::{Future, pending};
use std::panic::panic_any;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Wake, Waker};
use std::thread;

use super::entry::Abort;
use super::group::Group;
use super::scope;
use crate::task::CancellationToken;
use crate::test_wakers::{Count, Panics, panic_of};

/// Counts how often children are aborted, and panics each time.
struct Aborts(Arc<AtomicUsize>);

impl Abort for Aborts {
    fn abort(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
        panic_any("abort");
    }
}

type Tested = Group<Aborts>;

#[test]
fn a_panic_does_not_keep_a_group_from_being_closed() {
    let group = Tested::new(None);
    let inner = Tested::new(Some(group.clone()));
    assert!(group.poll_closed(&Panics::waker("scope")).is_pending());
    assert_eq!(panic_of(|| group.close()), "scope");
    assert!(group.token().is_cancelled() && inner.token().is_cancelled());
    group.close();
    assert!(group.poll_closed(Waker::noop()).is_ready());

    let group = Tested::new(None);
    let aborts = Arc::new(AtomicUsize::new(0));
    let seats: Vec<_> = (0..3).map(|_| group.enter_child().unwrap()).collect();
    seats.iter().for_each(|seat| group.spawned(seat.number(), Aborts(aborts.clone())));
    let count = Count::new();
    assert!(group.poll_closed(&count.waker()).is_pending());
    assert_eq!(panic_of(|| group.close()), "abort");
    assert_eq!((aborts.load(Ordering::Relaxed), count.wakes()), (3, 1));
    assert!(group.token().is_cancelled());
}

#[test]
fn a_panic_of_one_scope_does_not_keep_the_other_from_being_woken() {
    let count = Count::new();
    for [for_inner, for_outer] in [[count.waker(), Panics::waker("boom")], [Panics::waker("boom"), count.waker()]] {
        let outer = Tested::new(None);
        let inner = Tested::new(Some(outer.clone()));
        let member = inner.enter().unwrap();
        assert!(inner.poll_empty(&for_inner).is_pending() && outer.poll_empty(&for_outer).is_pending());
        assert_eq!(panic_of(|| drop(member)), "boom");
        assert!(inner.poll_empty(Waker::noop()).is_ready() && outer.poll_empty(Waker::noop()).is_ready());
    }
    assert_eq!(count.wakes(), 2);
}

/// As a closure on the blocking pool does that panics. If the panic of the waker left the drop, it would end the
/// process.
#[test]
fn a_member_may_leave_in_a_panic_and_meet_another() {
    let group = Tested::new(None);
    let member = group.enter().unwrap();
    assert!(group.poll_empty(&Panics::waker("scope")).is_pending());
    let text = panic_of(|| {
        let _member = member;
        panic_any("closure");
    });
    assert_eq!(text, "closure");
    assert!(group.poll_empty(Waker::noop()).is_ready());
}

#[test]
fn the_waker_of_a_scope_that_is_dropped_goes_last() {
    /// Panics when it is dropped.
    struct BadDrop {
        token: OnceLock<CancellationToken>,
        was_cancelled: Arc<OnceLock<bool>>,
    }
    impl Wake for BadDrop {
        fn wake(self: Arc<Self>) {}
    }
    impl Drop for BadDrop {
        fn drop(&mut self) {
            self.was_cancelled.set(self.token.get().unwrap().is_cancelled()).unwrap();
            panic_any("waker");
        }
    }
    for is_panicking in [false, true] {
        let was_cancelled = Arc::new(OnceLock::new());
        let bad = Arc::new(BadDrop { token: OnceLock::new(), was_cancelled: was_cancelled.clone() });
        let theirs = bad.clone();
        let mut running = Box::pin(scope(async move |s| {
            theirs.token.set(s.token().clone()).ok().unwrap();
            drop(theirs);
            pending::<Result<(), ()>>().await
        }));
        let waker = Waker::from(bad);
        assert!(running.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        drop(waker);
        let text = panic_of(|| {
            let running = running;
            if is_panicking {
                panic_any("caller");
            }
            drop(running);
        });
        assert_eq!(text, if is_panicking { "caller" } else { "waker" });
        assert_eq!(was_cancelled.get(), Some(&true));
    }
}

#[test]
fn groups_may_be_nested_deeper_than_the_stack_is() {
    let on_a_small_stack = thread::Builder::new().stack_size(128 << 10).spawn(|| {
        let outermost = Tested::new(None);
        let (mut group, mut members) = (outermost.clone(), vec![]);
        for _ in 0..100_000 {
            members.push(group.enter().unwrap());
            group = Tested::new(Some(group));
        }
        let last = group.enter().unwrap();
        drop(group);
        // From the outside in: each outer group is left to the one in it.
        members.into_iter().for_each(drop);
        let count = Count::new();
        assert!(outermost.poll_empty(&count.waker()).is_pending());
        assert_eq!(outermost.members(), 1);
        // The last one counts all groups off, and drops them.
        drop(last);
        assert_eq!(count.wakes(), 1);
        assert!(outermost.poll_empty(Waker::noop()).is_ready());
        assert_eq!(Arc::strong_count(&outermost), 1);
    });
    on_a_small_stack.unwrap().join().unwrap();
}
