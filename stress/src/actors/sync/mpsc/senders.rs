//! The senders, bounded, weak and unbounded, in each of the ways in which they can send.

use std::time::Duration;

use rt::sync::mpsc::error::{SendTimeoutError, TrySendError};
use rt::sync::mpsc::{Sender, UnboundedSender, WeakSender};

use super::super::{dither, perhaps, some_polls};
use super::Work;
use crate::parcel::Parcel;
use crate::plan::{Rng, one_in};

pub(super) struct BoundedSender {
    pub(super) tx: Sender<Parcel>,
    pub(super) work: Work,
    pub(super) name: usize,
    pub(super) room: usize,
    pub(super) rng: Rng,
}

impl BoundedSender {
    /// Returns how many values the channel accepted.
    pub(super) async fn run(mut self) -> u64 {
        let (mut number, mut accepted) = (0, 0);
        while number < self.work.each && !self.tx.is_closed() {
            // As many as it may take; numbers may be left out.
            let wanted = self.rng.usize(1..=self.room.min(4));
            accepted += self.send(number, wanted).await;
            number += wanted as u64;
            if one_in(&mut self.rng, 8) {
                dither(&mut self.rng).await;
            }
        }
        if one_in(&mut self.rng, 4) {
            some_polls(self.rng.u32(1..4), self.tx.closed()).await;
        }
        accepted
    }

    /// Sends some of the values from this number on, in one of the ways that there are.
    async fn send(&mut self, number: u64, wanted: usize) -> u64 {
        let Self { tx, work, name, rng, .. } = self;
        let parcel = |number| work.parcel(*name, number);
        match rng.u32(..10) {
            0 => {
                let mut parcel = parcel(number);
                loop {
                    match tx.try_send(parcel) {
                        Ok(()) => return 1,
                        Err(TrySendError::Full(refused)) => parcel = refused,
                        Err(TrySendError::Closed(_)) => return 0,
                    }
                    rt::task::yield_now().await;
                }
            }
            1 => match tx.send_timeout(parcel(number), Duration::from_micros(rng.u64(..300))).await {
                Ok(()) => 1,
                Err(SendTimeoutError::Timeout(parcel)) => u64::from(tx.send(parcel).await.is_ok()),
                Err(SendTimeoutError::Closed(_)) => 0,
            },
            2 => {
                let Some(Ok(permit)) = perhaps(&work.stage, rng, tx.reserve()).await else { return 0 };
                dither(rng).await;
                if one_in(rng, 4) {
                    return 0;
                }
                permit.send(parcel(number));
                1
            }
            3 => {
                let Some(Ok(permits)) = perhaps(&work.stage, rng, tx.reserve_many(wanted)).await else { return 0 };
                let used = rng.usize(..=wanted);
                for (n, permit) in permits.take(used).enumerate() {
                    permit.send(parcel(number + n as u64));
                }
                used as u64
            }
            4 => {
                let Some(Ok(permit)) = perhaps(&work.stage, rng, tx.clone().reserve_owned()).await else { return 0 };
                dither(rng).await;
                match rng.u32(..4) {
                    0 => drop(permit),
                    1 => drop(permit.release()),
                    _ => {
                        drop(permit.send(parcel(number)));
                        return 1;
                    }
                }
                0
            }
            5 => match tx.try_reserve_many(wanted) {
                Ok(permits) => {
                    permits.enumerate().for_each(|(n, permit)| permit.send(parcel(number + n as u64)));
                    wanted as u64
                }
                Err(_) => u64::from(tx.send(parcel(number)).await.is_ok()),
            },
            6 => match tx.try_reserve() {
                Ok(permit) => {
                    permit.send(parcel(number));
                    1
                }
                Err(_) => 0,
            },
            7 => u64::from(matches!(perhaps(&work.stage, rng, tx.send(parcel(number))).await, Some(Ok(())))),
            _ => u64::from(tx.send(parcel(number)).await.is_ok()),
        }
    }
}

/// Sends through a weak sender, as long as there are others.
pub(super) async fn send_weakly(tx: WeakSender<Parcel>, work: Work, name: usize, times: u64, mut rng: Rng) -> u64 {
    let mut accepted = 0;
    for number in 0..times.min(20) {
        let Some(tx) = tx.upgrade() else { return accepted };
        accepted += u64::from(tx.send(work.parcel(name, number)).await.is_ok());
        drop(tx);
        dither(&mut rng).await;
    }
    accepted
}

pub(super) async fn send_unbounded(tx: UnboundedSender<Parcel>, work: Work, name: usize, mut rng: Rng) -> u64 {
    for number in 0..work.each {
        if tx.send(work.parcel(name, number)).is_err() {
            return number;
        }
        if one_in(&mut rng, 8) {
            dither(&mut rng).await;
        }
        if one_in(&mut rng, 40) {
            some_polls(2, tx.closed()).await;
        }
    }
    work.each
}
