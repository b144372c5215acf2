//! The driver with real sockets, driven by hand: a thread parks in it over and over, as a worker would.

use std::future::poll_fn;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread;

use futures_lite::future::block_on;
use runtime_core::clock::Clock;
use runtime_core::driver::Driver as _;

use super::*;
use crate::interest::Interest;
use crate::readiness::Direction;
use crate::registration::Evented;

type Stream = Evented<mio::net::TcpStream>;

/// A driver with a thread that parks in it until it is told to stop.
struct Driven {
    handle: Arc<Handle>,
    stop: Arc<AtomicBool>,
    thread: Option<thread::JoinHandle<Driver>>,
}

impl Driven {
    fn new() -> Self {
        let (mut driver, handle) = Driver::new(2, 64).unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let thread = thread::spawn({
            let stop = stop.clone();
            move || {
                while !stop.load(Ordering::Acquire) {
                    driver.park(None, &mut WakeAtOnce);
                }
                driver
            }
        });
        Self { handle, stop, thread: Some(thread) }
    }

    fn stop(&mut self) -> Driver {
        self.stop.store(true, Ordering::Release);
        self.handle.unpark_handle().unpark();
        self.thread.take().expect("stopped once").join().unwrap()
    }
}

impl Drop for Driven {
    fn drop(&mut self) {
        if self.thread.is_some() {
            self.stop();
        }
    }
}

/// A connection over the loopback: our end registered, theirs a plain blocking stream.
fn pair(handle: &Handle) -> (Stream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let theirs = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (ours, _) = listener.accept().unwrap();
    (register(handle, ours).unwrap(), theirs)
}

fn register(handle: &Handle, stream: TcpStream) -> io::Result<Stream> {
    stream.set_nonblocking(true).unwrap();
    let interest = Interest::READABLE | Interest::WRITABLE | Interest::PRIORITY;
    Evented::new(handle, mio::net::TcpStream::from_std(stream), interest, Ready::EMPTY).map_err(|(_, error)| error)
}

fn poll_read(stream: &Stream, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
    stream.registration().poll_transfer(cx, Direction::Read, buf.len(), || stream.source().read(buf))
}

fn read(stream: &Stream, buf: &mut [u8]) -> io::Result<usize> {
    block_on(poll_fn(|cx| poll_read(stream, cx, buf)))
}

fn write(stream: &Stream, buf: &[u8]) -> io::Result<usize> {
    let mut attempt = || stream.source().write(buf);
    block_on(poll_fn(|cx| stream.registration().poll_transfer(cx, Direction::Write, buf.len(), &mut attempt)))
}

struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Release);
    }
}

fn flag() -> (Arc<Flag>, Waker) {
    let flag = Arc::new(Flag(AtomicBool::new(false)));
    (flag.clone(), flag.into())
}

#[test]
fn bytes_go_round() {
    let driven = Driven::new();
    let (ours, mut theirs) = pair(&driven.handle);
    let mut buffer = [0; 64];
    for round in 0..100u8 {
        theirs.write_all(&[round; 10]).unwrap();
        let n = read(&ours, &mut buffer).unwrap();
        assert_eq!(write(&ours, &buffer[..n]).unwrap(), n);
        let mut back = vec![0; n];
        theirs.read_exact(&mut back).unwrap();
        assert!(back.iter().all(|byte| *byte == round));
    }
    theirs.shutdown(Shutdown::Write).unwrap();
    while read(&ours, &mut buffer).unwrap() > 0 {}
}

#[test]
fn a_full_send_buffer_is_waited_out() {
    let driven = Driven::new();
    let (ours, mut theirs) = pair(&driven.handle);
    const AMOUNT: usize = 8 << 20;
    let reader = thread::spawn(move || {
        let mut sum = 0;
        let mut buffer = vec![0; 1 << 16];
        while sum < AMOUNT {
            match theirs.read(&mut buffer).unwrap() {
                0 => break,
                n => sum += n,
            }
        }
        sum
    });
    let chunk = vec![7; 1 << 18];
    let mut left = AMOUNT;
    while left > 0 {
        left -= write(&ours, &chunk[..left.min(chunk.len())]).unwrap();
    }
    assert_eq!(reader.join().unwrap(), AMOUNT);
}

#[test]
fn a_short_read_is_not_followed_by_another_and_does_not_hide_the_end() {
    let (mut driver, handle) = Driver::new(0, 64).unwrap();
    let (ours, mut theirs) = pair(&handle);
    let (_, waker) = flag();
    let mut cx = Context::from_waker(&waker);
    let mut buffer = [0; 64];

    theirs.write_all(b"hello").unwrap();
    let n = loop {
        match poll_read(&ours, &mut cx, &mut buffer) {
            Poll::Ready(outcome) => break outcome.unwrap(),
            Poll::Pending => _ = driver.park(None, &mut WakeAtOnce),
        }
    };
    assert_eq!(n, 5);
    let mut tried = false;
    let again = ours.registration().poll_io(&mut cx, Direction::Read, || {
        tried = true;
        Err::<(), _>(ErrorKind::WouldBlock.into())
    });
    assert!(again.is_pending());
    assert_eq!(tried, !crate::readiness::SHORT_READ_DRAINS);

    theirs.write_all(b"bye").unwrap();
    drop(theirs);
    let mut got = Vec::new();
    loop {
        match poll_read(&ours, &mut cx, &mut buffer) {
            Poll::Ready(Ok(0)) => break,
            Poll::Ready(outcome) => got.extend_from_slice(&buffer[..outcome.unwrap()]),
            Poll::Pending => _ = driver.park(None, &mut WakeAtOnce),
        }
    }
    assert_eq!(got, b"bye");
}

