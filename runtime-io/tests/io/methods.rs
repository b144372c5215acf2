//! The methods of the extension traits.

use std::io::{Cursor, ErrorKind, IoSlice};

use rt::io::{AsyncBufReadExt, AsyncReadExt, AsyncSeekExt, AsyncWriteExt, BufReader, SeekFrom, empty, repeat, sink};

use super::foreign::{Cheat, Initialising, Script, Step};
use super::run;

#[test]
fn numbers_are_read_as_they_were_written() {
    macro_rules! both_ways {
        ($($number:ty: $write:ident $read:ident $convert:ident,)*) => {
            run(async {$(
                for number in [<$number>::MIN, <$number>::MAX, 0 as $number, 1 as $number, 77 as $number] {
                    // A byte at a time, and interrupted.
                    let mut writer = Script::new([Step::Fail(ErrorKind::Interrupted), Step::Move(b"1"), Step::Wait]);
                    writer.$write(number).await.unwrap();
                    assert_eq!(writer.written, number.$convert(), stringify!($write));
                    let mut reader = BufReader::with_capacity(1, &*writer.written);
                    assert_eq!(reader.$read().await.unwrap(), number, stringify!($read));
                    assert_eq!(reader.$read().await.unwrap_err().kind(), ErrorKind::UnexpectedEof);
                    let mut full = Script::new([Step::Move(b"")]);
                    assert_eq!(full.$write(number).await.unwrap_err().kind(), ErrorKind::WriteZero);
                }
            )*});
        };
    }
    both_ways! {
        u8: write_u8 read_u8 to_be_bytes,
        i8: write_i8 read_i8 to_be_bytes,
        u16: write_u16 read_u16 to_be_bytes,
        i16: write_i16 read_i16 to_be_bytes,
        u32: write_u32 read_u32 to_be_bytes,
        i32: write_i32 read_i32 to_be_bytes,
        u64: write_u64 read_u64 to_be_bytes,
        i64: write_i64 read_i64 to_be_bytes,
        u128: write_u128 read_u128 to_be_bytes,
        i128: write_i128 read_i128 to_be_bytes,
        f32: write_f32 read_f32 to_be_bytes,
        f64: write_f64 read_f64 to_be_bytes,
        u16: write_u16_le read_u16_le to_le_bytes,
        i16: write_i16_le read_i16_le to_le_bytes,
        u32: write_u32_le read_u32_le to_le_bytes,
        i32: write_i32_le read_i32_le to_le_bytes,
        u64: write_u64_le read_u64_le to_le_bytes,
        i64: write_i64_le read_i64_le to_le_bytes,
        u128: write_u128_le read_u128_le to_le_bytes,
        i128: write_i128_le read_i128_le to_le_bytes,
        f32: write_f32_le read_f32_le to_le_bytes,
        f64: write_f64_le read_f64_le to_le_bytes,
    }
}

#[test]
fn reading_exactly_needs_all_of_it() {
    run(async {
        let steps = [Step::Move(b"he"), Step::Wait, Step::Fail(ErrorKind::Interrupted), Step::Move(b"llo")];
        let mut buf = [0; 5];
        assert_eq!(Script::new(steps).read_exact(&mut buf).await.unwrap(), 5);
        assert_eq!(&buf, b"hello");
        assert_eq!((&b"hell"[..]).read_exact(&mut buf).await.unwrap_err().kind(), ErrorKind::UnexpectedEof);
        assert_eq!(empty().read_exact(&mut []).await.unwrap(), 0);
    });
}

#[test]
fn reading_to_the_end_appends_and_grows_only_when_it_must() {
    run(async {
        let mut exact = Vec::with_capacity(64);
        assert_eq!(repeat(1).take(64).read_to_end(&mut exact).await.unwrap(), 64);
        assert_eq!((exact.len(), exact.capacity()), (64, 64));
        assert_eq!(repeat(2).take(100).read_to_end(&mut exact).await.unwrap(), 100);
        assert_eq!((exact[63], exact[64], exact.len()), (1, 2, 164));

        let steps = [Step::Move(b"a"), Step::Fail(ErrorKind::Interrupted), Step::Wait, Step::Fail(ErrorKind::TimedOut)];
        let mut some = b"before ".to_vec();
        let error = Script::new(steps).read_to_end(&mut some).await.unwrap_err();
        assert_eq!((error.kind(), &*some), (ErrorKind::TimedOut, &b"before a"[..]));
    });
}

