//! `CancellationToken` in tasks: it costs budget, and reaches every worker.

use std::future::{pending, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use parking_lot::Mutex;
use rt::runtime::Builder;
use rt::task::{CancellationToken, JoinSet, yield_now};
use rt_test_util::*;

#[test]
fn tasks_of_all_workers_are_told() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let token = CancellationToken::new();
            let mut set = JoinSet::new();
            for n in 0..1000 {
                let token = if n % 2 == 0 { token.clone() } else { token.child_token() };
                set.spawn(async move {
                    if n % 3 == 0 {
                        token.cancelled_owned().await;
                    } else {
                        assert_eq!(token.run_until_cancelled(pending::<()>()).await, None);
                    }
                });
            }
            for _ in 0..10 {
                yield_now().await;
            }
            token.cancel();
            assert_eq!(set.join_all().await.len(), 1000);
        });
    });
}

/// There may be more of them than are woken at once.
#[test]
fn those_that_wait_for_children_are_woken_first() {
    let _watchdog = watchdog();
    for children in [1, 31, 32, 33, 100] {
        current().block_on(async {
            let (token, woken) = (CancellationToken::new(), Arc::new(Mutex::new(Vec::new())));
            let mut tasks = JoinSet::new();
            let mut wait = |token: CancellationToken, level| {
                let woken = Arc::clone(&woken);
                tasks.spawn(async move {
                    token.cancelled_owned().await;
                    woken.lock().push(level);
                });
            };
            wait(token.clone(), 0);
            for _ in 0..children {
                let child = token.child_token();
                wait(child.clone(), 1);
                wait(child.child_token(), 2);
            }
            for _ in 0..10 {
                yield_now().await;
            }
            token.cancel();
            tasks.join_all().await;
            assert_eq!(woken.lock().iter().position(|level| *level == 0), Some(2 * children));
        });
    }
}

#[test]
fn a_loop_over_a_cancelled_token_lets_others_run() {
    let _watchdog = watchdog();
    Builder::new_current_thread().coop_budget(10).build().unwrap().block_on(async {
        rt::spawn(async {
            let token = CancellationToken::new();
            token.cancel();
            let mut polls = 0;
            let mut all = pin!(async {
                for _ in 0..20 {
                    token.cancelled().await;
                }
            });
            poll_fn(|cx| {
                polls += 1;
                all.as_mut().poll(cx)
            })
            .await;
            assert!(polls > 1, "20 waits are more than a budget of 10");
        })
        .await
        .unwrap();
    });
}

#[test]
fn a_future_that_spends_the_budget_is_cancelled() {
    let _watchdog = watchdog();
    current().block_on(async {
        let token = CancellationToken::new();
        let task = rt::spawn(token.clone().run_until_cancelled_owned(async {
            let mut polls = 0;
            poll_fn(|cx| {
                // Spends all that there is, in each poll.
                polls += 1;
                while let Poll::Ready(coop) = rt::task::coop::poll_proceed(cx) {
                    coop.made_progress();
                }
                Poll::<()>::Pending
            })
            .await;
            unreachable!("{polls} polls")
        }));
        for _ in 0..10 {
            yield_now().await;
        }
        token.cancel();
        assert_eq!(task.await.unwrap(), None);
    });
}
