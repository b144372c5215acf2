//! Channels to one receiver, bounded and not: values in order, and no room lost, whatever becomes of permits, of weak
//! senders, and of those that wait.

mod senders;

use std::sync::Arc;

use rt::sync::mpsc::error::TryRecvError;
use rt::sync::mpsc::{Receiver, UnboundedReceiver, channel, unbounded_channel};

use self::senders::{BoundedSender, send_unbounded, send_weakly};
use super::{dither, perhaps};
use crate::ledger::Kind;
use crate::parcel::{Flow, Inbox, Parcel};
use crate::plan::{Rng, one_in};
use crate::stage::Stage;
use crate::tracked::Joined;

pub(in crate::actors) async fn run(stage: Stage, size: usize, mut rng: Rng) {
    let senders = rng.usize(1..=size);
    let work = Work { stage: stage.clone(), flow: Arc::default(), senders, each: rng.u64(1..=100) };
    let (receiver, tasks) = match [0, 1, 2, 16, 100][rng.usize(..5)] {
        0 => work.unbounded(&mut rng),
        room => work.bounded(room, &mut rng),
    };
    let mut accepted = Some(0);
    for task in tasks {
        let sent = task.join().await.ok();
        accepted = accepted.zip(sent).map(|(all, sent)| all + sent);
    }
    // Without a number the receiver went away early.
    if let (Ok(Some(received)), Some(accepted)) = (receiver.join().await, accepted)
        && (received != accepted || received != work.flow.received())
    {
        let (got, lost) = (work.flow.received(), work.flow.lost());
        stage.ledger().problem(format!("{accepted} were sent, {received} received ({got}), {lost} lost"));
    }
}

struct Work {
    stage: Stage,
    flow: Arc<Flow>,
    senders: usize,
    each: u64,
}

/// The receiver, and the senders.
type Tasks = (Joined<Option<u64>>, Vec<Joined<u64>>);

impl Work {
    fn parcel(&self, sender: usize, number: u64) -> Parcel {
        Parcel::new(&self.stage, &self.flow, sender, number)
    }

    fn share(&self) -> Self {
        let Self { stage, flow, senders, each } = self;
        Self { stage: stage.clone(), flow: Arc::clone(flow), senders: *senders, each: *each }
    }

    /// One of the tasks is a job at most: two might have to wait for each other's thread.
    fn bounded(&self, room: usize, rng: &mut Rng) -> Tasks {
        let Self { stage, senders, each, .. } = self;
        let (tx, rx) = channel(room);
        let job = rng.u32(..6);
        let mut tasks = Vec::new();
        for name in 0..*senders {
            let (tx, work, own) = (tx.clone(), self.share(), rng.fork());
            let task = if job == 0 && name == 0 {
                stage.spawn_blocking(move |_| {
                    let sent = (0..work.each).take_while(|number| tx.blocking_send(work.parcel(name, *number)).is_ok());
                    sent.count() as u64
                })
            } else {
                stage.spawn(Kind::Sender, async move { BoundedSender { tx, work, name, room, rng: own }.run().await })
            };
            stage.expose(&task, rng, 40);
            tasks.push(task);
        }
        let (work, name) = (self.share(), *senders);
        tasks.push(stage.spawn(Kind::Sender, send_weakly(tx.downgrade(), work, name, *each, rng.fork())));
        let inbox = Inbox::new(*senders + 1);
        let receiver = if job == 1 {
            let own = rng.fork();
            stage.spawn_blocking(move |_| block(rx, inbox, own))
        } else {
            stage.spawn(Kind::Receiver, receive(stage.clone(), rx, inbox, rng.fork()))
        };
        stage.expose(&receiver, rng, 40);
        (receiver, tasks)
    }

