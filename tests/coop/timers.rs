//! Deadlines beside branches that spend the whole budget in each poll of the task.
//!
//! Mutations that these tests are for: a timer that spends budget although it has waited; one that never spends any, or
//! none any more once it has waited; a `select!` that asks for budget before each poll of its branches.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::task::Poll;
use std::time::Duration;

use rt::runtime::{Builder, Runtime};
use rt::task::consume_budget;
use rt::time::{Instant, Sleep, advance, interval, sleep, sleep_until, timeout};
use rt_test_util::*;

use super::combinators::{Child, first_of};

const BUDGET: u32 = 16;
const SECOND: Duration = Duration::from_secs(1);

/// One thread, with a clock that only the test moves: with a task that is always ready the runtime is never idle.
fn paused() -> Runtime {
    Builder::new_current_thread().enable_all().start_paused(true).coop_budget(BUDGET).build().unwrap()
}

/// What is always ready.
#[derive(Clone, Copy, Debug)]
enum Leaf {
    Budget,
    Zero,
    Missed,
}

impl Leaf {
    const ALL: [Self; 3] = [Self::Budget, Self::Zero, Self::Missed];

    async fn once(self) {
        match self {
            Self::Budget => consume_budget().await,
            Self::Zero => sleep(Duration::ZERO).await,
            Self::Missed => sleep_until(Instant::now() - SECOND).await,
        }
    }

    /// Never ends.
    fn greedy(self, count: Arc<AtomicUsize>) -> Child {
        Box::pin(async move {
            loop {
                self.once().await;
                count.fetch_add(1, SeqCst);
            }
        })
    }
}

/// Runs a greedy future before a deadline of a second. Lets the time pass when the first has spent ten budgets, and
/// then the deadline has to be seen within two polls of the task.
fn deadline_is_seen<F>(name: &str, combine: impl Fn(Child, Sleep, Leaf, Arc<AtomicUsize>) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    for leaf in Leaf::ALL {
        let count = Arc::new(AtomicUsize::new(0));
        paused().block_on(async {
            let task = combine(leaf.greedy(count.clone()), sleep(SECOND), leaf, count.clone());
            let task = rt::spawn(task);
            let ten = 10 * BUDGET as usize;
            while count.load(SeqCst) < ten {
                assert!(!task.is_finished(), "{name}, {leaf:?}: the deadline is early");
                yield_by_hand().await;
            }
            advance(SECOND).await;
            let before = count.load(SeqCst);
            while !task.is_finished() {
                let spent = count.load(SeqCst) - before;
                assert!(spent <= 2 * BUDGET as usize, "{name}, {leaf:?}: the deadline is not seen");
                yield_by_hand().await;
            }
            task.await.unwrap();
        });
    }
}

#[test]
fn in_a_biased_select() {
    let _watchdog = watchdog();
    deadline_is_seen("select!", |greedy, deadline, _, _| async {
        rt::select! {
            biased;
            () = greedy => unreachable!(),
            () = deadline => {}
        }
    });
}

#[test]
fn in_a_select_that_begins_anywhere() {
    let _watchdog = watchdog();
    deadline_is_seen("select!", |greedy, deadline, _, _| async {
        rt::select! {
            () = greedy => unreachable!(),
            () = deadline => {}
        }
    });
}

/// Not a `biased;` one, which takes the first branch whenever that is ready, however often that is.
#[test]
fn in_a_loop_over_a_select() {
    let _watchdog = watchdog();
    deadline_is_seen("loop over select!", |_, deadline, leaf, count| async move {
        let mut deadline = pin!(deadline);
        loop {
            rt::select! {
                () = leaf.once() => { count.fetch_add(1, SeqCst); }
                () = &mut deadline => break,
            }
        }
    });
}