/// A read stops at the mark of urgent data; what is behind it came with the same event.
#[cfg(target_os = "linux")]
#[test]
fn a_read_cut_short_by_urgent_data_is_followed_by_another() {
    let (mut driver, handle) = Driver::new(0, 64).unwrap();
    let (ours, mut theirs) = pair(&handle);
    theirs.write_all(b"before").unwrap();
    socket2::SockRef::from(&theirs).send_out_of_band(b"!").unwrap();
    theirs.write_all(b"behind").unwrap();
    let (_, waker) = flag();
    let mut cx = Context::from_waker(&waker);
    let mut peeked = [0; 64];
    // Until all of it has arrived, as seen past the readiness.
    while ours.source().peek(&mut peeked).map_or(0, |n| n) < 6 {
        thread::yield_now();
    }
    let mut got = Vec::new();
    let mut buffer = [0; 64];
    while got.len() < 12 {
        match poll_read(&ours, &mut cx, &mut buffer) {
            Poll::Ready(outcome) => got.extend_from_slice(&buffer[..outcome.unwrap()]),
            Poll::Pending => _ = driver.park(None, &mut WakeAtOnce),
        }
    }
    assert_eq!(got, b"beforebehind");
}

#[test]
fn a_parked_driver_comes_back_no_earlier_than_asked() {
    let (mut driver, _handle) = Driver::new(0, 64).unwrap();
    for micros in [1, 300, 1_500, 5_000] {
        let timeout = Duration::from_micros(micros);
        let before = Clock::real();
        driver.park(Some(timeout), &mut WakeAtOnce);
        assert!(Clock::real() - before >= timeout, "{timeout:?}");
    }
}

#[test]
fn an_unpark_ends_the_wait_that_is_or_the_next() {
    let (mut driver, handle) = Driver::new(0, 64).unwrap();
    let unpark = handle.unpark_handle();
    unpark.unpark();
    unpark.unpark();
    driver.poll(&mut WakeAtOnce);
    driver.park(None, &mut WakeAtOnce); // a poll in between does not swallow it
    let (entering, entered) = mpsc::channel();
    let waiter = thread::spawn(move || {
        for _ in 0..1000 {
            entering.send(()).unwrap();
            driver.park(None, &mut WakeAtOnce);
        }
    });
    for () in entered {
        unpark.unpark();
    }
    waiter.join().unwrap();
}

#[test]
fn a_poll_never_waits() {
    let (mut driver, handle) = Driver::new(0, 64).unwrap();
    let (ours, mut theirs) = pair(&handle);
    driver.poll(&mut WakeAtOnce);
    let (flag, waker) = flag();
    let mut buffer = [0; 8];
    assert!(poll_read(&ours, &mut Context::from_waker(&waker), &mut buffer).is_pending());
    driver.poll(&mut WakeAtOnce);
    assert!(!flag.0.load(Ordering::Acquire));
    theirs.write_all(b"x").unwrap();
    while !flag.0.load(Ordering::Acquire) {
        driver.poll(&mut WakeAtOnce);
    }
    assert!(handle.counters().io_events >= 1);
}

#[test]
fn a_turn_takes_as_many_events_again_if_half_or_fewer_have_woken_somebody() {
    const MOST: usize = 4;
    let (mut driver, handle) = Driver::new(0, MOST).unwrap();
    let mut pairs: Vec<_> = (0..10).map(|_| pair(&handle)).collect();
    let (_, waker) = flag();
    // How many events a turn takes when so many connections have got a byte, and the tasks of some wait for that; and
    // whether some are left.
    let mut turn_with = |connections: usize, waiting: usize| {
        while driver.poll(&mut WakeAtOnce) {}
        let mut buffer = [0; 8];
        for (place, (ours, theirs)) in pairs.iter_mut().take(connections).enumerate() {
            while let Ok(1..) = ours.source().read(&mut buffer) {}
            if place < waiting {
                assert!(poll_read(ours, &mut Context::from_waker(&waker), &mut buffer).is_pending());
            }
            theirs.write_all(b"x").unwrap();
            while ours.source().peek(&mut buffer).is_err() {}
        }
        let before = handle.counters().io_events;
        driver.poll(&mut WakeAtOnce);
        (handle.counters().io_events - before, driver.has_left())
    };
    assert_eq!(turn_with(MOST - 1, 0), (3, false));
    assert_eq!(turn_with(6, 0), (6, false));
    assert_eq!(turn_with(6, MOST / 2), (6, false));
    assert_eq!(turn_with(6, MOST / 2 + 1), (4, true), "the rest is for another worker");
    assert_eq!(turn_with(6, 6), (4, true));
    assert_eq!(turn_with(10, 0), (8, true), "once");
    assert_eq!(turn_with(0, 0), (0, false));
}

