//! `copy` and its kin.

use std::io::ErrorKind;

use rt::io::{
    AsyncReadExt, AsyncWriteExt, BufReader, copy, copy_bidirectional, copy_bidirectional_with_sizes, copy_buf, duplex,
    join, repeat, sink,
};

use super::foreign::{Endless, Initialising, Script, Step};
use super::{polled_once, run};

#[test]
fn everything_is_copied_and_flushed_and_counted() {
    run(async {
        let bytes: Vec<u8> = (0..100_000u32).map(|n| n as u8).collect();
        let mut writer = Script::new([Step::Move(b"123"), Step::Wait, Step::Fail(ErrorKind::Interrupted)]);
        assert_eq!(copy(&mut &*bytes, &mut writer).await.unwrap(), 100_000);
        assert!(writer.written == bytes && writer.flushes == 1 && !writer.is_shut_down);

        let mut writer = Script::new([Step::Move(b"123"), Step::Wait, Step::Fail(ErrorKind::Interrupted)]);
        let mut reader = BufReader::with_capacity(1000, &*bytes);
        assert_eq!(copy_buf(&mut reader, &mut writer).await.unwrap(), 100_000);
        assert!(writer.written == bytes && writer.flushes == 1 && !writer.is_shut_down);
        assert!(writer.writes.iter().all(|write| write[0] <= 1000), "the reader's buffer is used");
    });
}

#[test]
fn the_writer_is_flushed_while_the_reader_has_nothing() {
    run(async {
        let script = || [Step::Move(b"one"), Step::Wait, Step::Wait, Step::Move(b"two")];
        let mut writer = Script::default();
        copy(&mut Script::new(script()), &mut writer).await.unwrap();
        assert_eq!((&*writer.written, writer.flushes), (&b"onetwo"[..], 2), "once, and once at the end");
        let mut writer = Script::default();
        copy_buf(&mut BufReader::new(Script::new(script())), &mut writer).await.unwrap();
        assert_eq!((&*writer.written, writer.flushes), (&b"onetwo"[..], 2));
    });
}

#[test]
fn small_reads_are_collected_while_the_writer_has_no_room() {
    run(async {
        let mut reader = Script::new([Step::Move(b"a"), Step::Move(b"b"), Step::Move(b"c"), Step::Wait]);
        let mut writer = Script::new([Step::Wait]);
        copy(&mut reader, &mut writer).await.unwrap();
        assert_eq!(writer.writes, [vec![3]]);
    });
}

#[test]
fn errors_of_either_end_a_copy() {
    run(async {
        let mut failing = Script::new([Step::Fail(ErrorKind::ConnectionReset)]);
        assert_eq!(copy(&mut failing, &mut sink()).await.unwrap_err().kind(), ErrorKind::ConnectionReset);
        let mut failing = Script::new([Step::Fail(ErrorKind::StorageFull)]);
        assert_eq!(copy(&mut &b"x"[..], &mut failing).await.unwrap_err().kind(), ErrorKind::StorageFull);
        let mut full = Script::new([Step::Move(b"")]);
        assert_eq!(copy(&mut &b"x"[..], &mut full).await.unwrap_err().kind(), ErrorKind::WriteZero);
        let mut full = Script::new([Step::Move(b"")]);
        assert_eq!(copy_buf(&mut &b"x"[..], &mut full).await.unwrap_err().kind(), ErrorKind::WriteZero);
        let mut failing = BufReader::new(Script::new([Step::Fail(ErrorKind::ConnectionReset)]));
        assert_eq!(copy_buf(&mut failing, &mut sink()).await.unwrap_err().kind(), ErrorKind::ConnectionReset);
    });
}

/// `abcd` and then an error, and behind it what must not be read.
fn failing_after_four() -> Script {
    let bytes = [Step::Move(b"a"), Step::Move(b"b"), Step::Move(b"c"), Step::Move(b"d")];
    Script::new(bytes.into_iter().chain([Step::Fail(ErrorKind::BrokenPipe), Step::Move(b"e")]))
}

/// The error is met while the writer waits, or before it is tried.
#[test]
fn what_was_read_before_an_error_is_written_first() {
    run(async {
        for waits in 0..8 {
            let mut reader = failing_after_four();
            let mut writer = Script::new((0..waits).map(|_| Step::Wait).chain([Step::Move(b"12"), Step::Wait]));
            assert_eq!(copy(&mut reader, &mut writer).await.unwrap_err().kind(), ErrorKind::BrokenPipe);
            assert_eq!((&*writer.written, reader.steps.len()), (&b"abcd"[..], 1), "{waits}");
            assert!(writer.flushes == 0 && !writer.is_shut_down);
        }
        // The pause lets the read behind it be the first of its turn, with bytes that wait.
        let mut reader = Script::new([Step::Move(b"ab"), Step::Wait, Step::Fail(ErrorKind::BrokenPipe)]);
        let mut writer = Script::new([Step::Wait]);
        assert_eq!(copy(&mut reader, &mut writer).await.unwrap_err().kind(), ErrorKind::BrokenPipe);
        assert_eq!(writer.written, b"ab");
    });
}

