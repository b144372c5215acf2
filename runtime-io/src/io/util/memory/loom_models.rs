//! Models of a pipe between two threads.

use loom::future::block_on;
use loom::thread;

use crate::io::util::AsyncReadExt;
use crate::io::util::AsyncWriteExt;

use super::duplex;

/// However the two meet, neither waits for what has been done already: all bytes go through, then the end.
#[test]
fn nobody_sleeps_through_a_byte_or_the_end() {
    loom::model(|| {
        let (mut ours, mut theirs) = duplex(1);
        let writer = thread::spawn(move || {
            block_on(async {
                theirs.write_all(b"ab").await.unwrap();
                theirs
            })
        });
        let mut bytes = [0; 2];
        block_on(ours.read_exact(&mut bytes)).unwrap();
        assert_eq!(&bytes, b"ab");
        drop(writer.join().unwrap());
        assert_eq!(block_on(ours.read(&mut bytes)).unwrap(), 0);
    });
}

/// A reader that goes away ends a writer that waits, or is about to.
#[test]
fn a_writer_finds_out_that_its_reader_is_gone() {
    loom::model(|| {
        let (ours, mut theirs) = duplex(1);
        let writer = thread::spawn(move || {
            block_on(async {
                let _ = theirs.write_u8(1).await;
                theirs.write_u8(2).await.unwrap_err().kind()
            })
        });
        drop(ours);
        assert_eq!(writer.join().unwrap(), std::io::ErrorKind::BrokenPipe);
    });
}

/// A writer that goes away ends a reader that waits, or is about to.
#[test]
fn a_reader_finds_out_that_its_writer_is_gone() {
    loom::model(|| {
        let (mut ours, theirs) = duplex(1);
        let writer = thread::spawn(move || drop(theirs));
        assert_eq!(block_on(ours.read(&mut [0])).unwrap(), 0);
        writer.join().unwrap();
    });
}
