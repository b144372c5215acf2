//! Combinators that poll their children with wakers of their own: they stay within the budget, and return to the
//! scheduler.

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::task::{Context, Poll, Wake, Waker};

use parking_lot::Mutex;
use rt::runtime::Builder;
use rt::task::consume_budget;
use rt_test_util::*;

pub(crate) type Child = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The waker of one child: queues it, and wakes the task that polls the group.
struct ChildWaker {
    index: usize,
    group: Arc<Group>,
}

#[derive(Default)]
struct Group {
    woken: Mutex<VecDeque<usize>>,
    outer: Mutex<Option<Waker>>,
}

impl Wake for ChildWaker {
    fn wake(self: Arc<Self>) {
        let mut woken = self.group.woken.lock();
        if !woken.contains(&self.index) {
            woken.push_back(self.index);
        }
        drop(woken);
        let outer = self.group.outer.lock().clone();
        if let Some(outer) = outer {
            outer.wake();
        }
    }
}

/// Runs children that are polled only when they were woken, until one of them is done. Like the sets of futures that
/// other crates have, it goes on with a child that wakes itself in its poll, but not for ever: it returns after as many
/// polls as there are children, or when two of them have woken themselves.
pub(crate) async fn first_of(children: Vec<Child>) {
    let group = Arc::new(Group::default());
    let mut children: Vec<_> = children
        .into_iter()
        .enumerate()
        .map(|(index, child)| (Waker::from(Arc::new(ChildWaker { index, group: group.clone() })), child))
        .collect();
    group.woken.lock().extend(0..children.len());
    poll_fn(|cx| {
        *group.outer.lock() = Some(cx.waker().clone());
        let mut yielded = 0;
        for _ in 0..children.len() {
            let Some(index) = group.woken.lock().pop_front() else { return Poll::Pending };
            let (waker, child) = &mut children[index];
            if child.as_mut().poll(&mut Context::from_waker(waker)).is_ready() {
                return Poll::Ready(());
            }
            yielded += usize::from(group.woken.lock().contains(&index));
            if yielded == 2 {
                break;
            }
        }
        if !group.woken.lock().is_empty() {
            cx.waker().wake_by_ref();
        }
        Poll::Pending
    })
    .await;
}

/// Polls all of its children in each poll, with a waker that wakes all.
async fn all_of(mut children: Vec<Child>) {
    poll_fn(|cx| {
        children.retain_mut(|child| child.as_mut().poll(cx).is_pending());
        if children.is_empty() { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

/// A child that never ends, and counts its operations.
fn greedy(operations: &Arc<AtomicUsize>) -> Child {
    let operations = Arc::clone(operations);
    Box::pin(async move {
        loop {
            consume_budget().await;
            operations.fetch_add(1, SeqCst);
        }
    })
}

/// Runs a group of greedy children beside a task that yields, and returns the most operations between two turns of it.
fn most_operations_a_turn<F>(budget: u32, group: impl FnOnce(Arc<AtomicUsize>) -> F) -> usize
where
    F: Future<Output = ()> + Send + 'static,
{
    let runtime = Builder::new_current_thread().coop_budget(budget).build().unwrap();
    let operations = Arc::new(AtomicUsize::new(0));
    let count = operations.clone();
    let group = group(operations);
    runtime.block_on(async move {
        let group = rt::spawn(group);
        let most = rt::spawn(async move {
            let (mut before, mut most) = (0, 0);
            for _ in 0..100 {
                let now = count.load(SeqCst);
                most = most.max(now - before);
                before = now;
                yield_by_hand().await;
            }
            assert!(before > 0, "nothing was done at all");
            most
        });
        let most = most.await.unwrap();
        group.abort();
        most
    })
}

#[test]
fn a_set_of_futures_with_wakers_of_its_own_yields_when_the_budget_is_spent() {
    let _watchdog = watchdog();
    for budget in [128, 10, 2] {
        for children in [1, 2, 1000] {
            let most = most_operations_a_turn(budget, |operations| {
                first_of((0..children).map(|_| greedy(&operations)).collect())
            });
            // It is refused twice, and then returns: no number of refusals at which the budget would be renewed.
            assert_eq!(most, budget as usize, "{children} children");
        }
    }
}

#[test]
fn a_combinator_exceeds_the_budget_by_at_most_one_operation_for_each_child() {
    let _watchdog = watchdog();
    for budget in [128, 10, 1] {
        for children in [1, 2, 100, 1000] {
            let most = most_operations_a_turn(budget, |operations| {
                all_of((0..children).map(|_| greedy(&operations)).collect())
            });
            assert!(most <= budget as usize + children, "{most} operations with {budget} units, {children} children");
        }
    }
}

#[test]
fn cooperative_gets_on_with_the_smallest_budget_however_deep_it_is_nested() {
    use rt::task::coop::cooperative;
    let _watchdog = watchdog();
    for budget in [1, 2, 128] {
        let runtime = Builder::new_current_thread().coop_budget(budget).build().unwrap();
        let task = runtime.spawn(async {
            for _ in 0..300 {
                cooperative(cooperative(cooperative(consume_budget()))).await;
            }
        });
        runtime.block_on(task).unwrap();
    }
}
