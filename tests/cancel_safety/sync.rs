//! Channels and locks.

use std::cell::Cell;
use std::future::pending;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use rt::sync::{Barrier, Mutex, Notify, OnceCell, RwLock, Semaphore, SetOnce, broadcast, mpsc, oneshot, watch};
use rt::time::Duration;

use super::{give_up, on_each, poll_once};

#[test]
fn an_mpsc_receive_takes_no_value() {
    on_each(async || {
        let (tx, mut rx) = mpsc::channel(4);
        give_up(rx.recv()).await;
        let mut many = vec![];
        give_up(rx.recv_many(&mut many, 4)).await;
        tx.send(1).await.unwrap();
        tx.send(2).await.unwrap();
        assert!(many.is_empty());
        assert_eq!((rx.recv().await, rx.recv().await), (Some(1), Some(2)));

        let (tx, mut rx) = mpsc::unbounded_channel();
        give_up(rx.recv()).await;
        give_up(rx.recv_many(&mut many, 4)).await;
        tx.send(3).unwrap();
        assert_eq!(rx.recv_many(&mut many, 4).await, 1);
        assert_eq!(many, [3]);
    });
}

/// A value that comes while the future waits, so that the future has been woken, and is then dropped unpolled.
#[test]
fn an_mpsc_receive_that_was_woken_takes_no_value_either() {
    on_each(async || {
        let (tx, mut rx) = mpsc::channel(4);
        {
            let mut receive = pin!(rx.recv());
            assert!(poll_once(receive.as_mut()).await.is_pending());
            tx.send(1).await.unwrap();
        }
        assert_eq!(rx.recv().await, Some(1));
    });
}

#[test]
fn an_mpsc_send_sends_nothing_and_a_reservation_keeps_no_room() {
    on_each(async || {
        let (tx, mut rx) = mpsc::channel(2);
        tx.send(1).await.unwrap();
        tx.send(2).await.unwrap();
        give_up(tx.send(3)).await;
        give_up(tx.send_timeout(4, Duration::from_secs(3600))).await;
        give_up(tx.reserve()).await;
        give_up(tx.reserve_many(2)).await;
        give_up(tx.clone().reserve_owned()).await;
        assert_eq!((rx.recv().await, rx.recv().await), (Some(1), Some(2)));
        assert_eq!(tx.capacity(), 2, "no place is kept for a future that is gone");

        // One that has one of its two places already.
        tx.send(5).await.unwrap();
        give_up(tx.reserve_many(2)).await;
        assert_eq!(tx.capacity(), 1);
        tx.try_send(6).unwrap();

        // One that was given its place, and is dropped before it could know.
        let mut reservation = Box::pin(tx.reserve());
        assert!(poll_once(reservation.as_mut()).await.is_pending());
        assert_eq!(rx.recv().await, Some(5));
        drop(reservation);
        tx.try_send(7).unwrap();
        assert_eq!((rx.recv().await, rx.recv().await), (Some(6), Some(7)));
    });
}

#[test]
fn waiting_for_a_channel_to_close_changes_nothing() {
    on_each(async || {
        let (tx, mut rx) = mpsc::channel(1);
        give_up(tx.closed()).await;
        tx.send(1).await.unwrap();
        assert_eq!(rx.recv().await, Some(1));
        drop(rx);
        tx.closed().await;

        let (tx, rx) = mpsc::unbounded_channel::<()>();
        give_up(tx.closed()).await;
        drop(rx);
        tx.closed().await;

        let (mut tx, rx) = oneshot::channel();
        give_up(tx.closed()).await;
        tx.send(2).unwrap();
        assert_eq!(rx.await, Ok(2));

        let (tx, rx) = watch::channel(3);
        give_up(tx.closed()).await;
        drop(rx);
        tx.closed().await;

        let (tx, rx) = broadcast::channel::<()>(1);
        give_up(tx.closed()).await;
        drop(rx);
        tx.closed().await;
    });
}

#[test]
fn a_oneshot_receiver_by_reference_can_be_awaited_again() {
    on_each(async || {
        let (tx, mut rx) = oneshot::channel();
        give_up(&mut rx).await;
        tx.send(1).unwrap();
        assert_eq!(rx.await, Ok(1));
    });
}

#[test]
fn a_broadcast_receive_takes_no_value() {
    on_each(async || {
        let (tx, mut rx) = broadcast::channel(4);
        give_up(rx.recv()).await;
        {
            let mut receive = pin!(rx.recv());
            assert!(poll_once(receive.as_mut()).await.is_pending());
            tx.send(1).unwrap();
        }
        tx.send(2).unwrap();
        assert_eq!((rx.recv().await, rx.recv().await), (Ok(1), Ok(2)));
    });
}