#[test]
fn a_turn_that_does_not_wait_can_be_made_to_take_fewer_events() {
    let (mut driver, handle) = Driver::new(0, 8).unwrap();
    driver.limit_busy_events(2);
    let (_, waker) = flag();
    let mut turn = |wait: Option<Duration>| {
        let mut pairs: Vec<_> = (0..6).map(|_| pair(&handle)).collect();
        while driver.poll(&mut WakeAtOnce) {}
        let mut buffer = [0; 8];
        for (ours, theirs) in &mut pairs {
            assert!(poll_read(ours, &mut Context::from_waker(&waker), &mut buffer).is_pending());
            theirs.write_all(b"x").unwrap();
            while ours.source().peek(&mut buffer).is_err() {}
        }
        let before = handle.counters().io_events;
        match wait {
            None => driver.poll(&mut WakeAtOnce),
            Some(_) => driver.park(wait, &mut WakeAtOnce),
        };
        (handle.counters().io_events - before, driver.has_left())
    };
    assert_eq!(turn(None), (2, true));
    assert_eq!(turn(Some(Duration::from_secs(1))), (6, false));
    // A park that must not wait is such a turn, too.
    assert_eq!(turn(Some(Duration::ZERO)), (2, true));
}

#[test]
fn registrations_come_and_go_on_many_threads_while_the_driver_waits() {
    let driven = Driven::new();
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let handle = driven.handle.clone();
            thread::spawn(move || {
                for round in 0..100u8 {
                    let (ours, mut theirs) = pair(&handle);
                    let mut byte = [0];
                    theirs.write_all(&[round]).unwrap();
                    assert_eq!(read(&ours, &mut byte).unwrap(), 1);
                    assert_eq!(byte, [round]);
                    // Events for the closed end are under way while the slot is used again.
                    drop(ours);
                    drop(theirs);
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(driven.handle.counters().io_registered, 0);
}

#[test]
fn an_event_that_comes_after_the_slot_was_used_again_is_dropped() {
    let (_driver, handle) = Driver::new(0, 64).unwrap();
    let first = handle.claim().unwrap();
    let stale = Address::of(first.token());
    drop(first);
    let second = handle.claim().unwrap();
    assert_eq!(Address::of(second.token()).slot, stale.slot);
    let (flag, waker) = flag();
    assert!(second.io().poll_ready(&mut Context::from_waker(&waker), Direction::Read).is_pending());
    let mut wakes = WakeBatch::new();
    handle.deliver(stale, Ready::ALL, &mut wakes);
    wakes.give_to(&mut WakeAtOnce);
    assert!(!flag.0.load(Ordering::Acquire));
    assert!(second.io().look(Interest::READABLE).unwrap().ready.is_empty());
    // Nor does one for a place that never was.
    handle.deliver(Address { generation: 0, shard: MAX_SHARDS - 1, slot: 5_000 }, Ready::ALL, &mut wakes);
    assert!(wakes.is_empty());
}

#[test]
fn shutting_down_wakes_and_fails_everything() {
    let mut driven = Driven::new();
    let (ours, mut theirs) = pair(&driven.handle);
    let (done, outcome) = mpsc::channel();
    let reader = thread::spawn(move || {
        let error = read(&ours, &mut [0; 8]).unwrap_err();
        done.send(error).unwrap();
        let again = read(&ours, &mut [0; 8]).unwrap_err();
        assert_eq!(again.to_string(), shut_down_text());
        ours
    });
    driven.stop().shutdown(&mut WakeAtOnce);
    assert_eq!(outcome.recv().unwrap().to_string(), shut_down_text());
    drop(reader.join().unwrap());
    assert_eq!(theirs.read(&mut [0; 8]).unwrap(), 0, "the socket was closed");
    assert_eq!(driven.handle.counters().io_registered, 0);

    // What comes too late is refused, and not leaked.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut theirs = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let late = register(&driven.handle, listener.accept().unwrap().0);
    assert_eq!(late.unwrap_err().to_string(), shut_down_text());
    assert_eq!(theirs.read(&mut [0; 8]).unwrap(), 0);
}

fn shut_down_text() -> String {
    crate::shut_down().to_string()
}

#[test]
fn a_registration_outlives_driver_and_handle() {
    let (driver, handle) = Driver::new(0, 64).unwrap();
    let (ours, _theirs) = pair(&handle);
    drop(driver);
    drop(handle);
    assert!(read(&ours, &mut [0; 8]).is_err());
}
