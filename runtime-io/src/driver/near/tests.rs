use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;

use mio::unix::SourceFd;
use runtime_core::driver::{Driver as _, Service as _, Visit};

use super::seat::Place;
use super::{EVENTS, GRACE, SOME};
use crate::driver::{Driver, Handle, Slot};
use crate::interest::Interest;

const FIRST: Place = Place(1);
const SECOND: Place = Place(2);

fn driver() -> (Driver, Arc<Handle>) {
    Driver::new(2, 2, 2, 64).unwrap()
}

/// A worker comes by, and counts as having just been there however long the test takes.
fn looks(handle: &Handle, worker: usize) {
    handle.visited(worker, Visit::Polls, Duration::ZERO);
    handle.shared.nearby.workers[worker].seen.store(u64::MAX, Relaxed);
}

/// A socket that is registered, and the other end of its connection.
struct Socket {
    ours: mio::net::TcpStream,
    slot: Slot,
    theirs: TcpStream,
    handle: Arc<Handle>,
}

impl Socket {
    fn new(handle: &Arc<Handle>, listener: &TcpListener) -> Self {
        let ours = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        ours.set_nonblocking(true).unwrap();
        let mut ours = mio::net::TcpStream::from_std(ours);
        let (theirs, _) = listener.accept().unwrap();
        let mut slot = handle.claim().unwrap();
        slot.register(&mut ours, Interest::READABLE).unwrap();
        Self { ours, slot, theirs, handle: handle.clone() }
    }

    fn at(handle: &Arc<Handle>, place: Place) -> Self {
        let socket = Self::new(handle, &TcpListener::bind("127.0.0.1:0").unwrap());
        socket.go(place);
        socket
    }

    fn go(&self, place: Place) {
        self.slot
            .seat
            .move_to(&self.handle.shared.nearby, place, self.ours.as_fd(), self.slot.token(), Interest::READABLE)
            .unwrap();
    }

    fn send(&mut self) {
        self.theirs.write_all(b"x").unwrap();
    }

    fn is_readable(&self) -> bool {
        !self.slot.io().look(Interest::READABLE).unwrap().ready.is_empty()
    }

    /// Takes what has come, and forgets that it was announced.
    fn take(&mut self) {
        let event = self.slot.io().look(Interest::READABLE).unwrap();
        assert_eq!(self.ours.read(&mut [0; 8]).unwrap(), 1);
        self.slot.io().clear_drained(event);
        assert!(!self.is_readable());
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        // One test has done it.
        let _ = self.slot.deregister(&mut self.ours);
    }
}

/// A socket for which there is something that was left to the first worker.
fn passed_over() -> (Driver, Arc<Handle>, Socket) {
    let (mut driver, handle) = driver();
    let mut socket = Socket::at(&handle, FIRST);
    looks(&handle, 0);
    socket.send();
    driver.poll();
    assert!(!socket.is_readable());
    (driver, handle, socket)
}

#[test]
fn a_worker_finds_what_is_near_it_and_others_leave_it_that() {
    let (mut driver, handle) = driver();
    let mut socket = Socket::at(&handle, FIRST);
    for _ in 0..3 {
        looks(&handle, 0);
        socket.send();
        driver.poll();
        assert!(!socket.is_readable(), "it is up, and was here a moment ago");
        looks(&handle, 1);
        assert!(!socket.is_readable());
        looks(&handle, 0);
        assert!(socket.is_readable());
        socket.take();
    }
}

#[test]
fn what_is_near_a_worker_that_is_not_up_is_anybodys() {
    let (mut driver, handle) = driver();
    let mut socket = Socket::at(&handle, FIRST);
    socket.send();
    driver.poll();
    assert!(socket.is_readable());
    socket.take();

    looks(&handle, 0);
    handle.visited(0, Visit::Leaves, Duration::ZERO);
    socket.send();
    assert!(driver.park(None), "it is reported to who waits");
    assert!(socket.is_readable());
}

#[test]
fn a_worker_that_goes_finds_what_was_left_to_it() {
    let (_driver, handle, socket) = passed_over();
    handle.visited(0, Visit::Leaves, Duration::ZERO);
    assert!(socket.is_readable());
}

#[test]
fn who_waits_takes_what_was_passed_over_first() {
    let (mut driver, _handle, socket) = passed_over();
    assert!(driver.park(None), "nobody will say again that there is something");
    assert!(socket.is_readable());
}

#[test]
fn who_waits_is_told_of_what_is_near_a_busy_worker() {
    let (mut driver, handle) = driver();
    let mut socket = Socket::at(&handle, FIRST);
    looks(&handle, 0);
    socket.send();
    assert!(driver.park(None));
    assert!(socket.is_readable());
}

#[test]
fn what_is_near_a_worker_that_does_not_come_is_taken_by_the_next() {
    let (mut driver, handle, mut socket) = passed_over();
    handle.visited(0, Visit::Skips, Duration::ZERO);
    driver.poll();
    assert!(socket.is_readable(), "it has left its turn to others");
    socket.take();

    looks(&handle, 0);
    socket.send();
    driver.poll();
    handle.visited(0, Visit::Polls, Duration::ZERO);
    socket.take();
    socket.send();
    thread::sleep(2 * GRACE);
    driver.poll();
    assert!(socket.is_readable(), "it was not seen for a while");
}

