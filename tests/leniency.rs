//! What the compiler takes from a program for Tokio, without a warning, it takes here: where a program denies warnings,
//! one more is an error, and where the compiler has to coerce a reference, a type parameter is one too many.

#![deny(unused_must_use, deprecated, unfulfilled_lint_expectations)]

use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::rc::Rc;
use std::sync::{Arc, LazyLock};

use rt::runtime::{Builder, LogHistogram, Runtime};
use rt::sync::{Mutex, RwLock, RwLockWriteGuard, mpsc, oneshot, watch};
use rt::task::{JoinSet, LocalSet};
use rt::time::Instant;

/// As on Tokio, nothing is said of values that are dropped at once. To borrow a value and drop it is the usual way to
/// mark it as seen.
#[test]
fn values_that_may_be_dropped_at_once() {
    rt::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
        let (send, mut receive) = watch::channel(0);
        send.send(1).unwrap();
        assert!(receive.has_changed().unwrap());
        receive.borrow_and_update();
        assert!(!receive.has_changed().unwrap());
        receive.borrow();
        send.borrow();

        let (mutex, lock) = (Arc::new(Mutex::new(0)), Arc::new(RwLock::new((0, 0))));
        mutex.clone().lock_owned().await;
        lock.clone().read_owned().await;
        lock.clone().write_owned().await;
        RwLockWriteGuard::map(lock.write().await, |pair| &mut pair.0);

        let (send, _receive) = mpsc::channel::<u8>(1);
        send.reserve().await.unwrap();
        send.clone().reserve_owned().await.unwrap();
        send.reserve_many(1).await.unwrap();
        assert_eq!(send.capacity(), 1);

        fn receiver() -> oneshot::Receiver<()> {
            oneshot::channel().1
        }
        receiver();
        JoinSet::<()>::new();
        LocalSet::new().enter();
        Instant::now();
        Instant::now().elapsed();
    });
}

#[test]
fn whatever_points_at_a_runtime() {
    static RUNTIME: LazyLock<Runtime> = LazyLock::new(runtime);
    fn runtime() -> Runtime {
        Builder::new_current_thread().build().unwrap()
    }
    let set = LocalSet::new();
    assert_eq!(set.block_on(&RUNTIME, async { 1 }), 1);
    let (owned, boxed) = (runtime(), Box::new(runtime()));
    let mut reference: &Runtime = &owned;
    assert_eq!(set.block_on(reference, async { 2 }), 2);
    assert_eq!(set.block_on(&reference, async { 3 }), 3);
    reference = &boxed;
    assert_eq!(set.block_on(&reference, async { 4 }), 4);
    assert_eq!(set.block_on(&boxed, async { 5 }), 5);
    assert_eq!(set.block_on(&Arc::new(runtime()), async { 6 }), 6);
    assert_eq!(set.block_on(&Rc::new(runtime()), async { 7 }), 7);
    let manual = ManuallyDrop::new(runtime());
    assert_eq!(set.block_on(&manual, async { 8 }), 8);
    drop(ManuallyDrop::into_inner(manual));

    struct Guard(Runtime);
    impl Deref for Guard {
        type Target = Runtime;
        fn deref(&self) -> &Runtime {
            &self.0
        }
    }
    assert_eq!(set.block_on(&Guard(runtime()), async { 9 }), 9);
}

#[test]
fn hooks_whose_types_are_named() {
    let name: fn() -> String = || "a name".into();
    Builder::new_multi_thread()
        .worker_threads(1)
        .thread_name_fn::<fn() -> String>(name)
        .on_thread_start::<fn()>(|| ())
        .on_thread_stop::<fn()>(|| ())
        .on_thread_park::<fn()>(|| ())
        .on_thread_unpark::<fn()>(|| ())
        .build()
        .unwrap();
    assert!(LogHistogram::default().max_value() > 1 << 60);
}

/// As on Tokio, the compiler warns of it: it is an error not to expect that.
#[test]
fn what_can_block_the_thread_that_drops_it() {
    let runtime = Builder::new_current_thread().enable_io().build().unwrap();
    runtime.block_on(async {
        let socket = rt::net::TcpSocket::new_v4().unwrap();
        #[expect(deprecated)]
        socket.set_linger(None).unwrap();
        let listener = rt::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let stream = rt::net::TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        #[expect(deprecated)]
        stream.set_linger(None).unwrap();
    });
}

/// As on Tokio, the compiler warns of it.
#[test]
fn a_handle_that_aborts_nothing_by_itself() {
    Builder::new_current_thread().build().unwrap().block_on(async {
        let task = rt::spawn(async { 1 });
        #[expect(unused_must_use)]
        task.abort_handle();
        assert_eq!(task.await.unwrap(), 1);
    });
}
