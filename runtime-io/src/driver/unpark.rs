//! Ends the driver's wait from another thread, with a system call only if a thread is really waiting.
//!
//! One atomic of three states:
//!
//! - IDLE: nobody waits in the driver, and nobody has asked it to return.
//! - PARKED: a thread is in, or about to enter, the poller's wait.
//! - NOTIFIED: somebody has asked for a return that has not happened yet.
//!
//! The driver goes IDLE -> PARKED before it waits; if it finds NOTIFIED instead it does not wait. After the wait,
//! however it ended, it goes to IDLE. An unpark goes to NOTIFIED from wherever; only the one that finds PARKED has a
//! wait to end, and signals. Whatever it wrote before is visible to the thread that returns: its swap releases, and the
//! driver's swap back to IDLE acquires.
//!
//! A signal can reach the poller late, when the wait it was for has ended for another reason. It then ends a later wait
//! without cause, which parking allows. It never comes too early: PARKED is seen before the signal is sent, and the
//! poller keeps a signal that comes before the wait proper.

use runtime_core::driver::Unpark;
use runtime_core::primitive::atomic::AtomicU8;
use runtime_core::primitive::atomic::Ordering::{AcqRel, Acquire};

const IDLE: u8 = 0;
const PARKED: u8 = 1;
const NOTIFIED: u8 = 2;

/// Whether the driver waits, and whether it was asked to return: IDLE, PARKED or NOTIFIED.
#[derive(Debug)]
pub(super) struct ParkState(AtomicU8);

impl ParkState {
    pub(super) fn new() -> Self {
        Self(AtomicU8::new(IDLE))
    }

    /// Before the wait. False if it must not be one.
    #[must_use]
    pub(super) fn enter(&self) -> bool {
        self.0.compare_exchange(IDLE, PARKED, Acquire, Acquire).is_ok()
    }

    /// After the wait.
    pub(super) fn leave(&self) {
        self.0.swap(IDLE, AcqRel);
    }

    /// Asks for a return. True if the caller has to signal the poller for it.
    #[must_use]
    pub(super) fn notify(&self) -> bool {
        self.0.swap(NOTIFIED, AcqRel) == PARKED
    }
}

/// What the runtime holds to end the driver's wait.
#[derive(Debug)]
pub(super) struct Unparker {
    pub(super) state: ParkState,
    pub(super) waker: mio::Waker,
}

impl Unpark for Unparker {
    fn unpark(&self) {
        if self.state.notify() {
            // It fails only if the descriptor behind it is not what it was made as: somebody closed what is not theirs.
            // Going on would leave a worker asleep for ever.
            self.waker.wake().expect("the I/O driver's wake-up signal cannot be sent");
        }
    }
}

#[cfg(all(test, loom))]
mod loom_model {
    use loom::sync::atomic::{AtomicBool, Ordering};
    use loom::sync::{Condvar, Mutex};
    use loom::thread;

    use super::*;

    /// Stands for the poller's wake-up: keeps a signal until a wait takes it.
    struct Signal(Mutex<bool>, Condvar);

    impl Signal {
        fn send(&self) {
            *self.0.lock().unwrap() = true;
            self.1.notify_one();
        }

        fn wait(&self) {
            let mut sent = self.0.lock().unwrap();
            while !*sent {
                sent = self.1.wait(sent).unwrap();
            }
            *sent = false;
        }
    }

    /// A worker that parks until it sees the work that two others hand it: an unpark that got lost is a deadlock.
    #[test]
    fn an_unpark_is_never_lost() {
        loom::model(|| {
            let shared = std::sync::Arc::new((
                ParkState::new(),
                Signal(Mutex::new(false), Condvar::new()),
                [AtomicBool::new(false), AtomicBool::new(false)],
            ));
            let unparkers = [0, 1].map(|n| {
                let shared = shared.clone();
                thread::spawn(move || {
                    let (state, signal, work) = &*shared;
                    // Relaxed: it is the protocol that has to make this visible.
                    work[n].store(true, Ordering::Relaxed);
                    if state.notify() {
                        signal.send();
                    }
                })
            });
            let (state, signal, work) = &*shared;
            while !work.iter().all(|work| work.load(Ordering::Relaxed)) {
                if state.enter() {
                    signal.wait();
                }
                state.leave();
            }
            for unparker in unparkers {
                unparker.join().unwrap();
            }
        });
    }
}
