//! Streams that follow a script: that they do, and that they notice who does not.

use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use rt::io::{self, AsyncReadExt, AsyncWriteExt};
use rt::test_util::io::{Builder, Handle, Mock};
use rt::test_util::task::spawn;
use rt::test_util::{assert_err, assert_ok, assert_pending, assert_ready, assert_ready_ok, block_on};
use rt::time::{Duration, Instant, sleep};
use rt_test_util::catch;

fn cruel() -> io::Error {
    io::Error::other("cruel")
}

/// What a future says that panics.
fn message<F: Future>(future: F) -> String {
    catch(|| block_on(future)).message
}

#[test]
fn what_is_read_comes_in_the_pieces_of_the_script() {
    block_on(async {
        let mut mock = Builder::new().read(b"hello ").read(b"world!").build();
        let mut buf = [0; 4];
        for piece in ["hell", "o ", "worl", "d!", "", ""] {
            let n = assert_ok!(mock.read(&mut buf).await);
            assert_eq!(&buf[..n], piece.as_bytes());
        }
    });
}

#[test]
fn what_is_written_may_come_in_any_pieces() {
    block_on(async {
        let mut mock = Builder::new().write(b"hello ").write(b"world!").build();
        assert_eq!(assert_ok!(mock.write(b"hel").await), 3);
        assert_eq!(assert_ok!(mock.write(b"").await), 0);
        assert_ok!(mock.write_all(b"lo wor").await);
        assert_ok!(mock.write_all(b"ld!").await);
        assert_ok!(mock.flush().await);
        assert_ok!(mock.shutdown().await);
    });
}

/// A part of what is written beyond a wait is left to the next write.
#[rt::test(start_paused = true)]
async fn writes_stop_at_a_wait() {
    let mut mock = Builder::new().write(b"ab").wait(Duration::from_secs(1)).write(b"cd").build();
    let start = Instant::now();
    assert_eq!(assert_ok!(mock.write(b"abcd").await), 2);
    assert_eq!(start.elapsed(), Duration::ZERO);
    assert_eq!(assert_ok!(mock.write(b"cd").await), 2);
    assert!(start.elapsed() >= Duration::from_secs(1));
}

#[test]
fn errors_come_once_and_in_their_turn() {
    block_on(async {
        let script = [cruel(), cruel()];
        let [read, write] = script;
        let mut mock =
            Builder::new().read(b"a").read_error(read).read(b"b").write(b"c").write_error(write).write(b"d").build();
        let mut buf = [0; 8];
        assert_eq!(assert_ok!(mock.read(&mut buf).await), 1);
        let error = assert_err!(mock.read(&mut buf).await);
        assert_eq!((error.kind(), error.to_string().as_str()), (io::ErrorKind::Other, "cruel"));
        assert_eq!(assert_ok!(mock.read(&mut buf).await), 1);
        assert_ok!(mock.write_all(b"c").await);
        let error = assert_err!(mock.write_all(b"d").await);
        assert_eq!((error.kind(), error.to_string().as_str()), (io::ErrorKind::Other, "cruel"));
        assert_ok!(mock.write_all(b"d").await);
    });
}

/// Each mock of a builder has the whole script, the errors too.
#[test]
fn a_builder_makes_several() {
    block_on(async {
        let mut builder = Builder::new();
        builder.read(b"a").read_error(io::Error::new(io::ErrorKind::TimedOut, "late")).write(b"b");
        for mut mock in [builder.build(), builder.clone().build(), builder.build()] {
            let mut buf = [0; 8];
            assert_eq!(assert_ok!(mock.read(&mut buf).await), 1);
            let error = assert_err!(mock.read(&mut buf).await);
            assert_eq!((error.kind(), error.to_string().as_str()), (io::ErrorKind::TimedOut, "late"));
            assert!(error.source().is_none());
            assert_ok!(mock.write_all(b"b").await);
        }
    });
}

