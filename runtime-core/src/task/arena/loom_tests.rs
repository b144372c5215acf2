//! Models of two workers with an arena each, which run each other's tasks: the real arenas and batches of remote frees.
//!
//! What is not real is the queue between them, and the memory of dead tasks is not kept for new ones (`arena/`), so
//! that a thread that touches a dead task is found out. An arena that is closed with nothing left on it has freed each
//! of its tasks once. With shutdown and a whole runtime around them the arenas are modelled in `scheduler/current`.

use std::collections::VecDeque;
use std::panic::Location;
use std::ptr::NonNull;

use loom::sync::{Arc, Mutex};
use loom::thread;

use super::{ArenaId, LocalArena, TaskArena};
use crate::task::host::Host;
use crate::task::{Header, Id, JoinHandle, Notified, Runner, Schedule, Site, SpawnInfo};

loom::lazy_static! {
    static ref QUEUE: Mutex<VecDeque<Notified>> = Mutex::new(VecDeque::new());
}

struct Model;

/// The arenas of these models are in no runtime.
struct NoRuntime;

impl Host for NoRuntime {
    fn request_drain(&self, _: ArenaId) {
        unreachable!("small identifiers ask nobody to drain");
    }
    unsafe fn remove_outstanding(_: *const Self) {
        unreachable!("nothing is left in an arena that is closed");
    }
}

impl Schedule for Model {
    fn schedule(_: Notified) {
        unreachable!("nobody wakes these tasks");
    }
    unsafe fn release(task: NonNull<Header>) {
        // SAFETY: the caller's promise; the tasks of these models are all in an arena.
        unsafe { TaskArena::free_remotely_one(task.as_ref().arena.expect("it is in an arena"), task) };
    }
}

/// Spawns a task onto an arena that is the calling thread's. Small identifiers ask nobody to drain.
fn spawn(arena: &TaskArena, id: u64, held: Arc<()>) -> JoinHandle<()> {
    let info = SpawnInfo { id: Id(id), site: Site::new(Location::caller(), None), arena: None, original_size: 0 };
    let future = async move { drop(held) };
    // SAFETY: the arena is this thread's.
    let (task, handle) = unsafe { arena.guard() }.new_task::<_, Model>(future, info);
    QUEUE.lock().unwrap().push_back(task);
    handle
}

/// A worker: spawns two tasks, runs what it finds, and looks after its dead, as at the end of an interval.
fn work(arena: &TaskArena, first_id: u64, held: &Arc<()>) {
    // SAFETY: the arena is this thread's as long as it works.
    let local_arena = unsafe { LocalArena::new(NonNull::from(arena)) };
    for id in [first_id, first_id + 1] {
        drop(spawn(arena, id, held.clone()));
    }
    loop {
        let task = QUEUE.lock().unwrap().pop_front();
        let Some(task) = task else { break };
        assert!(task.run(&Runner { local_arena: Some(&local_arena), ..Runner::NOBODY }).is_none());
    }
    local_arena.flush_and_drain();
}

/// The end of an arena, on a thread that owns it now. Returns how many tasks are left.
fn close(arena: &TaskArena) -> usize {
    // SAFETY: the workers are gone.
    unsafe {
        let arena = arena.guard();
        arena.cancel_all(&Runner::NOBODY);
        arena.close()
    }
}

fn check(preemptions: usize, model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}

/// Two workers run each other's tasks, and return the dead ones, two at a time or as they are.
#[test]
fn loom_tasks_that_die_in_their_arena_and_elsewhere_are_freed_once() {
    check(2, || {
        let arenas = std::sync::Arc::new([0, 1].map(|slot| TaskArena::new::<NoRuntime>(ArenaId::Slot(slot))));
        let held = Arc::new(());
        let other = {
            let (arenas, held) = (arenas.clone(), held.clone());
            thread::spawn(move || work(&arenas[1], 3, &held))
        };
        work(&arenas[0], 1, &held);
        other.join().unwrap();
        assert_eq!(arenas.each_ref().map(close), [0, 0], "a dead task is still in its arena");
        assert_eq!(Arc::strong_count(&held), 1);
    });
}

/// Handles are dropped by threads that have no arena, one after the other and both at once, while the owner frees what
/// has come back.
#[test]
fn loom_remote_frees_of_several_threads_beside_a_drain() {
    check(3, || {
        let arena = std::sync::Arc::new(TaskArena::new::<NoRuntime>(ArenaId::Slot(0)));
        let held = Arc::new(());
        let handles = [1, 2, 3].map(|id| spawn(&arena, id, held.clone()));
        // SAFETY: the arena is this thread's.
        let local_arena = unsafe { LocalArena::new(NonNull::from(&*arena)) };
        for task in QUEUE.lock().unwrap().drain(..) {
            assert!(task.run(&Runner { local_arena: Some(&local_arena), ..Runner::NOBODY }).is_none());
        }
        let [first, second, third] = handles;
        let returning = [vec![first, second], vec![third]].map(|handles| thread::spawn(move || drop(handles)));
        local_arena.flush_and_drain();
        drop(spawn(&arena, 4, held.clone()));
        returning.into_iter().for_each(|thread| thread.join().unwrap());
        QUEUE.lock().unwrap().drain(..).for_each(drop);
        drop(local_arena);
        assert_eq!(close(&arena), 0);
        assert_eq!(Arc::strong_count(&held), 1);
    });
}
