//! Tasks that are not `Send`: polled and dropped by the thread that they were spawned on, and by no other.

use std::cell::Cell;
use std::rc::Rc;
use std::thread::{self, ThreadId};

use super::dither;
use crate::plan::Rng;
use crate::stage::Stage;

/// Knows where it belongs.
pub(super) struct Bound {
    home: ThreadId,
    stage: Stage,
    /// Not atomic: a second thread would be a data race, which ThreadSanitizer sees.
    uses: Rc<Cell<u64>>,
}

impl Bound {
    pub(super) fn new(stage: &Stage, uses: &Rc<Cell<u64>>) -> Self {
        Self { home: thread::current().id(), stage: stage.clone(), uses: Rc::clone(uses) }
    }

    pub(super) fn touch(&self) {
        if thread::current().id() != self.home {
            self.stage.ledger().problem("a local task was touched by another thread".into());
        }
        self.uses.set(self.uses.get() + 1);
    }
}

impl Drop for Bound {
    fn drop(&mut self) {
        self.touch();
    }
}

pub(super) async fn run(stage: Stage, size: usize, mut rng: Rng) {
    let uses = Rc::new(Cell::new(0));
    let (mut tasks, mut expected) = (Vec::new(), 0);
    for _ in 0..size * 2 {
        let (bound, mut own) = (Bound::new(&stage, &uses), rng.fork());
        let touches = rng.u64(..20);
        let task = stage.spawn_local(async move {
            for _ in 0..touches {
                bound.touch();
                dither(&mut own).await;
            }
        });
        stage.expose(&task, &mut rng, 10);
        tasks.push(task);
        expected += touches + 1;
    }
    let mut all_ended = true;
    for task in tasks {
        all_ended &= task.join().await.is_ok();
    }
    if all_ended && uses.get() != expected {
        stage.ledger().problem(format!("local tasks counted {} of {expected}", uses.get()));
    }
}
