//! Channels for one value. What the two halves say must fit together.

use std::sync::Arc;

use rt::sync::oneshot::error::TryRecvError;
use rt::sync::oneshot::{Receiver, Sender, channel};

use super::{dither, perhaps, some_polls};
use crate::ledger::Kind;
use crate::parcel::{Flow, Parcel};
use crate::plan::{Rng, one_in};
use crate::stage::Stage;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sent {
    Yes,
    /// The receiver was closed.
    Refused,
    /// It was not tried.
    No,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Received {
    Yes,
    /// Waited to the end, and got an error.
    No,
    /// Closed the channel, and found nothing in it.
    Closed,
    /// Went away.
    GaveUp,
}

pub(in crate::actors) async fn run(stage: Stage, size: usize, mut rng: Rng) {
    let flow = Arc::<Flow>::default();
    // No more than one, since a job may have to wait for the thread of another.
    let mut job = rng.bool();
    let mut pairs = Vec::new();
    for number in 0..size as u64 * 4 {
        let (tx, rx) = channel();
        let send = send(stage.clone(), tx, Parcel::new(&stage, &flow, 0, number), rng.fork());
        let sender = stage.spawn(Kind::Sender, send);
        let receiver = if std::mem::take(&mut job) {
            stage.spawn_blocking(move |_| rx.blocking_recv().map_or(Received::No, accept))
        } else {
            stage.spawn(Kind::Receiver, receive(stage.clone(), rx, rng.fork()))
        };
        stage.expose(&sender, &mut rng, 20);
        stage.expose(&receiver, &mut rng, 20);
        pairs.push((sender, receiver));
    }
    for (sender, receiver) in pairs {
        let (Ok(sent), Ok(received)) = (sender.join().await, receiver.join().await) else { continue };
        let fits = match sent {
            Sent::Yes => received != Received::No && received != Received::Closed,
            Sent::Refused => matches!(received, Received::Closed | Received::GaveUp),
            Sent::No => received != Received::Yes,
        };
        if !fits {
            stage.ledger().problem(format!("a oneshot: sent {sent:?}, received {received:?}"));
        }
    }
}

fn accept(mut parcel: Parcel) -> Received {
    parcel.receive();
    Received::Yes
}

async fn send(stage: Stage, mut tx: Sender<Parcel>, parcel: Parcel, mut rng: Rng) -> Sent {
    dither(&mut rng).await;
    if one_in(&mut rng, 4) {
        let closed = some_polls(rng.u32(1..6), tx.closed()).await;
        if closed.is_some() && !tx.is_closed() {
            stage.ledger().problem("a oneshot was closed, and is not".into());
        }
    }
    if one_in(&mut rng, 8) {
        return Sent::No;
    }
    match tx.send(parcel) {
        Ok(()) => Sent::Yes,
        Err(_) => Sent::Refused,
    }
}

async fn receive(stage: Stage, mut rx: Receiver<Parcel>, mut rng: Rng) -> Received {
    dither(&mut rng).await;
    match rng.u32(..8) {
        0 => return Received::GaveUp,
        1 => loop {
            match rx.try_recv() {
                Ok(parcel) => return accept(parcel),
                Err(TryRecvError::Closed) => return Received::No,
                Err(TryRecvError::Empty) => rt::task::yield_now().await,
            }
        },
        2 => {}
        _ => match perhaps(&stage, &mut rng, &mut rx).await {
            Some(Ok(parcel)) => return accept(parcel),
            Some(Err(_)) => return Received::No,
            None => {}
        },
    }
    if rng.bool() {
        return Received::GaveUp;
    }
    // What was sent before is there still.
    rx.close();
    match rx.try_recv() {
        Ok(parcel) => accept(parcel),
        Err(_) => Received::Closed,
    }
}
