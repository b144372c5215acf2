//! Each assertion gives the value, or panics with its text, at its own place.

use std::task::Poll;

use rt::test_util::{
    assert_elapsed, assert_err, assert_ok, assert_pending, assert_ready, assert_ready_eq, assert_ready_err,
    assert_ready_ok, block_on,
};
use rt::time::{Duration, Instant, advance, sleep};
use rt_test_util::catch;

type Parsed = Result<u8, String>;

fn ready<T>(value: T) -> Poll<T> {
    Poll::Ready(value)
}

fn ok() -> Parsed {
    Ok(5)
}

fn err() -> Parsed {
    Err("bad".to_owned())
}

/// Runs each, and expects it to panic in its own line with the text. One to a line, since `line!` is that of the whole.
macro_rules! panics {
    ($($text:literal => $assertion:expr;)+) => {
        let mut line = line!();
        $(
            line += 1;
            let caught = catch(|| $assertion);
            assert_eq!(caught.message, $text);
            assert_eq!((caught.file.as_str(), caught.line), (file!(), line), "{}", $text);
        )+
    };
}

#[test]
fn they_give_the_value() {
    assert_eq!(assert_ready!(ready(5)), 5);
    assert_eq!(assert_ready!(ready(5), "a message"), 5);
    assert_eq!(assert_ready!(ready(5), "{} {}", "a", "message",), 5);
    assert_eq!(assert_ready_ok!(ready(ok())), 5);
    assert_eq!(assert_ready_ok!(ready(ok()), "{}", "a message"), 5);
    assert_eq!(assert_ready_err!(ready(err())), "bad");
    assert_eq!(assert_ready_err!(ready(err()), "{}", "a message"), "bad");
    assert_ready_eq!(ready(5), 5);
    assert_ready_eq!(ready(5), 5, "{}", "a message");
    assert_pending!(Poll::<u8>::Pending);
    assert_pending!(Poll::<u8>::Pending, "{}", "a message");
    assert_eq!(assert_ok!(ok()), 5);
    assert_eq!(assert_ok!(ok(), "{}", "a message"), 5);
    assert_eq!(assert_err!(err()), "bad");
    assert_eq!(assert_err!(err(), "{}", "a message"), "bad");
}

#[test]
fn each_panics_at_its_place_with_its_text() {
    panics! {
        "pending" => assert_ready!(Poll::<u8>::Pending);
        "pending; after 5" => assert_ready!(Poll::<u8>::Pending, "after {}", 5);
        "pending" => assert_ready_ok!(Poll::<Parsed>::Pending);
        "pending; after 5" => assert_ready_ok!(Poll::<Parsed>::Pending, "after {}", 5);
        "assertion failed: Err(\"bad\")" => assert_ready_ok!(ready(err()));
        "assertion failed: Err(\"bad\"): after 5" => assert_ready_ok!(ready(err()), "after {}", 5);
        "pending" => assert_ready_err!(Poll::<Parsed>::Pending);
        "pending; after 5" => assert_ready_err!(Poll::<Parsed>::Pending, "after {}", 5);
        "assertion failed: Ok(5)" => assert_ready_err!(ready(ok()));
        "assertion failed: Ok(5): after 5" => assert_ready_err!(ready(ok()), "after {}", 5);
        "ready; value = 5" => assert_pending!(ready(5));
        "ready; value = 5; after 5" => assert_pending!(ready(5), "after {}", 5);
        "assertion failed: Err(\"bad\")" => assert_ok!(err());
        "assertion failed: Err(\"bad\"): after 5" => assert_ok!(err(), "after {}", 5);
        "assertion failed: Ok(5)" => assert_err!(ok());
        "assertion failed: Ok(5): after 5" => assert_err!(ok(), "after {}", 5);
        "pending" => assert_ready_eq!(Poll::<u8>::Pending, 5);
        "pending; after 5" => assert_ready_eq!(Poll::<u8>::Pending, 5, "after {}", 5);
        "assertion `left == right` failed\n  left: 5\n right: 6" => assert_ready_eq!(ready(5), 6);
        "assertion `left == right` failed: after 5\n  left: 5\n right: 6" => assert_ready_eq!(ready(5), 6, "after {}", 5);
    }
}

/// What is asserted is looked at once, and may be borrowed.
#[test]
fn they_look_once() {
    let mut looked = 0;
    let mut look = || {
        looked += 1;
        ready(ok())
    };
    assert_ready_ok!(look());
    assert_eq!(looked, 1);
    let text = String::from("text");
    let borrowed: &str = assert_ok!(Ok::<_, ()>(text.as_str()));
    assert_eq!(borrowed, "text");
}

#[rt::test(start_paused = true)]
async fn elapsed_is_what_has_passed_or_a_millisecond_more() {
    let start = Instant::now();
    sleep(Duration::from_secs(3)).await;
    assert_elapsed!(start, Duration::from_secs(3));
    advance(Duration::from_millis(1)).await;
    let elapsed = start.elapsed();
    let less = elapsed - Duration::from_millis(1);
    assert_elapsed!(start, less);
    panics! {
        "actual = 3.001s, expected = 3.0015s" => assert_elapsed!(start, Duration::from_micros(3_001_500));
        "actual = 3.001s, expected = 2.999s" => assert_elapsed!(start, Duration::from_millis(2_999));
    }
}

#[test]
fn block_on_has_timers_sockets_and_tasks() {
    let task = block_on(async {
        let listener = rt::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        assert!(listener.local_addr().is_ok());
        sleep(Duration::from_micros(1)).await;
        rt::spawn(async { 5 }).await.unwrap()
    });
    assert_eq!(task, 5);
}

#[test]
fn block_on_inside_of_a_runtime_panics_at_its_place() {
    let (caught, line) = (block_on(async { catch(|| block_on(async {})) }), line!());
    assert_eq!((caught.file.as_str(), caught.line), (file!(), line), "{}", caught.message);
}