#[test]
fn memory_is_initialised_once_for_those_who_need_it() {
    run(async {
        let mut reader = Initialising { left: 900, initialised: 0 };
        let mut bytes = Vec::with_capacity(1000);
        reader.read_to_end(&mut bytes).await.unwrap();
        assert_eq!((bytes.len(), reader.initialised), (900, 1000));
        // Growing moves the memory, and what is behind the bytes need not come along.
        let mut reader = Initialising { left: 10_000, initialised: 0 };
        reader.read_to_end(&mut vec![]).await.unwrap();
        assert!(reader.initialised <= 64 * 1024, "{}", reader.initialised);
    });
}

#[test]
fn strings_take_text_only_and_all_or_nothing() {
    run(async {
        let mut text = String::from("Gr\u{fc}");
        assert_eq!("\u{df}e".as_bytes().read_to_string(&mut text).await.unwrap(), 3);
        assert_eq!(text, "Gr\u{fc}\u{df}e");
        let error = (&b"\xff"[..]).read_to_string(&mut text).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidData);
        let cause = error.into_inner().unwrap().downcast::<std::str::Utf8Error>().unwrap();
        assert_eq!(cause.valid_up_to(), text.len(), "the position is one in the whole string");
        let mut failing = Script::new([Step::Move(b"lost"), Step::Fail(ErrorKind::TimedOut)]);
        assert_eq!(failing.read_to_string(&mut text).await.unwrap_err().kind(), ErrorKind::TimedOut);
        assert_eq!(text, "Gr\u{fc}\u{df}e");
        let mut empty = String::new();
        assert_eq!((&b"\xff"[..]).read_to_string(&mut empty).await.unwrap_err().kind(), ErrorKind::InvalidData);
        assert_eq!(empty, "");
    });
}

#[test]
fn lines_are_read_one_at_a_time() {
    run(async {
        let mut reader = BufReader::with_capacity(3, &b"one\ntwo\xff\nthree"[..]);
        let mut line = String::new();
        assert_eq!(reader.read_line(&mut line).await.unwrap(), 4);
        assert_eq!(reader.read_line(&mut line).await.unwrap_err().kind(), ErrorKind::InvalidData);
        assert_eq!(line, "one\n");
        assert_eq!(reader.read_line(&mut line).await.unwrap(), 5);
        assert_eq!(reader.read_line(&mut line).await.unwrap(), 0);
        assert_eq!(line, "one\nthree");

        let mut failing = BufReader::new(Script::new([Step::Move(b"part"), Step::Fail(ErrorKind::TimedOut)]));
        assert_eq!(failing.read_line(&mut line).await.unwrap_err().kind(), ErrorKind::TimedOut);
        assert_eq!(line, "one\nthreepart", "what was read before the error is there");

        let mut lines = BufReader::with_capacity(3, &b"a\r\n\n\xff\nb\rc"[..]).lines();
        assert_eq!(lines.next_line().await.unwrap().as_deref(), Some("a"));
        assert_eq!(lines.next_line().await.unwrap().as_deref(), Some(""));
        let error = lines.next_line().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidData);
        let cause = error.into_inner().unwrap().downcast::<std::string::FromUtf8Error>().unwrap();
        assert_eq!(cause.into_bytes(), b"\xff");
        assert_eq!(lines.next_line().await.unwrap().as_deref(), Some("b\rc"));
        assert_eq!(lines.next_line().await.unwrap(), None);
        assert_eq!(lines.get_ref().buffer(), b"");
        assert_eq!(lines.get_mut().buffer(), b"");
        assert_eq!(lines.into_inner().into_inner(), b"");
    });
}

#[test]
fn segments_are_what_is_between_the_delimiters() {
    run(async {
        let mut segments = BufReader::with_capacity(2, &b",ab,,c"[..]).split(b',');
        let mut all = vec![];
        while let Some(segment) = segments.next_segment().await.unwrap() {
            all.push(segment);
        }
        assert_eq!(all, [&b""[..], b"ab", b"", b"c"]);
        let mut until = vec![];
        let mut reader = BufReader::new(Script::new([Step::Move(b"x;y"), Step::Fail(ErrorKind::TimedOut)]));
        assert_eq!(reader.read_until(b';', &mut until).await.unwrap(), 2);
        assert_eq!(reader.read_until(b';', &mut until).await.unwrap_err().kind(), ErrorKind::TimedOut);
        assert_eq!(until, b"x;y");
    });
}

