//! Models of the readiness protocol: each runs under every interleaving. `RUSTFLAGS="--cfg loom" cargo test -p
//! runtime-io --release --lib loom`.
//!
//! `block_on` here is loom's: a wake that gets lost shows as a deadlock.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use loom::future::block_on;
use loom::thread;
use runtime_core::driver::WakeAtOnce;
use runtime_core::primitive::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::*;

/// What the operating system holds: the model's socket, from which one can take units, or be refused.
struct Socket(AtomicUsize);

impl Socket {
    fn take(&self) -> bool {
        self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, |units| units.checked_sub(1)).is_ok()
    }
}

fn deliver(io: &ScheduledIo, generation: usize, ready: Ready) {
    let mut wakes = WakeBatch::new();
    io.deliver(generation, ready, &mut wakes);
    wakes.give_to(&mut WakeAtOnce);
}

/// The loop of every operation: look, try, clear if refused, wait. Returns the look that led to the unit.
async fn read_one(io: &ScheduledIo, socket: &Socket) -> ReadyEvent {
    poll_fn(|cx| {
        loop {
            match io.poll_ready(cx, Direction::Read) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(event) => {
                    let event = event.expect("nobody shuts down");
                    if socket.take() {
                        return Poll::Ready(event);
                    }
                    io.clear_refused(event);
                }
            }
        }
    })
    .await
}

/// As [`read_one`], waiting in the list.
async fn read_one_listed(io: &ScheduledIo, socket: &Socket) {
    read_one_waiting(io, socket, &mut Waiter::new(io, Interest::READABLE)).await;
}

async fn read_one_waiting(io: &ScheduledIo, socket: &Socket, waiter: &mut Waiter<'_>) {
    poll_fn(|cx| {
        loop {
            match waiter.poll(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(event) => {
                    let event = event.expect("nobody shuts down");
                    if socket.take() {
                        return Poll::Ready(());
                    }
                    io.clear_refused(event);
                }
            }
        }
    })
    .await;
}

/// Set against clear against wait: an event that arrives while a reader is being refused is not cleared away, and the
/// reader's waker is found.
#[test]
fn an_event_is_never_lost_to_a_reader_that_is_being_refused() {
    loom::model(|| {
        let io = Arc::new(ScheduledIo::new());
        let socket = Arc::new(Socket(AtomicUsize::new(0)));
        // A hint that is not true, so that the reader is refused once and clears.
        deliver(&io, 0, Ready::READABLE);
        let driver = thread::spawn({
            let (io, socket) = (io.clone(), socket.clone());
            move || {
                socket.0.store(1, Ordering::Release);
                deliver(&io, 0, Ready::READABLE);
            }
        });
        block_on(read_one(&io, &socket));
        driver.join().unwrap();
    });
}

/// A refusal in one of two directions clears both, while somebody is being woken who can go on in the other.
#[test]
fn who_was_woken_tries_though_a_refusal_both_ways_clears_what_it_was_woken_for() {
    loom::model(|| {
        let io = Arc::new(ScheduledIo::new());
        let socket = Arc::new(Socket(AtomicUsize::new(0)));
        let mut waiter = Waiter::new(&io, Interest::READABLE);
        assert!(block_on(poll_fn(|cx| Poll::Ready(waiter.poll(cx).is_pending()))));
        let writer = thread::spawn({
            let (io, socket) = (io.clone(), socket.clone());
            move || {
                socket.0.store(1, Ordering::Release);
                deliver(&io, 0, Ready::READABLE);
                io.clear_refused(io.look(Interest::READABLE | Interest::WRITABLE).unwrap());
            }
        });
        block_on(read_one_waiting(&io, &socket, &mut waiter));
        writer.join().unwrap();
    });
}

/// A short read clears what it saw; the end that arrives at the same time must survive it.
#[test]
fn a_short_read_does_not_clear_the_end_that_arrives_meanwhile() {
    loom::model(|| {
        let io = Arc::new(ScheduledIo::new());
        deliver(&io, 0, Ready::READABLE);
        let seen = io.look(Interest::READABLE).unwrap();
        let driver = thread::spawn({
            let io = io.clone();
            move || deliver(&io, 0, Ready::READABLE | Ready::READ_CLOSED)
        });
        io.note_transfer(seen, Direction::Read, 1, 2);
        block_on(poll_fn(|cx| io.poll_ready(cx, Direction::Read))).unwrap();
        driver.join().unwrap();
        assert!(io.look(Interest::READABLE).unwrap().ready.contains(Ready::READ_CLOSED | Ready::READABLE));
    });
}

