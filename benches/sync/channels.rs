//! Channels between tasks, to one receiver.
//!
//! (To several receivers of which each value goes to one, async-channel and flume have a channel, and rt and Tokio have
//! none.)

use std::time::{Duration, Instant};

use super::kinds::{Channel, DrainedChannel};
use super::libraries::{AsyncChannel, AsyncUnbounded, Flume, FlumeUnbounded, rt_sync, tokio_sync};
use super::{LibraryRow, row};
use crate::{Handle, Runtime, on_worker};

const BOUND: usize = 128;
const SENDERS: u64 = 16;

pub(super) fn rows() -> Vec<LibraryRow> {
    vec![
        row!("two tasks, message there and back, bounded channels of 1", 1, there_and_back: rt_sync::Bounded,
            tokio_sync::Bounded, smol AsyncChannel, flume Flume),
        row!("bounded channel, 1 sender, a message", 1, one_sender: rt_sync::Bounded, tokio_sync::Bounded,
            smol AsyncChannel, flume Flume),
        row!("unbounded channel, 1 sender, a message", 1, one_sender: rt_sync::Unbounded, tokio_sync::Unbounded,
            smol AsyncUnbounded, flume FlumeUnbounded),
        row!("bounded channel, 16 senders, a message", SENDERS, many_senders: rt_sync::Bounded, tokio_sync::Bounded,
            smol AsyncChannel, flume Flume),
        row!("unbounded channel, 16 senders, a message", SENDERS, many_senders: rt_sync::Unbounded,
            tokio_sync::Unbounded, smol AsyncUnbounded, flume FlumeUnbounded),
        row!("bounded channel, 16 senders, `recv_many`, a message", SENDERS, drained: rt_sync::Bounded,
            tokio_sync::Bounded),
    ]
}

/// A sender that never has to wait would fill the memory before the receiver is there: each lets others run after so
/// many messages. One that has to wait has done so before.
async fn send_all<C: Channel, R: Runtime>(sender: C::Sender, messages: u64) {
    for message in 1..=messages {
        C::send(&sender, message).await;
        if message % BOUND as u64 == 0 {
            R::Handle::yield_now().await;
        }
    }
}

fn start_senders<C: Channel, R: Runtime>(handle: R::Handle, senders: u64, messages: u64) -> C::Receiver {
    let (sender, receiver) = C::channel(BOUND);
    for _ in 0..senders {
        handle.spawn_detached(send_all::<C, R>(sender.clone(), messages));
    }
    receiver
}

fn stream<C: Channel, R: Runtime>(runtime: &R, senders: u64, rounds: u64) -> Duration {
    let handle = runtime.handle();
    on_worker(runtime, async move {
        let start = Instant::now();
        let mut receiver = start_senders::<C, R>(handle, senders, rounds);
        let mut received = 0;
        while C::receive(&mut receiver).await.is_some() {
            received += 1;
        }
        assert_eq!(received, rounds * senders);
        start.elapsed()
    })
}

fn one_sender<C: Channel, R: Runtime>(runtime: &R, rounds: u64) -> Duration {
    stream::<C, R>(runtime, 1, rounds)
}

fn many_senders<C: Channel, R: Runtime>(runtime: &R, rounds: u64) -> Duration {
    stream::<C, R>(runtime, SENDERS, rounds)
}

fn drained<C: DrainedChannel, R: Runtime>(runtime: &R, rounds: u64) -> Duration {
    let handle = runtime.handle();
    on_worker(runtime, async move {
        let start = Instant::now();
        let mut receiver = start_senders::<C, R>(handle, SENDERS, rounds);
        let mut buffer = Vec::with_capacity(BOUND);
        let mut received = 0;
        while C::receive_many(&mut receiver, &mut buffer, BOUND).await != 0 {
            received += buffer.len() as u64;
            buffer.clear();
        }
        assert_eq!(received, rounds * SENDERS);
        start.elapsed()
    })
}

fn there_and_back<C: Channel, R: Runtime>(runtime: &R, rounds: u64) -> Duration {
    let handle = runtime.handle();
    on_worker(runtime, async move {
        let (there, mut arrivals) = C::channel(1);
        let (back, mut returns) = C::channel(1);
        handle.spawn_detached(async move {
            while let Some(message) = C::receive(&mut arrivals).await {
                C::send(&back, message).await;
            }
        });
        let start = Instant::now();
        for round in 0..rounds {
            C::send(&there, round).await;
            assert_eq!(C::receive(&mut returns).await, Some(round));
        }
        start.elapsed()
    })
}