#[test]
fn in_a_select_beside_another_future_that_spends_the_budget() {
    let _watchdog = watchdog();
    deadline_is_seen("join! of select!", |greedy, deadline, _, _| async {
        let inner = async {
            rt::select! {
                () = std::future::pending() => Ok::<(), ()>(()),
                () = deadline => Err(()),
            }
        };
        let greedy = async {
            greedy.await;
            Ok::<(), ()>(())
        };
        assert!(rt::try_join!(biased; greedy, inner).is_err());
    });
}

#[test]
fn in_a_join_whose_parts_are_polled_in_order() {
    let _watchdog = watchdog();
    deadline_is_seen("try_join!", |greedy, deadline, _, _| async {
        let greedy = async {
            greedy.await;
            Ok::<(), ()>(())
        };
        let deadline = async {
            deadline.await;
            Err::<(), ()>(())
        };
        assert!(rt::try_join!(biased; greedy, deadline).is_err());
    });
}

#[test]
fn in_a_timeout() {
    let _watchdog = watchdog();
    deadline_is_seen("timeout", |greedy, _, _, _| async { assert!(timeout(SECOND, greedy).await.is_err()) });
    // Also if something else has spent the budget before.
    deadline_is_seen("timeout beside another", |greedy, _, leaf, count| async move {
        let mut limited = pin!(timeout(SECOND, leaf.greedy(count)));
        let mut greedy = greedy;
        poll_fn(|cx| {
            assert!(greedy.as_mut().poll(cx).is_pending());
            limited.as_mut().poll(cx).map(|limited| assert!(limited.is_err()))
        })
        .await;
    });
}

#[test]
fn in_a_set_of_futures_with_wakers_of_its_own() {
    let _watchdog = watchdog();
    deadline_is_seen("set", |greedy, deadline, _, _| first_of(vec![greedy, Box::pin(deadline)]));
}

#[test]
fn in_a_combinator_written_by_hand() {
    let _watchdog = watchdog();
    deadline_is_seen("by hand", |mut greedy, deadline, _, _| async move {
        let mut deadline: Pin<Box<Sleep>> = Box::pin(deadline);
        poll_fn(|cx| match greedy.as_mut().poll(cx) {
            Poll::Ready(()) => unreachable!(),
            Poll::Pending => deadline.as_mut().poll(cx),
        })
        .await;
    });
}

#[test]
fn a_deadline_that_had_passed_before_it_was_looked_at_is_seen_too() {
    let _watchdog = watchdog();
    for leaf in Leaf::ALL {
        let polls = paused().block_on(async {
            rt::spawn(async move {
                let mut greedy = leaf.greedy(Arc::default());
                let mut past = pin!(sleep(Duration::ZERO));
                let mut polls = 0;
                poll_fn(|cx| {
                    polls += 1;
                    assert!(greedy.as_mut().poll(cx).is_pending());
                    past.as_mut().poll(cx)
                })
                .await;
                polls
            })
            .await
            .unwrap()
        });
        assert_eq!(polls, 2, "{leaf:?}: it is refused once");
    }
}

#[test]
fn an_interval_beside_a_greedy_branch_ticks() {
    let _watchdog = watchdog();
    paused().block_on(async {
        let ticks = rt::spawn(async {
            let mut interval = interval(SECOND);
            let mut greedy = Leaf::Budget.greedy(Arc::default());
            for _ in 0..5 {
                rt::select! {
                    biased;
                    () = &mut greedy => unreachable!(),
                    _ = interval.tick() => {}
                }
            }
        });
        while !ticks.is_finished() {
            advance(SECOND).await;
        }
        ticks.await.unwrap();
    });
}

/// A loop over what is ready at once yields after each budget: to the unit.
#[test]
fn timers_that_never_wait_spend_the_budget() {
    let _watchdog = watchdog();
    for leaf in Leaf::ALL {
        let count = Arc::new(AtomicUsize::new(0));
        let runtime = paused();
        runtime.block_on(async {
            let greedy = rt::spawn(leaf.greedy(count.clone()));
            rt::spawn(async move {
                for turn in 1..=50 {
                    assert_eq!(count.load(SeqCst), turn * BUDGET as usize, "{leaf:?}");
                    rt::task::yield_now().await;
                }
            })
            .await
            .unwrap();
            greedy.abort();
        });
    }
}

