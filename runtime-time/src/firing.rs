//! Taking timers out of a shard's wheel: those that are due, or all of them when the driver shuts down.
//!
//! That goes a batch at a time: out of the wheel under the lock, then the wakers to the scheduler without it.

use runtime_core::driver::WakeSink;

use crate::batch::{WAKES_PER_LOCK, WakeBatch};
use crate::entry::{Entry, State};
use crate::shard::Shard;

/// How many entries that were extended are filed again under one hold of the lock. It takes as long as to fire them.
const MAX_REFILED_PER_LOCK: usize = 2 * WAKES_PER_LOCK;

/// Fires everything that is due, in order, and wakes the tasks. (An entry that was extended comes in the place of its
/// old deadline, if the new one has passed as well.) Returns how many entries were taken out.
pub(crate) fn fire(shard: &Shard, now: u64, batch: &mut WakeBatch, woken: &mut dyn WakeSink) -> u64 {
    expire_all(shard, now, State::Fired, batch, woken)
}

/// Ends all waits and refuses new ones.
pub(crate) fn close(shard: &Shard, batch: &mut WakeBatch, woken: &mut dyn WakeSink) {
    shard.lock().close();
    expire_all(shard, u64::MAX, State::Closed, batch, woken);
}

fn expire_all(shard: &Shard, now: u64, to: State, batch: &mut WakeBatch, woken: &mut dyn WakeSink) -> u64 {
    let mut all = 0;
    loop {
        let (count, more) = expire_some(shard, now, to, batch);
        batch.give_to(woken);
        all += count;
        if !more {
            return all;
        }
    }
}

/// Expires one batch of entries, whose wakers are then in the batch. Returns how many entries were taken out, and
/// whether there may be more.
fn expire_some(shard: &Shard, now: u64, to: State, batch: &mut WakeBatch) -> (u64, bool) {
    let mut locked = shard.lock();
    let mut count = 0;
    let mut more = true;
    let mut refiled: usize = 0;
    while !batch.is_full() && refiled < MAX_REFILED_PER_LOCK {
        let Some(node) = locked.wheel.pop_due(now) else {
            more = false;
            break;
        };
        // SAFETY: the node was in the wheel, so its entry was `Waiting`; the lock is held.
        match unsafe { Entry::expire(Entry::of_node(node), to, now) } {
            Ok((waker, extended_to)) => {
                batch.push(waker);
                count += 1;
                if to == State::Fired {
                    let due = extended_to.max(locked.wheel.elapsed());
                    shard.note_late(&mut locked, now.saturating_sub(due));
                }
            }
            Err(later) => {
                refiled += 1;
                // SAFETY: its entry still waits: it is pinned, and stays until it has been taken out.
                let filed = unsafe { locked.wheel.insert(node, later) };
                filed.expect("the wheel's time is not past the present");
            }
        }
    }
    match to {
        State::Fired => shard.note_fired(&mut locked, count),
        _ => shard.note_cancelled(&mut locked, count),
    }
    shard.note_next(&mut locked);
    // To file an entry again costs as much as to fire one.
    (count + refiled as u64, more)
}
