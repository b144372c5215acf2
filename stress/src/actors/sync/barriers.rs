//! Barriers: as many leaders as rounds, and as many that go on as arrived.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rt::sync::{Barrier, SetOnce};

use super::{dither, perhaps};
use crate::ledger::{Count, Kind};
use crate::plan::Rng;
use crate::stage::Stage;

struct Meeting {
    barrier: Barrier,
    /// Somebody will not come any more.
    broken: SetOnce<()>,
    arrived: AtomicU64,
    leaders: AtomicU64,
    followers: AtomicU64,
}

/// Calls the meeting off, should it be dropped early.
struct Guest {
    meeting: Arc<Meeting>,
    stays: bool,
}

impl Drop for Guest {
    fn drop(&mut self) {
        if !self.stays {
            let _ = self.meeting.broken.set(());
        }
    }
}

pub(in crate::actors) async fn run(stage: Stage, size: usize, mut rng: Rng) {
    let rounds = rng.u64(1..20);
    // Who gives up has arrived all the same, so that others may wait for a round that never comes.
    let gives_up = rng.bool();
    let meeting = Arc::new(Meeting {
        barrier: Barrier::new(size),
        broken: SetOnce::new(),
        arrived: AtomicU64::new(0),
        leaders: AtomicU64::new(0),
        followers: AtomicU64::new(0),
    });
    let tasks: Vec<_> = (0..size)
        .map(|_| {
            let guest = Guest { meeting: Arc::clone(&meeting), stays: false };
            let task = stage.spawn(Kind::User, attend(stage.clone(), guest, rounds, gives_up, rng.fork()));
            stage.expose(&task, &mut rng, 40);
            task
        })
        .collect();
    let mut all_ended = true;
    for task in tasks {
        all_ended &= task.join().await.is_ok();
    }
    let [arrived, leaders, followers] =
        [&meeting.arrived, &meeting.leaders, &meeting.followers].map(|count| count.load(Ordering::Relaxed));
    stage.ledger().add(Count::Rounds, leaders);
    let size = size as u64;
    let fits = if all_ended && !gives_up {
        (arrived, leaders, followers) == (rounds * size, rounds, rounds * (size - 1))
    } else {
        // A leader may have given up as the round began.
        leaders <= arrived / size && followers <= arrived / size * (size - 1)
    };
    if !fits {
        stage.ledger().problem(format!(
            "a barrier for {size}, {rounds} rounds: {arrived} arrived, {leaders} led, {followers} followed"
        ));
    }
}

async fn attend(stage: Stage, mut guest: Guest, rounds: u64, gives_up: bool, mut rng: Rng) {
    let meeting = Arc::clone(&guest.meeting);
    for _ in 0..rounds {
        if rng.u32(..4) == 0 {
            dither(&mut rng).await;
        }
        let wait = async {
            // Counted before it arrives, in the same poll.
            meeting.arrived.fetch_add(1, Ordering::Relaxed);
            rt::select! {
                biased;
                result = meeting.barrier.wait() => Some(result.is_leader()),
                _ = meeting.broken.wait() => None,
            }
        };
        let passed = if gives_up { perhaps(&stage, &mut rng, wait).await } else { Some(wait.await) };
        match passed {
            Some(Some(true)) => meeting.leaders.fetch_add(1, Ordering::Relaxed),
            Some(Some(false)) => meeting.followers.fetch_add(1, Ordering::Relaxed),
            Some(None) => return,
            None => continue,
        };
    }
    // Those that have not given up have come as often as they should.
    guest.stays = !gives_up;
}
