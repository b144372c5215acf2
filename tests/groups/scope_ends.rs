//! `scope`, when its future is dropped or forgotten, when it is in another one, and when children are told to end.

use std::cell::RefCell;
use std::future::{Future, pending};
use std::panic;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};

use rt::task::{scope, yield_now};
use rt_test_util::*;

use crate::scope::waits;

#[test]
fn a_scope_that_is_dropped_aborts_its_children() {
    let _watchdog = watchdog();
    let drops = Drops::new();
    let kept = RefCell::new(None);
    current().block_on(async {
        let mut running = Box::pin(scope(async |s| {
            waits(&s, &drops);
            *kept.borrow_mut() = Some(s.clone());
            pending::<Result<(), _>>().await
        }));
        assert!(running.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        // One waits already, one has not begun.
        yield_now().await;
        let s = kept.borrow_mut().take().unwrap();
        let late = waits(&s, &drops);
        drop(running);
        assert!(s.token().is_cancelled());
        assert!(late.await.unwrap_err().is_cancelled());
        while drops.count() < 2 {
            yield_now().await;
        }
        let refused = waits(&s, &drops);
        assert_eq!(drops.count(), 3, "what is refused is dropped at once");
        assert!(refused.await.unwrap_err().is_cancelled());
        assert_eq!(format!("{s:?}"), "Scope { members: 0 }");
    });
    drops.assert_all();
}

#[test]
fn a_scope_that_is_over_takes_no_children() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let drops = Drops::new();
            let s = scope(async |s| Ok(s)).await.unwrap();
            assert!(waits(&s, &drops).await.unwrap_err().is_cancelled());
            assert!(s.spawn_blocking(|| Ok(())).await.unwrap_err().is_cancelled());
            drops.assert_all();
            assert!(!s.token().is_cancelled());
        });
    });
}

#[test]
fn a_scope_that_is_forgotten_lets_its_children_go_on() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let drops = Drops::new();
        let (go, done) = (Arc::new(Signal::new()), Arc::new(Signal::new()));
        runtime.block_on(async {
            // Forgotten until all is over. (Tools that look for leaks see it.)
            let mut forgotten = pin!(scope(async |s| {
                let (go, done, token) = (go.clone(), done.clone(), drops.token());
                s.spawn(async move {
                    while !go.is_set() {
                        yield_now().await;
                    }
                    done.set();
                    drop(token);
                    Ok::<_, ()>(())
                });
                pending::<Result<(), _>>().await
            }));
            assert!(forgotten.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
            go.set();
            while drops.count() < 1 {
                yield_now().await;
            }
            assert!(done.is_set());
        });
    });
}

#[test]
fn an_outer_scope_waits_for_children_of_inner_ones() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        for is_forgotten in [false, true] {
            let drops = Drops::new();
            let gate = Gate::new();
            let forgotten = RefCell::new(None);
            runtime.block_on(async {
                let outer = scope(async |s| {
                    let (token, theirs) = (drops.token(), gate.clone());
                    let mut inner = Box::pin(scope(async move |inner| {
                        // It cannot be aborted, and so outlives the inner scope, whose future is dropped.
                        inner.spawn_blocking(move || {
                            theirs.pass();
                            drop(token);
                            Ok::<_, ()>(())
                        });
                        pending::<Result<(), _>>().await
                    }));
                    assert!(inner.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
                    gate.wait_for(1);
                    // Forgotten until the outer one is over. (Tools that look for leaks see it.)
                    if is_forgotten {
                        *forgotten.borrow_mut() = Some(inner);
                    } else {
                        drop(inner);
                    }
                    assert!(!s.token().is_cancelled());
                    Err::<(), _>("boom")
                });
                let mut outer = pin!(outer);
                assert!(outer.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
                assert_eq!(drops.count(), 0);
                gate.open();
                assert_eq!(outer.await, Err("boom"));
                drops.assert_all();
            });
        }
    });
}

#[test]
fn the_failure_of_an_outer_scope_ends_the_inner_ones() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let drops = Drops::new();
        let output: Result<(), _> = runtime.block_on(scope(async |s| {
            for _ in 0..10 {
                let drops = drops.clone();
                s.spawn(scope(async move |s| {
                    for _ in 0..10 {
                        let token = drops.token();
                        s.spawn(async move {
                            let _token = token;
                            pending::<Result<(), &'static str>>().await
                        });
                    }
                    Ok(())
                }));
            }
            yield_now().await;
            Err("boom")
        }));
        assert_eq!(output, Err("boom"));
        drops.assert_all();
    });
}

#[test]
fn the_token_is_cancelled_with_the_scope_and_the_one_around_it() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        // A closure that cannot be aborted, and ends by the token.
        let output = runtime.block_on(scope(async |s| {
            let token = s.token().clone();
            s.spawn_blocking(move || {
                while !token.is_cancelled() {
                    std::thread::yield_now();
                }
                Ok::<_, &'static str>(())
            });
            Err::<(), _>("boom")
        }));
        assert_eq!(output, Err("boom"));
        let output = runtime.block_on(scope(async |s| {
            let child = s.spawn(scope(async |s| {
                s.token().cancelled().await;
                Ok::<_, ()>(7)
            }));
            s.token().cancel();
            Ok(child.await.unwrap())
        }));
        assert_eq!(output, Ok(7));
    });
}

#[test]
fn a_waker_that_panics_leaves_nobody_behind() {
    struct Panics;
    impl Wake for Panics {
        fn wake(self: Arc<Self>) {
            panic::panic_any("boom");
        }
    }
    let _watchdog = watchdog();
    current().block_on(async {
        let drops = Drops::new();
        let mut waiting = None;
        let output = scope(async |s| {
            waits(&s, &drops);
            let waiting = waiting.insert(Box::pin(s.token().clone().cancelled_owned()));
            let waker = Waker::from(Arc::new(Panics));
            assert!(waiting.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
            Err::<(), _>("first")
        });
        assert_eq!(output.await, Err("first"));
        drops.assert_all();
    });
}

#[test]
fn a_child_may_be_aborted_without_a_failure() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let drops = Drops::new();
        let output = runtime.block_on(scope(async |s| {
            let one = waits(&s, &drops);
            one.abort();
            assert!(one.await.unwrap_err().is_cancelled());
            let all: Vec<_> = (0..100).map(|_| waits(&s, &drops)).collect();
            s.abort_all();
            for one in all {
                assert!(one.await.unwrap_err().is_cancelled());
            }
            Ok(s.spawn(async { Ok(7) }).await.unwrap())
        }));
        assert_eq!(output, Ok(7));
        drops.assert_all();
    });
}
