//! `rt` beside the patched `tokio`: two names for one runtime.

use std::any::TypeId;

#[test]
fn types_are_one() {
    fn same<A: 'static, B: 'static>() -> bool {
        TypeId::of::<A>() == TypeId::of::<B>()
    }
    assert!(same::<rt::runtime::Runtime, tokio::runtime::Runtime>());
    assert!(same::<rt::runtime::Handle, tokio::runtime::Handle>());
    assert!(same::<rt::runtime::Builder, tokio::runtime::Builder>());
    assert!(same::<rt::task::JoinHandle<u8>, tokio::task::JoinHandle<u8>>());
    assert!(same::<rt::net::TcpStream, tokio::net::TcpStream>());
    assert!(same::<rt::sync::mpsc::Sender<u8>, tokio::sync::mpsc::Sender<u8>>());
    assert!(same::<rt::time::Sleep, tokio::time::Sleep>());
    assert!(same::<rt::io::ReadBuf<'static>, tokio::io::ReadBuf<'static>>());
}

/// Libraries use names that Tokio's documentation hides, or has elsewhere by now.
#[test]
fn names_that_tokio_hides_are_there() {
    type Unconstrained = tokio::task::Unconstrained<std::future::Ready<()>>;
    assert_eq!(TypeId::of::<Unconstrained>(), TypeId::of::<tokio::task::coop::Unconstrained<std::future::Ready<()>>>());
    let _: fn(&tokio::runtime::RuntimeMetrics) -> usize = tokio::runtime::RuntimeMetrics::global_queue_depth;
    let _: fn(&tokio::net::UdpSocket) -> std::io::Result<u32> = tokio::net::UdpSocket::tos;
    let _: fn(&tokio::net::TcpSocket) -> std::io::Result<u32> = tokio::net::TcpSocket::tos;
}

#[test]
fn a_library_on_tokio_runs_on_a_runtime_of_rt() {
    let runtime = rt::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        // tokio-util spawns through `tokio`, and the task is on the runtime that the test made through `rt`.
        let tracker = tokio_util::task::TaskTracker::new();
        let inside = tracker.spawn(async { tokio::runtime::Handle::current().id() }).await.unwrap();
        assert_eq!(inside, rt::runtime::Handle::current().id());

        let from_rt: rt::task::JoinHandle<_> = tokio::spawn(async { rt::task::id() });
        let id = from_rt.id();
        assert_eq!(from_rt.await.unwrap(), id);
    });
}

#[rt::test]
async fn the_macros_of_one_take_the_futures_of_the_other() {
    let (sender, receiver) = rt::sync::oneshot::channel();
    let told = tokio::join!(async { sender.send(1).is_ok() }, receiver);
    assert_eq!(told, (true, Ok(1)));
}

#[tokio::test]
async fn what_only_rt_has_sees_what_libraries_do() {
    let runtime = rt::runtime::Handle::current();
    assert!(runtime.metrics().num_alive_tasks() < 10);
    let (sender, receiver) = tokio::sync::oneshot::channel::<()>();
    let mut tasks = tokio_util::task::JoinMap::new();
    for n in 0..10 {
        tasks.spawn(n, std::future::pending::<()>());
    }
    let waits = tokio::spawn(receiver);
    assert!(runtime.metrics().num_alive_tasks() >= 11);
    drop(sender);
    assert!(waits.await.unwrap().is_err());
}
