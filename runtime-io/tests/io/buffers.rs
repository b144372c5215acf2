//! Readers and writers with a buffer.

use std::io::{Cursor, ErrorKind, IoSlice};

use rt::io::{
    AsyncBufReadExt, AsyncReadExt, AsyncSeekExt, AsyncWrite, AsyncWriteExt, BufReader, BufStream, BufWriter, SeekFrom,
    repeat,
};

use super::foreign::{Cheat, Initialising, Script, Step};
use super::run;

#[test]
fn small_reads_come_from_the_buffer_and_large_ones_go_past_it() {
    run(async {
        let mut reader = BufReader::with_capacity(4, Script::new([Step::Move(b"abcd"), Step::Move(b"efghijkl")]));
        assert_eq!(reader.read_u8().await.unwrap(), b'a');
        assert_eq!(reader.buffer(), b"bcd");
        let mut large = [0; 8];
        assert_eq!(reader.read(&mut large).await.unwrap(), 3, "first what is in the buffer");
        assert_eq!(reader.read(&mut large).await.unwrap(), 8);
        assert_eq!((&large, reader.buffer()), (b"efghijkl", &b""[..]));
        reader.consume(5);
        assert_eq!(reader.read(&mut large).await.unwrap(), 0);
    });
}

#[test]
fn a_seek_counts_from_what_was_consumed() {
    run(async {
        let bytes: Vec<u8> = (0..100).collect();
        let mut reader = BufReader::with_capacity(10, Cursor::new(bytes));
        assert_eq!(reader.read_u8().await.unwrap(), 0);
        assert_eq!(reader.seek(SeekFrom::Current(5)).await.unwrap(), 6);
        assert_eq!(reader.buffer(), b"");
        assert_eq!(reader.read_u8().await.unwrap(), 6);
        assert_eq!(reader.stream_position().await.unwrap(), 7);
        assert_eq!(reader.seek(SeekFrom::End(-1)).await.unwrap(), 99);
        assert_eq!(reader.read_u8().await.unwrap(), 99);
        assert_eq!(reader.rewind().await.unwrap(), 0);
        assert_eq!(reader.read_u16().await.unwrap(), 1);
        // Less what is in the buffer, this is beyond an `i64`: there is nothing before the start.
        assert_eq!(reader.seek(SeekFrom::Current(i64::MIN)).await.unwrap_err().kind(), ErrorKind::InvalidInput);
        assert_eq!(reader.read_u8().await.unwrap(), 2, "the reader goes on from where it was");
        assert_eq!(reader.seek(SeekFrom::Current(-3)).await.unwrap(), 0);
    });
}

#[test]
#[should_panic(expected = "greater than zero")]
fn a_reader_needs_a_buffer() {
    BufReader::with_capacity(0, repeat(1));
}

#[test]
fn writes_are_collected_until_there_is_no_room() {
    run(async {
        let mut writer = BufWriter::with_capacity(8, Script::default());
        for part in [&b"abc"[..], b"def", b"ghi", b"more than there is room for", b"end"] {
            writer.write_all(part).await.unwrap();
        }
        assert_eq!(writer.buffer(), b"end");
        assert_eq!(writer.get_ref().writes, [vec![6], vec![3], vec![27]]);
        writer.shutdown().await.unwrap();
        let inner = writer.into_inner();
        assert_eq!(inner.written, b"abcdefghimore than there is room forend");
        assert!(inner.is_shut_down);
    });
}

#[test]
fn what_an_error_left_is_written_later() {
    run(async {
        let steps = [Step::Move(b"12"), Step::Fail(ErrorKind::Interrupted), Step::Fail(ErrorKind::StorageFull)];
        let mut writer = BufWriter::new(Script::new(steps));
        writer.write_all(b"hello").await.unwrap();
        assert_eq!(writer.flush().await.unwrap_err().kind(), ErrorKind::StorageFull);
        assert_eq!(writer.buffer(), b"llo");
        writer.flush().await.unwrap();
        assert_eq!(writer.get_ref().written, b"hello");
        let mut full = BufWriter::new(Script::new([Step::Move(b"")]));
        full.write_all(b"x").await.unwrap();
        assert_eq!(full.flush().await.unwrap_err().kind(), ErrorKind::WriteZero);
    });
}

