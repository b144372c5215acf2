//! `scope`: what comes of its children's values, errors and panics; they end before it does.

use std::future::{Future, pending, poll_fn, ready};
use std::panic::{self, AssertUnwindSafe};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use rt::task::{JoinHandle, LocalSet, Scope, scope, yield_now};
use rt_test_util::*;

/// A child that waits for ever, and has a token in it.
pub(crate) fn waits(s: &Scope<&'static str>, drops: &Drops) -> JoinHandle<()> {
    let token = drops.token();
    s.spawn(async move {
        let _token = token;
        pending().await
    })
}

/// A future that panics when it is dropped, and before that never ends.
struct BadDrop(&'static str);

impl Future for BadDrop {
    type Output = Result<(), &'static str>;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        Poll::Pending
    }
}

impl Drop for BadDrop {
    fn drop(&mut self) {
        panic::panic_any(self.0);
    }
}

/// The panic of a future that is run to its end.
pub(crate) async fn panic_of<T>(future: impl Future<Output = T>) -> &'static str {
    let mut future = pin!(future);
    poll_fn(|cx| match panic::catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
        Ok(polled) => polled.map(|_| panic!("it did not panic")),
        Err(payload) => Poll::Ready(*payload.downcast_ref().expect("the panics of these tests are texts")),
    })
    .await
}

#[test]
fn it_waits_for_all_children_and_those_of_children() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let drops = Drops::new();
        let count = Arc::new(AtomicUsize::new(0));
        fn tree(s: Scope<()>, depth: u32, count: Arc<AtomicUsize>, token: Token) -> BoxFuture {
            Box::pin(async move {
                yield_now().await;
                if depth > 0 {
                    for token in [token.clone(), token] {
                        s.spawn(tree(s.clone(), depth - 1, count.clone(), token));
                    }
                }
                yield_now().await;
                count.fetch_add(1, Ordering::Relaxed);
                Ok(())
            })
        }
        let output = runtime.block_on(scope(async |s: Scope<()>| {
            s.spawn(tree(s.clone(), 8, count.clone(), drops.token().into()));
            Ok(7)
        }));
        assert_eq!(output, Ok(7));
        assert_eq!(count.load(Ordering::Relaxed), 511);
        drops.assert_all();
    });
}

type Token = Arc<rt_test_util::Token>;
type BoxFuture = Pin<Box<dyn Future<Output = Result<(), ()>> + Send>>;

#[test]
fn values_go_to_handles() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        // As a task, so that the scope's future is `Send`.
        let task = runtime.spawn(scope(async |s| {
            let children: Vec<_> = (0..100).map(|n| s.spawn(async move { Ok::<_, ()>(n) })).collect();
            let blocking = s.spawn_blocking(|| Ok(1000));
            let mut sum = blocking.await.unwrap();
            for child in children {
                sum += child.await.unwrap();
            }
            Ok(sum)
        }));
        assert_eq!(runtime.block_on(task).unwrap(), Ok(5950));
    });
}

#[test]
fn the_first_error_ends_all_others() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let drops = Drops::new();
        let output: Result<(), _> = runtime.block_on(scope(async |s| {
            for _ in 0..100 {
                waits(&s, &drops);
            }
            let _in_body = drops.token();
            let failed = s.spawn(async {
                yield_now().await;
                Err::<(), _>("boom")
            });
            // The body is dropped where it waits.
            let token = drops.token();
            s.spawn(async move {
                let error = failed.await.unwrap_err();
                assert!(error.is_cancelled());
                drop(token);
                Err::<(), _>("a second error")
            });
            pending().await
        }));
        assert_eq!(output, Err("boom"));
        drops.assert_all();
    });
}

#[test]
fn an_error_of_the_body_ends_all() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let drops = Drops::new();
        let output: Result<(), _> = runtime.block_on(scope(async |s| {
            waits(&s, &drops);
            yield_now().await;
            waits(&s, &drops);
            Err("boom")
        }));
        assert_eq!(output, Err("boom"));
        drops.assert_all();
    });
}

#[test]
fn a_child_fails_while_the_body_is_done() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let drops = Drops::new();
        let output = runtime.block_on(scope(async |s| {
            waits(&s, &drops);
            s.spawn(async {
                yield_now().await;
                Err::<(), _>("boom")
            });
            Ok(7)
        }));
        assert_eq!(output, Err("boom"));
        drops.assert_all();
    });
}

