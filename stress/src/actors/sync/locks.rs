//! Locks: one writer at a time, or readers; what is behind them is in order; and at the end nobody has them.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use rt::sync::{
    Mutex, MutexGuard, OwnedMutexGuard, OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock, RwLockReadGuard,
    RwLockWriteGuard,
};

use super::{dither, perhaps};
use crate::ledger::{Count, Kind};
use crate::parcel::{Flow, Parcel};
use crate::plan::{Rng, one_in};
use crate::stage::Stage;

/// What is behind a lock. Not atomic, and with a box: ThreadSanitizer sees a lock that orders too little.
struct Account {
    sum: u64,
    parcel: Parcel,
}

/// Counts those that have a lock. Relaxed: the lock has to order it.
struct Room {
    stage: Stage,
    inside: AtomicI64,
    readers: i64,
    flow: Arc<Flow>,
    /// What all have paid in.
    paid: AtomicU64,
}

/// More than there are readers.
const WRITER: i64 = 1 << 32;

/// To be dropped before the guard.
struct Inside<'a>(&'a Room, i64);

impl Room {
    fn new(stage: &Stage, readers: u32, flow: &Arc<Flow>) -> Self {
        let (inside, paid) = (AtomicI64::new(0), AtomicU64::new(0));
        Self { stage: stage.clone(), inside, readers: i64::from(readers), flow: Arc::clone(flow), paid }
    }

    fn account(&self) -> Account {
        Account { sum: 0, parcel: Parcel::new(&self.stage, &self.flow, 0, 0) }
    }

    fn enter(&self, weight: i64, allowed: impl FnOnce(i64) -> bool) -> Inside<'_> {
        self.stage.ledger().count(Count::Locks);
        let before = self.inside.fetch_add(weight, Ordering::Relaxed);
        if !allowed(before) {
            self.stage.ledger().problem(format!("{before:#x} had a lock, and {weight:#x} got it"));
        }
        Inside(self, weight)
    }

    fn write(&self) -> Inside<'_> {
        self.enter(WRITER, |before| before == 0)
    }

    fn read(&self) -> Inside<'_> {
        self.enter(1, |before| before < self.readers)
    }

    /// The writer becomes a reader. It is still alone.
    fn downgrade<'a>(&self, inside: &mut Inside<'a>) {
        inside.1 = 1;
        self.inside.fetch_sub(WRITER - 1, Ordering::Relaxed);
    }

    fn pay(&self, account: &mut Account) {
        account.sum += 1;
        account.parcel = Parcel::new(&self.stage, &self.flow, 0, account.sum);
        self.paid.fetch_add(1, Ordering::Relaxed);
    }

    fn look(&self, account: &Account) {
        if account.parcel.number() != account.sum {
            self.stage.ledger().problem(format!("at sum {} lay {}", account.sum, account.parcel.number()));
        }
    }

    fn end(&self, account: Option<&Account>) {
        let paid = self.paid.load(Ordering::Relaxed);
        match account {
            Some(account) if account.sum == paid => self.look(account),
            Some(account) => self.stage.ledger().problem(format!("{paid} was paid in, and {} is there", account.sum)),
            None => self.stage.ledger().problem("a lock is held, and nobody is left".into()),
        }
    }
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        self.0.inside.fetch_sub(self.1, Ordering::Relaxed);
    }
}

struct Locks {
    mutex: Arc<Mutex<Account>>,
    mutex_room: Room,
    rwlock: Arc<RwLock<Account>>,
    rwlock_room: Room,
}

pub(in crate::actors) async fn run(stage: Stage, size: usize, mut rng: Rng) {
    let flow = Arc::<Flow>::default();
    let readers = [1, 2, 100][rng.usize(..3)];
    let (mutex_room, rwlock_room) = (Room::new(&stage, 1, &flow), Room::new(&stage, readers, &flow));
    let mutex = Arc::new(Mutex::new(mutex_room.account()));
    let rwlock = Arc::new(RwLock::with_max_readers(rwlock_room.account(), readers));
    let locks = Arc::new(Locks { mutex, mutex_room, rwlock, rwlock_room });
    let mut job = one_in(&mut rng, 3);
    let tasks: Vec<_> = (0..size * 2)
        .map(|_| {
            let (locks, mut own) = (Arc::clone(&locks), rng.fork());
            let task = if std::mem::take(&mut job) {
                stage.spawn_blocking(move |_| block(&locks, &mut own))
            } else {
                stage.spawn(Kind::User, async move {
                    for _ in 0..own.u32(1..30) {
                        if own.bool() {
                            lock(&locks, &mut own).await;
                        } else {
                            read_or_write(&locks, &mut own).await;
                        }
                    }
                })
            };
            stage.expose(&task, &mut rng, 10);
            task
        })
        .collect();
    for task in tasks {
        let _ = task.join().await;
    }
    locks.mutex_room.end(locks.mutex.try_lock().ok().as_deref());
    locks.rwlock_room.end(locks.rwlock.try_write().ok().as_deref());
}

