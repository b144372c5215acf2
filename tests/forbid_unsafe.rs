//! The macros may be used in a crate that forbids `unsafe`, although their expansions have some.

#![forbid(unsafe_code)]

use std::future::ready;

#[rt::test]
async fn a_crate_without_unsafe_code_uses_the_macros() {
    let (one, two) = rt::join!(ready(1), async { 2 });
    assert_eq!(rt::try_join!(ready(Ok::<_, ()>(one)), ready(Ok(two))), Ok((1, 2)));
    let first = rt::select! {
        biased;
        number = ready(3) => number,
        never = std::future::pending::<i32>() => never,
    };
    rt::pin! {
        let pinned = ready(first);
    }
    assert_eq!(pinned.await, 3);
}