#[test]
fn a_reader_waits_for_what_is_to_be_written_before() {
    let (mut reader, mut writer) = io::split(Builder::new().write(b"ask").read(b"answer").build());
    let mut buf = [0; 8];
    let mut read = spawn(reader.read(&mut buf));
    assert_pending!(read.poll());
    let mut write = spawn(writer.write(b"ask"));
    assert_eq!(assert_ready_ok!(write.poll()), 3);
    assert!(read.is_woken());
    assert_eq!(assert_ready_ok!(read.poll()), 6);
}

/// What is written may be early, as long as no error or wait is between.
#[test]
fn a_writer_waits_for_what_is_to_be_read_before_an_error() {
    let mut mock = Builder::new().read(b"a").write(b"early").read(b"b").write_error(cruel()).build();
    assert_ready_ok!(spawn(mock.write_all(b"early")).poll());
    let (mut reader, mut writer) = io::split(mock);
    let mut write = spawn(writer.write(b"late"));
    assert_pending!(write.poll());
    let mut byte = [0; 1];
    assert_eq!(assert_ready_ok!(spawn(reader.read(&mut byte)).poll()), 1);
    assert!(write.is_woken());
    assert_pending!(write.poll());
    assert_eq!(assert_ready_ok!(spawn(reader.read(&mut byte)).poll()), 1);
    assert!(write.is_woken());
    assert_eq!(assert_err!(assert_ready!(write.poll())).to_string(), "cruel");
}

#[rt::test(start_paused = true)]
async fn both_sides_wait_and_the_wait_begins_when_it_is_met() {
    let mut builder = Builder::new();
    let mock = builder.wait(Duration::from_secs(1)).read(b"a").write(b"b").wait(Duration::from_secs(2)).read(b"c");
    let (mut reader, mut writer) = io::split(mock.build());
    sleep(Duration::from_secs(10)).await;
    let start = Instant::now();
    let read = async {
        let mut byte = [0; 1];
        assert_eq!(assert_ok!(reader.read(&mut byte).await), 1);
        let first = start.elapsed();
        assert_eq!(assert_ok!(reader.read(&mut byte).await), 1);
        (first, start.elapsed())
    };
    let write = async {
        assert_ok!(writer.write_all(b"b").await);
        start.elapsed()
    };
    let ((first, second), written) = rt::join!(read, write);
    let near = |elapsed: Duration, secs| (secs..secs + 1).contains(&elapsed.as_secs());
    assert!(near(first, 1) && near(written, 1) && near(second, 3), "{first:?} {written:?} {second:?}");
}

fn with_handle() -> (Mock, Handle) {
    Builder::new().build_with_handle()
}

#[test]
fn a_handle_adds_to_the_script() {
    let (mut mock, mut handle) = with_handle();
    let mut buf = [0; 8];
    {
        let mut read = spawn(mock.read(&mut buf));
        assert_pending!(read.poll());
        handle.read(b"a").read_error(cruel()).write(b"b").write_error(cruel());
        assert!(read.is_woken());
        assert_eq!(assert_ready_ok!(read.poll()), 1);
    }
    block_on(async {
        assert_eq!(assert_err!(mock.read(&mut buf).await).to_string(), "cruel");
        assert_ok!(mock.write_all(b"b").await);
        assert_eq!(assert_err!(mock.write(b"c").await).to_string(), "cruel");
    });
    {
        let mut read = spawn(mock.read(&mut buf));
        assert_pending!(read.poll());
        drop(handle);
        assert!(read.is_woken());
        assert_eq!(assert_ready_ok!(read.poll()), 0);
    }
}

#[test]
fn a_writer_waits_for_the_handle() {
    let (mut mock, mut handle) = with_handle();
    let mut write = spawn(mock.write_all(b"ab"));
    assert_pending!(write.poll());
    handle.write(b"ab");
    assert!(write.is_woken());
    assert_ready_ok!(write.poll());
}

