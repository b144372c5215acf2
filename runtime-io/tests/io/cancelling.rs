//! What is lost if an operation is dropped before it is done, as the table in the documentation of `rt::io` has it.

use rt::io::{
    AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, BufWriter, DuplexStream, copy, copy_buf, duplex, sink,
};

use super::foreign::{Script, Step};
use super::{polled_once, run};

/// A reader that has had part of what is to come, and the writer of the rest.
async fn with_a_part(part: &[u8]) -> (DuplexStream, DuplexStream) {
    let (reader, mut writer) = duplex(64);
    writer.write_all(part).await.unwrap();
    (reader, writer)
}

#[test]
fn one_read_takes_nothing() {
    run(async {
        let (mut reader, mut writer) = duplex(64);
        assert!(polled_once(reader.read(&mut [0; 8])).await.is_pending());
        assert!(polled_once(reader.read_buf(&mut vec![])).await.is_pending());
        assert!(polled_once(reader.read_u8()).await.is_pending());
        let mut reader = BufReader::new(reader);
        assert!(polled_once(reader.fill_buf()).await.is_pending());
        writer.write_all(b"hello").await.unwrap();
        drop(writer);
        let mut all = String::new();
        reader.read_to_string(&mut all).await.unwrap();
        assert_eq!(all, "hello");
    });
}

#[test]
fn one_write_moves_nothing() {
    run(async {
        let (mut reader, mut writer) = duplex(4);
        writer.write_all(b"full").await.unwrap();
        assert!(polled_once(writer.write(b"lost")).await.is_pending());
        assert!(polled_once(writer.write_vectored(&[std::io::IoSlice::new(b"lost")])).await.is_pending());
        assert!(polled_once(writer.write_u8(1)).await.is_pending());
        let mut source = &b"kept"[..];
        assert!(polled_once(writer.write_buf(&mut source)).await.is_pending());
        assert_eq!(source, b"kept");
        drop(writer);
        let mut all = vec![];
        reader.read_to_end(&mut all).await.unwrap();
        assert_eq!(all, b"full");
    });
}

#[test]
fn what_was_read_to_the_end_or_a_delimiter_is_in_the_vector() {
    run(async {
        let (mut reader, mut writer) = with_a_part(b"on").await;
        let mut all = vec![];
        assert!(polled_once(reader.read_to_end(&mut all)).await.is_pending());
        assert_eq!(all, b"on");

        writer.write_all(b"e").await.unwrap();
        let mut reader = BufReader::new(reader);
        assert!(polled_once(reader.read_until(b',', &mut all)).await.is_pending());
        assert_eq!(all, b"one");
        writer.write_all(b",two").await.unwrap();
        assert_eq!(reader.read_until(b',', &mut all).await.unwrap(), 1);
        assert_eq!(all, b"one,");
        assert_eq!(reader.buffer(), b"two");
    });
}

#[test]
fn lines_and_segments_go_on_where_they_were() {
    run(async {
        let (reader, mut writer) = with_a_part("ein sch\u{f6}".as_bytes().split_last().unwrap().1).await;
        let mut lines = BufReader::new(reader).lines();
        assert!(polled_once(lines.next_line()).await.is_pending());
        writer.write_all(b"\xb6ner").await.unwrap();
        assert!(polled_once(lines.next_line()).await.is_pending());
        writer.write_all(b" Tag\r\n").await.unwrap();
        assert_eq!(lines.next_line().await.unwrap().unwrap(), "ein sch\u{f6}ner Tag");

        let (reader, mut writer) = with_a_part(b"on").await;
        let mut segments = BufReader::new(reader).split(b',');
        assert!(polled_once(segments.next_segment()).await.is_pending());
        writer.write_all(b"e,").await.unwrap();
        assert_eq!(segments.next_segment().await.unwrap().unwrap(), b"one");
    });
}

