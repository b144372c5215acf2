//! `scope`, when futures in it panic: what they hold finds the thread panicking, as in a plain task.

// Those of std are poisoned, which is what the test looks for.
#![allow(clippy::disallowed_types)]

use std::future::Future;
use std::panic;
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard};
use std::task::{Context, Poll};

use rt::task::{LocalSet, Scope, scope};
use rt_test_util::*;

use crate::scope::panic_of;

/// Panics when it is polled, and holds a lock.
struct Holds {
    _guard: MutexGuard<'static, ()>,
}

impl Future for Holds {
    type Output = Result<(), ()>;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        panic::panic_any("boom")
    }
}

#[test]
fn a_lock_that_is_held_in_a_panic_is_poisoned() {
    static OF_CHILD: Mutex<()> = Mutex::new(());
    static OF_BODY: Mutex<()> = Mutex::new(());
    let _watchdog = watchdog();
    LocalSet::new().block_on(&current(), async {
        let child = scope(async |s| {
            s.spawn_local(Holds { _guard: OF_CHILD.lock().unwrap() });
            Ok(())
        });
        assert_eq!(panic_of(child).await, "boom");
        assert!(OF_CHILD.is_poisoned());
        let body = scope(|_: Scope<()>| Holds { _guard: OF_BODY.lock().unwrap() });
        assert_eq!(panic_of(body).await, "boom");
        assert!(OF_BODY.is_poisoned());
    });
}
