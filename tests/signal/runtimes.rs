//! Several runtimes, one after the other and beside each other.

use std::thread;

use rt_test_util::in_fork;

use super::*;

/// A runtime that has ended leaves the streams of the others working, and its own ones too.
#[test]
fn streams_outlive_the_runtime_they_were_made_in() {
    in_own_process(|| {
        let (first, second) = (multi(2), current());
        let mut of_first = first.block_on(async { listen(SignalKind::user_defined1()) });
        let mut of_second = second.block_on(async { listen(SignalKind::user_defined1()) });
        send(Number::SIGUSR1);
        first.block_on(hear(&mut of_first));
        drop(first);
        send(Number::SIGUSR1);
        second.block_on(async {
            hear(&mut of_second).await;
            hear(&mut of_first).await;
        });
        drop(second);
        // What comes while there is no runtime is told by the next one, which has never heard of signals.
        send(Number::SIGUSR1);
        multi(1).block_on(async {
            hear(&mut of_first).await;
            hear(&mut of_second).await;
        });
    });
}

/// Its poller is shared with the fork. (Mutation: the fork takes out what tells of signals.)
#[test]
fn a_runtime_that_a_fork_has_dropped_goes_on_hearing() {
    in_own_process(|| {
        let runtime = current();
        let mut usr1 = runtime.block_on(async { listen(SignalKind::user_defined1()) });
        let mut runtime = Some(runtime);
        in_fork(|| drop(runtime.take()));
        for _ in 0..3 {
            send(Number::SIGUSR1);
            runtime.as_ref().unwrap().block_on(hear(&mut usr1));
        }
    });
}

/// A runtime that no thread drives at the moment holds up nobody.
#[test]
fn a_runtime_that_nobody_drives_keeps_no_signal_from_others() {
    in_own_process(|| {
        let idle = current();
        let mut of_idle = idle.block_on(async { listen(SignalKind::hangup()) });
        let other = multi(2);
        let mut of_other = other.block_on(async { listen(SignalKind::hangup()) });
        for _ in 0..20 {
            send(Number::SIGHUP);
            other.block_on(async {
                hear(&mut of_other).await;
                hear(&mut of_idle).await;
            });
        }
        send(Number::SIGHUP);
        idle.block_on(hear(&mut of_idle));
    });
}

/// The stream is polled outside of any runtime; some runtime delivers, though it has nothing to do with it.
#[test]
fn any_runtime_delivers_to_a_stream_that_is_polled_on_a_plain_thread() {
    in_own_process(|| {
        let mut usr1 = current().block_on(async { listen(SignalKind::user_defined1()) });
        let _other = multi(1);
        for _ in 0..20 {
            send(Number::SIGUSR1);
            assert_eq!(futures_lite_block_on(usr1.recv()), Some(()));
        }
    });
}

/// A `block_on` that knows nothing of rt.
fn futures_lite_block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(thread::Thread);
    impl std::task::Wake for Unpark {
        fn wake(self: std::sync::Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(std::sync::Arc::new(Unpark(thread::current())));
    let mut future = std::pin::pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

/// Many runtimes come and go while signals do.
#[test]
fn runtimes_that_come_and_go_all_hear() {
    in_own_process(|| {
        for round in 0..10 {
            let threads: Vec<_> = (0..4)
                .map(|n| {
                    thread::spawn(move || {
                        let runtime = if (n + round) % 2 == 0 { current() } else { multi(2) };
                        runtime.block_on(async {
                            let mut hangup = listen(SignalKind::hangup());
                            send_to_process(Number::SIGHUP);
                            hear(&mut hangup).await;
                        });
                    })
                })
                .collect();
            for thread in threads {
                thread.join().unwrap();
            }
        }
    });
}

/// Listening costs two descriptors, once, however many listeners and runtimes there are.
#[cfg(target_os = "linux")]
#[test]
fn listening_costs_the_process_two_descriptors() {
    use rt_test_util::descriptor_count;

    in_own_process(|| {
        let (first, second) = (current(), current());
        let before = descriptor_count();
        let all: Vec<_> = [&first, &second, &first]
            .into_iter()
            .flat_map(|runtime| {
                [SignalKind::hangup(), SignalKind::user_defined1()]
                    .map(|kind| runtime.block_on(async move { listen(kind) }))
            })
            .collect();
        assert_eq!(descriptor_count(), before + 2);
        drop(all);
        assert_eq!(descriptor_count(), before + 2);
        let third = current();
        let with_third = descriptor_count();
        let _more = third.block_on(async { listen(SignalKind::alarm()) });
        assert_eq!(descriptor_count(), with_third);
    });
}

/// Without descriptors there is an error, once there are some all is well, and nothing was left behind.
#[cfg(target_os = "linux")]
#[test]
fn listening_without_descriptors_is_an_error() {
    use nix::libc;
    use nix::sys::resource::{Resource, getrlimit, setrlimit};

    in_own_process(|| {
        let runtime = multi(2);
        runtime.block_on(async {
            let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
            setrlimit(Resource::RLIMIT_NOFILE, 256.min(hard), hard).unwrap();
            let mut files: Vec<_> = std::iter::from_fn(|| std::fs::File::open("/dev/null").ok()).collect();
            for _ in 0..2 {
                let error = signal(SignalKind::user_defined1()).unwrap_err();
                assert_eq!(error.raw_os_error(), Some(libc::EMFILE));
                files.pop();
            }
            let mut usr1 = listen(SignalKind::user_defined1());
            // From now on it takes none.
            let mut usr2 = listen(SignalKind::user_defined2());
            send(Number::SIGUSR1);
            send(Number::SIGUSR2);
            hear(&mut usr1).await;
            hear(&mut usr2).await;
        });
    });
}
