//! Values on their way: each is counted when it is made, and again when it is dropped, as received or as lost.
//!
//! The actors send them through channels and keep them behind locks. Each has a box of its own, so that a value that is
//! given out twice is freed twice. Its content is not atomic, so that ThreadSanitizer sees a channel that orders too
//! little.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::ledger::Count;
use crate::stage::Stage;

/// What happens to the values of one channel. They may be asked for when all that could drop one has been joined.
#[derive(Default)]
pub(crate) struct Flow {
    received: AtomicU64,
    lost: AtomicU64,
}

impl Flow {
    pub(crate) fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }

    pub(crate) fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }
}

/// See the module.
pub(crate) struct Parcel(Box<Content>);

struct Content {
    stage: Stage,
    flow: Arc<Flow>,
    sender: usize,
    number: u64,
    received: bool,
}

impl Parcel {
    pub(crate) fn new(stage: &Stage, flow: &Arc<Flow>, sender: usize, number: u64) -> Self {
        stage.ledger().count(Count::Sent);
        Self(Box::new(Content { stage: stage.clone(), flow: Arc::clone(flow), sender, number, received: false }))
    }

    pub(crate) fn number(&self) -> u64 {
        self.0.number
    }

    /// It has come to where it belongs.
    pub(crate) fn receive(&mut self) {
        if std::mem::replace(&mut self.0.received, true) {
            self.0.stage.ledger().problem(format!("value {} of {} was received twice", self.0.number, self.0.sender));
        }
    }
}

/// The copy is one more value, which somebody has to receive, or to lose.
impl Clone for Parcel {
    fn clone(&self) -> Self {
        Self::new(&self.0.stage, &self.0.flow, self.0.sender, self.0.number)
    }
}

impl Drop for Content {
    fn drop(&mut self) {
        let (count, sum) =
            if self.received { (Count::Received, &self.flow.received) } else { (Count::Lost, &self.flow.lost) };
        sum.fetch_add(1, Ordering::Relaxed);
        self.stage.ledger().count(count);
    }
}

/// One receiver's view: what comes from one sender comes in order.
pub(crate) struct Inbox {
    next: Vec<u64>,
    received: u64,
}

impl Inbox {
    pub(crate) fn new(senders: usize) -> Self {
        Self { next: vec![0; senders], received: 0 }
    }

    pub(crate) fn receive(&mut self, mut parcel: Parcel) {
        parcel.receive();
        let Content { stage, sender, number, .. } = &*parcel.0;
        let next = &mut self.next[*sender];
        if *number < *next {
            stage.ledger().problem(format!("message {number} came after {}", *next - 1));
        }
        *next = *number + 1;
        self.received += 1;
    }

    /// How many it has received.
    pub(crate) fn received(&self) -> u64 {
        self.received
    }
}
