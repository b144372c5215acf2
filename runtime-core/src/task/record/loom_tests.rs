//! Models of a thread that reads a task beside its polls and wakes, and beside its death and the birth of the next in
//! the same cell.
//!
//! What is not real is the cell: it has the words that are read, and all of them are loom's atomics. Who has the task
//! when is as in `harness.rs` and `waker.rs`.

use loom::thread;

use super::*;
use crate::primitive::Arc;
use crate::task::Id;
use crate::task::published::{NOBODY, publish, retract};
use crate::task::state::{Complete, FinishPoll, StartPoll, Wake};
use crate::task::waits::Leaf;

/// The words of a cell. The site of a task is ten times its identifier.
struct Cell {
    identity: AtomicU64,
    site: AtomicU64,
    state: State,
    record: Record,
}

impl Cell {
    fn new() -> Arc<Self> {
        let (identity, site) = (AtomicU64::new(NOBODY), AtomicU64::new(0));
        Arc::new(Self { identity, site, state: State::new_dead(), record: Record::new() })
    }

    fn be_born(&self, id: u64) {
        publish(&self.identity, id, || {
            self.state.store_new();
            self.site.store(id * 10, Relaxed);
        });
    }

    fn begin_poll(&self) {
        assert_eq!(self.state.start_poll(), StartPoll::Poll);
    }

    /// The number of the poll says what the task waits for, and since when, and how long the poll took.
    fn end_poll(&self, poll: u64) -> FinishPoll {
        let since = Since::new(Activity::Waiting, Moment::from_word(poll));
        if self.state.is_recorded() {
            self.record.go_on(poll, waits_for(poll), since);
        } else {
            self.record.begin(poll, waits_for(poll), since);
        }
        let finished = self.state.finish_poll(false, true);
        if finished == FinishPoll::Requeue {
            self.record.requeue();
        }
        finished
    }

    /// A wake of a task that waits, as if somebody looked.
    fn wake(&self, time: u64) -> Wake {
        let wake = self.state.wake_by_ref();
        if wake == Wake::Submit {
            self.record.queue(Moment::from_word(time).expect("a time is not zero"));
        }
        wake
    }

    /// In a poll: the last one of the task. Its handle is gone.
    fn die(&self) {
        assert_eq!(self.state.complete(3, false), Complete::Released { last: true });
        retract(&self.identity);
        // A link of free memory.
        self.site.store(7, Relaxed);
    }

    fn read(&self) -> Option<Read<u64>> {
        read_task(&self.identity, &self.state, || Some(&self.record), || self.site.load(Relaxed))
    }
}

impl Recorded {
    /// The time of which `since` was made.
    fn since(&self) -> Option<u64> {
        self.since.map(Moment::word)
    }
}

/// Of different kinds, so that a word of the one would mean something else with the kind of the other.
fn waits_for(poll: u64) -> Note {
    Note::of(if poll % 2 == 0 { Leaf::Join(Id(poll)) } else { Leaf::Descriptor(poll) })
}

fn check(preemptions: usize, model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}

/// A task waits for one thing, is woken by another thread, and waits for another: a reader finds each with its own time
/// and its own state, or does not tell.
#[test]
fn loom_what_a_task_waits_for_and_since_when_is_of_one_poll() {
    const WOKEN_AT: u64 = 50;
    check(3, || {
        let cell = Cell::new();
        cell.be_born(1);
        cell.begin_poll();
        assert_eq!(cell.end_poll(1), FinishPoll::Idle);
        let reader = {
            let cell = cell.clone();
            thread::spawn(move || cell.read().expect("it is not over"))
        };
        let waker = {
            let cell = cell.clone();
            thread::spawn(move || assert_eq!(cell.wake(WOKEN_AT), Wake::Submit))
        };
        // The queue, from the thread that wakes to the one that polls.
        waker.join().unwrap();
        cell.begin_poll();
        assert_eq!(cell.end_poll(2), FinishPoll::Idle);
        let (_, _, activity, recorded) = reader.join().unwrap();
        let recorded = recorded.expect("a poll has ended");
        match activity {
            Activity::Running => assert_eq!((recorded.since(), recorded.waits_for), (None, Note::NOTHING)),
            Activity::Queued => assert!([None, Some(WOKEN_AT)].contains(&recorded.since()), "{recorded:?}"),
            Activity::Waiting if recorded.waits_for == Note::NOTHING => {}
            Activity::Waiting => {
                let poll = recorded.polls;
                assert_eq!((recorded.since(), recorded.waits_for), (Some(poll), waits_for(poll)));
            }
        }
        let (_, _, _, recorded) = cell.read().unwrap();
        let recorded = recorded.unwrap();
        assert_eq!((recorded.polls, recorded.since(), recorded.waits_for), (2, Some(2), waits_for(2)));
        assert_eq!(recorded.total_time, 3);
    });
}

