//! [`Connection`]: one client, from its first byte to the last, without ever waiting for it.

use std::io::{self, Read, Write};
use std::time::{Duration, Instant};

use mio::net::TcpStream;

use crate::request::{MAX_HEAD, Refusal, Request};

/// How long a client may take for its request, for reading any of its answer, and for closing after that.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// A client.
pub(crate) struct Connection {
    pub(crate) stream: TcpStream,
    stage: Stage,
    /// When it last made progress.
    pub(crate) progress: Instant,
    read: Vec<u8>,
    out: Vec<u8>,
    written: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// It sends its request.
    Reading,
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
    pub(crate) fn new(stream: TcpStream, now: Instant) -> Self {
        Self { stream, stage: Stage::Reading, progress: now, read: Vec::new(), out: Vec::new(), written: 0 }
    }

    pub(crate) fn is_reading(&self) -> bool {
        self.stage == Stage::Reading
    }

    pub(crate) fn is_for_events(&self) -> bool {
        self.stage == Stage::Events
    }

    /// Whether the client has taken too long. One that waits for events has not while it has got all that there were.
    pub(crate) fn is_late(&self, now: Instant) -> bool {
        let waits_for_us = self.stage == Stage::Events && self.out.is_empty();
        !waits_for_us && now.saturating_duration_since(self.progress) > PATIENCE
    }

    /// Goes on as far as it goes without waiting.
    pub(crate) fn advance(&mut self, now: Instant) -> Next {
        match self.receive(now) {
            Ok(true) => {}
            Ok(false) | Err(_) if self.stage != Stage::Answering => return Next::Close,
            Ok(false) => {}
            Err(_) => return Next::Close,
        }
        if self.stage == Stage::Reading {
            return match Request::parse(&self.read) {
                Ok(None) => Next::Wait,
                Ok(Some(request)) => Next::Answer(Ok(request)),
                Err(refusal) => Next::Answer(Err(refusal)),
            };
        }
        self.send(now)
    }

    /// Reads what there is. False at the end of what the client sends. Beyond the request nothing is kept.
    fn receive(&mut self, now: Instant) -> io::Result<bool> {
        let mut buffer = [0; 4096];
        // A client that sends without end is not read without end: the rest stays for the next turn of the server.
        for _ in 0..16 {
            match self.stream.read(&mut buffer) {
                Ok(0) => return Ok(false),
                Ok(n) if self.stage == Stage::Reading => {
                    // Progress is a complete request: a client must not stay by sending a byte now and then.
                    let room = MAX_HEAD.saturating_sub(self.read.len());
                    self.read.extend(&buffer[..n.min(room)]);
                    if room <= n {
                        return Ok(true);
                    }
                }
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(true),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        let _ = now;
        Ok(true)
    }

    /// Begins an answer, or a stream of events.
    pub(crate) fn answer(&mut self, bytes: Vec<u8>, is_for_events: bool, now: Instant) -> Next {
        self.stage = if is_for_events { Stage::Events } else { Stage::Answering };
        (self.out, self.written, self.progress, self.read) = (bytes, 0, now, Vec::new());
        self.send(now)
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
            self.stage = Stage::Closing;
            if self.stream.shutdown(std::net::Shutdown::Write).is_err() {
                return Next::Close;
            }
        }
        Next::Wait
    }
}
