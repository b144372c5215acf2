//! What a lock for readers and writers promises, without threads.

use std::pin::pin;
use std::task::Context;

use super::*;
use crate::test_wakers::Count;

macro_rules! poll {
    ($future:expr, $count:expr) => {
        $future.as_mut().poll(&mut Context::from_waker(&$count.waker()))
    };
}

#[test]
fn a_writer_that_waits_is_not_overtaken_by_readers() {
    let lock = RwLock::new(0);
    let first = lock.try_read().unwrap();
    let (writer, reader) = (Count::new(), Count::new());
    let mut writes = pin!(lock.write());
    let mut reads = pin!(lock.read());
    assert!(poll!(writes, writer).is_pending());
    assert!(poll!(reads, reader).is_pending());
    assert!(lock.try_read().is_err());
    drop(first);
    assert_eq!((writer.wakes(), reader.wakes()), (1, 0));
    let guard = poll!(writes, writer);
    assert!(guard.is_ready());
    drop(guard);
    assert_eq!(reader.wakes(), 1);
}

#[test]
fn readers_share_up_to_their_number() {
    let lock = RwLock::with_max_readers(0, 2);
    let one = lock.try_read().unwrap();
    let two = lock.try_read().unwrap();
    assert!(lock.try_read().is_err());
    assert!(lock.try_write().is_err());
    drop(one);
    assert!(lock.try_read().is_ok());
    drop(two);
    assert!(lock.try_write().is_ok());
    assert!(std::panic::catch_unwind(|| RwLock::with_max_readers(0, 0)).is_err());
    assert!(std::panic::catch_unwind(|| RwLock::with_max_readers(0, u32::MAX)).is_err());
}

#[test]
fn a_writer_becomes_a_reader_and_lets_others_in() {
    let lock = Arc::new(RwLock::new((1, 2)));
    let count = Count::new();
    let guard = lock.try_write().unwrap();
    let mut reads = pin!(lock.read());
    assert!(poll!(reads, count).is_pending());
    let Err(guard) = RwLockWriteGuard::try_downgrade_map(guard, |_| None::<&i32>) else { panic!("there is none") };
    assert_eq!(count.wakes(), 0);
    let part = RwLockWriteGuard::downgrade_map(guard, |pair| &pair.0);
    assert_eq!(count.wakes(), 1);
    assert_eq!(*part, 1);
    assert!(lock.try_write().is_err());
    let whole = poll!(reads, count);
    assert!(whole.is_ready());
    drop((part, whole));
    let owned = lock.clone().try_write_owned().unwrap().downgrade();
    assert_eq!(OwnedRwLockReadGuard::rwlock(&owned).try_read().unwrap().1, 2);
    drop(owned);
    assert!(lock.try_write().is_ok());
}
