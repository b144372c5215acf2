//! Channels and locks in tasks: they spend budget, know what may block, and have the runtime's timers.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use rt::runtime::Builder;
use rt::sync::mpsc::error::SendTimeoutError;
use rt::sync::{Barrier, Mutex, RwLock, Semaphore, mpsc};
use rt::time::{Duration, timeout};

fn block_on<F: Future>(future: F) -> F::Output {
    Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

/// A loop over something that is always ready ends when the time is over, because each round spends budget.
async fn ends<F: Future>(mut make: impl FnMut() -> F) {
    let forever = async {
        loop {
            make().await;
        }
    };
    let task = async { timeout(Duration::from_millis(1), forever).await.is_err() };
    assert!(task.await);
}

#[test]
fn each_operation_spends_budget() {
    block_on(async {
        rt::spawn(async {
            let semaphore = Semaphore::new(1);
            ends(async || drop(semaphore.acquire().await)).await;
            semaphore.close();
            ends(async || drop(semaphore.acquire().await)).await;
            let mutex = Mutex::new(());
            ends(async || drop(mutex.lock().await)).await;
            let lock = RwLock::new(());
            ends(async || drop(lock.read().await)).await;
            ends(async || drop(lock.write().await)).await;
            let barrier = Barrier::new(1);
            ends(async || assert!(barrier.wait().await.is_leader())).await;
        })
        .await
        .unwrap();
        rt::spawn(async {
            let (tx, rx) = mpsc::channel(1);
            let rx = Mutex::new(rx);
            ends(async || {
                tx.send(()).await.unwrap();
                rx.try_lock().unwrap().try_recv().unwrap();
            })
            .await;
            let (tx, rx) = mpsc::unbounded_channel();
            let rx = Mutex::new(rx);
            ends(async || {
                tx.send(()).unwrap();
                rx.try_lock().unwrap().recv().await.unwrap();
            })
            .await;
            drop(tx);
            // One that was sent in the round that was given up.
            while rx.try_lock().unwrap().recv().await.is_some() {}
            ends(async || assert!(rx.try_lock().unwrap().recv().await.is_none())).await;
        })
        .await
        .unwrap();
    });
}

#[test]
fn a_send_waits_no_longer_than_it_was_told() {
    block_on(async {
        let (tx, mut rx) = mpsc::channel(1);
        assert_eq!(tx.send_timeout(1, Duration::ZERO).await, Ok(()));
        assert_eq!(tx.send_timeout(2, Duration::from_millis(1)).await, Err(SendTimeoutError::Timeout(2)));
        assert_eq!(rx.recv().await, Some(1));
        assert_eq!(tx.capacity(), 1, "the one that gave up has no place");
        drop(rx);
        assert_eq!(tx.send_timeout(3, Duration::from_secs(60)).await, Err(SendTimeoutError::Closed(3)));
    });
    let (tx, _rx) = mpsc::channel(1);
    let without_timers = Builder::new_current_thread().build().unwrap();
    let send = AssertUnwindSafe(|| without_timers.block_on(tx.send_timeout(1, Duration::ZERO)));
    assert!(catch_unwind(send).is_err());
}

#[test]
fn what_blocks_panics_in_a_task_and_works_on_a_thread() {
    let mutex = Arc::new(Mutex::new(0));
    let lock = Arc::new(RwLock::new(0));
    let semaphore = Arc::new(Semaphore::new(1));
    let (tx, mut rx) = mpsc::channel(1);
    block_on(async {
        let panics = |f: &mut dyn FnMut()| assert!(catch_unwind(AssertUnwindSafe(f)).is_err());
        panics(&mut || drop(mutex.blocking_lock()));
        panics(&mut || drop(lock.blocking_read()));
        panics(&mut || drop(lock.blocking_write()));
        panics(&mut || drop(semaphore.blocking_acquire()));
        panics(&mut || assert!(tx.blocking_send(1).is_ok()));
        panics(&mut || assert!(rx.blocking_recv().is_some()));
        let mutex = mutex.clone();
        rt::spawn_blocking(move || *mutex.blocking_lock_owned() += 1).await.unwrap();
    });
    *mutex.blocking_lock() += 1;
    assert_eq!((*mutex.blocking_lock(), *lock.blocking_read()), (2, 0));
    let sender = std::thread::spawn(move || (0..100).for_each(|i| tx.blocking_send(i).unwrap()));
    for i in 0..100 {
        assert_eq!(rx.blocking_recv(), Some(i));
    }
    sender.join().unwrap();
    assert_eq!(rx.blocking_recv(), None);
}
