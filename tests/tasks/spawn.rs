//! Spawning: from inside and outside, from many threads at once, in chains and trees, a million of them.
//!
//! Mutations that these tests are for: a task spawned and never queued, or queued and never run (a hang, or a count
//! that is off); identifiers given twice; a recursion on the stack where a queue should be.

use std::collections::HashSet;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;

use parking_lot::Mutex;
use rt::runtime::{Builder, RuntimeFlavor};
use rt::task::{Id, JoinHandle, JoinSet, LocalSet};
use rt_test_util::*;

#[test]
fn a_million_tasks_are_spawned_and_joined() {
    let _watchdog = watchdog();
    const BATCH: u64 = 10_000;
    // In equal parts: from a task, from the main future, from outside, all at once on the same runtime.
    let runtime = multi(2);
    let count = |batches: u64| async move {
        let mut sum = 0;
        for batch in 0..batches {
            let tasks: Vec<_> = (0..BATCH).map(|n| rt::spawn(async move { batch * BATCH + n })).collect();
            for task in tasks {
                sum += task.await.unwrap();
            }
        }
        sum
    };
    let expected = |batches: u64| (0..batches * BATCH).sum::<u64>();
    let inside = runtime.spawn(count(40));
    let outside = scope(|scope| {
        let outside = scope.spawn(|| {
            let mut sum = 0;
            for n in 0..20 {
                let tasks: Vec<_> = (0..BATCH).map(|m| runtime.spawn(async move { n * BATCH + m })).collect();
                sum += runtime.block_on(async {
                    let mut sum = 0;
                    for task in tasks {
                        sum += task.await.unwrap();
                    }
                    sum
                });
            }
            sum
        });
        assert_eq!(runtime.block_on(count(40)), expected(40));
        outside.join().unwrap()
    });
    assert_eq!(outside, expected(20));
    assert_eq!(runtime.block_on(inside).unwrap(), expected(40));
    let totals = runtime.handle().metrics().totals();
    assert_eq!((totals.spawns, totals.completions), (1_000_001, 1_000_001));
}

#[test]
fn tasks_spawned_from_many_foreign_threads_all_run_and_have_ids_of_their_own() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let ran = Arc::new(AtomicUsize::new(0));
        let handle = runtime.handle();
        let ids = scope(|scope| {
            let threads: Vec<_> = (0..8)
                .map(|_| {
                    let ran = ran.clone();
                    scope.spawn(move || -> Vec<_> {
                        (0..500)
                            .map(|_| {
                                let ran = ran.clone();
                                handle.spawn(async move { ran.fetch_add(1, SeqCst) }).id()
                            })
                            .collect()
                    })
                })
                .collect();
            let own: Vec<_> =
                runtime.block_on(async { (0..500).map(|_| rt::spawn(async { rt::task::id() })).collect() });
            let mut ids: Vec<_> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
            runtime.block_on(async {
                for task in own {
                    let id = task.id();
                    assert_eq!(task.await.unwrap(), id);
                    ids.push(id);
                }
                while ran.load(SeqCst) < 4000 {
                    rt::task::yield_now().await;
                }
            });
            ids
        });
        assert_eq!(ids.len(), 4500);
        assert_eq!(ids.into_iter().collect::<HashSet<_>>().len(), 4500);
    });
}

/// Each task spawns the next, and does not wait for it.
fn chain(left: u32, done: Signal) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(async move {
        if left == 0 {
            done.set();
        } else {
            rt::spawn(chain(left - 1, done));
        }
    })
}

/// Each task waits for the one it spawned.
fn nest(left: u32) -> Pin<Box<dyn Future<Output = u32> + Send>> {
    Box::pin(async move { if left == 0 { 0 } else { rt::spawn(nest(left - 1)).await.unwrap() + 1 } })
}

fn tree(depth: u32) -> Pin<Box<dyn Future<Output = u64> + Send>> {
    Box::pin(async move {
        if depth == 0 {
            return 1;
        }
        let (left, right) = (rt::spawn(tree(depth - 1)), rt::spawn(tree(depth - 1)));
        left.await.unwrap() + right.await.unwrap() + 1
    })
}

#[test]
fn chains_nests_and_trees_of_tasks_come_to_their_end() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        runtime.block_on(async {
            let done = Signal::new();
            rt::spawn(chain(50_000, done.clone()));
            done.wait().await;
            // As deep as a stack would never be: waking and dropping must not recurse from task to task.
            assert_eq!(rt::spawn(nest(50_000)).await.unwrap(), 50_000);
            assert_eq!(tree(11).await, (1 << 12) - 1);
        });
    });
}

/// A task that holds the handle of a task that holds ... : dropping the first must not drop them all on one stack.
#[test]
fn a_long_chain_of_tasks_that_hold_each_other_is_shut_down() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let drops = Drops::new();
        let mut last: JoinHandle<()> = runtime.spawn(std::future::pending());
        for _ in 0..50_000 {
            let token = drops.token();
            let held = last;
            last = runtime.spawn(async move {
                let _token = token;
                drop(held.await);
            });
        }
        drop(last);
        if runtime.handle().runtime_flavor() == RuntimeFlavor::CurrentThread {
            runtime.block_on(rt::task::yield_now());
        }
        drop(runtime);
        drops.assert_all();
    });
}

