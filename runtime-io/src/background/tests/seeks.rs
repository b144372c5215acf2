//! Seeks: seen from where the reader is, whatever was read ahead.

use super::*;

#[test]
fn a_seek_is_seen_from_where_the_reader_is() {
    let file = file(b"hello world");
    assert!(file.read(9).is_pending());
    run_job();
    assert_ready(file.read(2), b"he".to_vec());
    file.start_seek(SeekFrom::Current(1)).unwrap();
    assert!(file.start_seek(SeekFrom::Start(0)).is_err(), "one is under way");
    assert!(file.complete().is_pending());
    run_job();
    assert_ready(file.complete(), 3);
    assert_ready(file.complete(), 3);
    assert_eq!(file.calls(), [Read(9), Seek(SeekFrom::Current(-6))]);
    assert!(file.read(2).is_pending());
    run_job();
    assert_ready(file.read(2), b"lo".to_vec());
}

#[test]
fn a_seek_that_fails_leaves_the_reader_where_it_is() {
    let file = file(b"hello world");
    assert!(file.read(9).is_pending());
    run_job();
    assert_ready(file.read(2), b"he".to_vec());
    for to in [SeekFrom::Current(-10), SeekFrom::End(-100), SeekFrom::Current(i64::MIN)] {
        file.start_seek(to).unwrap();
        run_job();
        assert_fails(file.complete(), io::ErrorKind::InvalidInput);
    }
    let mut next = file.read(3);
    if next.is_pending() {
        run_job();
        next = file.read(3);
    }
    assert_ready(next, b"llo".to_vec());
}

#[test]
fn a_seek_in_a_cached_file_takes_no_job() {
    let file = with(Inner { bytes: b"hello".to_vec(), can_at_once: true, cached: 5, ..Inner::default() });
    file.start_seek(SeekFrom::Start(2)).unwrap();
    assert_ready(file.complete(), 2);
    assert_ready(file.read(9), b"llo".to_vec());
    assert_eq!(jobs(), 0);
}

#[test]
fn a_seek_is_begun_only_when_somebody_has_asked_for_the_end_of_what_was_before() {
    for can_at_once in [false, true] {
        let file = with(Inner { bytes: b"hello".to_vec(), can_at_once, cached: 5, ..Inner::default() });
        let start = |to| file.start_seek(SeekFrom::Start(to)).map_err(|error| error.kind());
        let run_all = || (0..jobs()).for_each(|_| run_job());
        // Whatever ends the wait.
        let ask: [&dyn Fn(); 4] = [
            &|| assert!(file.complete().is_ready()),
            &|| assert!(file.flush().is_ready()),
            &|| assert!(file.write(b"").is_ready()),
            &|| assert!(pin!(file.turn()).poll(&mut Context::from_waker(Waker::noop())).is_ready()),
        ];
        for ask in ask {
            assert_eq!(start(2), Ok(()));
            run_all();
            assert_eq!(start(3), Err(io::ErrorKind::Other), "also after the end, at once: {can_at_once}");
            ask();
            assert_ready(file.write(b"l"), 1);
            assert_eq!(start(3), Err(io::ErrorKind::Other));
            run_all();
            assert_eq!(start(3), Err(io::ErrorKind::Other));
            assert!(file.flush().is_pending(), "this device has a buffer");
            run_all();
            assert_ready(file.flush(), ());
        }
        assert_eq!(start(1), Ok(()));
        run_all();
        assert_ready(file.complete(), 1);
        if !can_at_once {
            assert!(file.read(2).is_pending());
            run_all();
            assert_eq!(start(3), Err(io::ErrorKind::Other));
        }
        let mut read = file.read(2);
        if read.is_pending() {
            run_all();
            read = file.read(2);
        }
        assert_ready(read, b"el".to_vec());
        assert_eq!(start(0), Ok(()));
        run_all();
    }
}

#[test]
fn the_result_of_a_seek_that_was_dropped_is_forgotten_by_what_comes_next() {
    let file = file(b"hello");
    file.start_seek(SeekFrom::End(-100)).unwrap();
    run_job();
    assert!(file.read(1).is_pending());
    run_job();
    assert_ready(file.complete(), 0);

    file.start_seek(SeekFrom::End(-100)).unwrap();
    run_job();
    assert_ready(file.flush(), ());
    assert_ready(file.complete(), 0);
}
