//! Reads: one job each, nothing lost if the read is dropped, no job for what is cached.

use super::*;

#[test]
fn a_read_is_done_by_one_job_which_wakes_its_task() {
    let file = file(b"hello");
    let woken = Arc::new(Count::default());
    let waker = Waker::from(woken.clone());
    assert!(file.read_with(&waker, 10).is_pending());
    assert!(file.read_with(&waker, 10).is_pending(), "it is under way");
    assert_eq!((jobs(), woken.0.load(Relaxed)), (1, 0));
    run_job();
    assert_eq!(woken.0.load(Relaxed), 1, "once, though it was polled twice");
    assert_ready(file.read_with(&waker, 10), b"hello".to_vec());
    assert_eq!(file.calls(), [Read(10)]);
    assert!(file.read(10).is_pending());
    run_job();
    assert_ready(file.read(10), Vec::new());
}

#[test]
fn everybody_who_waits_is_woken() {
    let file = file(b"hello");
    let woken: [_; 3] = std::array::from_fn(|_| Arc::new(Count::default()));
    for count in &woken {
        assert!(file.read_with(&Waker::from(count.clone()), 10).is_pending());
    }
    run_job();
    assert_eq!(woken.map(|count| count.0.load(Relaxed)), [1, 1, 1]);
}

#[test]
fn a_wakers_owner_may_poll_at_once() {
    struct Polls(Background<Memory>);
    impl Wake for Polls {
        fn wake(self: Arc<Self>) {
            assert!(self.0.read(2).is_ready());
        }
    }
    let polls = Arc::new(Polls(file(b"hello")));
    assert!(polls.0.read_with(&Waker::from(polls.clone()), 10).is_pending());
    run_job();
}

#[test]
fn a_read_that_was_dropped_loses_no_bytes() {
    let file = file(b"hello world");
    assert!(file.read(9).is_pending());
    run_job();
    assert_ready(file.read(4), b"hell".to_vec());
    assert_ready(file.read(10), b"o wor".to_vec());
    assert_eq!(jobs(), 0, "these were there");
    assert!(file.read(10).is_pending());
    run_job();
    assert_ready(file.read(10), b"ld".to_vec());
}

#[test]
fn nothing_is_read_that_was_not_asked_for() {
    let file = file(b"hello world");
    assert!(file.read(3).is_pending());
    run_job();
    assert_eq!(file.inner().position, 3);
    assert_ready(file.read(0), Vec::new());
    assert_eq!(file.calls(), [Read(3)]);
}

#[test]
fn an_error_of_a_read_is_told_once() {
    let file = file(b"hello");
    file.inner().fails = Some(io::ErrorKind::IsADirectory);
    assert!(file.read(5).is_pending());
    run_job();
    assert_fails(file.read(5), io::ErrorKind::IsADirectory);
    assert!(file.read(5).is_pending());
    run_job();
    assert_ready(file.read(5), b"hello".to_vec());
}

#[test]
fn the_end_that_a_dropped_read_has_met_is_forgotten_by_what_comes_next() {
    let asks: [fn(&Background<Memory>); 4] = [
        |file| assert!(file.flush().is_ready()),
        |file| assert!(file.complete().is_ready()),
        |file| assert!(pin!(file.written()).poll(&mut Context::from_waker(Waker::noop())).is_ready()),
        |file| assert!(pin!(file.turn()).poll(&mut Context::from_waker(Waker::noop())).is_ready()),
    ];
    for ask in asks {
        let file = file(b"");
        assert!(file.read(5).is_pending());
        run_job();
        ask(&file);
        file.inner().bytes = b"hello".to_vec();
        assert!(file.read(5).is_pending());
        run_job();
        assert_ready(file.read(5), b"hello".to_vec());
    }
}

#[test]
fn an_interrupted_read_is_made_again() {
    let file = file(b"hello");
    file.inner().fails = Some(io::ErrorKind::Interrupted);
    assert!(file.read(5).is_pending());
    run_job();
    assert_ready(file.read(5), b"hello".to_vec());
    assert_eq!(file.calls(), [Read(5), Read(5)]);
}

#[test]
fn what_is_cached_takes_no_job() {
    let file = with(Inner { bytes: b"hello world".to_vec(), can_at_once: true, cached: 8, ..Inner::default() });
    assert_ready(file.read(4), b"hell".to_vec());
    assert_ready(file.read(4), b"o wo".to_vec());
    assert_eq!(jobs(), 0);
    assert!(file.read(4).is_pending());
    run_job();
    assert_ready(file.read(4), b"rld".to_vec());
}

#[test]
fn what_is_cached_in_part_is_read_whole_and_not_lost_if_that_is_dropped() {
    let file = with(Inner { bytes: b"hello world".to_vec(), can_at_once: true, cached: 3, ..Inner::default() });
    assert!(file.read(8).is_pending());
    run_job();
    assert_ready(file.read(8), b"hello wo".to_vec());
    assert_eq!(file.calls(), [Read(5)]);

    file.inner().position = 0;
    assert!(file.read(8).is_pending());
    run_job();
    assert_ready(file.read(2), b"he".to_vec());
    assert_ready(file.read(8), b"llo wo".to_vec());
}

#[test]
fn an_error_behind_what_is_cached_does_not_take_it_away() {
    let file = with(Inner { bytes: b"hello world".to_vec(), can_at_once: true, cached: 3, ..Inner::default() });
    file.inner().fails = Some(io::ErrorKind::Other);
    assert!(file.read(8).is_pending());
    run_job();
    assert_ready(file.read(8), b"hel".to_vec());
    assert_fails(file.read(8), io::ErrorKind::Other);
}
