//! Who has the device: a turn, a job that is not run, the owner at the end.

use super::*;

#[test]
fn a_job_that_is_not_run_fails_and_the_file_stays_usable() {
    let file = file(b"hello");
    file.inner().refuses = true;
    assert_fails(file.read(1), io::ErrorKind::Other);
    file.start_seek(SeekFrom::Start(1)).unwrap();
    assert_fails(file.complete(), io::ErrorKind::Other);
    assert_fails(file.write(b"a"), io::ErrorKind::Other);
    assert_fails(file.flush(), io::ErrorKind::Other);
    file.inner().refuses = false;

    // Given up while it is queued.
    assert_ready(file.write(b"b"), 1);
    JOBS.with_borrow_mut(VecDeque::pop_front);
    assert_fails(file.write(b"c"), io::ErrorKind::Other);
    assert_eq!(file.calls(), []);
    assert!(file.read(5).is_pending());
    run_job();
    assert_ready(file.read(5), b"hello".to_vec());
}

#[test]
fn the_device_is_given_back_when_no_job_uses_it_and_at_the_readers_position() {
    let file = file(b"hello");
    assert!(file.read(4).is_pending());
    let file = file.try_into_device().map(drop).expect_err("a job uses it");
    let mut cx = Context::from_waker(Waker::noop());
    assert!(pin!(file.unused()).poll(&mut cx).is_pending());
    run_job();
    assert_ready(file.read(1), b"h".to_vec());
    let hold = file.hold();
    assert!(pin!(file.unused()).poll(&mut cx).is_pending());
    let file = file.try_into_device().map(drop).expect_err("it is held");
    drop(hold);
    assert!(pin!(file.unused()).poll(&mut cx).is_ready());
    assert_eq!(file.try_into_device().map(|device| device.inner.lock().position).ok(), Some(1));
}

#[test]
fn a_turn_keeps_others_waiting() {
    let file = file(b"hello");
    let mut cx = Context::from_waker(Waker::noop());
    let Poll::Ready(turn) = pin!(file.turn()).poll(&mut cx) else { panic!("nothing goes on") };
    assert!(file.read(1).is_pending());
    assert!(file.write(b"a").is_pending());
    assert!(file.complete().is_pending());
    assert!(pin!(file.turn()).poll(&mut cx).is_pending());
    assert!(file.start_seek(SeekFrom::Start(0)).is_err());
    drop(turn);
    assert_ready(file.write(b"a"), 1);
    run_job();
}
