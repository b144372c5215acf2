//! [`Connection`]: one client, from its first byte to the last, without ever waiting for it.

use std::io::{self, Read, Write};
use std::time::{Duration, Instant};

use mio::net::TcpStream;

use crate::request::{MAX_HEAD, Refusal, Request};

/// How long a client may take for its request, for reading any of its answer, and for closing after that.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// A client.
pub(crate) struct Connection {
    /// Which one, among all that the server has had.
    pub(crate) number: u64,
    stream: TcpStream,
    stage: Stage,
    /// Since when it is in its stage.
    since: Instant,
    /// When it last made progress.
    progress: Instant,
    /// It sends nothing more. That does not say that it reads nothing more.
    has_sent_all: bool,
    read: Vec<u8>,
    out: Vec<u8>,
    written: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// It sends its request.
    Reading,
    /// It gets an answer that is not there yet.
    Waiting,
    /// It gets an answer, and then the end.
    Answering,
    /// It gets an event each second.
    Events,
    /// It has got all, and is to close: what it still sends is read, so that its answer is not lost by a reset.
    Closing,
}

/// What is to be done with a connection.
pub(crate) enum Next {
    Wait,
    Answer(Result<Request, Refusal>),
    Close,
}

impl Connection {
    pub(crate) fn new(number: u64, stream: TcpStream, now: Instant) -> Self {
        Self {
            number,
            stream,
            stage: Stage::Reading,
            since: now,
            progress: now,
            has_sent_all: false,
            read: Vec::new(),
            out: Vec::new(),
            written: 0,
        }
    }

    pub(crate) fn is_for_events(&self) -> bool {
        self.stage == Stage::Events
    }

    /// Whether it stays for as long as the client likes, or for as long as it has asked for.
    pub(crate) fn is_lasting(&self) -> bool {
        matches!(self.stage, Stage::Events | Stage::Waiting)
    }

    /// By how much it has to go before others if there is no place for a new client. `None` for those that have a bound
    /// of their own. One that reads its answer goes after those that say nothing.
    pub(crate) fn order_to_go(&self) -> Option<(bool, Instant)> {
        (!self.is_lasting()).then_some((self.stage == Stage::Answering, self.since))
    }

    /// Whether the client has taken too long. One that waits for the server has not.
    pub(crate) fn is_late(&self, now: Instant) -> bool {
        let waits_for_us = match self.stage {
            Stage::Waiting => true,
            Stage::Events => self.out.is_empty(),
            Stage::Reading | Stage::Answering | Stage::Closing => false,
        };
        !waits_for_us && now.saturating_duration_since(self.progress) > PATIENCE
    }

    /// Goes on as far as it goes without waiting.
    pub(crate) fn advance(&mut self, now: Instant) -> Next {
        if self.receive().is_err() {
            return Next::Close;
        }
        if self.stage == Stage::Reading {
            return match Request::parse(&self.read) {
                // A client that has said all and has asked for nothing.
                Ok(None) if self.has_sent_all => Next::Close,
                Ok(None) => Next::Wait,
                Ok(Some(request)) => Next::Answer(Ok(request)),
                Err(refusal) => Next::Answer(Err(refusal)),
            };
        }
        self.send(now)
    }

    /// Reads what there is. Beyond the request nothing is kept.
    fn receive(&mut self) -> io::Result<()> {
        let mut buffer = [0; 4096];
        // A client that sends without end is not read without end: the rest stays for the next turn of the server.
        for _ in 0..16 {
            if self.has_sent_all {
                break;
            }
            match self.stream.read(&mut buffer) {
                Ok(0) => self.has_sent_all = true,
                Ok(n) if self.stage == Stage::Reading => {
                    // Progress is a complete request: a client must not stay by sending a byte now and then.
                    let room = MAX_HEAD.saturating_sub(self.read.len());
                    self.read.extend(&buffer[..n.min(room)]);
                    if room <= n {
                        break;
                    }
                }
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn enter(&mut self, stage: Stage, now: Instant) {
        (self.stage, self.since, self.progress) = (stage, now, now);
    }

    /// Begins an answer, or a stream of events.
    pub(crate) fn answer(&mut self, bytes: Vec<u8>, is_for_events: bool, now: Instant) -> Next {
        self.enter(if is_for_events { Stage::Events } else { Stage::Answering }, now);
        (self.out, self.written, self.read) = (bytes, 0, Vec::new());
        self.send(now)
    }

    /// The answer comes later.
    pub(crate) fn wait(&mut self, now: Instant) {
        self.enter(Stage::Waiting, now);
        self.read = Vec::new();
    }

    /// Sends an event; a client that has not taken the last one yet does without this one.
    pub(crate) fn send_event(&mut self, event: &[u8], now: Instant) -> Next {
        if self.out.is_empty() {
            self.out = event.to_vec();
            self.progress = now;
        }
        self.send(now)
    }

    fn send(&mut self, now: Instant) -> Next {
        while self.written < self.out.len() {
            match self.stream.write(&self.out[self.written..]) {
                Ok(0) => return Next::Close,
                Ok(n) => {
                    self.written += n;
                    self.progress = now;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Next::Wait,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return Next::Close,
            }
        }
        (self.out, self.written) = (Vec::new(), 0);
        if self.stage == Stage::Answering {
            self.enter(Stage::Closing, now);
            if self.stream.shutdown(std::net::Shutdown::Write).is_err() {
                return Next::Close;
            }
        }
        if self.stage == Stage::Closing && self.has_sent_all { Next::Close } else { Next::Wait }
    }
}
