//! Files at the end: of the file, of the runtime, and without a runtime.

use std::future::Future;
use std::io::SeekFrom;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::task::{Context, Poll, Waker};

use rt::fs::File;
use rt::io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt};
use rt::runtime::{Builder, Runtime};

use crate::temporary::Directory;
use rt_test_util::{eventually, on_each_runtime, watchdog};

#[test]
fn a_file_that_is_dropped_is_written_to_the_end() {
    let _watchdog = watchdog();
    let directory = Directory::new();
    let path = directory.path().join("a");
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let mut file = File::create(&path).await.unwrap();
            for _ in 0..1000 {
                file.write_all(b"0123456789").await.unwrap();
            }
        });
        // Not flushed. The end of the runtime waits for it.
        drop(runtime);
        assert_eq!(std::fs::metadata(&path).unwrap().len(), 10_000);
    });
}

/// A runtime whose only thread for blocking calls is busy until the sender is dropped.
fn busy(mut builder: Builder) -> (Runtime, mpsc::Sender<()>) {
    let runtime = builder.max_blocking_threads(1).enable_all().build().unwrap();
    let (gate, open) = mpsc::channel::<()>();
    let (begun, has_begun) = mpsc::channel();
    runtime.spawn_blocking(move || {
        begun.send(()).unwrap();
        let _ = open.recv();
    });
    has_begun.recv().unwrap();
    (runtime, gate)
}

fn flavors() -> [Builder; 2] {
    [Builder::new_multi_thread(), Builder::new_current_thread()]
}

#[test]
fn a_write_that_waits_for_a_thread_is_done_although_the_runtime_ends() {
    let _watchdog = watchdog();
    for builder in flavors() {
        let directory = Directory::new();
        let path = directory.file("a", "");
        let (runtime, gate) = busy(builder);
        let mut file = File::from_std(std::fs::OpenOptions::new().append(true).open(&path).unwrap());
        runtime.block_on(async {
            file.write_all(b"hello ").await.unwrap();
            file.write_all(b"world").await.unwrap();
        });
        drop(file);
        runtime.shutdown_background();
        assert_eq!(std::fs::read(&path).unwrap(), b"", "the thread is busy");
        drop(gate);
        eventually(|| std::fs::read(&path).unwrap() == b"hello world");
    }
}

#[test]
fn the_end_of_the_runtime_waits_for_such_a_write() {
    let _watchdog = watchdog();
    for builder in flavors() {
        let directory = Directory::new();
        let path = directory.file("a", "");
        let (runtime, gate) = busy(builder);
        let mut file = File::from_std(std::fs::OpenOptions::new().append(true).open(&path).unwrap());
        runtime.block_on(async { file.write_all(b"hello").await.unwrap() });
        let opens = std::thread::spawn(move || drop(gate));
        drop(runtime);
        opens.join().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"hello");
    }
}

/// A full pool makes files wait, and nothing else.
#[test]
fn a_pool_without_a_free_thread_is_waited_for() {
    let _watchdog = watchdog();
    for builder in flavors() {
        let directory = Directory::new();
        let path = directory.file("a", "hello");
        let (runtime, gate) = busy(builder);
        runtime.block_on(async {
            let mut read = std::pin::pin!(rt::fs::read(&path));
            for _ in 0..10 {
                assert!(std::future::poll_fn(|cx| Poll::Ready(read.as_mut().poll(cx).is_pending())).await);
                rt::task::yield_now().await;
            }
            drop(gate);
            assert_eq!(read.await.unwrap(), b"hello");
        });
    }
}

/// Polls once. The result of what cannot wait for anything.
fn now<F: Future>(future: F) -> F::Output {
    match std::pin::pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("it waits for a runtime that is gone"),
    }
}

#[test]
fn after_the_end_of_the_runtime_each_operation_fails_and_the_file_works_on_another() {
    let _watchdog = watchdog();
    for mut builder in flavors() {
        let directory = Directory::new();
        let path = directory.file("a", "hello");
        let runtime = builder.enable_all().build().unwrap();
        let handle = runtime.handle().clone();
        drop(runtime);
        let mut file = File::from_std(std::fs::File::options().read(true).write(true).open(&path).unwrap());
        {
            let _entered = handle.enter();
            for _ in 0..2 {
                let error = now(file.read(&mut [0; 5])).unwrap_err();
                assert!(rt::runtime::is_rt_shutdown_err(&error), "{error:?}");
                now(file.seek(SeekFrom::Start(0))).unwrap_err();
                now(file.write(b"x")).unwrap_err();
                now(file.flush()).unwrap();
                now(file.set_len(0)).unwrap_err();
                now(file.sync_all()).unwrap_err();
                now(file.metadata()).unwrap_err();
                now(file.try_clone()).unwrap_err();
                now(rt::fs::read(&path)).unwrap_err();
                now(rt::fs::read_dir(directory.path())).unwrap_err();
            }
        }
        let other = builder.build().unwrap();
        other.block_on(async {
            let mut text = String::new();
            file.read_to_string(&mut text).await.unwrap();
            assert_eq!(text, "hello");
            drop(file.into_std().await);
        });
    }
}

#[test]
fn without_a_runtime_it_panics_and_the_file_stays_whole() {
    let _watchdog = watchdog();
    let directory = Directory::new();
    let path = directory.file("a", "hello");
    let mut file = File::from_std(std::fs::File::open(&path).unwrap());
    assert!(catch_unwind(AssertUnwindSafe(|| now(file.read(&mut [0; 5])))).is_err());
    assert!(catch_unwind(|| now(rt::fs::read(&path))).is_err());
    rt_test_util::current().block_on(async {
        // The read that panicked has left its error.
        let mut memory = [0; 5];
        if file.read(&mut memory).await.is_err() {
            file.read(&mut memory).await.unwrap();
        }
        assert_eq!(&memory, b"hello");
    });
}

#[test]
fn a_file_goes_from_one_runtime_to_another() {
    let _watchdog = watchdog();
    let directory = Directory::new();
    let path = directory.path().join("a");
    let first = rt_test_util::multi(2);
    let mut file = first.block_on(async {
        let mut file = File::create(&path).await.unwrap();
        file.write_all(b"one").await.unwrap();
        file
    });
    drop(first);
    rt_test_util::current().block_on(async {
        file.write_all(b"two").await.unwrap();
        file.flush().await.unwrap();
    });
    assert_eq!(std::fs::read(&path).unwrap(), b"onetwo");
}