/// Keeps a lock for a while.
async fn stay<G>(guard: G, inside: Inside<'_>, rng: &mut Rng) {
    if one_in(rng, 3) {
        dither(rng).await;
    }
    // In this order, also when the task is dropped on the way: the parameters are, from the last to the first.
    drop(inside);
    drop(guard);
}

/// Gets a lock, and does something with it and a look at its room.
async fn with<'a, G>(
    room: &'a Room,
    rng: &mut Rng,
    get: impl Future<Output = G>,
    enter: impl FnOnce(&'a Room, &mut G) -> Inside<'a>,
) {
    let Some(mut guard) = perhaps(&room.stage, rng, get).await else { return };
    let inside = enter(room, &mut guard);
    stay(guard, inside, rng).await;
}

async fn lock(Locks { mutex, mutex_room: room, .. }: &Locks, rng: &mut Rng) {
    match rng.u32(..6) {
        0 => {
            let Ok(mut guard) = mutex.try_lock() else { return };
            let inside = room.write();
            room.pay(&mut guard);
            stay(guard, inside, rng).await;
        }
        1 => {
            let get = async { MutexGuard::map(mutex.lock().await, |account| &mut account.sum) };
            with(room, rng, get, |room, _| room.write()).await;
        }
        2 => {
            let get = Arc::clone(mutex).lock_owned();
            with(room, rng, get, |room, guard: &mut OwnedMutexGuard<_>| {
                let inside = room.write();
                room.pay(guard);
                inside
            })
            .await;
        }
        _ => {
            with(room, rng, mutex.lock(), |room, guard| {
                let inside = room.write();
                room.look(guard);
                room.pay(guard);
                inside
            })
            .await;
        }
    }
}

async fn read_or_write(Locks { rwlock, rwlock_room: room, .. }: &Locks, rng: &mut Rng) {
    match rng.u32(..9) {
        0 => {
            let Ok(guard) = rwlock.try_read() else { return };
            let inside = room.read();
            room.look(&guard);
            stay(guard, inside, rng).await;
        }
        1 => {
            let Ok(mut guard) = rwlock.try_write() else { return };
            let inside = room.write();
            room.pay(&mut guard);
            stay(guard, inside, rng).await;
        }
        2 => {
            let get = async { RwLockReadGuard::map(rwlock.read().await, |account| &account.sum) };
            with(room, rng, get, |room, _| room.read()).await;
        }
        3 => {
            let get = Arc::clone(rwlock).read_owned();
            with(room, rng, get, |room, guard: &mut OwnedRwLockReadGuard<_>| {
                let inside = room.read();
                room.look(guard);
                inside
            })
            .await;
        }
        4 => {
            let get = Arc::clone(rwlock).write_owned();
            with(room, rng, get, |room, guard: &mut OwnedRwLockWriteGuard<_>| {
                let inside = room.write();
                room.pay(guard);
                inside
            })
            .await;
        }
        5 => {
            let Some(mut guard) = perhaps(&room.stage, rng, rwlock.write()).await else { return };
            let mut inside = room.write();
            room.pay(&mut guard);
            room.downgrade(&mut inside);
            let guard = RwLockWriteGuard::downgrade(guard);
            room.look(&guard);
            stay(guard, inside, rng).await;
        }
        6 => {
            with(room, rng, rwlock.write(), |room, guard| {
                let inside = room.write();
                room.look(guard);
                room.pay(guard);
                inside
            })
            .await;
        }
        _ => {
            with(room, rng, rwlock.read(), |room, guard| {
                let inside = room.read();
                room.look(guard);
                inside
            })
            .await;
        }
    }
}

/// The same as a job.
fn block(Locks { mutex, mutex_room, rwlock, rwlock_room }: &Locks, rng: &mut Rng) {
    for _ in 0..rng.u32(1..10) {
        match rng.u32(..4) {
            0 => {
                let mut guard = mutex.blocking_lock();
                let _inside = mutex_room.write();
                mutex_room.pay(&mut guard);
            }
            1 => {
                let mut guard = Arc::clone(mutex).blocking_lock_owned();
                let _inside = mutex_room.write();
                mutex_room.pay(&mut guard);
            }
            2 => {
                let guard = rwlock.blocking_read();
                let _inside = rwlock_room.read();
                rwlock_room.look(&guard);
            }
            _ => {
                let mut guard = rwlock.blocking_write();
                let _inside = rwlock_room.write();
                rwlock_room.pay(&mut guard);
            }
        }
    }
}
