//! The channels and locks of `rt::sync`, one file each.
//!
//! The actors wait in four ways: to the end, until some time has passed, for some polls only, or until something else
//! is done that is asked first. So each wait is given up at every stage that it can be in, also when it has been told
//! and was not polled since. A wait that was given up must not have taken anything along: a value, a permit, or a
//! notification that was meant for another.

pub(super) mod barriers;
pub(super) mod broadcasts;
pub(super) mod locks;
pub(super) mod mpsc;
pub(super) mod notifies;
pub(super) mod once;
pub(super) mod oneshots;
pub(super) mod semaphores;
pub(super) mod watches;

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use super::dither;
use crate::ledger::Count;
use crate::plan::Rng;
use crate::stage::Stage;

/// Waits for a future, and perhaps gives up. `None`: it gave up.
pub(super) async fn perhaps<F: Future>(stage: &Stage, rng: &mut Rng, future: F) -> Option<F::Output> {
    let output = match rng.u32(..8) {
        0 => rt::time::timeout(Duration::from_micros(rng.u64(..400)), future).await.ok(),
        1 => some_polls(rng.u32(1..5), future).await,
        2 => {
            rt::select! {
                biased;
                () = dither(rng) => None,
                output = future => Some(output),
            }
        }
        _ => Some(future.await),
    };
    if output.is_none() {
        stage.ledger().count(Count::GivenUp);
    }
    output
}

/// Polls a future a number of times, and then gives up.
async fn some_polls<F: Future>(mut polls: u32, future: F) -> Option<F::Output> {
    let mut future = pin!(future);
    poll_fn(|cx| {
        if let Poll::Ready(output) = future.as_mut().poll(cx) {
            return Poll::Ready(Some(output));
        }
        polls -= 1;
        if polls == 0 {
            return Poll::Ready(None);
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await
}
