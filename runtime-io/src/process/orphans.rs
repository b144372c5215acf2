//! Children whose [`Child`](super::Child) was dropped before they had ended.
//!
//! A process that has ended stays a zombie until its parent has waited for it. The parent is this process, whoever has
//! dropped the `Child`, and whether or not the runtime is still there. So orphans are waited for by a thread of their
//! own, the *reaper*, which belongs to no runtime. It is started when there is an orphan and ends when there is none,
//! and has a driver of its own to wait in. Between two ends it costs no processor time.
//!
//! If the system refuses the thread or the driver's descriptors, orphans stay in the list until the next attempt, which
//! is when another child is dropped or started.
//!
//! What is new goes into a list; the reaper takes it from there, so only the list is shared, under a lock. The reaper
//! says that it ends under the same lock, with the list empty: a thread that adds an orphan finds either a reaper that
//! will look, or none and starts one. Its own orphans it polls all each time it is woken: mostly that is a look at a
//! word.
//!
//! A process that forks without `exec` has the list in the child as well, but not the thread. So the list knows which
//! process its reaper is in, and the child starts one of its own.

use std::io;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};
use std::thread;
use std::time::Duration;

use runtime_core::driver::{Driver as _, Unpark, WakeAtOnce};
use runtime_core::primitive::Mutex;

use super::exit::Exit;
use crate::driver::{Driver, Handle};

/// The name of the reaper's thread.
const NAME: &str = "rt-reaper";

/// How long the reaper waits before it asks again about a child that it cannot be told of, for lack of descriptors.
const AGAIN: Duration = Duration::from_millis(100);

/// How many ends of children one turn of the reaper's driver tells it of: after each turn it looks at all children.
const EVENTS: usize = 1024;

static ORPHANS: Mutex<Orphans> = Mutex::new(Orphans { new: Vec::new(), reaper: None });

struct Orphans {
    /// What the reaper has not seen yet.
    new: Vec<Exit>,
    /// If there is a reaper, the process that it is in, and what wakes it.
    reaper: Option<(u32, Arc<dyn Unpark>)>,
}

impl Orphans {
    /// Sees to it that somebody waits for what is new.
    fn attend(&mut self) {
        if self.new.is_empty() {
            return;
        }
        let here = std::process::id();
        match &self.reaper {
            Some((process, reaper)) if *process == here => reaper.unpark(),
            _ => self.reaper = start().ok().map(|reaper| (here, reaper)),
        }
    }
}

/// Takes over a child that nobody waits for any more.
pub(super) fn adopt(exit: Exit) {
    let mut orphans = ORPHANS.lock();
    orphans.new.push(exit);
    orphans.attend();
}

/// Tries again if there was no reaper to be had for some orphans.
pub(super) fn attend() {
    ORPHANS.lock().attend();
}

/// Starts the reaper. Called with the lock held, which the reaper takes first of all.
fn start() -> io::Result<Arc<dyn Unpark>> {
    let (driver, handle) = Driver::new(0, EVENTS)?;
    let unpark = handle.unpark_handle();
    let waker = Waker::from(Arc::new(WakeReaper(unpark.clone())));
    thread::Builder::new().name(NAME.to_owned()).spawn(move || reap(driver, &handle, &waker))?;
    Ok(unpark)
}

struct WakeReaper(Arc<dyn Unpark>);

impl Wake for WakeReaper {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// The reaper's work.
fn reap(mut driver: Driver, handle: &Arc<Handle>, waker: &Waker) {
    let mut watched = Vec::new();
    let mut unwatched = Vec::new();
    while let Some(new) = take_new(watched.is_empty() && unwatched.is_empty()) {
        unwatched.extend(new);
        for mut exit in std::mem::take(&mut unwatched) {
            match exit.watch(handle) {
                Ok(()) => watched.push(exit),
                Err(_) => unwatched.push(exit),
            }
        }
        // An error says that somebody else has waited for it.
        watched.retain_mut(|exit| exit.poll(&mut Context::from_waker(waker)).is_pending());
        unwatched.retain_mut(|exit| matches!(exit.child().try_wait(), Ok(None)));
        if !unwatched.is_empty() {
            driver.park(Some(AGAIN), &mut WakeAtOnce);
        } else if !watched.is_empty() {
            driver.park(None, &mut WakeAtOnce);
        }
    }
}

/// What is new. `None` if that is nothing and the reaper has nothing else to do: it is discharged then.
fn take_new(is_idle: bool) -> Option<Vec<Exit>> {
    let mut orphans = ORPHANS.lock();
    if is_idle && orphans.new.is_empty() {
        orphans.reaper = None;
        return None;
    }
    Some(std::mem::take(&mut orphans.new))
}