#[test]
fn a_task_that_was_spawned_first_runs_first_on_one_thread() {
    let _watchdog = watchdog();
    let runtime = current();
    let log = Arc::new(Mutex::new(Vec::new()));
    runtime.block_on(async {
        let tasks: Vec<_> = (0..100)
            .map(|n| {
                let log = log.clone();
                rt::spawn(async move { log.lock().push(n) })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
    });
    assert!(log.lock().iter().copied().eq(0..100));
}

#[test]
fn a_spawned_future_is_not_polled_by_the_spawner() {
    let _watchdog = watchdog();
    let runtime = current();
    let polled = Arc::new(AtomicUsize::new(0));
    let count = polled.clone();
    let task = runtime.spawn(async move { count.fetch_add(1, SeqCst) });
    // Nobody drives the runtime.
    assert_eq!(polled.load(SeqCst), 0);
    runtime.block_on(task).unwrap();
    assert_eq!(polled.load(SeqCst), 1);
}

#[test]
fn inside_of_a_task_the_runtime_is_the_current_one() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let spawns = || rt::runtime::Handle::current().metrics().totals().spawns;
        runtime.block_on(async {
            assert_eq!(spawns(), 0);
            assert_eq!(rt::spawn(async move { spawns() }).await.unwrap(), 1);
            assert_eq!(rt::spawn_blocking(spawns).await.unwrap(), 1);
            assert!(rt::task::try_id().is_none(), "the main future is no task");
        });
        assert!(rt::runtime::Handle::try_current().is_err());
    });
}

#[test]
fn named_tasks_are_like_any_other() {
    let _watchdog = watchdog();
    on_each_runtime(|runtime| {
        let sum = runtime.block_on(async {
            let builder = rt::task::Builder::new().name("a task");
            builder.spawn(async { 1 }).unwrap().await.unwrap() + builder.spawn_blocking(|| 2).unwrap().await.unwrap()
        });
        assert_eq!(sum, 3);
        // Also from a thread that has nothing to do with it, and by a name that is gone before the task.
        let name = format!("another of {sum}");
        let builder = rt::task::Builder::new().name(&name);
        let (task, blocking) =
            (builder.spawn_on(async { 4 }, runtime.handle()), builder.spawn_blocking_on(|| 5, runtime.handle()));
        let (task, blocking) = (task.unwrap(), blocking.unwrap());
        assert_eq!(runtime.block_on(async { task.await.unwrap() + blocking.await.unwrap() }), 9);
    });
}

#[test]
fn a_set_spawns_tasks_with_names_wherever_they_go() {
    let _watchdog = watchdog();
    // Its own name, by the list of tasks: in a task that is polled, for that has begun.
    async fn name_here() -> String {
        rt::task::yield_now().await;
        let tasks = rt::runtime::Handle::current().tasks();
        let id = rt::task::id();
        tasks.iter().find(|task| task.id == id).and_then(|task| task.name).expect("it has a name").to_owned()
    }
    let runtime = Builder::new_current_thread().build_local(Default::default()).unwrap();
    let names = runtime.block_on(async {
        let local_set = LocalSet::new();
        let mut set = JoinSet::new();
        set.build_task().name("here").spawn(name_here()).unwrap();
        set.build_task().name("by handle").spawn_on(name_here(), &rt::runtime::Handle::current()).unwrap();
        set.build_task().name("on this thread").spawn_local(name_here()).unwrap();
        set.build_task().name("on a set").spawn_local_on(name_here(), &local_set).unwrap();
        set.build_task().name("blocking").spawn_blocking(|| "a job has none".to_owned()).unwrap();
        set.build_task().spawn_blocking_on(|| "a job has none".to_owned(), &rt::runtime::Handle::current()).unwrap();
        local_set.run_until(set.join_all()).await
    });
    let mut names = names;
    names.sort();
    assert_eq!(names, ["a job has none", "a job has none", "by handle", "here", "on a set", "on this thread"]);
}

#[test]
fn a_future_that_is_dropped_with_its_runtime_knows_its_task() {
    let _watchdog = watchdog();
    /// Tells which task is the current one when it is dropped.
    struct Tells(Arc<Mutex<Vec<Option<Id>>>>);
    impl Drop for Tells {
        fn drop(&mut self) {
            self.0.lock().push(rt::task::try_id());
        }
    }
    let told = Arc::new(Mutex::new(Vec::new()));
    let waits = || {
        let tells = Tells(told.clone());
        async move {
            let _tells = tells;
            std::future::pending::<()>().await;
        }
    };
    for mut builder in [Builder::new_current_thread(), Builder::new_multi_thread()] {
        let runtime = builder.worker_threads(1).build().unwrap();
        let polled = runtime.block_on(async {
            let polled = rt::spawn(waits()).id();
            rt::task::yield_now().await;
            polled
        });
        let dropped = [polled, runtime.spawn(waits()).id()];
        drop(runtime);
        let mut told = std::mem::take(&mut *told.lock());
        told.sort();
        assert_eq!(told, dropped.map(Some));
    }
    for mut builder in [Builder::new_current_thread(), Builder::new_multi_thread()] {
        let runtime = builder.build().unwrap();
        let handle = runtime.handle().clone();
        drop(runtime);
        let refused = handle.spawn(waits()).id();
        assert_eq!(std::mem::take(&mut *told.lock()), [Some(refused)]);
    }
    let set = LocalSet::new();
    let task = set.spawn_local(waits()).id();
    drop(set);
    assert_eq!(std::mem::take(&mut *told.lock()), [Some(task)]);
    assert_eq!(rt::task::try_id(), None);
}