/// Two units come together, with an urgent mark between them at which a read stops short, and somebody waits for urgent
/// data at the same time. The second unit is read.
#[test]
fn a_short_read_at_a_mark_is_not_the_last_whoever_else_is_told_of_it() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(|| {
        let io = Arc::new(ScheduledIo::new());
        let socket = Arc::new(Socket(AtomicUsize::new(2)));
        let driver = thread::spawn({
            let io = io.clone();
            move || deliver(&io, 0, Ready::READABLE | Ready::PRIORITY)
        });
        let taker = thread::spawn({
            let io = io.clone();
            // Finds none, and says so.
            move || {
                let _ = io.clear_refused(io.look(Interest::PRIORITY).unwrap());
            }
        });
        let seen = block_on(read_one(&io, &socket));
        io.note_transfer(seen, Direction::Read, 1, 2);
        block_on(read_one(&io, &socket));
        taker.join().unwrap();
        driver.join().unwrap();
    });
}

/// A descriptor is lent, and the system made to speak TLS on it, while somebody reads what has come already. If the
/// read ends behind the first of two records, the other is read as well.
#[test]
fn a_read_that_a_loan_overtakes_is_not_the_last() {
    loom::model(|| {
        let io = Arc::new(ScheduledIo::new());
        let socket = Arc::new(Socket(AtomicUsize::new(2)));
        let has_records = Arc::new(AtomicBool::new(false));
        deliver(&io, 0, Ready::READABLE);
        let borrower = thread::spawn({
            let (io, has_records) = (io.clone(), has_records.clone());
            move || {
                io.lend();
                has_records.store(true, Ordering::Release);
            }
        });
        let seen = block_on(poll_fn(|cx| io.poll_ready(cx, Direction::Read))).unwrap();
        let is_told = io.is_lent();
        assert!(socket.take());
        if has_records.load(Ordering::Acquire) {
            if is_told {
                io.be_wary();
            }
            io.note_transfer(seen, Direction::Read, 1, 3);
            block_on(read_one(&io, &socket));
        } else {
            assert!(socket.take());
            io.note_transfer(seen, Direction::Read, 2, 3);
        }
        borrower.join().unwrap();
    });
}

/// Two tasks wait for the same direction, one in the slot and one in the list: both get theirs.
#[test]
fn two_waiters_both_get_what_two_events_bring() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    model.check(|| {
        let io = Arc::new(ScheduledIo::new());
        let socket = Arc::new(Socket(AtomicUsize::new(0)));
        let other = thread::spawn({
            let (io, socket) = (io.clone(), socket.clone());
            move || block_on(read_one_listed(&io, &socket))
        });
        let driver = thread::spawn({
            let (io, socket) = (io.clone(), socket.clone());
            move || {
                for _ in 0..2 {
                    socket.0.fetch_add(1, Ordering::AcqRel);
                    deliver(&io, 0, Ready::READABLE);
                }
            }
        });
        block_on(read_one(&io, &socket));
        other.join().unwrap();
        driver.join().unwrap();
    });
}

/// A wait that races with the shutdown ends, with an error.
#[test]
fn a_wait_does_not_outlast_the_shutdown() {
    loom::model(|| {
        let io = Arc::new(ScheduledIo::new());
        let driver = thread::spawn({
            let io = io.clone();
            move || {
                let mut wakes = WakeBatch::new();
                io.shut_down(&mut wakes);
                wakes.give_to(&mut WakeAtOnce);
            }
        });
        let outcome = block_on(poll_fn(|cx| io.poll_ready(cx, Direction::Write)));
        assert!(outcome.is_err());
        driver.join().unwrap();
        let mut listed = Waiter::new(&io, Interest::READABLE);
        assert!(block_on(poll_fn(|cx| listed.poll(cx))).is_err());
    });
}

/// The driver holds an event for a registration while that one is retired and the slot is used again: the new owner's
/// waker stays where it is, and its word stays empty.
#[test]
fn a_stale_event_neither_wakes_nor_readies_the_next_registration() {
    struct Never;
    impl Wake for Never {
        fn wake(self: std::sync::Arc<Self>) {
            panic!("woken by an event that was meant for somebody else");
        }
    }

    loom::model(|| {
        let io = Arc::new(ScheduledIo::new());
        let stale = thread::spawn({
            let io = io.clone();
            move || {
                let mut wakes = WakeBatch::new();
                io.deliver(0, Ready::READABLE | Ready::READ_CLOSED, &mut wakes);
                wakes
            }
        });
        io.retire();
        let waker = Waker::from(Arc::new(Never));
        assert!(io.poll_ready(&mut Context::from_waker(&waker), Direction::Read).is_pending());
        let wakes = stale.join().unwrap();
        assert!(wakes.is_empty(), "the batch took the next owner's waker");
        assert!(io.look(Interest::READABLE).unwrap().ready.is_empty());
        io.retire();
    });
}
