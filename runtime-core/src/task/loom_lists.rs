//! Models of two workers with a list each, which run each other's tasks: the real lists, posts and return stacks.
//!
//! What is not real is the queue between them, and the memory of dead tasks is not kept for new ones (`cells/`), so
//! that whoever touches a dead task is found out. A list that is closed with nothing left on it has freed each of its
//! tasks once. With shutdown and a whole runtime around them the lists are modelled in `scheduler/current`.

use std::collections::VecDeque;
use std::panic::Location;
use std::ptr::NonNull;

use loom::sync::{Arc, Mutex};
use loom::thread;

use super::home::Home;
use super::host::Host;
use super::owner::{ListOf, Owner};
use super::{Birth, Header, Id, JoinHandle, Notified, Runner, Schedule};

loom::lazy_static! {
    static ref QUEUE: Mutex<VecDeque<Notified>> = Mutex::new(VecDeque::new());
}

struct Model;

/// The lists of these models are in no runtime.
struct NoRuntime;

impl Host for NoRuntime {
    fn nudge(&self, _: ListOf) {
        unreachable!("small identifiers nudge nobody");
    }
    unsafe fn outstanding_gone(_: *const Self) {
        unreachable!("nothing is left on a list that is closed");
    }
}

impl Schedule for Model {
    fn schedule(_: Notified) {
        unreachable!("nobody wakes these tasks");
    }
    unsafe fn release(task: NonNull<Header>) {
        // SAFETY: the caller's promise; the tasks of these models are all on a list.
        unsafe { Owner::send_home_one(task.as_ref().owner.expect("it is on a list"), task) };
    }
}

/// Spawns a task onto a list that is the calling thread's. Small identifiers nudge nobody.
fn spawn(list: &Owner, id: u64, held: Arc<()>) -> JoinHandle<()> {
    let birth = Birth { id: Id(id), location: Location::caller(), name: None, owner: None };
    let future = async move { drop(held) };
    // SAFETY: the list is this thread's.
    let (task, handle) = unsafe { list.guard() }.new_task::<_, Model>(future, birth);
    QUEUE.lock().unwrap().push_back(task);
    handle
}

/// A worker: spawns two tasks, runs what it finds, and looks after its dead, as at the end of an interval.
fn work(list: &Owner, first_id: u64, held: &Arc<()>) {
    // SAFETY: the list is this thread's as long as it works.
    let home = unsafe { Home::new(NonNull::from(list)) };
    for id in [first_id, first_id + 1] {
        drop(spawn(list, id, held.clone()));
    }
    loop {
        let task = QUEUE.lock().unwrap().pop_front();
        let Some(task) = task else { break };
        assert!(task.run(&Runner { home: Some(&home), ..Runner::NOBODY }).is_none());
    }
    home.send_and_receive();
}

/// The end of a list, on a thread that owns it now. Returns how many tasks are left.
fn close(list: &Owner) -> usize {
    // SAFETY: the workers are gone.
    unsafe {
        let list = list.guard();
        list.cancel_all(&Runner::NOBODY);
        list.close()
    }
}

fn check(preemptions: usize, model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}

/// Two workers run each other's tasks, and send the dead home, two at a time or as they are.
#[test]
fn loom_tasks_that_die_at_home_and_elsewhere_are_freed_once() {
    check(2, || {
        let lists = std::sync::Arc::new([0, 1].map(|slot| Owner::new::<NoRuntime>(ListOf::Slot(slot))));
        let held = Arc::new(());
        let other = {
            let (lists, held) = (lists.clone(), held.clone());
            thread::spawn(move || work(&lists[1], 3, &held))
        };
        work(&lists[0], 1, &held);
        other.join().unwrap();
        assert_eq!(lists.each_ref().map(close), [0, 0], "a dead task is still on its list");
        assert_eq!(Arc::strong_count(&held), 1);
    });
}

/// Handles are dropped by threads that have no list, one after the other and both at once, while the owner frees what
/// has come home.
#[test]
fn loom_the_return_stack_takes_from_several_threads_while_it_is_emptied() {
    check(3, || {
        let list = std::sync::Arc::new(Owner::new::<NoRuntime>(ListOf::Slot(0)));
        let held = Arc::new(());
        let handles = [1, 2, 3].map(|id| spawn(&list, id, held.clone()));
        // SAFETY: the list is this thread's.
        let home = unsafe { Home::new(NonNull::from(&*list)) };
        for task in QUEUE.lock().unwrap().drain(..) {
            assert!(task.run(&Runner { home: Some(&home), ..Runner::NOBODY }).is_none());
        }
        let [first, second, third] = handles;
        let returning = [vec![first, second], vec![third]].map(|handles| thread::spawn(move || drop(handles)));
        home.send_and_receive();
        drop(spawn(&list, 4, held.clone()));
        returning.into_iter().for_each(|thread| thread.join().unwrap());
        QUEUE.lock().unwrap().drain(..).for_each(drop);
        drop(home);
        assert_eq!(close(&list), 0);
        assert_eq!(Arc::strong_count(&held), 1);
    });
}
