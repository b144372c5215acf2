//! The readiness of one descriptor, driven by hand. The races are in the loom models.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use runtime_core::driver::WakeAtOnce;

use super::*;

#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn counting() -> (Arc<Count>, Waker) {
    let count = Arc::new(Count::default());
    let waker = Waker::from(count.clone());
    (count, waker)
}

fn woken(count: &Count) -> usize {
    count.0.load(Ordering::Relaxed)
}

fn deliver(io: &ScheduledIo, ready: Ready) {
    let mut wakes = WakeBatch::new();
    assert!(io.deliver(io.generation(), ready, &mut wakes));
    wakes.give_to(&mut WakeAtOnce);
}

fn ready(poll: Poll<io::Result<ReadyEvent>>) -> ReadyEvent {
    match poll {
        Poll::Ready(Ok(event)) => event,
        other => panic!("not ready: {other:?}"),
    }
}

#[test]
fn an_event_wakes_only_those_it_concerns() {
    let io = ScheduledIo::new();
    let (reader, read_waker) = counting();
    let (writer, write_waker) = counting();
    assert!(io.poll_ready(&mut Context::from_waker(&read_waker), Direction::Read).is_pending());
    assert!(io.poll_ready(&mut Context::from_waker(&write_waker), Direction::Write).is_pending());
    deliver(&io, Ready::READABLE);
    assert_eq!((woken(&reader), woken(&writer)), (1, 0));
    ready(io.poll_ready(&mut Context::from_waker(&read_waker), Direction::Read));
    assert!(io.poll_ready(&mut Context::from_waker(&write_waker), Direction::Write).is_pending());
    deliver(&io, Ready::WRITE_CLOSED);
    assert_eq!((woken(&reader), woken(&writer)), (1, 1));
}

#[test]
fn a_clear_that_is_late_for_an_event_clears_nothing() {
    let io = ScheduledIo::new();
    deliver(&io, Ready::READABLE);
    let seen = io.look(Interest::READABLE).unwrap();
    deliver(&io, Ready::READABLE);
    io.clear_refused(seen);
    let seen = io.look(Interest::READABLE).unwrap();
    assert!(seen.ready.is_readable());
    io.clear_refused(seen);
    assert!(io.look(Interest::READABLE).unwrap().ready.is_empty());
}

#[test]
fn a_short_read_leaves_the_announced_end_standing() {
    let io = ScheduledIo::new();
    deliver(&io, Ready::READABLE | Ready::READ_CLOSED | Ready::WRITABLE);
    io.clear_drained(io.look(Interest::READABLE).unwrap());
    assert_eq!(io.look(Interest::READABLE).unwrap().ready, Ready::READ_CLOSED);
    assert!(io.look(Interest::WRITABLE).unwrap().ready.is_writable(), "the other direction is not touched");
    io.clear_refused(io.look(Interest::READABLE).unwrap());
    assert!(io.look(Interest::READABLE).unwrap().ready.is_empty(), "a refusal proves that it is not closed");
}

/// Each of these makes the registration wary, for good: only a refusal clears after that.
#[test]
fn once_wary_a_short_transfer_clears_nothing() {
    let doubts: [fn(&ScheduledIo); 3] =
        [|io| deliver(io, Ready::PRIORITY), |io| deliver(io, Ready::ERROR), |io| io.be_wary()];
    for doubt in doubts {
        for (direction, flag, is_proof) in [
            (Direction::Read, Ready::READABLE, SHORT_READ_DRAINS),
            (Direction::Write, Ready::WRITABLE, SHORT_WRITE_FILLS),
        ] {
            let io = ScheduledIo::new();
            let look = || io.look(direction.interest()).unwrap();
            deliver(&io, flag);
            io.note_transfer(look(), direction, 1, 2);
            assert_eq!(look().ready.is_empty(), is_proof, "as long as there is no doubt");
            deliver(&io, flag);
            let before = look();
            doubt(&io);
            io.note_transfer(before, direction, 1, 2);
            assert_eq!(look().ready, flag, "also if it came between the look and the clear");
            io.clear_refused(io.look(Interest::PRIORITY | Interest::ERROR).unwrap());
            io.note_transfer(look(), direction, 1, 2);
            assert_eq!(look().ready, flag, "and when nobody remembers");
            assert!(io.clear_refused(look()));
            assert!(look().ready.is_empty());
        }
    }
}

