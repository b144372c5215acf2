//! Writes and flushes: queued behind one job, within a bound; an error is told once.

use super::*;

#[test]
fn writes_are_queued_behind_the_one_job_and_stay_calls_of_their_own() {
    let file = file(b"");
    for bytes in [b"a", b"b", b"c"] {
        assert_ready(file.write(bytes), 1);
    }
    assert_eq!(jobs(), 1);
    assert!(file.flush().is_pending());
    run_job();
    assert_ready(file.flush(), ());
    assert_eq!(file.calls(), [Write(b"a".to_vec()), Write(b"b".to_vec()), Write(b"c".to_vec()), Flush]);
    assert_eq!(jobs(), 0, "the flush was the same job's");
    assert_ready(file.flush(), ());
    assert_eq!(jobs(), 0, "there is nothing to flush");
}

#[test]
fn a_flush_of_the_devices_buffer_takes_a_job_if_none_is_there() {
    let file = file(b"");
    assert_ready(file.write(b"a"), 1);
    run_job();
    assert_eq!(file.calls(), [Write(b"a".to_vec())], "nobody has asked for more");
    assert!(file.flush().is_pending());
    run_job();
    assert_eq!(file.calls(), [Flush]);
    assert_ready(file.flush(), ());
}

#[test]
fn a_vectored_write_is_one_call() {
    let file = file(b"");
    let bufs = [IoSlice::new(b"ab"), IoSlice::new(b""), IoSlice::new(b"cde")];
    assert_ready(file.poll_write(&mut Context::from_waker(Waker::noop()), &bufs, 4), 4);
    assert_ready(file.write(b""), 0);
    run_job();
    assert_eq!(file.calls(), [Write(b"abcd".to_vec())]);
}

#[test]
fn the_queue_is_bounded_and_a_write_that_waits_is_woken_when_there_is_room() {
    const MAX: usize = 100;
    let file = file(b"");
    let mut queued = 0;
    while file.write_max(b"12345678", MAX).is_ready() {
        queued += 1;
        assert!(queued < 100, "it has no bound");
    }
    assert!((1..=MAX / 8).contains(&queued));
    let woken = Arc::new(Count::default());
    let waker = Waker::from(woken.clone());
    let mut cx = Context::from_waker(&waker);
    assert!(file.poll_write(&mut cx, &[IoSlice::new(b"x")], MAX).is_ready() == (queued * 16 + 9 <= MAX / 2));
    assert!(file.poll_write(&mut cx, &[IoSlice::new(&[0; 60])], MAX).is_pending());
    run_job();
    assert!(woken.0.load(Relaxed) > 0);
    assert_ready(file.poll_write(&mut cx, &[IoSlice::new(&[0; 60])], MAX), 60);
    run_job();
}

#[test]
fn a_write_is_split_at_the_most_that_is_allowed() {
    let file = file(b"");
    assert_ready(file.write_max(b"hello", 1), 1);
    assert!(file.write_max(b"ello", 1).is_pending(), "there is room for one");
    run_job();
    assert_ready(file.write_max(b"ello", 1), 1);
    run_job();
    assert_eq!(file.calls(), [Write(b"h".to_vec()), Write(b"e".to_vec())]);
}

#[test]
fn a_write_goes_where_the_reader_is() {
    let file = file(b"hello world");
    assert!(file.read(9).is_pending());
    assert!(file.write(b"XY").is_pending(), "the read is under way");
    run_job();
    assert_ready(file.read(2), b"he".to_vec());
    assert_ready(file.write(b"XY"), 2);
    run_job();
    assert_eq!(file.calls(), [Read(9), Seek(SeekFrom::Current(-7)), Write(b"XY".to_vec())]);
    assert_eq!(file.inner().bytes, b"heXYo world");
    assert!(file.read(1).is_pending(), "what was read before is not read again from memory");
    run_job();
    assert_ready(file.read(1), b"o".to_vec());
}

#[test]
fn a_terminal_keeps_what_was_read_when_it_is_written_to() {
    let file = with(Inner { bytes: b"typed".to_vec(), is_terminal: true, ..Inner::default() });
    assert!(file.read(5).is_pending());
    run_job();
    assert_ready(file.write(b"prompt"), 6);
    run_job();
    assert_ready(file.read(9), b"typed".to_vec());
    assert!(file.calls().contains(&Write(b"prompt".to_vec())));
}

#[test]
fn a_failed_write_is_told_once_and_what_was_queued_behind_is_dropped() {
    for ask_by_flush in [false, true] {
        let file = file(b"");
        assert_ready(file.write(b"a"), 1);
        assert_ready(file.write(b"b"), 1);
        file.inner().fails = Some(io::ErrorKind::StorageFull);
        run_job();
        assert_eq!(file.calls(), [Write(b"a".to_vec())]);
        // Neither reading nor seeking tells.
        assert!(file.read(1).is_pending());
        run_job();
        assert_ready(file.read(1), Vec::new());
        file.start_seek(SeekFrom::Start(0)).unwrap();
        run_job();
        assert_ready(file.complete(), 0);
        file.calls();
        let kind = io::ErrorKind::StorageFull;
        if ask_by_flush {
            assert_fails(file.flush(), kind);
        } else {
            assert_fails(file.write(b"c"), kind);
        }
        assert_ready(file.write(b"d"), 1);
        run_job();
        assert_eq!(file.calls(), [Write(b"d".to_vec())]);
    }
}

#[test]
fn syncing_tells_of_a_failed_write() {
    let file = file(b"");
    assert_ready(file.write(b"a"), 1);
    file.inner().fails = Some(io::ErrorKind::StorageFull);
    run_job();
    let mut cx = Context::from_waker(Waker::noop());
    assert_fails(pin!(file.written()).poll(&mut cx), io::ErrorKind::StorageFull);
    assert!(matches!(pin!(file.written()).poll(&mut cx), Poll::Ready(Ok(_))));
}

#[test]
fn an_error_of_a_flush_is_told() {
    let file = file(b"");
    assert_ready(file.write(b"a"), 1);
    run_job();
    assert!(file.flush().is_pending());
    file.inner().fails = Some(io::ErrorKind::BrokenPipe);
    run_job();
    assert_fails(file.flush(), io::ErrorKind::BrokenPipe);
}
