//! [`Server`]: the thread that answers.
//!
//! One thread with a poller of its own, so that there is nothing to start when things are bad already. It never waits
//! for a client: sockets do not block, and each has a time limit. It never waits for a runtime: what it reads are
//! counters. Should an answer panic, its client gets an error, and all others do not notice.
//!
//! There are at most [`MAX_CONNECTIONS`], and half of them for clients that stay: streams of events, and traces. For
//! one more client, that one has to go that has been sending its request for longest, or else the one that has been
//! reading its answer for longest: so clients that connect and say nothing, or do not read, cannot keep out one that
//! asks.

use std::io;
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token, Waker};

use crate::connection::{Connection, Next};
use crate::recording::Recording;
use crate::registry::Shared;
use crate::response::Response;
use crate::routes::{self, Answer};

/// The most clients at once.
const MAX_CONNECTIONS: usize = 64;

/// The most of them that stay.
const MAX_LASTING: usize = MAX_CONNECTIONS / 2;

/// How often events are sent, late clients looked for, and an `accept` tried again that has failed.
const TICK: Duration = Duration::from_secs(1);

const LISTENER: Token = Token(usize::MAX);
const WAKER: Token = Token(usize::MAX - 1);

/// The thread's own.
pub(crate) struct Server {
    shared: Arc<Shared>,
    poll: Poll,
    listener: Option<TcpListener>,
    connections: Vec<Option<Connection>>,
    /// How many clients there have been.
    clients: u64,
    recording: Option<Recording>,
    next_tick: Instant,
    /// When to try again, if there may be clients that were not accepted: no event tells of them a second time.
    accept_again: Option<Instant>,
}

impl Server {
    pub(crate) fn bind(address: SocketAddr) -> io::Result<(Poll, TcpListener, Waker)> {
        let poll = Poll::new()?;
        let mut listener = TcpListener::bind(address)?;
        poll.registry().register(&mut listener, LISTENER, Interest::READABLE)?;
        let waker = Waker::new(poll.registry(), WAKER)?;
        Ok((poll, listener, waker))
    }

    pub(crate) fn new(shared: Arc<Shared>, poll: Poll, listener: TcpListener) -> Self {
        let connections = std::iter::repeat_with(|| None).take(MAX_CONNECTIONS).collect();
        let (listener, now) = (Some(listener), Instant::now());
        Self { shared, poll, listener, connections, clients: 0, recording: None, next_tick: now, accept_again: None }
    }

    /// Serves until nobody uses the server any more.
    pub(crate) fn run(mut self) {
        let mut events = Events::with_capacity(128);
        while !self.shared.end_if_unused(&mut self.listener) {
            if survived(|| self.turn(&mut events)).is_none() {
                // Not a client's fault, whose turns are caught by themselves. It may come again at once.
                std::thread::sleep(TICK);
            }
        }
    }

    /// Waits until there is something to do, and does it.
    fn turn(&mut self, events: &mut Events) {
        let timeout = self.next_deadline().map(|at| at.saturating_duration_since(Instant::now()));
        if let Err(error) = self.poll.poll(events, timeout)
            && error.kind() != io::ErrorKind::Interrupted
        {
            std::thread::sleep(TICK);
        }
        let now = Instant::now();
        for event in events.iter() {
            match event.token() {
                LISTENER | WAKER => {}
                Token(index) => self.advance(index, now),
            }
        }
        self.accept(now);
        self.record(now);
        if now >= self.next_tick {
            self.next_tick = now + TICK;
            self.tick(now);
        }
    }

    /// Without a client the thread sleeps until there is one.
    fn next_deadline(&self) -> Option<Instant> {
        let has_clients = self.connections.iter().any(Option::is_some);
        let recording_ends = self.recording.as_ref().and_then(Recording::ends);
        [has_clients.then_some(self.next_tick), self.accept_again, recording_ends].into_iter().flatten().min()
    }

    /// Accepts all that there are. Also called without an event.
    fn accept(&mut self, now: Instant) {
        self.accept_again = None;
        // Not without end: clients that come as fast as they are accepted must not keep the others waiting.
        for _ in 0..MAX_CONNECTIONS {
            let Some(listener) = &self.listener else { return };
            match listener.accept() {
                Ok((stream, _)) => self.admit(stream, now),
                Err(error) => match error.kind() {
                    io::ErrorKind::WouldBlock => return,
                    io::ErrorKind::Interrupted | io::ErrorKind::ConnectionAborted => {}
                    // There is no descriptor for it, perhaps.
                    _ => return self.accept_again = Some(now + TICK),
                },
            }
        }
        self.accept_again = Some(now);
    }

