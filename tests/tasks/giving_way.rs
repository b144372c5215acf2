//! What has happened when a main future that gave way goes on, on a current-thread runtime: exactly, as tests of
//! programs count on it.
//!
//! Mutations that these tests are for: a main future that is polled between any two tasks after it gave way; one that
//! waits for tasks that give way in turn, or for more and more new ones; drivers that are left alone meanwhile, or
//! while a main future waits beside tasks that give way.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;

use rt::runtime::LocalRuntime;
use rt::task::{coop, yield_now};
use rt_test_util::*;

#[test]
fn tasks_that_were_spawned_have_begun_and_so_have_theirs() {
    let _watchdog = watchdog();
    current().block_on(async {
        let begun = Arc::new(AtomicUsize::new(0));
        for _ in 0..10 {
            let begun = begun.clone();
            rt::spawn(async move {
                begun.fetch_add(1, SeqCst);
                rt::spawn(async move { begun.fetch_add(1, SeqCst) });
            });
        }
        yield_now().await;
        assert_eq!(begun.load(SeqCst), 20);
        // Those of another thread, too.
        let handle = rt::runtime::Handle::current();
        let task = std::thread::spawn(move || handle.spawn(async { 3 })).join().unwrap();
        yield_now().await;
        assert!(task.is_finished());
    });
}

#[test]
fn each_of_the_tasks_that_give_way_in_turn_has_had_one_turn() {
    let _watchdog = watchdog();
    current().block_on(async {
        let turns = Arc::new(AtomicUsize::new(0));
        for _ in 0..20 {
            let turns = turns.clone();
            rt::spawn(async move {
                loop {
                    turns.fetch_add(1, SeqCst);
                    yield_now().await;
                }
            });
        }
        for turn in 1..100 {
            yield_now().await;
            assert_eq!(turns.load(SeqCst), 20 * turn);
        }
        // So does one that has used its budget up.
        while coop::has_budget_remaining() {
            coop::consume_budget().await;
        }
        coop::consume_budget().await;
        assert_eq!(turns.load(SeqCst), 20 * 100);
    });
}

#[test]
fn tasks_without_end_do_not_keep_the_main_future_waiting() {
    fn spawn_another(count: Rc<Cell<usize>>) {
        rt::task::spawn_local(async move {
            count.set(count.get() + 1);
            spawn_another(count);
        });
    }
    let _watchdog = watchdog();
    LocalRuntime::new().unwrap().block_on(async {
        let count = Rc::new(Cell::new(0));
        spawn_another(count.clone());
        for turn in 1..100 {
            yield_now().await;
            assert_eq!(count.get(), 61 * turn);
        }
    });
}

#[cfg(unix)]
#[test]
fn one_that_waits_for_a_descriptor_is_told_after_one_turn_of_each_task_at_most() {
    use std::io::Write as _;
    use std::os::unix::net::UnixStream;

    let _watchdog = watchdog();
    current().block_on(async {
        let turns = Arc::new(AtomicUsize::new(0));
        for _ in 0..3 {
            let turns = turns.clone();
            rt::spawn(async move {
                loop {
                    turns.fetch_add(1, SeqCst);
                    yield_now().await;
                }
            });
        }
        for _ in 0..100 {
            let before = turns.load(SeqCst);
            let (mut here, there) = UnixStream::pair().unwrap();
            there.set_nonblocking(true).unwrap();
            let there = rt::net::UnixStream::from_std(there).unwrap();
            here.write_all(b"x").unwrap();
            // Not known to be ready before the drivers were asked.
            there.readable().await.unwrap();
            let had = turns.load(SeqCst) - before;
            assert!((1..=3).contains(&had), "{had} turns");
        }
    });
}

#[cfg(unix)]
#[test]
fn what_happened_to_a_descriptor_is_known() {
    use std::io::Write as _;
    use std::os::unix::net::UnixStream;

    use rt::io::Interest;
    use rt::io::unix::AsyncFd;

    let _watchdog = watchdog();
    current().block_on(async {
        let (reader, mut writer) = UnixStream::pair().unwrap();
        reader.set_nonblocking(true).unwrap();
        let reader = AsyncFd::new(reader).unwrap();
        assert!(reader.try_io(Interest::READABLE, |_| Ok(())).is_err(), "nothing is known yet");
        writer.write_all(b"x").unwrap();
        yield_now().await;
        reader.try_io(Interest::READABLE, |_| Ok(())).unwrap();
        reader.try_io(Interest::WRITABLE, |_| Ok(())).unwrap();
    });
}
