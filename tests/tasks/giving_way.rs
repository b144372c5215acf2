//! What has happened when a main future that gave way, or was woken, goes on, on a current-thread runtime: exactly, as
//! tests of programs count on it.
//!
//! Mutations that these tests are for: a main future that is polled between any two tasks after it gave way or was
//! woken; one that waits for tasks that give way in turn, or for more and more new ones; one that does not wait for a
//! task that wakes itself for a part of its own; tasks that give way to those alone that are queued; one that the
//! drivers have woken and that stands behind tasks all the same; drivers that are left alone meanwhile, or while a main
//! future waits beside tasks that give way.

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
fn a_task_that_gives_way_does_so_to_what_the_others_begin() {
    let _watchdog = watchdog();
    // Behind what is queued at the end of the round: the next of the chain.
    for (tasks, had) in [(10, 10), (60, 60), (200, 61)] {
        current().block_on(async {
            let count = Arc::new(AtomicUsize::new(0));
            let theirs = count.clone();
            // The poll of the task itself is one of the 61.
            let seen = rt::spawn(async move {
                chain(tasks, theirs.clone());
                yield_now().await;
                theirs.load(SeqCst)
            });
            assert_eq!(seen.await.unwrap(), had, "of {tasks}");
        });
    }
}

#[test]
fn tasks_that_give_way_have_their_turns_in_their_order() {
    let _watchdog = watchdog();
    LocalRuntime::new().unwrap().block_on(async {
        let turns = Rc::new(std::cell::RefCell::new(Vec::new()));
        for n in 0..3 {
            let turns = turns.clone();
            rt::task::spawn_local(async move {
                for _ in 0..3 {
                    turns.borrow_mut().push(n);
                    yield_now().await;
                }
            });
        }
        for _ in 0..4 {
            yield_now().await;
        }
        assert_eq!(*turns.borrow(), [0, 1, 2, 0, 1, 2, 0, 1, 2]);
    });
}

#[test]
fn one_that_gives_way_beside_two_that_wake_each_other_has_its_turn_in_each_round() {
    let _watchdog = watchdog();
    current().block_on(async {
        let polls = Arc::new(AtomicUsize::new(0));
        let pair = [(); 2].map(|()| Arc::new(rt::sync::Notify::new()));
        for n in 0..2 {
            let (mine, other, polls) = (pair[n].clone(), pair[1 - n].clone(), polls.clone());
            rt::spawn(async move {
                loop {
                    coop::unconstrained(mine.notified()).await;
                    polls.fetch_add(1, SeqCst);
                    other.notify_one();
                }
            });
        }
        pair[0].notify_one();
        let theirs = polls.clone();
        let turns = rt::spawn(async move {
            for _ in 0..10 {
                yield_now().await;
            }
            theirs.load(SeqCst)
        });
        assert!((1..=10 * 61).contains(&turns.await.unwrap()), "no more than ten rounds");
    });
}

#[test]
fn a_task_that_wakes_itself_for_a_part_of_its_own_has_gone_on_before_the_main_future() {
    let _watchdog = watchdog();
    current().block_on(async {
        let task = rt::spawn(async {
            let (tx, rx) = rt::sync::oneshot::channel();
            let receives = async { rx.await.unwrap() };
            let sends = async { tx.send(3).unwrap() };
            rt::join!(biased; receives, sends).0
        });
        yield_now().await;
        assert!(task.is_finished());
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

/// Each task begins the next one, and counts.
fn chain(left: usize, count: Arc<AtomicUsize>) {
    if left > 0 {
        rt::spawn(async move {
            count.fetch_add(1, SeqCst);
            chain(left - 1, count);
        });
    }
}

#[test]
fn what_a_task_has_begun_comes_before_the_main_future_that_it_wakes() {
    let _watchdog = watchdog();
    // The poll of the task itself is one of the 61.
    for (tasks, had) in [(1, 1), (10, 10), (60, 60), (100, 60)] {
        for wakes_first in [true, false] {
            current().block_on(async {
                let count = Arc::new(AtomicUsize::new(0));
                let (tx, rx) = rt::sync::oneshot::channel();
                let theirs = count.clone();
                rt::spawn(async move {
                    if wakes_first {
                        tx.send(()).unwrap();
                        chain(tasks, theirs);
                    } else {
                        chain(tasks, theirs);
                        tx.send(()).unwrap();
                    }
                });
                rx.await.unwrap();
                assert_eq!(count.load(SeqCst), had, "of {tasks}");
            });
        }
    }
}

#[test]
fn a_task_that_was_woken_with_the_main_future_goes_before_it() {
    let _watchdog = watchdog();
    current().block_on(async {
        let (both, ran) = (Arc::new(rt::sync::Notify::new()), Arc::new(AtomicUsize::new(0)));
        for _ in 0..3 {
            let (both, ran) = (both.clone(), ran.clone());
            rt::spawn(async move {
                both.notified().await;
                ran.fetch_add(1, SeqCst);
            });
        }
        yield_now().await;
        let waits = both.notified();
        rt::spawn({
            let both = both.clone();
            async move { both.notify_waiters() }
        });
        waits.await;
        assert_eq!(ran.load(SeqCst), 3);
    });
}

#[test]
fn tasks_that_give_way_do_so_to_a_main_future_that_was_woken() {
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
        for round in 1..100 {
            let (tx, rx) = rt::sync::oneshot::channel();
            rt::spawn(async move { tx.send(()).unwrap() });
            rx.await.unwrap();
            // In the first round they come before the task that wakes it, and then each has had a turn before.
            assert_eq!(turns.load(SeqCst), 20 * round);
        }
    });
}

#[test]
fn a_main_future_that_a_timer_wakes_goes_before_tasks_that_it_wakes_as_well() {
    let _watchdog = watchdog();
    let runtime = rt::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let ran = Arc::new(AtomicUsize::new(0));
        let due = rt::time::Instant::now() + std::time::Duration::from_millis(10);
        for _ in 0..3 {
            let ran = ran.clone();
            rt::spawn(async move {
                rt::time::sleep_until(due).await;
                ran.fetch_add(1, SeqCst);
            });
        }
        yield_now().await;
        rt::time::sleep_until(due).await;
        assert_eq!(ran.load(SeqCst), 0);
        yield_now().await;
        assert_eq!(ran.load(SeqCst), 3);
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