/// A loan is noted for good. A transfer that began before it clears nothing, and later ones do.
#[test]
fn a_transfer_that_a_loan_overtakes_clears_nothing() {
    for (direction, flag, is_proof) in
        [(Direction::Read, Ready::READABLE, SHORT_READ_DRAINS), (Direction::Write, Ready::WRITABLE, SHORT_WRITE_FILLS)]
    {
        let io = ScheduledIo::new();
        let look = || io.look(direction.interest()).unwrap();
        deliver(&io, flag);
        let before = look();
        assert!(!io.is_lent());
        io.lend();
        assert!(io.is_lent());
        io.note_transfer(before, direction, 1, 2);
        assert_eq!(look().ready, flag);
        io.note_transfer(look(), direction, 1, 2);
        assert_eq!(look().ready.is_empty(), is_proof);
        deliver(&io, flag);
        let before = look();
        io.lend();
        io.note_transfer(before, direction, 1, 2);
        assert_eq!(look().ready.is_empty(), is_proof, "the second loan adds nothing");
        assert!(io.is_lent());
        io.retire();
        assert!(!io.is_lent());
    }
}

#[test]
fn a_transfer_of_all_that_one_call_can_move_is_not_short() {
    let io = ScheduledIo::new();
    deliver(&io, Ready::WRITABLE);
    let look = || io.look(Interest::WRITABLE).unwrap();
    io.note_transfer(look(), Direction::Write, MAX_BYTES_AT_ONCE, usize::MAX);
    io.note_transfer(look(), Direction::Write, 0, 1);
    assert_eq!(look().ready, Ready::WRITABLE);
}

#[test]
fn a_read_that_filled_its_buffer_proves_nothing() {
    let io = ScheduledIo::new();
    deliver(&io, Ready::READABLE);
    let look = || io.look(Interest::READABLE).unwrap();
    io.note_transfer(look(), Direction::Read, 64, 64);
    assert_eq!(look().ready, Ready::READABLE);
}

#[test]
fn a_refusal_in_no_direction_in_particular_leaves_the_end_standing() {
    let io = ScheduledIo::new();
    deliver(&io, Ready::READ_CLOSED | Ready::WRITABLE);
    let both = Interest::READABLE | Interest::WRITABLE;
    assert!(!io.clear_refused(io.look(both).unwrap()), "the end would lead to the operation again");
    assert_eq!(io.look(both).unwrap().ready, Ready::READ_CLOSED);
    assert!(io.clear_refused(io.look(Interest::WRITABLE).unwrap()));
}

#[test]
fn all_in_the_list_are_woken_and_leave_no_trace() {
    let io = ScheduledIo::new();
    let (count, waker) = counting();
    let mut cx = Context::from_waker(&waker);
    let mut waiters: Vec<_> = (0..5).map(|_| Waiter::new(&io, Interest::READABLE)).collect();
    let mut writer = Waiter::new(&io, Interest::WRITABLE);
    for waiter in waiters.iter_mut().chain([&mut writer]) {
        assert!(waiter.poll(&mut cx).is_pending());
        assert!(waiter.poll(&mut cx).is_pending(), "polling again takes no second place");
    }
    assert_eq!(io.waiters.lock().number_listed(), 6);
    deliver(&io, Ready::READABLE);
    assert_eq!(woken(&count), 5);
    ready(waiters[0].poll(&mut cx));
    io.clear_refused(io.look(Interest::READABLE).unwrap());
    assert!(waiters[1].poll(&mut cx).is_pending(), "somebody else took it");
    deliver(&io, Ready::READABLE);
    assert_eq!(woken(&count), 6, "only the one that had come back to wait");
    drop(waiters);
    drop(writer);
    assert_eq!(io.waiters.lock().number_listed(), 0);
}