/// A task is woken during its poll: it is queued, and a reader does not take it for one that waits.
#[test]
fn loom_a_task_woken_in_its_poll_is_queued_since_then() {
    check(3, || {
        let cell = Cell::new();
        cell.be_born(1);
        cell.begin_poll();
        let waker = {
            let cell = cell.clone();
            thread::spawn(move || cell.wake(50))
        };
        let reader = {
            let cell = cell.clone();
            thread::spawn(move || cell.read().expect("it is not over"))
        };
        let finished = cell.end_poll(1);
        let submitted = waker.join().unwrap() == Wake::Submit;
        assert_eq!(finished == FinishPoll::Idle, submitted);
        let (_, _, activity, recorded) = reader.join().unwrap();
        let since = recorded.and_then(|recorded| recorded.since());
        assert!(match activity {
            Activity::Running => since.is_none(),
            Activity::Queued => [None, Some(1), Some(50)].contains(&since),
            Activity::Waiting => since == Some(1),
        });
        let (_, _, activity, recorded) = cell.read().unwrap();
        assert_eq!((activity, recorded.unwrap().since()), (Activity::Queued, Some(if submitted { 50 } else { 1 })));
    });
}

/// A task ends, and the next is born in its cell, is polled and woken, while another thread reads: what it finds is all
/// of one of the two.
#[test]
fn loom_a_record_is_of_one_task() {
    check(1, || {
        let cell = Cell::new();
        cell.be_born(1);
        cell.begin_poll();
        assert_eq!(cell.end_poll(1), FinishPoll::Idle);
        assert_eq!(cell.wake(50), Wake::Submit);
        let reader = {
            let cell = cell.clone();
            thread::spawn(move || cell.read())
        };
        let last = {
            let cell = cell.clone();
            thread::spawn(move || {
                cell.begin_poll();
                cell.die();
            })
        };
        // Its memory goes back to the thread that has the arena; and the task that this makes goes to another thread.
        last.join().unwrap();
        cell.be_born(2);
        let next = {
            let cell = cell.clone();
            thread::spawn(move || {
                cell.begin_poll();
                assert_eq!(cell.end_poll(4), FinishPoll::Idle);
                assert_eq!(cell.wake(60), Wake::Submit);
            })
        };
        let read = reader.join().unwrap();
        next.join().unwrap();
        let Some((id, site, activity, recorded)) = read else { return };
        assert_eq!(site, id * 10);
        let (poll, woken_at) = if id == 1 { (1, 50) } else { (4, 60) };
        let Some(recorded) = recorded else {
            assert!(id == 2 && activity != Activity::Waiting);
            return;
        };
        assert_eq!((recorded.polls, recorded.total_time, recorded.longest_poll), (1, poll, poll));
        match activity {
            Activity::Running => assert_eq!((id, recorded.since()), (1, None)),
            Activity::Queued => assert!([None, Some(woken_at)].contains(&recorded.since()), "{recorded:?}"),
            Activity::Waiting => {
                assert_eq!((id, recorded.since()), (2, Some(poll)));
                assert!([waits_for(poll), Note::NOTHING].contains(&recorded.waits_for));
            }
        }
    });
}
