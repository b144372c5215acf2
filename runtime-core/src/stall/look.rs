//! A look at all tasks of a runtime: what is certain of what keeps each from going on.
//!
//! # A task that nobody can wake
//!
//! A task that waits is polled again only after somebody has changed its state from idle to SCHEDULED: by a waker, or
//! to cancel it by a handle, or at shutdown, which comes through the arena. Each waker and each handle is counted as a
//! reference in the state word, from when it is made until it is gone, and is made of another one; so is the queue's
//! entry, which an idle task has not. (The waker that a poll is given is not counted, but is gone when the poll is
//! over.) So if one load of the word shows an idle task with one reference, this is the arena's, and there is nothing
//! that another could be made of: the state is the task's last until shutdown. One look is enough, whatever other
//! threads do meanwhile. That the word is still that of the same task, the snapshot makes sure of
//! (`task/published.rs`).
//!
//! # A task that is kept by another
//!
//! Such a task is idle, and has, besides the arena's reference and the join handle's, exactly one: one waker in the
//! world. In its last poll one leaf has said what it waits for, and that it has left the task's own waker there: a
//! lock, or the slot for the joiner of a task. So that is where the one waker is, and no other way to the task is left.
//! (A leaf below a combinator with wakers of its own, as `FuturesUnordered`, has not, and does not count: other leaves
//! may have been left unpolled beside it.) Of a lock the holder is known (`task/holders.rs`): a task that has acquired
//! it, and has not begun to give it back.
//!
//! All of this is read at several moments. But what a task waits for changes with its polls only, and which lock it
//! holds: if two looks find the same, and the same number of polls (`graph.rs`), there was none in between, and each of
//! these was so between the looks. A task could have come by the lock meanwhile only by being granted it, which begins
//! with the holder's giving it back: the note that names the holder goes before.

use super::graph::{Keeps, Node};
use super::{StalledTask, WaitsFor};
use crate::runtime::{Inner, snapshots};
use crate::task::{Grip, Snapshot, TaskActivity, holders};

/// All tasks of a runtime, in the order of their births.
pub(super) struct Look {
    tasks: Vec<Snapshot>,
    pub(super) nodes: Vec<Node>,
}

impl Look {
    pub(super) fn at(runtime: &Inner) -> Self {
        let mut tasks = snapshots(runtime);
        tasks.sort_unstable_by_key(|task| task.id.0);
        let nodes = tasks.iter().map(node).collect();
        Self { tasks, nodes }
    }

    /// The task at this place, for the user.
    pub(super) fn task(&self, place: usize) -> StalledTask {
        let task = &self.tasks[place];
        let (id, name, spawned_at) = (task.id, task.name, task.spawned_at);
        StalledTask { id, name, spawned_at, waits_for: waits_for(task) }
    }
}

fn node(task: &Snapshot) -> Node {
    let keeps = match task.grip {
        Grip::Nobody => Keeps::Lost,
        Grip::OneWaker => kept_by(task).map_or(Keeps::Nothing, Keeps::Task),
        Grip::Others => Keeps::Nothing,
    };
    Node { id: task.id.0, polls: task.recorded.map_or(0, |recorded| recorded.polls), keeps }
}

/// The task that keeps this one from going on, which has one waker.
fn kept_by(task: &Snapshot) -> Option<u64> {
    let note = task.recorded?.waits_for;
    if task.activity != TaskActivity::Waiting || note.has_others() || !note.is_direct() {
        return None;
    }
    match waits_for(task) {
        WaitsFor::Lock { holder: Some(holder), .. } => Some(holder.0),
        WaitsFor::Join { task } => Some(task.0),
        _ => None,
    }
}

/// What it waits for, but for sockets, which keep nobody for ever.
fn waits_for(task: &Snapshot) -> WaitsFor {
    task.recorded.map_or(WaitsFor::Unknown, |recorded| recorded.waits_for.tell(|_| WaitsFor::Unknown, holders::holder))
}
