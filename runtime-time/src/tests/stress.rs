//! Many threads on few shards, while a driver fires: for the sanitizers, and for the books to balance.

use std::sync::atomic::AtomicBool;
use std::thread;

use super::*;

/// Enough for a few thousand collisions between setting, cancelling and firing in a debug build.
const ROUNDS: u32 = 4000;

/// Numbers that look random (xorshift), different for each thread.
struct Numbers(u32);

impl Numbers {
    fn below(&mut self, n: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0 % n
    }
}

/// Sleeps for another thread to drop. (Not a channel of the standard library: sanitizers cannot look into that.)
type Sent = Mutex<Vec<Pin<Box<Sleep>>>>;

/// Sets, polls, resets and drops timers of two shards; some are handed to another thread to be dropped there.
fn use_timers(handle: &Handle, seed: u32, sent: &Sent) {
    let (woken, waker) = Woken::new();
    let (_, other_waker) = Woken::new();
    let mut numbers = Numbers(seed);
    let mut kept: Vec<Pin<Box<Sleep>>> = Vec::new();
    let mut rounds = 0;
    // At least until the driver's thread has come to its work.
    while rounds < ROUNDS || handle.counters().timers_fired == 0 {
        rounds += 1;
        let soon = |numbers: &mut Numbers| Instant::from_std(handle.now()) + numbers.below(1500) * MS / 1000;
        let shard = handle.shard_at(numbers.below(2) as usize).clone();
        let mut sleep = Box::pin(Sleep::new(shard, soon(&mut numbers), State::New));
        let _ = poll(sleep.as_mut(), &waker);
        kept.push(sleep);
        let pick = numbers.below(kept.len() as u32) as usize;
        match numbers.below(5) {
            0 => kept[pick].as_mut().reset(soon(&mut numbers)),
            1 => drop(poll(kept[pick].as_mut(), &other_waker).is_ready()),
            2 => drop(kept.swap_remove(pick)),
            3 => sent.lock().push(kept.swap_remove(pick)),
            _ => {
                let sleep = &mut kept[pick];
                if poll(sleep.as_mut(), &waker).is_ready() {
                    assert!(handle.now() >= sleep.deadline().into_std(), "early");
                }
            }
        }
    }
    drop((kept, woken));
}

#[test]
fn threads_and_driver_agree() {
    let Rig { mut driver, handle, .. } = Rig::on(Clock::new());
    let (done, sent) = (AtomicBool::new(false), Sent::new(Vec::new()));
    thread::scope(|scope| {
        let (handle, done, sent, driver) = (&handle, &done, &sent, &mut driver);
        let users = [1, 2].map(|seed| scope.spawn(move || use_timers(handle, seed, sent)));
        let dropper = scope.spawn(move || {
            while !done.load(Ordering::Relaxed) {
                drop(std::mem::take(&mut *sent.lock()));
            }
        });
        let driving = scope.spawn(move || {
            while !done.load(Ordering::Relaxed) {
                driver.park(Some(MS), &mut WakeAtOnce);
            }
        });
        for user in users {
            user.join().unwrap();
        }
        done.store(true, Ordering::Relaxed);
        // Joined here because ThreadSanitizer does not see the end of a scope.
        dropper.join().unwrap();
        driving.join().unwrap();
    });
    drop(sent);
    let counters = handle.counters();
    assert!(counters.timers_fired > 0 && counters.timers_cancelled > 0, "{counters:?}");
    assert_eq!(counters.timers_set, counters.timers_fired + counters.timers_cancelled, "every timer ended once");
    assert_eq!(handle.exact_earliest(), crate::shared::NEVER);
}