#[test]
fn everything_is_written_or_it_is_an_error() {
    run(async {
        let steps = || [Step::Move(b"12"), Step::Wait, Step::Fail(ErrorKind::Interrupted), Step::Move(b"1")];
        let mut writer = Script::new(steps());
        writer.write_all(b"hello").await.unwrap();
        assert_eq!(writer.written, b"hello");
        let mut writer = Script::new(steps());
        writer.write_all_buf(&mut &b"hello"[..]).await.unwrap();
        assert_eq!(writer.written, b"hello");
        let mut source = &b"hello"[..];
        let mut full = Script::new([Step::Move(b"12"), Step::Move(b"")]);
        assert_eq!(full.write_all_buf(&mut source).await.unwrap_err().kind(), ErrorKind::WriteZero);
        assert_eq!(source, b"llo");
        let mut full = Script::new([Step::Move(b"")]);
        assert_eq!(full.write_all(b"x").await.unwrap_err().kind(), ErrorKind::WriteZero);
    });
}

#[test]
fn several_slices_go_to_those_who_take_them() {
    run(async {
        let head_and_body = || bytes::Buf::chain(&b"head"[..], &b"body"[..]);
        let mut vectored = Script::vectored();
        vectored.write_all_buf(&mut head_and_body()).await.unwrap();
        let mut plain = Script::default();
        plain.write_all_buf(&mut head_and_body()).await.unwrap();
        assert_eq!((vectored.writes, plain.writes), (vec![vec![4, 4]], vec![vec![4], vec![4]]));
        assert_eq!(sink().write_vectored(&[IoSlice::new(b"ab"), IoSlice::new(b"c")]).await.unwrap(), 3);
        assert_eq!(empty().write_vectored(&[IoSlice::new(b"ab"), IoSlice::new(b"c")]).await.unwrap(), 3);
    });
}

#[test]
fn limits_chains_and_positions() {
    run(async {
        let mut limited = (&b"hello, world"[..]).take(5);
        let mut text = String::new();
        limited.read_to_string(&mut text).await.unwrap();
        assert_eq!((limited.limit(), *limited.get_ref()), (0, &b", world"[..]));
        limited.set_limit(2);
        assert_eq!(limited.fill_buf().await.unwrap(), b", ");
        limited.consume(100);
        assert_eq!((limited.limit(), limited.into_inner()), (0, &b"world"[..]));

        let mut chained = (&b"one "[..]).chain(&b"two"[..]);
        assert_eq!(chained.read(&mut []).await.unwrap(), 0, "no room says nothing about the end");
        assert_eq!(chained.fill_buf().await.unwrap(), b"one ");
        chained.read_to_string(&mut text).await.unwrap();
        assert_eq!(text, "helloone two");
        assert_eq!(chained.into_inner(), (&b""[..], &b""[..]));

        let mut cursor = Cursor::new(b"0123456789");
        assert_eq!(cursor.seek(SeekFrom::End(-3)).await.unwrap(), 7);
        assert_eq!(cursor.read_u8().await.unwrap(), b'7');
        assert_eq!(cursor.stream_position().await.unwrap(), 8);
        assert_eq!(cursor.seek(SeekFrom::Current(-9)).await.unwrap_err().kind(), ErrorKind::InvalidInput);
        assert_eq!(cursor.rewind().await.unwrap(), 0);
        assert_eq!(empty().seek(SeekFrom::Start(5)).await.unwrap(), 0);
    });
}

#[test]
fn a_buffer_without_room_reads_nothing() {
    run(async {
        let mut room = &mut [0u8; 2][..];
        let mut reader = &b"abc"[..];
        assert_eq!(reader.read_buf(&mut room).await.unwrap(), 2);
        assert_eq!(reader.read_buf(&mut room).await.unwrap(), 0);
        assert_eq!(reader, b"c");
    });
}

#[test]
#[should_panic(expected = "another buffer")]
fn a_reader_that_exchanges_the_vector_is_found_out() {
    run(async { drop(Cheat.read_to_end(&mut vec![]).await) });
}

#[test]
#[should_panic(expected = "another buffer")]
fn a_reader_that_exchanges_the_buf_is_found_out() {
    run(async { drop(Cheat.read_buf(&mut bytes::BytesMut::with_capacity(32)).await) });
}

#[test]
#[should_panic(expected = "another buffer")]
fn a_reader_that_exchanges_a_part_is_found_out() {
    run(async { drop(Cheat.take(4).read(&mut [0; 8]).await) });
}