#[test]
fn the_missed_ticks_of_an_interval_spend_the_budget() {
    let _watchdog = watchdog();
    let ticks = Arc::new(AtomicUsize::new(0));
    paused().block_on(async {
        let count = ticks.clone();
        let mut interval = interval(SECOND);
        interval.tick().await;
        advance(1000 * SECOND).await;
        let ticking = rt::spawn(async move {
            for _ in 0..1000 {
                interval.tick().await;
                count.fetch_add(1, SeqCst);
            }
        });
        rt::spawn(async move {
            for turn in 1..=50 {
                assert_eq!(ticks.load(SeqCst), turn * BUDGET as usize);
                rt::task::yield_now().await;
            }
        })
        .await
        .unwrap();
        ticking.await.unwrap();
    });
}

/// What has ended, and is polled again and again without a reset: by a task that only this has got to.
fn ended_for_good(name: &str, greedy: impl FnOnce(Signal, Arc<AtomicUsize>) -> Child) {
    let count = Arc::new(AtomicUsize::new(0));
    paused().block_on(async {
        let passed = Signal::new();
        let greedy = rt::spawn(greedy(passed.clone(), count.clone()));
        // For the first poll.
        rt::spawn(async {}).await.unwrap();
        advance(SECOND).await;
        passed.set();
        rt::spawn({
            let (name, count) = (name.to_owned(), count.clone());
            async move {
                while count.load(SeqCst) == 0 {
                    rt::task::yield_now().await;
                }
                let start = count.load(SeqCst);
                for turn in 0..50 {
                    assert_eq!(count.load(SeqCst), start + turn * BUDGET as usize, "{name}");
                    rt::task::yield_now().await;
                }
            }
        })
        .await
        .unwrap();
        greedy.abort();
    });
}

#[test]
fn timers_that_have_ended_spend_the_budget_when_they_are_polled_again() {
    let _watchdog = watchdog();
    ended_for_good("by reference", |_, count| {
        Box::pin(async move {
            let mut ended = pin!(sleep(SECOND));
            loop {
                ended.as_mut().await;
                count.fetch_add(1, SeqCst);
            }
        })
    });
    ended_for_good("not reset in a select!", |_, count| {
        Box::pin(async move {
            let mut ended = pin!(sleep(SECOND));
            loop {
                rt::select! {
                    biased;
                    () = std::future::pending() => unreachable!(),
                    () = &mut ended => { count.fetch_add(1, SeqCst); }
                }
            }
        })
    });
    ended_for_good("timeout", |_, count| {
        Box::pin(async move {
            let mut ended = pin!(timeout(SECOND, std::future::pending::<()>()));
            loop {
                assert!(ended.as_mut().await.is_err());
                count.fetch_add(1, SeqCst);
            }
        })
    });
    ended_for_good("ended before its first poll", |passed, count| {
        Box::pin(async move {
            let mut ended = pin!(sleep(SECOND));
            passed.wait().await;
            loop {
                ended.as_mut().await;
                count.fetch_add(1, SeqCst);
            }
        })
    });
}

#[test]
fn a_timer_that_has_ended_and_is_reset_waits_again_and_needs_no_budget() {
    let _watchdog = watchdog();
    let rounds = paused().block_on(async {
        let task = rt::spawn(async {
            let mut greedy = Leaf::Budget.greedy(Arc::default());
            let mut deadline = pin!(sleep(SECOND));
            let mut rounds = 0;
            while rounds < 5 {
                rt::select! {
                    biased;
                    () = &mut greedy => unreachable!(),
                    () = &mut deadline => rounds += 1,
                }
                let next = deadline.deadline() + SECOND;
                deadline.as_mut().reset(next);
            }
            rounds
        });
        while !task.is_finished() {
            advance(SECOND).await;
        }
        task.await.unwrap()
    });
    assert_eq!(rounds, 5);
}
