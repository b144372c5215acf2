//! `JoinSet`: every task is joined once, in the order of the ends, whatever becomes of it.

use std::cell::Cell;
use std::future::{pending, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use parking_lot::Mutex;
use rt::runtime::Builder;
use rt::task::{JoinSet, unconstrained, yield_now};
use rt_test_util::*;

#[test]
fn a_thousand_that_end_at_once_are_joined_in_order_and_cost_one_wake() {
    let _watchdog = watchdog();
    current().block_on(async {
        let (mut set, go) = (JoinSet::new(), Arc::new(Signal::new()));
        for n in 0..1000 {
            let go = Arc::clone(&go);
            set.spawn(async move {
                poll_fn(|cx| {
                    if go.is_set() {
                        Poll::Ready(())
                    } else {
                        cx.waker().wake_by_ref();
                        Poll::Pending
                    }
                })
                .await;
                n
            });
        }
        let wakes = Arc::new(Wakes::default());
        let waker = Waker::from(Arc::clone(&wakes));
        assert!(set.poll_join_next(&mut Context::from_waker(&waker)).is_pending());
        go.set();
        while Arc::strong_count(&go) > 1 {
            yield_now().await;
        }
        yield_now().await;
        assert_eq!(wakes.count(), 1);
        for n in 0..1000 {
            assert_eq!(set.join_next().await.unwrap().unwrap(), n);
        }
        assert!(set.is_empty() && set.join_next().await.is_none());
    });
}

#[test]
fn a_thousand_that_end_at_once_are_joined_as_they_ended_by_one_poll() {
    let _watchdog = watchdog();
    current().block_on(async {
        let (mut set, ends) = (JoinSet::new(), Arc::new(Mutex::new(Vec::new())));
        let signals: Vec<_> = (0..1000).map(|_| Signal::new()).collect();
        for (n, signal) in signals.iter().cloned().enumerate() {
            let ends = Arc::clone(&ends);
            set.spawn(async move {
                signal.wait().await;
                ends.lock().push(n);
                n
            });
        }
        let mut joined = Vec::new();
        let wakes = Arc::new(Wakes::default());
        let waker = Waker::from(Arc::clone(&wakes));
        let mut cx = Context::from_waker(&waker);
        let mut joining = pin!(unconstrained(poll_fn(|cx| {
            while let Some(n) = ready!(set.poll_join_next(cx)) {
                joined.push(n.unwrap());
            }
            Poll::Ready(())
        })));
        assert!(joining.as_mut().poll(&mut cx).is_pending());
        while signals.iter().any(|signal| signal.waiters() == 0) {
            yield_now().await;
        }
        // In another order than they were spawned in.
        (0..1000).for_each(|k| signals[k * 607 % 1000].set());
        while ends.lock().len() < 1000 {
            yield_now().await;
        }
        assert_eq!(wakes.count(), 1);
        assert!(joining.as_mut().poll(&mut cx).is_ready(), "one poll is enough for all");
        assert_eq!(joined, *ends.lock());
        assert!(!joined.is_sorted(), "it is not the order in which they were spawned");
    });
}

#[test]
fn every_output_comes_once() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let mut set = JoinSet::new();
            let mut sum = 0;
            for round in 0..10 {
                set.extend((0..100).map(|n| async move { round * 100 + n }));
                set.spawn_blocking(|| 0);
                while set.len() > 50 {
                    sum += set.join_next().await.unwrap().unwrap();
                }
                while let Some(joined) = set.try_join_next() {
                    sum += joined.unwrap();
                }
            }
            sum += set.join_all().await.into_iter().sum::<u64>();
            assert_eq!(sum, (0..1000).sum());
        });
    });
}

