//! Futures that never end, in a program that allows no warnings: there is code in the expansions that is never reached,
//! and none of it is the user's concern.

#![deny(warnings)]

use std::convert::Infallible;

use super::*;

async fn never() -> ! {
    pending().await
}

async fn infallible() -> Infallible {
    pending().await
}

async fn fails() -> Result<Infallible, u32> {
    Err(7)
}

#[rt::test]
async fn branches_of_select_need_not_end() {
    for _ in 0..10 {
        rt::select! {
            _ = never() => {}
            () = ready(()) => {}
        }
        rt::select! {
            never = never() => never,
            () = ready(()) => {}
        }
        rt::select! {
            _ = infallible() => {}
            never = infallible() => match never {},
            _never = infallible() => {}
            mut _never = never() => {}
            () = ready(()) => {}
        }
        let number = rt::select! {
            biased;
            _ = never(), if false => 1,
            Ok(never) = fails() => match never {},
            Err(number) = fails() => number,
        };
        assert_eq!(number, 7);
    }
}

#[rt::test]
async fn parts_of_join_need_not_end() {
    let mut join = Box::pin(async { rt::join!(never(), ready(()), infallible()) });
    assert!(poll_once(join.as_mut()).is_pending());
    let mut join = Box::pin(async { rt::join!(never()) });
    assert!(poll_once(join.as_mut()).is_pending());
    assert_eq!(rt::try_join!(fails(), fails()), Err(7));
}

#[rt::main(flavor = "current_thread")]
async fn ends_by_panic() -> ! {
    if ready(true).await {
        panic!("the end");
    }
    loop {
        yield_now().await;
    }
}

#[test]
fn a_function_need_not_return() {
    let panic = std::panic::catch_unwind(|| ends_by_panic()).unwrap_err();
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"the end"));
}