#[test]
fn a_watched_value_does_not_count_as_seen() {
    on_each(async || {
        let (tx, mut rx) = watch::channel(0);
        give_up(rx.changed()).await;
        {
            let mut changed = pin!(rx.changed());
            assert!(poll_once(changed.as_mut()).await.is_pending());
            tx.send(1).unwrap();
        }
        assert!(rx.has_changed().unwrap());
        rx.changed().await.unwrap();
        assert_eq!(*rx.borrow_and_update(), 1);

        let asked = Cell::new(0);
        let is_3 = |value: &i32| {
            asked.set(asked.get() + 1);
            *value == 3
        };
        tx.send(2).unwrap();
        give_up(rx.wait_for(is_3)).await;
        assert!(!rx.has_changed().unwrap(), "the closure has seen this one");
        tx.send(3).unwrap();
        assert_eq!(*rx.wait_for(is_3).await.unwrap(), 3);
        assert_eq!(asked.get(), 2);
    });
}

#[test]
fn a_notification_goes_to_the_next() {
    on_each(async || {
        let notify = Arc::new(Notify::new());
        give_up(notify.notified()).await;
        give_up(Arc::clone(&notify).notified_owned()).await;
        // Chosen, and then dropped: to the next in line.
        let mut first = Box::pin(notify.notified());
        let mut second = Box::pin(Arc::clone(&notify).notified_owned());
        assert!(poll_once(first.as_mut()).await.is_pending());
        assert!(poll_once(second.as_mut()).await.is_pending());
        notify.notify_one();
        drop(first);
        assert!(poll_once(second.as_mut()).await.is_ready());
        // Nobody waits: the permit is kept.
        let mut third = Box::pin(notify.notified());
        assert!(poll_once(third.as_mut()).await.is_pending());
        notify.notify_one();
        drop(third);
        notify.notified().await;
        give_up(notify.notified()).await;
    });
}

#[test]
fn a_semaphore_gets_its_permits_back() {
    on_each(async || {
        let semaphore = Arc::new(Semaphore::new(3));
        let held = semaphore.acquire_many(2).await.unwrap();
        // These take the one that is left, and give it back.
        give_up(semaphore.acquire_many(2)).await;
        give_up(Arc::clone(&semaphore).acquire_many_owned(3)).await;
        assert_eq!(semaphore.available_permits(), 1);
        let last = semaphore.acquire().await.unwrap();
        give_up(semaphore.acquire()).await;
        give_up(Arc::clone(&semaphore).acquire_owned()).await;

        // In line, given what it wanted, and dropped: to the next in line.
        let mut first = Box::pin(semaphore.acquire());
        let mut second = Box::pin(semaphore.acquire());
        assert!(poll_once(first.as_mut()).await.is_pending());
        assert!(poll_once(second.as_mut()).await.is_pending());
        drop(last);
        drop(first);
        assert!(poll_once(second.as_mut()).await.is_ready());
        drop((second, held));
        assert_eq!(semaphore.available_permits(), 3);
    });
}

#[test]
fn a_mutex_stays_free_for_others() {
    on_each(async || {
        let mutex = Arc::new(Mutex::new(0));
        let guard = mutex.lock().await;
        give_up(mutex.lock()).await;
        give_up(Arc::clone(&mutex).lock_owned()).await;
        let mut woken = Box::pin(mutex.lock());
        assert!(poll_once(woken.as_mut()).await.is_pending());
        drop(guard);
        drop(woken);
        *mutex.try_lock().unwrap() += 1;
        assert_eq!(*mutex.lock_owned().await, 1);
    });
}

#[test]
fn a_lock_for_readers_and_writers_stays_free_for_others() {
    on_each(async || {
        let lock = Arc::new(RwLock::new(0));
        let reader = lock.read().await;
        give_up(lock.write()).await;
        give_up(Arc::clone(&lock).write_owned()).await;
        drop(lock.try_read().expect("a writer that is gone keeps no reader out"));
        drop(reader);

        let writer = lock.write().await;
        give_up(lock.read()).await;
        give_up(Arc::clone(&lock).read_owned()).await;
        let mut woken = Box::pin(lock.write());
        assert!(poll_once(woken.as_mut()).await.is_pending());
        drop(writer);
        drop(woken);
        *lock.try_write().unwrap() += 1;
        assert_eq!(*lock.read().await, 1);
    });
}

/// Not cancel safe, as documented.
#[test]
fn a_barrier_counts_one_that_was_given_up() {
    on_each(async || {
        let barrier = Barrier::new(2);
        give_up(barrier.wait()).await;
        assert!(barrier.wait().await.is_leader(), "the second to arrive");
    });
}

#[test]
fn a_cell_is_filled_by_the_next() {
    on_each(async || {
        let cell = OnceCell::new();
        give_up(cell.get_or_init(pending::<i32>)).await;
        give_up(cell.get_or_try_init(pending::<Result<i32, ()>>)).await;
        assert_eq!(cell.get(), None);
        assert_eq!(*cell.get_or_init(async || 1).await, 1);
    });
}

#[test]
fn waiting_for_a_value_that_is_set_once_changes_nothing() {
    on_each(async || {
        let cell = SetOnce::new();
        give_up(cell.wait()).await;
        cell.set(1).unwrap();
        assert!(matches!(poll_once(pin!(cell.wait())).await, Poll::Ready(1)));
    });
}
