//! The flight recorder takes its memory when it is started, and none while it records.
//!
//! Mutations that this is for: a ring that is made with its first event; a table of spawn sites that grows.

use rt::runtime::Runtime;
use rt::runtime::trace::TraceConfig;
use rt::task::JoinHandle;
use rt_test_util::*;

use crate::allocator::allocations;

/// Spawns some tasks from inside, one at a time, and one from outside.
fn work(runtime: &Runtime, spawn: fn(&Runtime) -> JoinHandle<()>) {
    let outside = spawn(runtime);
    runtime.block_on(async {
        for _ in 0..10 {
            spawn(runtime).await.unwrap();
        }
        outside.await.unwrap();
    });
}

#[test]
fn an_event_takes_no_memory() {
    in_own_process(|| {
        let runtime = current();
        let trace = runtime.handle().trace();
        // Each of them is a spawn site that the recorder has not seen before.
        let sites: [fn(&Runtime) -> JoinHandle<()>; 3] = [
            |runtime| runtime.spawn(rt::task::yield_now()),
            |runtime| runtime.spawn(rt::task::yield_now()),
            |runtime| runtime.spawn(rt::task::yield_now()),
        ];
        // The least, because other threads of the process may allocate, and the queue from outside does now and then.
        let least = |start: &dyn Fn(), stop: &dyn Fn()| {
            let made = sites.map(|spawn| {
                start();
                let before = allocations();
                work(&runtime, spawn);
                let made = allocations() - before;
                stop();
                made
            });
            made.into_iter().min()
        };
        sites.iter().for_each(|&spawn| work(&runtime, spawn));
        let without = least(&|| (), &|| ());
        let with = least(&|| assert!(trace.start(TraceConfig::new())), &|| assert!(trace.stop()));
        assert_eq!(with, without);
        // It was recorded: from outside, too.
        let snapshot = trace.snapshot();
        let lanes = snapshot.lanes().filter(|lane| lane.events().any(|event| event.task.is_some()));
        assert_eq!((lanes.count(), snapshot.lost()), (2, 0));
    });
}
