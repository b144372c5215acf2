//! Channels of another crate with many senders and receivers. Each message arrives once, in order, or is lost with its
//! channel, for a reason.

use std::sync::Arc;
use std::time::Duration;

use async_channel::{Receiver, Sender, TrySendError};

use super::dither;
use crate::ledger::Kind;
use crate::parcel::{Flow, Inbox, Parcel};
use crate::plan::{Rng, one_in};
use crate::stage::Stage;

pub(super) async fn run(stage: Stage, size: usize, mut rng: Rng) {
    let capacity = [1, 2, 16, 0][rng.usize(..4)];
    let (sender, receiver) = if capacity == 0 { async_channel::unbounded() } else { async_channel::bounded(capacity) };
    let flow = Arc::<Flow>::default();
    let (senders, receivers) = (rng.usize(1..=size), rng.usize(1..=size));
    let each = rng.u64(1..=100);
    let mut tasks = Vec::new();
    for number in 0..senders.max(receivers) {
        if number < senders {
            let send = send(stage.clone(), sender.clone(), Arc::clone(&flow), number, each, rng.fork());
            let task = stage.spawn(Kind::Sender, send);
            stage.expose(&task, &mut rng, 40);
            tasks.push(task);
        }
        if number < receivers {
            let task = stage.spawn(Kind::Receiver, receive(receiver.clone(), senders, rng.fork()));
            stage.expose(&task, &mut rng, 40);
            tasks.push(task);
        }
    }
    drop((sender, receiver));
    let mut all_ended = true;
    for task in tasks {
        all_ended &= task.join().await == Ok(true);
    }
    let (received, lost) = (flow.received(), flow.lost());
    let sent = senders as u64 * each;
    if all_ended && (received, lost) != (sent, 0) {
        stage.ledger().problem(format!("of {sent} messages {received} were received and {lost} lost"));
    }
}

/// True if it sent all.
async fn send(stage: Stage, sender: Sender<Parcel>, flow: Arc<Flow>, name: usize, messages: u64, mut rng: Rng) -> bool {
    for number in 0..messages {
        let mut parcel = Parcel::new(&stage, &flow, name, number);
        if one_in(&mut rng, 4) {
            loop {
                match sender.try_send(parcel) {
                    Ok(()) => break,
                    Err(TrySendError::Full(refused)) => parcel = refused,
                    Err(TrySendError::Closed(_)) => return false,
                }
                rt::task::yield_now().await;
            }
        } else if sender.send(parcel).await.is_err() {
            return false;
        }
        if one_in(&mut rng, 8) {
            dither(&mut rng).await;
        }
    }
    true
}

/// True if it received until there was nobody left to send.
async fn receive(receiver: Receiver<Parcel>, senders: usize, mut rng: Rng) -> bool {
    let mut inbox = Inbox::new(senders);
    // Some go away early.
    let mut left = if one_in(&mut rng, 10) { rng.u32(..20) } else { u32::MAX };
    while left > 0 {
        left -= 1;
        let parcel = if one_in(&mut rng, 6) {
            // Giving up does not lose anything.
            match rt::time::timeout(Duration::from_micros(rng.u64(..300)), receiver.recv()).await {
                Ok(received) => received,
                Err(_) => continue,
            }
        } else {
            receiver.recv().await
        };
        let Ok(parcel) = parcel else { return true };
        inbox.receive(parcel);
        if one_in(&mut rng, 8) {
            dither(&mut rng).await;
        }
    }
    false
}
