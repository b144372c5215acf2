//! [`Presence`]: whether a worker will look for itself, for others who leave something to it.

use runtime_core::primitive::atomic::AtomicBool;
use runtime_core::primitive::atomic::Ordering::{Relaxed, SeqCst};
use runtime_core::primitive::atomic::fence;

/// Whether a worker is up. The protocol is in the module above.
#[derive(Debug)]
pub(super) struct Presence(AtomicBool);

impl Presence {
    pub(super) fn new() -> Self {
        Self(AtomicBool::new(false))
    }

    /// For the worker. False if it was up already.
    pub(super) fn come(&self) -> bool {
        let comes = !self.0.load(Relaxed);
        if comes {
            self.0.store(true, Relaxed);
        }
        comes
    }

    /// For the worker, before its last look. False if it was not up.
    pub(super) fn go(&self) -> bool {
        let goes = self.0.load(Relaxed);
        if goes {
            self.0.store(false, Relaxed);
            // Pairs with the fence in `is_up`.
            fence(SeqCst);
        }
        goes
    }

    /// The same for anybody, who does not rely on it.
    pub(super) fn seems_up(&self) -> bool {
        self.0.load(Relaxed)
    }

    /// For who has heard of an event: whether the worker has a look to come that finds it.
    pub(super) fn is_up(&self) -> bool {
        // Pairs with the fence in `go`.
        fence(SeqCst);
        self.0.load(Relaxed)
    }
}

#[cfg(all(test, loom))]
mod loom_model {
    use loom::sync::Arc;
    use loom::thread;

    use super::*;

    /// A worker goes while another thread, who has heard of an event, decides whether to leave that to it. An event that is
    /// left to the worker, and that its last look does not find, is a socket that hangs.
    #[test]
    fn what_is_left_to_a_worker_that_goes_is_found_by_its_last_look() {
        loom::model(|| {
            // Relaxed: the system's own locks promise more, but it is not they who have to make this right.
            let shared = Arc::new((Presence::new(), AtomicBool::new(false)));
            assert!(shared.0.come());
            let other = {
                let shared = shared.clone();
                thread::spawn(move || {
                    let (presence, event) = &*shared;
                    event.store(true, Relaxed);
                    presence.is_up()
                })
            };
            let (presence, event) = &*shared;
            assert!(presence.go());
            let is_found = event.load(Relaxed);
            let is_left = other.join().unwrap();
            assert!(is_found || !is_left);
        });
    }
}
