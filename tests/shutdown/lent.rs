//! A runtime that ends while a worker blocks in place, whose core is lent: what lies on its queues is let go of, and
//! the runtime with it.
//!
//! Mutation that these tests are for: a queue that is left out when those of lent cores are emptied.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;

use rt::runtime::Builder;
use rt_test_util::*;

#[test]
fn tasks_on_the_queues_of_a_lent_core_do_not_keep_the_runtime() {
    let _watchdog = watchdog();
    // The hook's, which the runtime has as long as it is there.
    let runtime_is_there = Arc::new(());
    let captured = runtime_is_there.clone();
    let mut builder = Builder::new_multi_thread();
    // Nobody takes the worker's place, and its queues stay as they are.
    builder.worker_threads(1).max_spare_workers(0).on_thread_stop(move || _ = &captured);
    let runtime = builder.build().unwrap();
    drop(builder);
    let (blocks, has_shut_down, turns) = (Gate::new(), Gate::new(), Arc::new(AtomicUsize::new(0)));
    runtime.spawn({
        let (blocks, has_shut_down, turns) = (blocks.clone(), has_shut_down.clone(), turns.clone());
        async move {
            let turn = turns.clone();
            rt::spawn(async move {
                loop {
                    turn.fetch_add(1, SeqCst);
                    rt::task::yield_now().await;
                }
            });
            let turn = turns.clone();
            rt::spawn(async move {
                loop {
                    turn.fetch_add(1, SeqCst);
                    yield_by_hand().await;
                }
            });
            while turns.load(SeqCst) < 10 {
                rt::task::yield_now().await;
            }
            // On the LIFO queue.
            (0..3).for_each(|_| drop(rt::spawn(std::future::pending::<()>())));
            rt::task::block_in_place(|| {
                blocks.open();
                has_shut_down.pass();
            });
        }
    });
    blocks.pass();
    runtime.shutdown_background();
    has_shut_down.open();
    eventually(|| Arc::strong_count(&runtime_is_there) == 1);
}
