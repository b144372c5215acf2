//! What a listener hears, and what it does to the others.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use rt::time::timeout;
use rt_test_util::Wakes;

use super::*;

on_each_runtime! {
    each_signal_is_heard: |runtime: Runtime| runtime.block_on(async {
        let mut usr1 = listen(SignalKind::user_defined1());
        for _ in 0..100 {
            send(Number::SIGUSR1);
            hear(&mut usr1).await;
        }
    });

    all_listeners_hear_a_signal: |runtime: Runtime| runtime.block_on(async {
        let tasks: Vec<_> = (0..100)
            .map(|_| {
                let mut usr2 = listen(SignalKind::user_defined2());
                rt::spawn(async move { hear(&mut usr2).await })
            })
            .collect();
        send_to_process(Number::SIGUSR2);
        for task in tasks {
            task.await.unwrap();
        }
    });

    signals_that_nobody_has_polled_for_are_one: |runtime: Runtime| runtime.block_on(async {
        let mut usr1 = listen(SignalKind::user_defined1());
        let mut usr2 = listen(SignalKind::user_defined2());
        for _ in 0..50 {
            send(Number::SIGUSR1);
        }
        // Delivered after those.
        send(Number::SIGUSR2);
        hear(&mut usr2).await;
        hear(&mut usr1).await;
        assert!(!is_ready(&mut usr1), "one for all of them");
        send(Number::SIGUSR1);
        hear(&mut usr1).await;
    });

    a_listener_that_lags_hears_the_last: |runtime: Runtime| runtime.block_on(async {
        let (mut quick, mut slow) = (listen(SignalKind::alarm()), listen(SignalKind::alarm()));
        for _ in 0..10 {
            send(Number::SIGALRM);
            hear(&mut quick).await;
        }
        hear(&mut slow).await;
        assert!(!is_ready(&mut slow));
    });

    who_stops_listening_takes_nothing_from_others: |runtime: Runtime| runtime.block_on(async {
        let (first, mut second, third) =
            (listen(SignalKind::hangup()), listen(SignalKind::hangup()), listen(SignalKind::hangup()));
        drop((first, third));
        send(Number::SIGHUP);
        hear(&mut second).await;
        let mut fourth = listen(SignalKind::hangup());
        send(Number::SIGHUP);
        hear(&mut second).await;
        hear(&mut fourth).await;
    });

    a_recv_that_is_dropped_loses_nothing: |runtime: Runtime| runtime.block_on(async {
        let mut usr1 = listen(SignalKind::user_defined1());
        for _ in 0..20 {
            {
                let mut recv = pin!(usr1.recv());
                assert!(recv.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
                send(Number::SIGUSR1);
            }
            hear(&mut usr1).await;
        }
    });

    ctrl_c_is_told_to_all_who_wait: |runtime: Runtime| runtime.block_on(async {
        let mut stream = listen(SignalKind::interrupt());
        let polled = Arc::new(AtomicUsize::new(0));
        let waits: Vec<_> = (0..10)
            .map(|_| {
                let polled = polled.clone();
                rt::spawn(async move {
                    let mut wait = pin!(rt::signal::ctrl_c());
                    poll_fn(|cx| {
                        let polls = wait.as_mut().poll(cx);
                        polled.fetch_add(1, SeqCst);
                        polls
                    })
                    .await
                })
            })
            .collect();
        while polled.load(SeqCst) < 10 {
            rt::task::yield_now().await;
        }
        let mut own = pin!(rt::signal::ctrl_c());
        assert!(own.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        send_to_process(Number::SIGINT);
        for wait in waits {
            wait.await.unwrap().unwrap();
        }
        own.await.unwrap();
        hear(&mut stream).await;
    });

    // Each `recv` is ready at once, so only the budget ends the loop.
    a_loop_over_a_stream_of_signals_lets_others_run: |runtime: Runtime| {
        let looped = runtime.block_on(runtime.spawn(async {
            let mut usr1 = listen(SignalKind::user_defined1());
            let mut looped = 0u64;
            let endless = async {
                loop {
                    send(Number::SIGUSR1);
                    usr1.recv().await;
                    looped += 1;
                }
            };
            timeout(Duration::from_millis(50), endless).await.unwrap_err();
            looped
        }));
        assert!(looped.unwrap() > 0);
    };
}

/// The handler stays: what would end the process by default does not, when nobody listens any more.
#[test]
fn a_signal_that_was_listened_for_once_is_harmless_ever_after() {
    in_own_process(|| {
        current().block_on(async { drop(listen(SignalKind::terminate())) });
        send(Number::SIGTERM);
        multi(2).block_on(async {
            send_to_process(Number::SIGTERM);
            let mut terminate = listen(SignalKind::terminate());
            send_to_process(Number::SIGTERM);
            hear(&mut terminate).await;
        });
    });
}

/// A signal that nobody has listened for does what it does by default.
#[cfg(target_os = "linux")]
#[test]
fn no_handler_is_taken_before_somebody_listens() {
    in_own_process(|| {
        let before = handlers();
        multi(2).block_on(async {
            let_drivers_look().await;
            assert_eq!(handlers(), before);
            let _usr1 = listen(SignalKind::user_defined1());
            let now = handlers();
            assert_eq!(now & !before, 1 << (Number::SIGUSR1 as u32 - 1), "one more, and no other");
        });
    });
}

/// The signals that this process has a handler for, as the system tells.
#[cfg(target_os = "linux")]
fn handlers() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
    u64::from_str_radix(caught.trim(), 16).unwrap()
}

/// A handler that was there before is called as well.
#[test]
fn a_handler_of_somebody_elses_is_still_called() {
    static CALLED: AtomicUsize = AtomicUsize::new(0);
    extern "C" fn count(_: i32) {
        CALLED.fetch_add(1, SeqCst);
    }
    in_own_process(|| {
        let action = nix::sys::signal::SigAction::new(
            nix::sys::signal::SigHandler::Handler(count),
            nix::sys::signal::SaFlags::empty(),
            nix::sys::signal::SigSet::empty(),
        );
        // SAFETY: it counts, which a handler may do.
        unsafe { nix::sys::signal::sigaction(Number::SIGUSR1, &action) }.unwrap();
        multi(2).block_on(async {
            let mut usr1 = listen(SignalKind::user_defined1());
            send(Number::SIGUSR1);
            hear(&mut usr1).await;
        });
        assert_eq!(CALLED.load(SeqCst), 1);
    });
}

/// Of several wakers that one stream is polled with, the last one is woken.
#[test]
fn the_last_waker_is_woken() {
    in_own_process(|| {
        current().block_on(async {
            let mut usr1 = listen(SignalKind::user_defined1());
            let wakes = [(); 3].map(|()| Arc::new(Wakes::default()));
            for wakes in &wakes {
                let waker = Waker::from(wakes.clone());
                assert!(usr1.poll_recv(&mut Context::from_waker(&waker)).is_pending());
            }
            send(Number::SIGUSR1);
            let_drivers_look().await;
            assert_eq!(wakes.each_ref().map(|wakes| wakes.count()), [0, 0, 1]);
            assert!(is_ready(&mut usr1));
        });
    });
}

/// Signals come at any moment, from several threads, while listeners come and go: nobody misses the last one.
#[test]
fn no_listener_misses_the_last_of_a_storm_of_signals() {
    in_own_process(|| {
        let runtime = multi(4);
        runtime.block_on(async {
            let listeners: Vec<_> = (0..20)
                .map(|n| {
                    rt::spawn(async move {
                        let mut heard = 0;
                        for round in 0..50 {
                            let mut usr1 = listen(SignalKind::user_defined1());
                            send_to_process(Number::SIGUSR1);
                            for _ in 0..(n + round) % 3 {
                                hear(&mut usr1).await;
                                send_to_process(Number::SIGUSR1);
                            }
                            hear(&mut usr1).await;
                            heard += 1;
                        }
                        heard
                    })
                })
                .collect();
            for listener in listeners {
                assert_eq!(listener.await.unwrap(), 50);
            }
        });
    });
}