#[test]
fn who_was_woken_tries_though_another_was_refused_in_some_direction() {
    let io = ScheduledIo::new();
    let both = Interest::READABLE | Interest::WRITABLE;
    let (count, waker) = counting();
    let cx = &mut Context::from_waker(&waker);
    let (mut reader, mut writer) = (Waiter::new(&io, Interest::READABLE), Waiter::new(&io, Interest::WRITABLE));
    for said in [false, true] {
        assert!(reader.poll(cx).is_pending() && writer.poll(cx).is_pending());
        let before = woken(&count);
        deliver(&io, Ready::READABLE);
        assert_eq!(woken(&count), before + 1);
        // It was the other direction, or something else that a user knows.
        let event = io.look(both).unwrap();
        if said {
            io.clear_drained(event)
        } else {
            assert!(io.clear_refused(event))
        }
        assert!(Waiter::new(&io, Interest::READABLE).poll(cx).is_pending(), "it was not woken");
        assert!(ready(reader.poll(cx)).ready.is_empty());
        // Once.
        assert!(reader.poll(cx).is_pending() && writer.poll(cx).is_pending());
    }
    // A refusal in the same direction is believed.
    deliver(&io, Ready::READABLE);
    io.clear_refused(io.look(Interest::READABLE).unwrap());
    assert!(reader.poll(cx).is_pending());
}

#[test]
fn an_event_for_an_older_registration_is_nobodys() {
    let io = ScheduledIo::new();
    let old = io.generation();
    io.retire();
    let (count, waker) = counting();
    assert!(io.poll_ready(&mut Context::from_waker(&waker), Direction::Read).is_pending());
    let mut wakes = WakeBatch::new();
    assert!(!io.deliver(old, Ready::ALL, &mut wakes));
    assert!(wakes.is_empty());
    assert!(io.look(Interest::READABLE | Interest::WRITABLE).unwrap().ready.is_empty());
    deliver(&io, Ready::READABLE);
    assert_eq!(woken(&count), 1);
}

#[test]
fn retiring_forgets_wakers_and_flags() {
    let io = ScheduledIo::new();
    let (count, waker) = counting();
    assert!(io.poll_ready(&mut Context::from_waker(&waker), Direction::Write).is_pending());
    deliver(&io, Ready::READABLE | Ready::READ_CLOSED);
    drop(waker);
    io.retire();
    assert_eq!(Arc::strong_count(&count), 1, "no waker is kept");
    assert_eq!(woken(&count), 0);
    assert!(io.look(Interest::READABLE).unwrap().ready.is_empty());
}

#[test]
fn after_shutdown_nobody_waits() {
    let io = ScheduledIo::new();
    let (count, waker) = counting();
    let mut cx = Context::from_waker(&waker);
    let mut listed = Waiter::new(&io, Interest::PRIORITY);
    assert!(io.poll_ready(&mut cx, Direction::Read).is_pending());
    assert!(listed.poll(&mut cx).is_pending());
    let mut wakes = WakeBatch::new();
    io.shut_down(&mut wakes);
    wakes.give_to(&mut WakeAtOnce);
    assert_eq!(woken(&count), 2);
    assert!(matches!(io.poll_ready(&mut cx, Direction::Read), Poll::Ready(Err(_))));
    assert!(matches!(listed.poll(&mut cx), Poll::Ready(Err(_))));
    deliver(&io, Ready::READABLE);
    assert!(io.look(Interest::READABLE).is_err(), "an event does not undo it");
}

#[test]
fn a_panicking_waker_does_not_take_the_batch_with_it() {
    struct Bomb;
    impl Wake for Bomb {
        fn wake(self: Arc<Self>) {
            std::panic::resume_unwind(Box::new("a waker that panics"));
        }
    }
    let (count, waker) = counting();
    let mut wakes = WakeBatch::new();
    wakes.extend(Some(Waker::from(Arc::new(Bomb))));
    wakes.extend(Some(waker.clone()));
    wakes.extend(Some(Waker::from(Arc::new(Bomb))));
    wakes.extend(Some(waker));
    wakes.give_to(&mut WakeAtOnce);
    assert_eq!(woken(&count), 2);
    assert!(wakes.is_empty());
}

#[test]
fn a_descriptor_costs_one_cache_line() {
    assert_eq!(size_of::<ScheduledIo>(), 64);
}