#[test]
fn errors_say_which_task_it_was() {
    let _watchdog = watchdog();
    multi(2).block_on(async {
        let mut set = JoinSet::<()>::new();
        let panics = set.spawn(async { panic!("boom") }).id();
        let error = set.join_next_with_id().await.unwrap().unwrap_err();
        assert!(error.is_panic() && error.id() == panics);
        assert_eq!(error.to_string(), format!("task {panics} panicked with message \"boom\""));

        let aborted = set.spawn(pending());
        aborted.abort();
        let error = set.join_next().await.unwrap().unwrap_err();
        assert!(error.is_cancelled() && error.id() == aborted.id() && aborted.is_finished());

        let id = set.spawn(async {}).id();
        assert_eq!(set.join_next_with_id().await.unwrap().unwrap(), (id, ()));
    });
}

#[test]
fn dropping_the_set_aborts_and_detaching_does_not() {
    let _watchdog = watchdog();
    let runtime = multi(1);
    let drops = Drops::new();
    let spawn = |set: &mut JoinSet<()>| {
        let token = drops.token();
        set.spawn_on(
            async move {
                pending::<()>().await;
                drop(token)
            },
            runtime.handle(),
        )
    };
    let mut set = JoinSet::new();
    spawn(&mut set);
    drop(set);
    eventually(|| drops.count() == 1);

    let mut set = JoinSet::new();
    let left = spawn(&mut set);
    set.detach_all();
    assert!(set.is_empty() && set.try_join_next().is_none());
    drop(set);
    assert_eq!(drops.count(), 1);
    left.abort();
    eventually(|| drops.count() == 2);

    let mut set = JoinSet::new();
    (0..10).for_each(|_| drop(spawn(&mut set)));
    runtime.block_on(set.shutdown());
    assert!(set.is_empty());
    assert_eq!(drops.count(), 12);
}

/// The outputs are still in the set.
#[test]
fn outputs_are_dropped_in_the_order_in_which_their_tasks_ended() {
    let _watchdog = watchdog();
    struct Output(usize, Arc<Mutex<Vec<usize>>>);
    impl Drop for Output {
        fn drop(&mut self) {
            self.1.lock().push(self.0);
        }
    }
    for end in [drop, |mut set: JoinSet<Output>| set.detach_all()] {
        let drops = Arc::new(Mutex::new(Vec::new()));
        current().block_on(async {
            let mut set = JoinSet::new();
            for n in [3, 0, 2, 1] {
                let output = Output(n, Arc::clone(&drops));
                set.spawn(async move {
                    for _ in 0..output.0 {
                        yield_now().await;
                    }
                    output
                });
            }
            set.spawn(pending());
            for _ in 0..10 {
                yield_now().await;
            }
            end(set);
        });
        assert_eq!(*drops.lock(), [0, 1, 2, 3]);
    }
}

#[test]
#[should_panic(expected = "boom")]
fn join_all_passes_a_panic_on() {
    let _watchdog = watchdog();
    current().block_on(async {
        let mut set = JoinSet::<()>::new();
        set.spawn(pending());
        set.spawn(async { panic!("boom") });
        set.join_all().await;
    });
}

#[test]
fn a_timeout_ends_a_loop_over_ready_tasks() {
    let _watchdog = watchdog();
    current().block_on(async {
        let mut set = JoinSet::new();
        let joined = Cell::new(0_u64);
        let forever = async {
            loop {
                set.spawn(async {});
                while set.len() > 1 {
                    set.join_next().await.unwrap().unwrap();
                    joined.set(joined.get() + 1);
                }
                yield_now().await;
            }
        };
        assert!(rt::time::timeout(Duration::from_millis(20), forever).await.is_err());
        assert!(joined.get() > 0);
    });
}

#[test]
fn joining_spends_the_budget() {
    let _watchdog = watchdog();
    Builder::new_current_thread().coop_budget(10).build().unwrap().block_on(async {
        rt::spawn(async {
            let mut set: JoinSet<_> = (0..20).map(|n| async move { n }).collect();
            yield_now().await;
            let mut polls = 0;
            let mut all = pin!(async { while set.join_next().await.is_some() {} });
            poll_fn(|cx| {
                polls += 1;
                all.as_mut().poll(cx)
            })
            .await;
            assert!(polls > 1, "20 joins are more than a budget of 10");
        })
        .await
        .unwrap();
    });
}