#[test]
fn events_that_are_more_than_the_system_tells_at_once_are_all_taken() {
    let (mut driver, handle) = driver();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut sockets: Vec<_> = (0..2 * EVENTS + 10).map(|_| Socket::new(&handle, &listener)).collect();
    sockets.iter().for_each(|socket| socket.go(FIRST));
    for waits in [false, true] {
        looks(&handle, 0);
        sockets.iter_mut().for_each(Socket::send);
        if waits {
            driver.park(None);
        } else {
            handle.visited(0, Visit::Leaves, Duration::ZERO);
        }
        sockets.iter_mut().for_each(Socket::take);
    }
}

#[test]
fn nothing_is_lost_on_the_way_from_one_poller_to_another() {
    let (mut driver, handle) = driver();
    let mut socket = Socket::at(&handle, Place::SHARED);
    for place in [FIRST, SECOND, Place::SHARED, SECOND, FIRST, FIRST, Place::SHARED].repeat(5) {
        socket.send();
        // Not asked before it moves: the new poller must tell.
        socket.go(place);
        driver.park(Some(Duration::from_secs(10)));
        assert!(socket.is_readable(), "{place:?}");
        socket.take();
    }
}

#[test]
fn a_socket_that_was_near_a_worker_is_nowhere_when_it_is_given_back() {
    let (mut driver, handle) = driver();
    let mut socket = Socket::at(&handle, SECOND);
    assert_eq!(handle.shared.nearby.workers[1].sockets.load(Relaxed), 1);
    socket.slot.deregister(&mut socket.ours).unwrap();
    assert_eq!(handle.shared.nearby.workers[1].sockets.load(Relaxed), 0);
    socket.send();
    driver.poll();
    assert!(!socket.is_readable());
}

#[test]
fn a_socket_goes_where_its_packets_come_in_if_the_worker_there_has_room() {
    let (_driver, handle) = driver();
    let nearby = &handle.shared.nearby;
    let worker_on = |worker: u16, processor: usize| nearby.on_processor[processor].store(worker, Relaxed);
    worker_on(1, 5);
    worker_on(2, 7);
    assert_eq!(nearby.place_for(5, Place::SHARED), Place::SHARED, "nobody else is up");
    (0..2).for_each(|worker| assert!(nearby.workers[worker].presence.come()));
    nearby.totals.up.store(2, Relaxed);
    assert_eq!(nearby.place_for(5, Place::SHARED), FIRST);
    assert_eq!(nearby.place_for(7, FIRST), SECOND);
    assert_eq!(nearby.place_for(6, FIRST), Place::SHARED, "no worker was seen there");
    assert!(nearby.workers[1].presence.go());
    assert_eq!(nearby.place_for(7, FIRST), Place::SHARED, "it sleeps");
    assert!(nearby.workers[1].presence.come());
    (0..SOME).for_each(|_| nearby.count(FIRST, true));
    assert_eq!(nearby.place_for(5, Place::SHARED), FIRST, "some more, as there are these");
    (0..100).for_each(|_| nearby.count(FIRST, true));
    assert_eq!(nearby.place_for(5, SECOND), SECOND, "more than its share");
    assert_eq!(nearby.place_for(5, FIRST), FIRST, "none is sent away");
    (0..100).for_each(|_| nearby.count(SECOND, true));
    assert_eq!(nearby.place_for(5, SECOND), FIRST);
}

/// Somebody registers the number of a socket that is with a worker, and is gone when it comes back.
#[test]
fn a_socket_that_comes_back_to_the_shared_poller_can_be_taken_out_of_it() {
    let (mut driver, handle) = driver();
    let mut socket = Socket::at(&handle, FIRST);
    let number = socket.ours.as_raw_fd();
    let (other, registry) = (handle.claim().unwrap(), &handle.shared.registry);
    let mut source = SourceFd(&number);
    registry.register(&mut source, number, other.token(), mio::Interest::READABLE).unwrap();
    registry.deregister(&mut source, number, other.token()).unwrap();
    socket.go(Place::SHARED);
    socket.slot.deregister(&mut socket.ours).unwrap();
    socket.send();
    driver.poll();
    assert!(!socket.is_readable());
}

/// A registration whose descriptor was closed goes when its number is that of a worker's poller.
#[test]
fn a_workers_poller_is_not_taken_out_in_the_place_of_one_that_had_its_number() {
    loop {
        let (mut driver, handle) = driver();
        let (ours, _theirs) = std::os::unix::net::UnixStream::pair().unwrap();
        let mut ours = mio::net::UnixStream::from_std(ours);
        let mut slot = handle.claim().unwrap();
        slot.register(&mut ours, Interest::READABLE).unwrap();
        let mut socket = Socket::new(&handle, &TcpListener::bind("127.0.0.1:0").unwrap());
        let number = ours.as_raw_fd();
        drop(ours);
        socket.go(FIRST);
        let near = handle.shared.nearby.workers[0].near.get().unwrap();
        if near.poller.lock().poll.as_raw_fd() != number {
            // Another test of this process was quicker.
            continue;
        }
        slot.deregister(&mut SourceFd(&number)).unwrap_err();
        socket.send();
        driver.poll();
        assert!(socket.is_readable());
        return;
    }
}
