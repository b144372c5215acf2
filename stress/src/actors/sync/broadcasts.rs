//! Channels to all receivers: each gets every value, in order, or is told how many it has missed.

use std::sync::Arc;

use rt::sync::broadcast::error::{RecvError, TryRecvError};
use rt::sync::broadcast::{Receiver, Sender, WeakSender, channel};

use super::{dither, perhaps, some_polls};
use crate::ledger::Kind;
use crate::parcel::{Flow, Inbox, Parcel};
use crate::plan::{Rng, one_in};
use crate::stage::Stage;

pub(in crate::actors) async fn run(stage: Stage, size: usize, mut rng: Rng) {
    let (tx, rx) = channel([1, 2, 16, 64][rng.usize(..4)]);
    let flow = Arc::<Flow>::default();
    let (senders, receivers) = (rng.usize(1..=size.div_ceil(2)), rng.usize(1..=size));
    let each = rng.u64(1..=60);
    let mut job = one_in(&mut rng, 4);
    // They are there before anything is sent.
    let receivers: Vec<_> = (0..receivers)
        .map(|_| {
            let (rx, inbox, own) = (rx.resubscribe(), Inbox::new(senders), rng.fork());
            let task = if std::mem::take(&mut job) {
                stage.spawn_blocking(move |_| block(rx, inbox))
            } else {
                stage.spawn(Kind::Receiver, receive(stage.clone(), rx, inbox, own))
            };
            stage.expose(&task, &mut rng, 40);
            task
        })
        .collect();
    drop(rx);
    let senders: Vec<_> = (0..senders)
        .map(|name| {
            let send = send(stage.clone(), tx.clone(), Arc::clone(&flow), name, each, rng.fork());
            let task = stage.spawn(Kind::Sender, send);
            stage.expose(&task, &mut rng, 40);
            task
        })
        .collect();
    let weak = tx.downgrade();
    drop(tx);
    let mut accepted = Some(0);
    for task in senders {
        let sent = task.join().await.ok();
        accepted = accepted.zip(sent).map(|(all, sent)| all + sent);
    }
    for task in receivers {
        let ended = task.join().await;
        if let (Ok(Some((received, missed))), Some(accepted)) = (ended, accepted)
            && received + missed != accepted
        {
            stage.ledger().problem(format!("of {accepted} values {received} were received, and {missed} missed"));
        }
    }
    end(&stage, &weak);
}

fn end(stage: &Stage, weak: &WeakSender<Parcel>) {
    if weak.upgrade().is_some() || weak.strong_count() != 0 {
        stage.ledger().problem("a broadcast has a sender, though all are gone".into());
    }
}

/// How many values the channel accepted.
async fn send(stage: Stage, tx: Sender<Parcel>, flow: Arc<Flow>, name: usize, messages: u64, mut rng: Rng) -> u64 {
    let mut accepted = 0;
    for number in 0..messages {
        accepted += u64::from(tx.send(Parcel::new(&stage, &flow, name, number)).is_ok());
        match rng.u32(..24) {
            // A guest, who hears something, or nothing.
            0 => {
                let mut rx = tx.subscribe();
                if let Some(Ok(mut parcel)) = some_polls(rng.u32(1..4), rx.recv()).await {
                    parcel.receive();
                }
            }
            1 => {
                let weak = tx.downgrade();
                if weak.upgrade().is_none_or(|other| !other.same_channel(&tx)) {
                    stage.ledger().problem("a weak sender does not find its channel".into());
                }
            }
            2 if some_polls(2, tx.closed()).await.is_some() => return accepted,
            3..6 => dither(&mut rng).await,
            _ => {}
        }
    }
    accepted
}

/// How many values it received, and how many it missed, until all senders were gone. `None`: it went away early.
async fn receive(stage: Stage, mut rx: Receiver<Parcel>, mut inbox: Inbox, mut rng: Rng) -> Option<(u64, u64)> {
    let mut left = if one_in(&mut rng, 8) { rng.u32(..40) } else { u32::MAX };
    let mut missed = 0;
    while left > 0 {
        left -= 1;
        let received = match rng.u32(..6) {
            0 => match rx.try_recv() {
                Ok(parcel) => Some(Ok(parcel)),
                Err(TryRecvError::Empty) => None,
                Err(TryRecvError::Closed) => Some(Err(RecvError::Closed)),
                Err(TryRecvError::Lagged(n)) => Some(Err(RecvError::Lagged(n))),
            },
            1 | 2 => perhaps(&stage, &mut rng, rx.recv()).await,
            _ => Some(rx.recv().await),
        };
        match received {
            Some(Ok(parcel)) => inbox.receive(parcel),
            Some(Err(RecvError::Lagged(n))) => missed += n,
            Some(Err(RecvError::Closed)) => return Some((inbox.received(), missed)),
            None => rt::task::yield_now().await,
        }
        if one_in(&mut rng, 8) {
            dither(&mut rng).await;
        }
    }
    None
}

/// A receiver as a job.
fn block(mut rx: Receiver<Parcel>, mut inbox: Inbox) -> Option<(u64, u64)> {
    let mut missed = 0;
    loop {
        match rx.blocking_recv() {
            Ok(parcel) => inbox.receive(parcel),
            Err(RecvError::Lagged(n)) => missed += n,
            Err(RecvError::Closed) => return Some((inbox.received(), missed)),
        }
    }
}