#[test]
fn strings_are_as_before_when_reading_into_them_is_given_up() {
    run(async {
        let (reader, _writer) = with_a_part(b"part").await;
        let mut reader = BufReader::new(reader);
        let mut text = String::from("before ");
        assert!(polled_once(reader.read_line(&mut text)).await.is_pending());
        assert!(polled_once(reader.read_to_string(&mut text)).await.is_pending());
        assert_eq!(text, "before ");
        let mut empty = String::with_capacity(100);
        assert!(polled_once(reader.read_line(&mut empty)).await.is_pending());
        assert!(empty.is_empty() && empty.capacity() >= 100, "the memory comes back");
    });
}

#[test]
fn what_was_written_of_a_buf_has_left_it() {
    run(async {
        let (mut reader, mut writer) = duplex(4);
        let mut source = &b"0123456789"[..];
        assert!(polled_once(writer.write_all_buf(&mut source)).await.is_pending());
        assert_eq!(source, b"456789");
        reader.read_exact(&mut [0; 4]).await.unwrap();
        assert!(polled_once(writer.write_all_buf(&mut source)).await.is_pending());
        assert_eq!(source, b"89");
    });
}

#[test]
fn a_flush_goes_on_where_it_was() {
    run(async {
        let (mut reader, inner) = duplex(4);
        let mut writer = BufWriter::new(inner);
        writer.write_all(b"012345").await.unwrap();
        assert!(polled_once(writer.flush()).await.is_pending());
        let mut all = vec![0; 4];
        reader.read_exact(&mut all).await.unwrap();
        writer.shutdown().await.unwrap();
        reader.read_to_end(&mut all).await.unwrap();
        assert_eq!(all, b"012345");
    });
}

#[test]
fn a_copy_from_a_buffer_loses_nothing() {
    run(async {
        let (reader, mut writer) = with_a_part(b"0123").await;
        let mut reader = BufReader::new(reader);
        let mut slow = Script::new([Step::Move(b"ab"), Step::Wait]);
        assert!(polled_once(copy_buf(&mut reader, &mut slow)).await.is_pending());
        assert_eq!((&*slow.written, reader.buffer()), (&b"01"[..], &b"23"[..]));
        writer.write_all(b"45").await.unwrap();
        drop(writer);
        assert_eq!(copy_buf(&mut reader, &mut slow).await.unwrap(), 4);
        assert_eq!(slow.written, b"012345");
        assert_eq!(copy(&mut reader, &mut sink()).await.unwrap(), 0);
    });
}

/// These move bytes several times. The test shows what the documentation warns of.
#[test]
fn what_takes_or_moves_more_than_once_is_not_safe() {
    run(async {
        let (mut reader, mut writer) = with_a_part(b"abc").await;
        assert!(polled_once(reader.read_exact(&mut [0; 4])).await.is_pending());
        writer.write_all(b"d").await.unwrap();
        assert!(polled_once(reader.read_u32()).await.is_pending());
        drop(writer);
        assert_eq!(reader.read(&mut [0; 4]).await.unwrap(), 0, "those bytes are lost");

        let (mut reader, mut writer) = duplex(3);
        assert!(polled_once(writer.write_all(b"abcd")).await.is_pending());
        let mut read = [0; 3];
        reader.read_exact(&mut read).await.unwrap();
        assert!(polled_once(writer.write_u32(0)).await.is_pending());
        drop(writer);
        let mut rest = vec![];
        reader.read_to_end(&mut rest).await.unwrap();
        assert_eq!((read, rest), (*b"abc", vec![0; 3]));
    });
}

#[test]
fn a_copy_loses_what_was_read_and_not_written() {
    run(async {
        let (mut reader, mut writer) = with_a_part(b"0123").await;
        let mut slow = Script::new([Step::Move(b"ab"), Step::Wait]);
        assert!(polled_once(copy(&mut reader, &mut slow)).await.is_pending());
        assert_eq!(slow.written, b"01");
        writer.write_all(b"45").await.unwrap();
        drop(writer);
        assert_eq!(copy(&mut reader, &mut slow).await.unwrap(), 2);
        assert_eq!(slow.written, b"0145");
    });
}