#[test]
fn an_error_of_the_writer_comes_before_one_of_the_reader_that_waits() {
    run(async {
        let mut writer = Script::new([Step::Wait, Step::Move(b"1"), Step::Fail(ErrorKind::StorageFull)]);
        assert_eq!(copy(&mut failing_after_four(), &mut writer).await.unwrap_err().kind(), ErrorKind::StorageFull);
        assert_eq!(writer.written, b"a");
    });
}

#[test]
fn an_error_of_one_direction_waits_for_its_writer_while_the_other_goes_on() {
    run(async {
        let mut a = join(failing_after_four(), Script::default());
        let mut b = join(Script::new([Step::Wait, Step::Wait, Step::Move(b"back")]), {
            Script::new([Step::Wait, Step::Wait, Step::Wait, Step::Wait])
        });
        assert_eq!(copy_bidirectional(&mut a, &mut b).await.unwrap_err().kind(), ErrorKind::BrokenPipe);
        let (there, back) = (b.writer(), a.writer());
        assert_eq!((&*there.written, there.flushes, there.is_shut_down), (&b"abcd"[..], 0, false));
        assert_eq!((&*back.written, back.is_shut_down), (&b"back"[..], true));
        assert_eq!(a.reader().steps.len(), 1);
        // And the other way round.
        let mut a = join(&b""[..], Script::new([Step::Wait]));
        let mut b = join(failing_after_four(), Script::default());
        assert_eq!(copy_bidirectional(&mut a, &mut b).await.unwrap_err().kind(), ErrorKind::BrokenPipe);
        assert_eq!(a.writer().written, b"abcd");
    });
}

#[test]
fn a_buffer_is_initialised_from_the_start() {
    run(async {
        let mut reader = Initialising { left: 1000, initialised: 0 };
        assert_eq!(copy(&mut reader, &mut sink()).await.unwrap(), 1000);
        assert_eq!(reader.initialised, 0);
    });
}

#[test]
fn one_direction_ends_and_the_other_goes_on() {
    run(async {
        let (mut client, mut inbound) = duplex(16);
        let (mut outbound, mut server) = duplex(16);
        let proxy = rt::spawn(async move {
            let counts = copy_bidirectional_with_sizes(&mut inbound, &mut outbound, 3, 5).await;
            (counts, inbound, outbound)
        });
        client.write_all(b"question").await.unwrap();
        client.shutdown().await.unwrap();
        let mut question = String::new();
        server.read_to_string(&mut question).await.unwrap();
        assert_eq!(question, "question");
        server.write_all(b"a long answer after the end").await.unwrap();
        server.shutdown().await.unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).await.unwrap();
        assert_eq!(answer, "a long answer after the end");
        assert_eq!(proxy.await.unwrap().0.unwrap(), (8, 27));
    });
}

#[test]
fn each_end_is_passed_on_once() {
    run(async {
        let mut a = join(&b"from a"[..], Script::default());
        let mut b = join(&b"from b"[..], Script::default());
        assert_eq!(copy_bidirectional(&mut a, &mut b).await.unwrap(), (6, 6));
        let (a, b) = (a.writer(), b.writer());
        assert_eq!((&*a.written, a.flushes, a.is_shut_down), (&b"from b"[..], 1, true));
        assert_eq!((&*b.written, b.flushes, b.is_shut_down), (&b"from a"[..], 1, true));
    });
}

#[test]
fn an_error_of_one_direction_ends_both() {
    run(async {
        let (mut quiet, _peer) = duplex(16);
        let mut failing = Script::new([Step::Fail(ErrorKind::ConnectionReset)]);
        let outcome = copy_bidirectional(&mut quiet, &mut failing).await;
        assert_eq!(outcome.unwrap_err().kind(), ErrorKind::ConnectionReset);
    });
}

#[test]
fn neither_direction_starves_the_other() {
    run(async {
        let (mut a, mut b) = (Endless::default(), Endless::default());
        {
            let mut copying = std::pin::pin!(copy_bidirectional(&mut a, &mut b));
            for _ in 0..10 {
                assert!(polled_once(copying.as_mut()).await.is_pending());
                rt::task::yield_now().await;
            }
        }
        let (there, back) = (b.written, a.written);
        assert!(there > 0 && back > 0 && there.abs_diff(back) <= there.max(back) / 4, "{there} there, {back} back");
    });
}

#[test]
#[should_panic(expected = "must be greater than 0")]
fn a_copy_needs_a_buffer() {
    run(async {
        let (mut a, mut b) = (Endless::default(), Endless::default());
        let _ = copy_bidirectional_with_sizes(&mut a, &mut b, 1, 0).await;
    });
}

#[test]
fn a_copy_of_something_limited_ends() {
    run(async {
        assert_eq!(copy(&mut repeat(1).take(1 << 20), &mut sink()).await.unwrap(), 1 << 20);
    });
}
