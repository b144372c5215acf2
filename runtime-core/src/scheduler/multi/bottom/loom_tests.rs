//! The protocol of `mod.rs`, on every interleaving (loom). Both sides of the fence are real ones here.

use loom::thread;

use super::*;
use crate::primitive::UnsafeCell;

const TASKS: usize = 2;

/// Stands for the memory of the tasks: written before a task is queued, read by whoever gets it.
struct Memory([UnsafeCell<usize>; TASKS]);

// SAFETY: that the cells are used by one thread at a time is what the model checks.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Memory {
    /// A "task" that is nothing but its number, and is never dereferenced.
    fn task(&self, number: usize) -> Notified {
        // SAFETY: the queue has the task to itself.
        self.0[number].with_mut(|cell| unsafe { *cell += 1 });
        // SAFETY: it is turned back by `number`, and not used as a task.
        unsafe { Notified::from_raw(NonNull::without_provenance((number + 1).try_into().expect("above zero"))) }
    }

    fn number(&self, task: Notified) -> usize {
        let number = task.into_raw().addr().get() - 1;
        // SAFETY: whoever has the task has its memory.
        self.0[number].with_mut(|cell| assert_eq!(unsafe { std::mem::replace(&mut *cell, 0) }, 1));
        number
    }
}

/// A worker beside two thieves who use such fences.
fn each_task_goes_to_one_thread(fences: [AsymmetricFence; 2]) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(move || {
        let memory = std::sync::Arc::new(Memory(std::array::from_fn(|_| UnsafeCell::new(0))));
        let (bottom, stealer) = new(AsymmetricFence::Symmetric);
        let stealer = std::sync::Arc::new(stealer);
        let thieves = fences.map(|fence| {
            let (stealer, memory) = (stealer.clone(), memory.clone());
            thread::spawn(move || stealer.steal_by(fence).map(|task| memory.number(task)))
        });
        let mut got = Vec::new();
        let mut next = 0;
        // The worker fills the place when it sees it empty, be it open or not, and takes what is left.
        while next < TASKS {
            if bottom.is_empty() {
                bottom.fill(memory.task(next));
                next += 1;
            } else {
                got.extend(bottom.take().map(|task| memory.number(task)));
            }
        }
        got.extend(bottom.take().map(|task| memory.number(task)));
        got.extend(thieves.into_iter().filter_map(|thief| thief.join().unwrap()));
        got.sort_unstable();
        assert_eq!(got, (0..TASKS).collect::<Vec<_>>());
    });
}

#[test]
fn loom_each_task_goes_to_one_thread() {
    each_task_goes_to_one_thread([AsymmetricFence::Symmetric; 2]);
}

#[test]
fn loom_each_task_goes_to_one_thread_if_one_thief_is_refused_its_fence() {
    each_task_goes_to_one_thread([AsymmetricFence::Symmetric, AsymmetricFence::Refused]);
}