#[test]
fn panics_reach_the_caller_when_all_have_ended() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let drops = Drops::new();
            let of_child = scope(async |s| {
                waits(&s, &drops);
                s.spawn(async { if true { panic::panic_any("boom") } else { Ok(()) } });
                pending::<Result<(), _>>().await
            });
            assert_eq!(panic_of(of_child).await, "boom");
            drops.assert_all();

            let of_body = scope(async |s| {
                waits(&s, &drops);
                yield_now().await;
                if true { panic::panic_any("boom") } else { Ok(()) }
            });
            assert_eq!(panic_of(of_body).await, "boom");
            drops.assert_all();

            let of_closure = scope(|s: Scope<_>| {
                waits(&s, &drops);
                if true { panic::panic_any("boom") } else { ready(Ok(())) }
            });
            assert_eq!(panic_of(of_closure).await, "boom");
            drops.assert_all();

            let of_blocking = scope(async |s| {
                waits(&s, &drops);
                s.spawn_blocking(|| if true { panic::panic_any("boom") } else { Ok(()) });
                Ok(())
            });
            assert_eq!(panic_of(of_blocking).await, "boom");
            drops.assert_all();

            let of_drop = scope(async |s| {
                waits(&s, &drops);
                s.spawn(BadDrop("boom")).abort();
                Ok(())
            });
            assert_eq!(panic_of(of_drop).await, "boom");
            drops.assert_all();

            // The first counts.
            let second = scope(async |s| {
                s.spawn(BadDrop("second"));
                waits(&s, &drops);
                Err::<(), _>("first")
            });
            assert_eq!(second.await, Err("first"));
            drops.assert_all();
        });
    });
}

#[test]
fn a_body_that_panics_when_it_is_dropped_leaves_nobody_behind() {
    let _watchdog = watchdog();
    current().block_on(async {
        let drops = Drops::new();
        let output = scope(async |s| {
            waits(&s, &drops);
            s.spawn(async { Err::<(), _>("first") });
            BadDrop("second").await
        });
        assert_eq!(output.await, Err("first"));
        drops.assert_all();
    });
}

#[test]
fn a_second_error_that_panics_when_it_is_dropped_leaves_nobody_behind() {
    #[derive(Debug)]
    struct Bad(&'static str);
    impl Drop for Bad {
        fn drop(&mut self) {
            if self.0 == "second" {
                panic!("boom");
            }
        }
    }
    let _watchdog = watchdog();
    let drops = Drops::new();
    let output = multi(1).block_on(scope(async |s| {
        let token = drops.token();
        s.spawn(async move {
            let _token = token;
            pending::<Result<(), _>>().await
        });
        s.spawn(async { Err::<(), _>(Bad("first")) });
        // The error has come when it has ended the other task.
        eventually(|| drops.count() == 1);
        Err::<(), _>(Bad("second"))
    }));
    assert_eq!(output.unwrap_err().0, "first");
    drops.assert_all();
}

#[test]
fn children_may_stay_on_their_thread() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        LocalSet::new().block_on(&runtime, async {
            let number = Rc::new(7);
            let output = scope(async |s| {
                let number = number.clone();
                s.spawn_local(async move {
                    yield_now().await;
                    Err::<(), _>(number)
                });
                pending::<Result<(), _>>().await
            });
            assert_eq!(output.await, Err(Rc::new(7)));
            assert_eq!(Rc::strong_count(&number), 1);
        });
    });
}

#[test]
fn many_that_fail_at_once_fail_once() {
    let _watchdog = watchdog();
    let runtime = multi(4);
    for _ in 0..50 {
        let drops = Drops::new();
        let output: Result<(), _> = runtime.block_on(async {
            let task = rt::spawn(scope({
                let tokens: Vec<_> = (0..100).map(|_| drops.token()).collect();
                async move |s| {
                    for (n, token) in tokens.into_iter().enumerate() {
                        s.spawn(async move {
                            let _token = token;
                            yield_now().await;
                            if n % 2 == 0 { Err(n) } else { pending::<Result<(), _>>().await }
                        });
                    }
                    Ok(())
                }
            }));
            task.await.unwrap()
        });
        assert_eq!(output.unwrap_err() % 2, 0);
        drops.assert_all();
    }
}
