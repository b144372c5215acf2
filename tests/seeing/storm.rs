//! Tasks are born and die, by the thousand, beside a thread that lists them.

use std::collections::HashSet;
use std::future::Future;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use super::*;

/// Tasks of different sizes, with and without names, that live for a poll or for some.
async fn born_and_dead(rounds: u32) {
    for round in 0..rounds {
        let mut tasks = Vec::new();
        for number in 0..40_u64 {
            let name = ["one", "the other"][number as usize % 2];
            tasks.push(match number % 4 {
                0 => rt::spawn(async {}),
                1 => rt::task::Builder::new()
                    .name(name)
                    .spawn(async move {
                        let padding = [number; 40];
                        rt::task::yield_now().await;
                        std::hint::black_box(&padding);
                    })
                    .unwrap(),
                2 => rt::task::Builder::new()
                    .name(name)
                    .spawn(async {
                        let (send, receive) = rt::sync::oneshot::channel();
                        let sender = rt::spawn(async { send.send(()) });
                        receive.await.unwrap();
                        sender.await.unwrap().unwrap();
                    })
                    .unwrap(),
                _ => rt::spawn(async move {
                    let padding = [number; 300];
                    rt::task::yield_now().await;
                    std::hint::black_box(&padding);
                }),
            });
        }
        for (number, task) in tasks.into_iter().enumerate() {
            // Some are left to themselves.
            if !(number + round as usize).is_multiple_of(3) {
                task.await.unwrap();
            }
        }
    }
}

/// Tasks whose futures have as many types, in cells of a few sizes, and each writes to all of its own.
fn spawn_one_of_many(number: u64) -> JoinHandle<()> {
    async fn filled<const WORDS: usize>(number: u64) {
        let mut words = [number; WORDS];
        for round in 0..number % 4 {
            words.fill(round);
            std::hint::black_box(&mut words);
            rt::task::yield_now().await;
        }
        std::hint::black_box(&mut words);
    }
    macro_rules! one_of {
        ($($words:literal),*) => {
            match number % [$($words),*].len() as u64 {
                $(place if place == $words - 1 => {
                    let task = rt::task::Builder::new();
                    let named = ["one", "the other"].get(number as usize / 7 % 3).copied();
                    named.into_iter().fold(task, rt::task::Builder::name).spawn(filled::<$words>(number)).unwrap()
                })*
                _ => unreachable!(),
            }
        };
    }
    one_of!(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20)
}

/// Each task is followed by one of another type, mostly in the same cell.
async fn reborn(rounds: u32) {
    let mut number = u64::from(rounds);
    for _ in 0..rounds {
        let few: Vec<_> = (1..=8).map(|step| spawn_one_of_many(number + 7 * step)).collect();
        number += 7 * 8;
        for task in few {
            task.await.unwrap();
        }
    }
}

fn walk_while(runtime: &Handle, steady: &HashSet<rt::task::Id>, goes_on: &AtomicBool) {
    let mut walks = 0;
    while goes_on.load(Relaxed) || walks == 0 {
        let mut seen = HashSet::new();
        for task in runtime.tasks() {
            assert!(seen.insert(task.id), "listed twice");
            assert!(task.name.is_none_or(|name| ["one", "the other", "steady"].contains(&name)));
            assert!([file!(), "tests/seeing/main.rs"].contains(&task.spawned_at.file()), "{task:?}");
            assert!(task.polls < 100_000 && task.wakes < 100_000, "{task:?}");
        }
        assert!(seen.is_superset(steady), "a task that was there all the time was missed");
        walks += 1;
    }
}

fn storm<F>(runtime: &Runtime, stormers: u32, stormer: impl Fn() -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let (goes_on, handle) = (AtomicBool::new(true), runtime.handle());
    let steady: Vec<_> =
        (0..200).map(|_| rt::task::Builder::new().name("steady").spawn_on(never(), handle).unwrap()).collect();
    let steady_ids = steady.iter().map(JoinHandle::id).collect();
    rt_test_util::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| walk_while(handle, &steady_ids, &goes_on));
        }
        runtime.block_on(async {
            let storms: Vec<_> = (0..stormers).map(|_| rt::spawn(stormer())).collect();
            stormer().await;
            for storm in storms {
                storm.await.unwrap();
            }
        });
        goes_on.store(false, Relaxed);
    });
}

#[test]
fn births_and_deaths_on_several_threads_beside_two_walks() {
    storm(&multi(3), 6, || born_and_dead(20));
}

#[test]
fn births_and_deaths_on_one_thread_beside_two_walks() {
    storm(&Builder::new_current_thread().build().unwrap(), 3, || born_and_dead(20));
}

#[test]
fn rebirths_as_tasks_of_other_types_beside_two_walks() {
    storm(&multi(3), 6, || reborn(300));
    storm(&Builder::new_current_thread().build().unwrap(), 3, || reborn(300));
}

#[test]
fn a_walk_beside_the_end_of_the_runtime() {
    for _ in 0..20 {
        let runtime = multi(2);
        let handle = runtime.handle().clone();
        let ended = AtomicBool::new(false);
        // Handles that outlive it keep the memory of their tasks.
        let tasks: Vec<_> = (0..500).map(|_| runtime.spawn(never())).collect();
        rt_test_util::scope(|scope| {
            let walker = scope.spawn(|| {
                while !ended.load(Relaxed) {
                    handle.tasks();
                }
            });
            let dropper = scope.spawn(|| drop(tasks));
            drop(runtime);
            dropper.join().unwrap();
            ended.store(true, Relaxed);
            walker.join().unwrap();
        });
        assert!(handle.tasks().is_empty());
    }
}
