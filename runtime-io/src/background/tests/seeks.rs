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
fn the_result_of_a_seek_that_was_dropped_is_forgotten_by_what_comes_next() {
    let file = file(b"hello");
    file.start_seek(SeekFrom::End(-100)).unwrap();
    run_job();
    assert!(file.read(1).is_pending());
    run_job();
    assert_ready(file.complete(), 0);
}
