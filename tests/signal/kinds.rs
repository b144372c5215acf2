//! Which signals there are, and which cannot be listened for.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::*;

#[test]
fn kinds_are_numbers() {
    let kinds = [
        (SignalKind::alarm(), Number::SIGALRM),
        (SignalKind::child(), Number::SIGCHLD),
        (SignalKind::hangup(), Number::SIGHUP),
        (SignalKind::interrupt(), Number::SIGINT),
        (SignalKind::io(), Number::SIGIO),
        (SignalKind::pipe(), Number::SIGPIPE),
        (SignalKind::quit(), Number::SIGQUIT),
        (SignalKind::terminate(), Number::SIGTERM),
        (SignalKind::user_defined1(), Number::SIGUSR1),
        (SignalKind::user_defined2(), Number::SIGUSR2),
        (SignalKind::window_change(), Number::SIGWINCH),
    ];
    for (kind, number) in kinds {
        assert_eq!(kind.as_raw_value(), number as i32);
        assert_eq!(SignalKind::from(number as i32), kind);
        assert_eq!(i32::from(kind), number as i32);
    }
}

#[test]
fn every_kind_with_a_name_can_be_heard() {
    in_own_process(|| {
        current().block_on(async {
            let numbers = [
                Number::SIGALRM,
                Number::SIGCHLD,
                Number::SIGHUP,
                Number::SIGINT,
                Number::SIGIO,
                Number::SIGPIPE,
                Number::SIGQUIT,
                Number::SIGTERM,
                Number::SIGUSR1,
                Number::SIGUSR2,
                Number::SIGWINCH,
            ];
            let mut streams = numbers.map(|number| listen(SignalKind::from_raw(number as i32)));
            for (place, number) in numbers.into_iter().enumerate() {
                send(number);
                hear(&mut streams[place]).await;
                assert!(streams.iter_mut().all(|stream| !is_ready(stream)), "{number} is told to no other");
            }
        });
    });
}

#[cfg(target_os = "linux")]
#[test]
fn real_time_signals_are_heard_up_to_the_last() {
    use nix::libc;

    in_own_process(|| {
        multi(2).block_on(async {
            for number in [libc::SIGRTMIN(), libc::SIGRTMIN() + 1, libc::SIGRTMAX()] {
                let mut stream = listen(SignalKind::from_raw(number));
                // SAFETY: it takes a number, and there is a handler.
                assert_eq!(unsafe { libc::raise(number) }, 0);
                hear(&mut stream).await;
            }
        });
    });
}

#[test]
fn what_cannot_be_listened_for_is_an_error() {
    in_own_process(|| {
        current().block_on(async {
            let forbidden = [Number::SIGKILL, Number::SIGSTOP, Number::SIGILL, Number::SIGFPE, Number::SIGSEGV];
            let none = [0, -1, i32::MIN, 129, 1000, i32::MAX];
            for number in forbidden.into_iter().map(|number| number as i32).chain(none) {
                let error = signal(SignalKind::from_raw(number)).unwrap_err();
                assert!(error.to_string().contains(&number.to_string()), "{number}: {error}");
            }
            // Within the table, but not a signal of this system: the system says so.
            #[cfg(target_os = "linux")]
            signal(SignalKind::from_raw(100)).unwrap_err();
            // After all that, signals are still heard.
            let mut usr1 = listen(SignalKind::user_defined1());
            send(Number::SIGUSR1);
            hear(&mut usr1).await;
        });
    });
}

#[test]
fn listening_needs_a_runtime_with_sockets() {
    assert!(catch_unwind(|| signal(SignalKind::hangup())).is_err());
    let bare = Builder::new_current_thread().build().unwrap();
    let outcome = catch_unwind(AssertUnwindSafe(|| bare.block_on(async { signal(SignalKind::hangup()) })));
    assert!(outcome.is_err());
    let outcome = catch_unwind(AssertUnwindSafe(|| bare.block_on(rt::signal::ctrl_c())));
    assert!(outcome.is_err());
}