    fn unbounded(&self, rng: &mut Rng) -> Tasks {
        let Self { stage, senders, .. } = self;
        let (tx, rx) = unbounded_channel();
        let mut tasks = Vec::new();
        for name in 0..*senders {
            let (tx, work, own) = (tx.clone(), self.share(), rng.fork());
            let task = stage.spawn(Kind::Sender, send_unbounded(tx, work, name, own));
            stage.expose(&task, rng, 40);
            tasks.push(task);
        }
        let receiver = receive_unbounded(stage.clone(), rx, Inbox::new(*senders), rng.fork());
        let receiver = stage.spawn(Kind::Receiver, receiver);
        stage.expose(&receiver, rng, 40);
        (receiver, tasks)
    }
}

/// For both kinds of receivers. `None`: it went away early.
macro_rules! receive {
    ($stage:ident, $rx:ident, $inbox:ident, $rng:ident) => {{
        let mut left = if one_in(&mut $rng, 10) { $rng.u32(..20) } else { u32::MAX };
        let mut closes = one_in(&mut $rng, 10).then(|| $rng.u32(..50));
        while left > 0 {
            left -= 1;
            if closes.take_if(|after| *after == 0).is_some() {
                // What has been accepted, and what has a permit, still comes.
                $rx.close();
            }
            closes = closes.map(|after| after - 1);
            let received = match $rng.u32(..8) {
                0 | 1 => perhaps(&$stage, &mut $rng, $rx.recv()).await,
                2 => match $rx.try_recv() {
                    Ok(parcel) => Some(Some(parcel)),
                    Err(TryRecvError::Empty) => None,
                    Err(TryRecvError::Disconnected) => Some(None),
                },
                3 | 4 => {
                    let mut parcels = Vec::new();
                    let limit = $rng.usize(1..40);
                    let count = perhaps(&$stage, &mut $rng, $rx.recv_many(&mut parcels, limit)).await;
                    if parcels.len() != count.unwrap_or(0) || parcels.len() > limit {
                        $stage.ledger().problem(format!("{count:?} of {limit} were received, as {}", parcels.len()));
                    }
                    parcels.into_iter().for_each(|parcel| $inbox.receive(parcel));
                    if count == Some(0) { Some(None) } else { None }
                }
                _ => Some($rx.recv().await),
            };
            match received {
                Some(Some(parcel)) => $inbox.receive(parcel),
                Some(None) => {
                    if $rx.len() != 0 || !$rx.is_closed() {
                        $stage.ledger().problem("a channel has come to its end, and is open, or not empty".into());
                    }
                    return Some($inbox.received());
                }
                None => rt::task::yield_now().await,
            }
            if one_in(&mut $rng, 8) {
                dither(&mut $rng).await;
            }
        }
        None
    }};
}

async fn receive(stage: Stage, mut rx: Receiver<Parcel>, inbox: Inbox, rng: Rng) -> Option<u64> {
    let received = drain(&stage, &mut rx, inbox, rng).await;
    if received.is_some() && rx.capacity() != rx.max_capacity() {
        let (room, all) = (rx.capacity(), rx.max_capacity());
        stage.ledger().problem(format!("a channel has come to its end with room for {room} of {all} values"));
    }
    received
}

async fn drain(stage: &Stage, rx: &mut Receiver<Parcel>, mut inbox: Inbox, mut rng: Rng) -> Option<u64> {
    receive!(stage, rx, inbox, rng)
}

async fn receive_unbounded(
    stage: Stage,
    mut rx: UnboundedReceiver<Parcel>,
    mut inbox: Inbox,
    mut rng: Rng,
) -> Option<u64> {
    receive!(stage, rx, inbox, rng)
}

/// The receiver as a job.
fn block(mut rx: Receiver<Parcel>, mut inbox: Inbox, mut rng: Rng) -> Option<u64> {
    loop {
        if rng.bool() {
            let mut parcels = Vec::new();
            if rx.blocking_recv_many(&mut parcels, rng.usize(1..40)) == 0 {
                return Some(inbox.received());
            }
            parcels.into_iter().for_each(|parcel| inbox.receive(parcel));
        } else {
            match rx.blocking_recv() {
                Some(parcel) => inbox.receive(parcel),
                None => return Some(inbox.received()),
            }
        }
    }
}