#[test]
fn vectored_writes_go_together() {
    run(async {
        let slices = [IoSlice::new(b""), IoSlice::new(b"abc"), IoSlice::new(b"def"), IoSlice::new(b"ghi")];
        // An inner writer that takes several at once gets them if they do not fit.
        let mut writer = BufWriter::with_capacity(8, Script::vectored());
        assert!(writer.is_write_vectored());
        assert_eq!(writer.write_vectored(&slices[..3]).await.unwrap(), 6);
        assert_eq!(writer.write_vectored(&slices).await.unwrap(), 9);
        assert_eq!(writer.get_ref().writes, [vec![6], vec![3, 3, 3]]);
        // For another they are put together as far as they fit.
        let mut writer = BufWriter::with_capacity(8, Script::default());
        assert_eq!(writer.write_vectored(&slices).await.unwrap(), 6);
        assert_eq!(writer.buffer(), b"abcdef");
        assert_eq!(writer.write_vectored(&slices).await.unwrap(), 6);
        assert_eq!(writer.write_vectored(&[]).await.unwrap(), 0);
        let large = [IoSlice::new(b"much more than fits"), IoSlice::new(b"x")];
        assert_eq!(writer.write_vectored(&large).await.unwrap(), 19);
        assert_eq!(writer.get_ref().writes, [vec![6], vec![6], vec![19]]);
        // Nor is it asked to write nothing where there is no buffer.
        let mut writer = BufWriter::with_capacity(0, Script::default());
        assert_eq!(writer.write_vectored(&slices[..1]).await.unwrap(), 0);
        assert!(writer.get_ref().writes.is_empty());
    });
}

#[test]
fn a_seek_writes_the_buffer_first() {
    run(async {
        let mut writer = BufWriter::new(Cursor::new(vec![0; 8]));
        writer.write_all(b"abc").await.unwrap();
        assert_eq!(writer.seek(SeekFrom::Current(2)).await.unwrap(), 5);
        writer.write_all(b"de").await.unwrap();
        writer.rewind().await.unwrap();
        writer.write_all(b"A").await.unwrap();
        writer.flush().await.unwrap();
        assert_eq!(writer.into_inner().into_inner(), b"Abc\0\0de\0");
    });
}

#[test]
fn buffers_in_both_directions_keep_what_is_in_them() {
    run(async {
        let script = Script::new([Step::Move(b"line one\nline two\n")]);
        let mut inside_out = BufWriter::new(BufReader::new(script));
        inside_out.write_all(b"out").await.unwrap();
        let mut line = String::new();
        inside_out.read_line(&mut line).await.unwrap();
        let mut stream = BufStream::from(inside_out);
        stream.read_line(&mut line).await.unwrap();
        assert_eq!(line, "line one\nline two\n");
        assert!(stream.get_ref().written.is_empty());
        stream.flush().await.unwrap();
        assert_eq!(stream.into_inner().written, b"out");

        let mut stream = BufStream::from(BufReader::new(BufWriter::new(Script::new([Step::Move(b"x")]))));
        assert_eq!(stream.read_u8().await.unwrap(), b'x');
        let mut stream = BufStream::with_capacity(1, 2, Cursor::new(vec![1, 2, 3]));
        assert_eq!(stream.read_u8().await.unwrap(), 1);
        assert_eq!(stream.seek(SeekFrom::Current(1)).await.unwrap(), 2);
        stream.write_u8(9).await.unwrap();
        stream.shutdown().await.unwrap();
        assert_eq!(stream.into_inner().into_inner(), [1, 2, 9]);
    });
}

#[test]
fn a_readers_buffer_is_initialised_from_the_start() {
    run(async {
        let mut reader = BufReader::with_capacity(64, Initialising { left: 1000, initialised: 0 });
        for _ in 0..1000 {
            assert_eq!(reader.read_u8().await.unwrap(), b'x');
        }
        assert_eq!(reader.get_ref().initialised, 0);
    });
}

#[test]
#[should_panic(expected = "another buffer")]
fn a_reader_that_exchanges_the_buffer_is_found_out() {
    run(async { drop(BufReader::new(Cheat).fill_buf().await) });
}
