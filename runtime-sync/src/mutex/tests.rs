//! What a mutex promises, without threads.

use std::pin::pin;
use std::task::Context;

use super::*;
use crate::test_wakers::Count;

#[test]
fn those_that_wait_are_served_in_turn() {
    let mutex = Mutex::new(0);
    let guard = mutex.try_lock().unwrap();
    assert!(mutex.try_lock().is_err());
    let (first, second) = (Count::new(), Count::new());
    let mut later = pin!(mutex.lock());
    {
        let mut goes = pin!(mutex.lock());
        assert!(goes.as_mut().poll(&mut Context::from_waker(&first.waker())).is_pending());
        assert!(later.as_mut().poll(&mut Context::from_waker(&second.waker())).is_pending());
        drop(guard);
        assert_eq!((first.wakes(), second.wakes()), (1, 0));
        assert!(mutex.try_lock().is_err(), "it is the first waiter's");
    }
    assert_eq!(second.wakes(), 1);
}

#[test]
fn guards_are_narrowed_down() {
    let mutex = Arc::new(Mutex::new((1, String::from("one"))));
    let name = MutexGuard::map(mutex.try_lock().unwrap(), |pair| &mut pair.1);
    let mut name = MappedMutexGuard::map(name, |name| name.as_mut_str());
    name.make_ascii_uppercase();
    assert!(mutex.try_lock().is_err());
    drop(name);
    let guard = mutex.clone().try_lock_owned().unwrap();
    let guard = OwnedMutexGuard::try_map(guard, |_| None::<&mut i32>).unwrap_err();
    let mut number = OwnedMutexGuard::map(guard, |pair| &mut pair.0);
    *number = 2;
    drop(number);
    assert_eq!(format!("{mutex:?}"), r#"Mutex { data: (2, "ONE") }"#);
    let guard = mutex.try_lock().unwrap();
    assert_eq!(format!("{mutex:?}"), "Mutex { data: <locked> }");
    drop(guard);
    assert_eq!(Arc::into_inner(mutex).unwrap().into_inner(), (2, "ONE".into()));
}

#[test]
fn a_panic_unlocks() {
    let mutex = Mutex::new(0);
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _guard = mutex.try_lock().unwrap();
        panic!("while it is locked");
    }));
    assert!(caught.is_err());
    assert!(mutex.try_lock().is_ok());
}
