//! A runtime's timers as its threads see them: which shard to use, and what has been counted.
//!
//! The handle is the service that the facade puts into the runtime's context; [`Sleep`](crate::Sleep) finds it there.
//! It outlives the driver where a `Sleep` was kept, and must then still be safe to use.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use runtime_core::clock::Clock;
use runtime_core::context::WorkerToken;
use runtime_core::driver::{BoxedSleep, DriverCounters, Service, Unpark, WakeSink};
use runtime_core::metrics::Histogram;

use crate::batch::WakeBatch;
use crate::firing;
use crate::shard::Shard;
use crate::shard_ref::ShardRef;
use crate::shared::{NEVER, NotedUnpark, Shared};

/// The service of the timer layer. Made by [`Driver::new`](crate::driver::Driver::new).
pub struct Handle {
    shared: Arc<Shared>,
    /// One for each worker slot, and the last for all other threads.
    shards: Box<[ShardRef]>,
}

impl Handle {
    pub(crate) fn new(clock: Arc<Clock>, unpark: Arc<dyn Unpark>, slots: usize) -> Self {
        let shared = Arc::new(Shared::new(clock, unpark));
        let shards = (0..slots + 1).map(|_| ShardRef::new(Shard::new(shared.clone()))).collect();
        Self { shared, shards }
    }

    /// What ends a wait of the runtime's drivers: to be used in place of the inner driver's own, so that the timers
    /// know of it. (A paused clock moves only while nothing else happens.)
    pub fn unpark_handle(&self) -> Arc<dyn Unpark> {
        Arc::new(NotedUnpark(self.shared.clone()))
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    pub(crate) fn now(&self) -> Instant {
        self.shared.clock.now()
    }

    /// The shard for timers that a thread makes: this worker's, or the one of remote threads.
    #[inline]
    pub(crate) fn shard(&self, worker_token: Option<WorkerToken>) -> ShardRef {
        let remote = self.shards.len() - 1;
        match worker_token {
            Some(worker_token)
                if worker_token.index() < remote && self.shards[worker_token.index()].is_of(worker_token) =>
            {
                // SAFETY: this thread is the worker of that token, whose shard it is.
                unsafe { self.shards[worker_token.index()].clone_on_worker() }
            }
            _ => self.shards[remote].clone(),
        }
    }

    #[cfg(test)]
    pub(crate) fn shard_at(&self, index: usize) -> &ShardRef {
        &self.shards[index]
    }

    /// A tick that no timer is earlier than. Takes no lock.
    pub(crate) fn earliest(&self) -> u64 {
        self.shards.iter().fold(NEVER, |earliest, shard| earliest.min(shard.next()))
    }

    /// The earliest deadline that somebody waits for. Takes every lock.
    pub(crate) fn exact_earliest(&self) -> u64 {
        self.shards.iter().map(|shard| shard.exact_next()).min().unwrap_or(NEVER)
    }

    /// Fires what is due. Looks at the clock only if any timer may be set, and locks only the shards that may have one
    /// due. Returns the present tick, if it had to be known, and how many entries were taken out.
    pub(crate) fn fire_due(&self, batch: &mut WakeBatch, woken: &mut dyn WakeSink) -> Option<(u64, u64)> {
        if self.earliest() == NEVER {
            return None;
        }
        let (_, now) = self.shared.look_at_clock();
        let due = self.shards.iter().filter(|shard| shard.next() <= now);
        let fired = due.map(|shard| firing::fire(shard, now, batch, woken)).sum();
        Some((now, fired))
    }

    /// Ends all waits for good.
    pub(crate) fn close(&self, batch: &mut WakeBatch, woken: &mut dyn WakeSink) {
        for shard in &self.shards {
            firing::close(shard, batch, woken);
            shard.give_back_kept();
        }
    }
}

impl Service for Handle {
    fn counters(&self) -> DriverCounters {
        let mut counters = DriverCounters::default();
        for shard in &self.shards {
            shard.add_counters(&mut counters);
        }
        counters
    }

    fn timer_lateness(&self) -> Histogram {
        let mut sum = Histogram::default();
        self.shards.iter().for_each(|shard| sum += shard.lateness());
        sum
    }

    fn sleep(&self, duration: Duration) -> Option<BoxedSleep> {
        Some(Box::pin(crate::sleep(duration)))
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").field("shards", &self.shards.len()).field("counters", &self.counters()).finish()
    }
}