    fn admit(&mut self, mut stream: TcpStream, now: Instant) {
        let free = self.connections.iter().position(Option::is_none);
        let Some(index) = free.or_else(|| self.first_to_go()) else { return };
        let _ = stream.set_nodelay(true);
        let interest = Interest::READABLE | Interest::WRITABLE;
        if self.poll.registry().register(&mut stream, Token(index), interest).is_ok() {
            self.clients += 1;
            self.connections[index] = Some(Connection::new(self.clients, stream, now));
            self.advance(index, now);
        }
    }

    fn first_to_go(&self) -> Option<usize> {
        let candidates = self.connections.iter().enumerate();
        let candidates = candidates.filter_map(|(index, place)| Some((place.as_ref()?.order_to_go()?, index)));
        candidates.min().map(|(_, index)| index)
    }

    fn close(&mut self, index: usize) {
        let Some(connection) = self.connections[index].take() else { return };
        // What is being written comes to its end, and goes to nobody.
        self.recording.take_if(|recording| recording.is_of(connection.number) && recording.ends().is_some());
    }

    /// Goes on with one client, whatever that comes to.
    fn advance(&mut self, index: usize, now: Instant) {
        if survived(|| self.try_advance(index, now)).is_none() {
            self.close(index);
        }
    }

    fn try_advance(&mut self, index: usize, now: Instant) {
        let Some(connection) = self.connections.get_mut(index).and_then(Option::as_mut) else { return };
        let mut next = connection.advance(now);
        if let Next::Answer(request) = next {
            let answer = survived(|| routes::answer(&self.shared, request));
            next = self.answer(index, answer.unwrap_or_else(Answer::failure), now);
        }
        if matches!(next, Next::Close) {
            self.close(index);
        }
    }

    fn answer(&mut self, index: usize, answer: Answer, now: Instant) -> Next {
        let has_place = self.connections.iter().flatten().filter(|other| other.is_lasting()).count() < MAX_LASTING;
        let Some(connection) = &mut self.connections[index] else { return Next::Wait };
        match answer {
            Answer::Whole(bytes) => connection.answer(bytes, false, now),
            Answer::Events(bytes) if has_place => connection.answer(bytes, true, now),
            Answer::Trace(wanted) if has_place && self.recording.is_none() => {
                connection.wait(now);
                self.recording = Some(Recording::start(connection.number, wanted, now));
                Next::Wait
            }
            Answer::Events(_) => connection.answer(busy("there are too many streams"), false, now),
            Answer::Trace(_) => connection.answer(busy("another trace is being taken"), false, now),
        }
    }

    /// Sees to the trace that somebody waits for.
    fn record(&mut self, now: Instant) {
        if let Some(recording) = &mut self.recording
            && recording.ends().is_some_and(|end| end <= now)
            && let Err(client) = recording.write(&self.shared)
        {
            self.finish(client, busy("there is no thread to write the trace"), now);
        }
        for written in self.shared.take_written() {
            self.finish(written.client, written.answer, now);
        }
    }

    fn finish(&mut self, client: u64, answer: Vec<u8>, now: Instant) {
        self.recording = None;
        let mut connections = self.connections.iter_mut().enumerate();
        let found =
            connections.find_map(|(index, place)| Some((index, place.as_mut().filter(|c| c.number == client)?)));
        if let Some((index, connection)) = found
            && let Next::Close = connection.answer(answer, false, now)
        {
            self.close(index);
        }
    }

    fn tick(&mut self, now: Instant) {
        let has_listeners = self.connections.iter().flatten().any(Connection::is_for_events);
        let event = if has_listeners { survived(|| routes::next_event(&self.shared)) } else { None };
        for index in 0..self.connections.len() {
            let Some(connection) = &mut self.connections[index] else { continue };
            let next = match &event {
                Some(event) if connection.is_for_events() => connection.send_event(event, now),
                _ => Next::Wait,
            };
            if matches!(next, Next::Close) || connection.is_late(now) {
                self.close(index);
            }
        }
    }
}

fn busy(line: &str) -> Vec<u8> {
    Response::plain("503 Service Unavailable", line).with("Retry-After: 5\r\n").into_bytes(false)
}

/// Calls it, and gives `None` should it panic. The hook for panics has told of it.
fn survived<R>(f: impl FnOnce() -> R) -> Option<R> {
    // What is left half done is a connection, which its caller closes.
    catch_unwind(AssertUnwindSafe(f)).ok()
}

#[cfg(test)]
mod tests;
