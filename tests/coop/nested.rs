//! A synchronous function that waits for the runtime's futures with another crate's `block_on`, called many times in
//! one poll: it gets on, wherever it is called.
//!
//! Mutations that these tests are for: a budget that is never renewed in one poll; refusals that are forgotten, or not
//! counted.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

use rt::runtime::Builder;
use rt::task::coop::{cooperative, has_budget_remaining};
use rt::task::{consume_budget, yield_now};
use rt_test_util::*;

/// More than two budgets.
const ROUNDS: usize = 300;

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// The simplest executor there is. Returns how often it has polled, too.
fn block_on<F: Future>(future: F) -> (F::Output, usize) {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    for polls in 1.. {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return (output, polls),
            Poll::Pending => thread::park(),
        }
    }
    unreachable!()
}

/// One that does not even wait to be woken.
fn spin_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return output;
        }
        thread::yield_now();
    }
}

/// A sleep that sets no timer. (One that does waits for the drivers, which are this thread's on a current-thread
/// runtime.)
fn over_already() -> rt::time::Sleep {
    rt::time::sleep_until(rt::time::Instant::now() - Duration::from_secs(1))
}

/// What a synchronous function waits for.
fn rounds() {
    for _ in 0..ROUNDS {
        block_on(consume_budget());
    }
    for _ in 0..ROUNDS {
        let (joined, _) = block_on(rt::spawn_blocking(|| 7));
        assert_eq!(joined.unwrap(), 7);
    }
    for _ in 0..ROUNDS {
        block_on(over_already());
        block_on(rt::time::timeout(Duration::from_secs(3600), consume_budget())).0.unwrap();
        block_on(cooperative(cooperative(consume_budget())));
        block_on(yield_now());
    }
    for _ in 0..ROUNDS {
        spin_on(async {
            rt::select! {
                () = consume_budget() => {}
                () = std::future::pending() => unreachable!(),
            }
            rt::join!(consume_budget(), over_already(), yield_now());
        });
    }
}

#[test]
fn in_the_main_future() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| runtime.block_on(async { rounds() }));
}

#[test]
fn in_a_task() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let task = runtime.spawn(async {
            rounds();
            // And once more in the next poll, with a budget that is as it should be.
            yield_now().await;
            assert!(has_budget_remaining());
            rounds();
        });
        runtime.block_on(task).unwrap();
    });
}

#[test]
fn in_a_local_runtime() {
    let _watchdog = watchdog();
    let runtime = Builder::new_current_thread().enable_all().build_local(Default::default()).unwrap();
    runtime.block_on(async {
        rounds();
        rt::spawn_local(async { rounds() }).await.unwrap();
    });
}

#[test]
fn in_block_in_place_and_on_the_blocking_pool_where_there_is_no_budget() {
    let _watchdog = watchdog();
    let runtime = multi(2);
    runtime.block_on(async {
        rt::spawn(async { rt::task::block_in_place(rounds) }).await.unwrap();
        rt::spawn_blocking(rounds).await.unwrap();
    });
}

#[test]
fn with_any_budget_and_never_more_than_two_polls_an_operation() {
    let _watchdog = watchdog();
    for budget in [1, 2, 10, 128, u32::MAX] {
        let runtime = Builder::new_current_thread().coop_budget(budget).build().unwrap();
        let task = runtime.spawn(async move {
            let polls: usize = (0..1000).map(|_| block_on(consume_budget()).1).sum();
            let budget = usize::try_from(budget).unwrap();
            // After each budget there are as many refusals.
            assert_eq!(polls, 1000 + 999 / budget * budget);
        });
        runtime.block_on(task).unwrap();
    }
}

/// Several futures on one foreign executor: all of them get on.
#[test]
fn a_foreign_executor_of_several_tasks() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let task = runtime.spawn(async {
            let done = Arc::new(AtomicUsize::new(0));
            block_on(async {
                let work = |done: Arc<AtomicUsize>| async move {
                    for _ in 0..ROUNDS {
                        consume_budget().await;
                    }
                    done.fetch_add(1, SeqCst);
                };
                rt::join!(work(done.clone()), work(done.clone()), work(done.clone()));
            });
            done.load(SeqCst)
        });
        assert_eq!(runtime.block_on(task).unwrap(), 3);
    });
}

/// What keeps a unit while it polls another leaf does not make the refusals of that one forgotten.
#[test]
fn a_leaf_inside_of_a_leaf() {
    use rt::task::coop::poll_proceed;
    use std::future::poll_fn;
    use std::task::ready;
    let _watchdog = watchdog();
    for budget in [2, 128] {
        let runtime = Builder::new_current_thread().coop_budget(budget).build().unwrap();
        let task = runtime.spawn(async {
            for _ in 0..ROUNDS {
                let mut inner = Box::pin(consume_budget());
                block_on(poll_fn(|cx| {
                    let coop = ready!(poll_proceed(cx));
                    ready!(inner.as_mut().poll(cx));
                    coop.made_progress();
                    Poll::Ready(())
                }));
            }
        });
        runtime.block_on(task).unwrap();
    }
}

/// A unit that was taken before the budget was renewed, and is given back after that, makes it no fuller than full.
#[test]
fn a_unit_given_back_to_a_renewed_budget() {
    use rt::task::coop::poll_proceed;
    use std::future::poll_fn;
    use std::task::{Context, ready};
    let _watchdog = watchdog();
    fn spend(cx: &mut Context<'_>) -> bool {
        poll_proceed(cx).map(|coop| coop.made_progress()).is_ready()
    }
    for budget in [1, 2, 128] {
        let runtime = Builder::new_current_thread().coop_budget(budget).build().unwrap();
        let task = runtime.spawn(poll_fn(move |cx| {
            let held = ready!(poll_proceed(cx));
            let spent = (0..).take_while(|_| spend(cx)).count();
            assert_eq!(spent, budget as usize - 1);
            // One has been refused.
            assert!((1..budget).all(|_| poll_proceed(cx).is_pending()));
            drop(ready!(poll_proceed(cx)));
            drop(held);
            Poll::Ready((0..).take_while(|_| spend(cx)).count())
        }));
        assert_eq!(runtime.block_on(task).unwrap(), budget as usize);
    }
}