#[test]
fn a_handle_without_a_mock_panics_at_its_place() {
    let (mock, mut handle) = with_handle();
    drop(mock);
    let (caught, line) = (catch(|| _ = handle.read(b"a")), line!());
    assert_eq!(caught.message, "the mock of this handle has been dropped");
    assert_eq!((caught.file.as_str(), caught.line), (file!(), line));
}

#[test]
fn what_is_not_in_the_script_must_not_be_written() {
    let (mut mock, line) = (Builder::new().name("upstream").write(b"hel\x00lo").read(b"a").build(), line!());
    let text = message(async move { mock.write_all(b"help").await });
    let place = format!("(name upstream, 2 actions remain, built at {}:{line}:", file!());
    let start = format!(r#"unexpected write of b"help", expected b"hel\x00lo" {place}"#);
    assert!(text.starts_with(&start), "{text}");

    let mut mock = Builder::new().write(b"a").build();
    let text = message(async move { mock.write_all(b"ab").await });
    assert!(text.starts_with(r#"unexpected write of b"b" (0 actions remain, built at "#), "{text}");

    // There is something to be read, and nothing to be written.
    let mut mock = Builder::new().read(b"a").wait(Duration::from_secs(1)).build();
    let text = message(async move { mock.write_all(b"b").await });
    assert!(text.starts_with(r#"unexpected write of b"b" (2 actions remain"#), "{text}");
}

#[test]
#[should_panic(expected = "unexpected write after shutdown: b\"b\" (1 actions remain")]
fn nothing_must_be_written_after_the_shutdown() {
    block_on(async {
        let mut mock = Builder::new().write(b"ab").build();
        assert_ok!(mock.write_all(b"a").await);
        assert_ok!(mock.shutdown().await);
        let _ = mock.write_all(b"b").await;
    });
}

#[test]
#[should_panic(expected = "There is still data left to read. b\"ad\" (1 actions remain")]
fn all_must_be_read() {
    let mut mock = Builder::new().read(b"read").build();
    let mut buf = [0; 2];
    assert_ready_ok!(spawn(mock.read_exact(&mut buf)).poll());
}

#[test]
#[should_panic(expected = "There is still data left to write. b\"write\" (name downstream, 1 actions remain")]
fn all_must_be_written() {
    drop(Builder::new().name("downstream").write(b"write").build());
}

/// Waits and errors that nobody came to are no fault, nor is what a handle has added and nobody looked at.
#[test]
fn other_leftovers_do_not_count() {
    drop(Builder::new().read_error(cruel()).wait(Duration::from_secs(1)).write_error(cruel()).build());
    let (mock, mut handle) = with_handle();
    handle.read(b"a").write(b"b");
    drop(mock);
}

/// The first panic is the one to be seen, and no second one ends the process.
#[test]
fn a_mock_that_is_dropped_in_a_panic_keeps_quiet() {
    let caught = catch(|| {
        let _mock = Builder::new().read(b"read").build();
        panic!("of the test");
    });
    assert_eq!(caught.message, "of the test");
}

#[test]
fn a_panic_of_a_write_leaves_the_handle_usable() {
    let (mut mock, mut handle) = with_handle();
    handle.write(b"a");
    let panicked = catch_unwind(AssertUnwindSafe(|| block_on(mock.write_all(b"b"))));
    assert!(panicked.is_err());
    handle.read(b"c");
    assert_ok!(block_on(mock.write_all(b"a")));
    assert_eq!(assert_ok!(block_on(mock.read_u8())), b'c');
}

#[test]
fn mocks_can_be_sent_and_shown() {
    fn usable<T: Send + Sync + Unpin + 'static>(_: &T) {}
    let (mock, handle) = Builder::new().name("both").build_with_handle();
    usable(&mock);
    usable(&handle);
    usable(&Arc::new(Builder::new()));
    assert_eq!(format!("{mock:?}"), "Mock { name: \"both\", actions: [], .. }");
}
