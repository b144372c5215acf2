//! `rt::io` through the public interface: everything in it that needs no file and no socket.

#![cfg(not(loom))]

mod buffers;
mod cancelling;
mod copies;
mod foreign;
mod giving_way;
mod memory;
mod methods;

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use rt::runtime::Builder;

fn run<T>(test: impl Future<Output = T>) -> T {
    Builder::new_current_thread().enable_all().build().unwrap().block_on(test)
}

/// Polls the future once, and drops it: what a `select!` does to a branch that is not ready.
async fn polled_once<F: Future>(future: F) -> Poll<F::Output> {
    let mut future = pin!(future);
    poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx))).await
}
