//! What ships, which is more than the models see: the fence that the system puts into the worker.

use std::hint::spin_loop;
use std::thread;

use super::*;

const ROUNDS: usize = 300_000;

/// A "task" that is nothing but its number, and is never dereferenced.
pub(crate) fn task(number: usize) -> Notified {
    let header = NonNull::new(ptr::without_provenance_mut(number + 1)).expect("above zero");
    // SAFETY: it is turned back by `number`, and not used as a task.
    unsafe { Notified::from_raw(header) }
}

pub(crate) fn number(task: Notified) -> usize {
    task.into_raw().addr().get() - 1
}

fn take(bottom: &Bottom) -> Option<usize> {
    bottom.take().map(number)
}

fn steal(stealer: &BottomStealer) -> Option<usize> {
    stealer.steal().map(number)
}

/// What a worker kept that fills the place and takes from it beside two thieves, and what these stole.
fn play(fence: AsymmetricFence) -> (Vec<usize>, Vec<usize>) {
    let (bottom, stealer) = new(fence);
    let stealer = &stealer;
    thread::scope(|scope| {
        let thieves = [(); 2].map(|()| {
            scope.spawn(|| {
                let mut stolen = Vec::new();
                // While the worker has its side.
                while Arc::strong_count(&stealer.0) > 1 {
                    stolen.extend(steal(stealer));
                }
                stolen
            })
        });
        let worker = scope.spawn(move || {
            let mut kept = Vec::new();
            for round in 0..ROUNDS {
                bottom.fill(task(round));
                // A thief whose fence takes long has no luck unless the worker does, too.
                if round % 64 == 0 {
                    (0..round % 1000).for_each(|_| spin_loop());
                }
                kept.extend(take(&bottom));
            }
            kept
        });
        let kept = worker.join().unwrap();
        (kept, thieves.into_iter().flat_map(|thief| thief.join().unwrap()).collect())
    })
}

fn each_task_goes_to_one_thread(fence: AsymmetricFence) {
    let (kept, stolen) = play(fence);
    let mut times = vec![0; ROUNDS];
    kept.iter().chain(&stolen).for_each(|&number| times[number] += 1);
    let wrong = times.iter().enumerate().find(|&(_, &times)| times != 1);
    assert_eq!(wrong, None, "{} kept, {} stolen", kept.len(), stolen.len());
}

/// Where the system does not do it this is the same as the next.
#[test]
fn each_task_goes_to_one_thread_by_the_systems_fence() {
    each_task_goes_to_one_thread(AsymmetricFence::new());
}

#[test]
fn each_task_goes_to_one_thread_by_fences() {
    each_task_goes_to_one_thread(AsymmetricFence::Symmetric);
}

#[test]
fn without_a_fence_nothing_is_stolen() {
    let (kept, stolen) = play(AsymmetricFence::Refused);
    assert!(kept.into_iter().eq(0..ROUNDS));
    assert_eq!(stolen, []);
}

#[test]
fn a_task_that_lies_there_is_stolen_once() {
    for fence in [AsymmetricFence::new(), AsymmetricFence::Symmetric] {
        let (bottom, stealer) = new(fence);
        for round in 0..3 {
            bottom.fill(task(round));
            assert!(!bottom.is_empty() && !stealer.is_empty());
            assert_eq!(steal(&stealer), Some(round));
            assert!(stealer.is_empty());
            assert_eq!(steal(&stealer), None);
            assert!(!bottom.is_open(), "until the worker comes by");
            assert_eq!(take(&bottom), None);
            assert!(bottom.is_open());
        }
    }
}

#[test]
fn a_thief_that_is_refused_its_fence_closes_the_place() {
    let (bottom, stealer) = new(AsymmetricFence::Refused);
    assert_eq!(steal(&stealer), None);
    assert!(bottom.is_open(), "there was nothing to be had");
    bottom.fill(task(0));
    assert_eq!((steal(&stealer), steal(&stealer)), (None, None));
    assert!(!stealer.is_empty());
    assert_eq!(take(&bottom), Some(0));
    assert!(bottom.is_empty() && !bottom.is_open());
}

#[test]
fn a_thief_with_better_luck_opens_the_place_again() {
    let (bottom, stealer) = new(AsymmetricFence::Symmetric);
    bottom.fill(task(0));
    assert_eq!(stealer.steal_by(AsymmetricFence::Refused).map(number), None);
    assert_eq!(steal(&stealer), Some(0));
    assert_eq!(take(&bottom), None);
    assert!(bottom.is_open());
}
