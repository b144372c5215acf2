//! Panics to throw, and how to tell that a runtime has come through one.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Barrier};
use std::time::Duration;

use rt::io::{AsyncReadExt, AsyncWriteExt};
use rt::net::{TcpListener, TcpStream};
use rt::runtime::{Runtime, RuntimeFlavor};

use crate::common::*;

/// What a panic throws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Blast {
    /// Something harmless.
    Plain,
    /// Something that panics again when it is dropped.
    Nested,
}

/// Panics in its drop, each time with a smaller one, until there is nothing left.
struct Nested(u32);

impl Drop for Nested {
    fn drop(&mut self) {
        if self.0 > 0 {
            resume_unwind(Box::new(Nested(self.0 - 1)));
        }
    }
}

impl Blast {
    pub(crate) const ALL: [Self; 2] = [Self::Plain, Self::Nested];

    /// Panics. Without the panic hook, whose reports would only hide what matters.
    pub(crate) fn go_off(self) -> ! {
        resume_unwind(self.payload())
    }

    pub(crate) fn payload(self) -> Box<dyn Any + Send> {
        match self {
            Self::Plain => Box::new("a blast"),
            Self::Nested => Box::new(Nested(2)),
        }
    }
}

/// Runs something that may panic, with whatever payload. True if it did.
pub(crate) fn survives(f: impl FnOnce()) -> bool {
    match catch_unwind(AssertUnwindSafe(f)) {
        Ok(()) => false,
        Err(payload) => {
            defuse(payload);
            true
        }
    }
}

/// Drops the payload of a panic, and those of the panics that follow from that.
pub(crate) fn defuse(mut payload: Box<dyn Any + Send>) {
    while let Err(next) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        payload = next;
    }
}

/// Counts its drop, then panics.
pub(crate) struct Bomb {
    token: Option<Token>,
    blast: Blast,
}

impl Bomb {
    pub(crate) fn new(drops: &Drops, blast: Blast) -> Self {
        Self { token: Some(drops.token()), blast }
    }
}

impl Drop for Bomb {
    fn drop(&mut self) {
        drop(self.token.take());
        self.blast.go_off();
    }
}

/// Every worker is there, and tasks, timers, sockets and blocking jobs all work.
#[track_caller]
pub(crate) fn assert_unhurt(runtime: &Runtime) {
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

/// Every kind of runtime that a fault may hit, with every kind of panic.
pub(crate) fn on_each(test: impl Fn(&Runtime, Blast)) {
    for blast in Blast::ALL {
        for runtime in [current(), multi(1), multi(2), multi(4)] {
            test(&runtime, blast);
            assert_unhurt(&runtime);
            drop(runtime);
        }
    }
}
