//! [`Server`]: the thread that answers.
//!
//! One thread with a poller of its own, so that there is nothing to start when things are bad already. It never waits
//! for a client: sockets do not block, and each has a time limit. It never waits for a runtime: what it reads are
//! counters.
//!
//! There are at most [`MAX_CONNECTIONS`]. For one more, the client that has been sending its request for longest has to
//! go: so clients that connect and say nothing cannot keep out one that asks.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mio::net::TcpListener;
use mio::{Events, Interest, Poll, Token, Waker};

use crate::connection::{Connection, Next};
use crate::registry::Shared;
use crate::routes::{self, Answer};

/// The most clients at once.
const MAX_CONNECTIONS: usize = 64;

/// How often events are sent, and late clients looked for.
const TICK: Duration = Duration::from_secs(1);

const LISTENER: Token = Token(usize::MAX);
const WAKER: Token = Token(usize::MAX - 1);

/// The thread's own.
pub(crate) struct Server {
    shared: Arc<Shared>,
    poll: Poll,
    listener: Option<TcpListener>,
    connections: Vec<Option<Connection>>,
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
        Self { shared, poll, listener: Some(listener), connections }
    }

    /// Serves until nobody uses the server any more.
    pub(crate) fn run(mut self) {
        let mut events = Events::with_capacity(128);
        let mut last_tick = Instant::now();
        while !self.shared.end_if_unused(&mut self.listener) {
            // Without a client the thread sleeps until there is one.
            let has_clients = self.connections.iter().any(Option::is_some);
            let timeout = has_clients.then(|| TICK.saturating_sub(last_tick.elapsed()));
            if let Err(error) = self.poll.poll(&mut events, timeout)
                && error.kind() != io::ErrorKind::Interrupted
            {
                std::thread::sleep(TICK);
            }
            let now = Instant::now();
            for event in &events {
                match event.token() {
                    LISTENER | WAKER => {}
                    Token(index) => self.advance(index, now),
                }
            }
            // Also without an event: an earlier attempt may have failed for want of descriptors.
            self.accept(now);
            if now.saturating_duration_since(last_tick) >= TICK {
                last_tick = now;
                self.tick(now);
            }
        }
    }

    fn accept(&mut self, now: Instant) {
        while let Some(listener) = &self.listener
            && let Ok((mut stream, _)) = listener.accept()
        {
            let free = self.connections.iter().position(Option::is_none);
            let Some(index) = free.or_else(|| self.slowest_reader()) else { continue };
            let _ = stream.set_nodelay(true);
            let interest = Interest::READABLE | Interest::WRITABLE;
            if self.poll.registry().register(&mut stream, Token(index), interest).is_ok() {
                self.connections[index] = Some(Connection::new(stream, now));
                self.advance(index, now);
            }
        }
    }

    /// The client that has been sending its request for longest.
    fn slowest_reader(&self) -> Option<usize> {
        let readers = self.connections.iter().enumerate().filter_map(|(index, connection)| {
            let connection = connection.as_ref().filter(|connection| connection.is_reading())?;
            Some((connection.progress, index))
        });
        readers.min().map(|(_, index)| index)
    }

    fn advance(&mut self, index: usize, now: Instant) {
        let Some(connection) = self.connections.get_mut(index).and_then(Option::as_mut) else { return };
        let mut next = connection.advance(now);
        if let Next::Answer(request) = next {
            let answer = routes::answer(&self.shared, request);
            next = match answer {
                Answer::Whole(bytes) => connection.answer(bytes, false, now),
                Answer::Events(bytes) => connection.answer(bytes, true, now),
            };
        }
        if matches!(next, Next::Close) {
            self.connections[index] = None;
        }
    }

    fn tick(&mut self, now: Instant) {
        let has_listeners = self.connections.iter().flatten().any(Connection::is_for_events);
        let event = has_listeners.then(|| routes::next_event(&self.shared));
        for place in &mut self.connections {
            let Some(connection) = place else { continue };
            let next = match &event {
                Some(event) if connection.is_for_events() => connection.send_event(event, now),
                _ => Next::Wait,
            };
            if matches!(next, Next::Close) || connection.is_late(now) {
                *place = None;
            }
        }
    }
}
