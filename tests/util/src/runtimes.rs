//! Runtimes to test, and what they must still do after a fault.

use std::num::NonZero;
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

use rt::io::{AsyncReadExt, AsyncWriteExt};
use rt::net::{TcpListener, TcpStream};
use rt::runtime::{Builder, Runtime, RuntimeFlavor};

/// How many processors there are, as the runtime counts them.
pub fn processors() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

/// A multi-thread runtime with sockets and timers, and with spare workers switched off: many tests hold its workers at
/// a [`Gate`](crate::Gate), and rely on it that no spare takes their place.
pub fn multi(workers: usize) -> Runtime {
    Builder::new_multi_thread().worker_threads(workers).enable_all().rescue_blocked(false).build().unwrap()
}

/// A builder of a multi-thread runtime with sockets and timers, and with spare workers, whose threads end as soon as
/// they are not needed. Reports of blocked tasks are dropped.
pub fn rescuing(workers: usize) -> Builder {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(workers).enable_all().thread_keep_alive(Duration::ZERO).on_blocked(|_| ());
    builder
}

/// A current-thread runtime with sockets and timers.
pub fn current() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

/// Runs a test on each kind of runtime: one thread, one worker, several workers, and what the environment asks for.
pub fn on_each_runtime(test: impl Fn(Runtime)) {
    test(current());
    test(multi(1));
    test(multi(2));
    test(multi(4));
    test(Runtime::new().unwrap());
}

/// Asserts that every worker is there, and that tasks, timers, sockets and blocking jobs all work.
#[track_caller]
pub fn assert_unhurt(runtime: &Runtime) {
    if runtime.handle().runtime_flavor() == RuntimeFlavor::MultiThread {
        // Passed only by as many threads at once.
        let workers = runtime.handle().metrics().num_workers();
        let barrier = Arc::new(Barrier::new(workers));
        let tasks: Vec<_> = (0..workers)
            .map(|_| {
                let barrier = barrier.clone();
                runtime.spawn(async move { barrier.wait().is_leader() })
            })
            .collect();
        runtime.block_on(async {
            for task in tasks {
                task.await.unwrap();
            }
        });
    }
    let outside = runtime.spawn(async { 1 });
    runtime.block_on(async {
        let tasks: Vec<_> = (0..50)
            .map(|n| {
                rt::spawn(async move {
                    rt::task::yield_now().await;
                    n
                })
            })
            .collect();
        let mut sum = outside.await.unwrap();
        for task in tasks {
            sum += task.await.unwrap();
        }
        assert_eq!(sum, 1226);
        rt::spawn(rt::time::sleep(Duration::from_micros(300))).await.unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let client = rt::spawn(async move {
            let mut client = TcpStream::connect(address).await.unwrap();
            client.write_all(b"unhurt").await.unwrap();
        });
        let (mut server, _) = listener.accept().await.unwrap();
        let mut text = String::new();
        server.read_to_string(&mut text).await.unwrap();
        assert_eq!(text, "unhurt");
        client.await.unwrap();
        assert_eq!(rt::spawn_blocking(|| 7).await.unwrap(), 7);
    });
}
