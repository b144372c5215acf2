//! The servers of the process, and the runtimes that each serves.
//!
//! # How a server starts and ends
//!
//! One lock guards the list of all servers and, for each, the number of its users: runtimes that are registered, or are
//! being made. Only under it does a server come into the list, with its socket bound and its thread started, and only
//! under it does the thread, when it has no user left, close the socket and take the server out. So a thread that finds
//! a server in the list may count itself as a user, and the server goes on; and one that finds none can bind the
//! address, because the socket of the one before is closed. Dropping a [`Registration`] wakes the thread, and waits for
//! nobody.

use std::io;
use std::net::SocketAddr;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use mio::Waker;
use parking_lot::Mutex;
use runtime_core::runtime::{Config, Handle};

use crate::observed::{Observed, Reading};
use crate::recording::Written;
use crate::reports::Reports;
use crate::server::Server;
use crate::settings::{ADDRESS_VAR, Settings, from_environment, tell};
use crate::token::Token;

/// All servers of the process.
static SERVERS: Mutex<Vec<Arc<Shared>>> = Mutex::new(Vec::new());

/// What the thread of a server shares with its users.
pub(crate) struct Shared {
    /// What was asked for, which is how the next runtime finds the server.
    requested: SocketAddr,
    /// What it listens at.
    pub(crate) address: SocketAddr,
    pub(crate) token: Option<Token>,
    waker: Waker,
    /// Changed under the lock of [`SERVERS`] only.
    users: AtomicUsize,
    runtimes: Mutex<Vec<Arc<Observed>>>,
    /// Traces that were written, for the thread to send.
    written: Mutex<Vec<Written>>,
}

impl Shared {
    /// The runtimes, in the order in which they were registered. They are gone again at the end of the answer.
    pub(crate) fn read_runtimes(&self) -> Vec<Reading> {
        let observed = self.runtimes.lock().clone();
        observed.iter().filter_map(Observed::read).collect()
    }

    /// Has the thread send what was written.
    pub(crate) fn hand_over(&self, written: Written) {
        self.written.lock().push(written);
        // Should this fail, the thread looks by itself within a second: it has a client.
        let _ = self.waker.wake();
    }

    pub(crate) fn take_written(&self) -> Vec<Written> {
        std::mem::take(&mut self.written.lock())
    }

    /// Called by the thread of the server. If nobody uses it any more, closes its socket, by dropping `listener`, and
    /// takes the server out of the list.
    pub(crate) fn end_if_unused<T>(self: &Arc<Self>, listener: &mut Option<T>) -> bool {
        let mut servers = SERVERS.lock();
        if self.users.load(Ordering::Relaxed) > 0 {
            return false;
        }
        *listener = None;
        servers.retain(|server| !Arc::ptr_eq(server, self));
        true
    }
}

/// A server that listens, for a runtime that is about to be made.
pub struct Prepared {
    server: User,
    reports: Arc<Reports>,
}

/// A runtime that can be looked into until this is dropped. It has a handle of the runtime: so its owner is to drop it
/// when the runtime has been shut down.
pub struct Registration {
    server: User,
    observed: Arc<Observed>,
    /// Taken by the drop.
    handle: Option<Handle>,
}

/// One of those for whom a server runs.
struct User(Arc<Shared>);

impl Drop for User {
    fn drop(&mut self) {
        let servers = SERVERS.lock();
        let is_last = self.0.users.fetch_sub(1, Ordering::Relaxed) == 1;
        drop(servers);
        if is_last {
            // Should this fail, the thread looks by itself within a second.
            let _ = self.0.waker.wake();
        }
    }
}

/// Finds or starts the server for an address.
///
/// # Errors
///
/// If the address cannot be bound, if the server that listens there asks for another token, or if the operating system
/// refuses a thread.
pub fn prepare(settings: &Settings) -> io::Result<Prepared> {
    let (server, news) = find_or_start(settings)?;
    // Not under the lock: stderr may be a pipe that is full and that nobody reads.
    if let Some(line) = news {
        tell(&line);
    }
    Ok(Prepared { server, reports: Arc::default() })
}

/// The server, and what the user is to be told of it if it is a new one.
fn find_or_start(settings: &Settings) -> io::Result<(User, Option<String>)> {
    let mut servers = SERVERS.lock();
    let found = servers.iter().find(|server| server.requested == settings.address).cloned();
    let (shared, news) = match found {
        Some(server) => {
            let is_same = match (&settings.token, &server.token) {
                (Some(asked), token) => token.as_ref().is_some_and(|token| token.is(asked.as_bytes())),
                (None, _) => true,
            };
            if !is_same {
                let message = format!("{} is looked into with another token already", settings.address);
                return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
            }
            (server, None)
        }
        None => {
            let (server, news) = start(settings)?;
            servers.push(Arc::clone(&server));
            (server, news)
        }
    };
    shared.users.fetch_add(1, Ordering::Relaxed);
    drop(servers);
    Ok((User(shared), news))
}

/// As [`prepare`], if `RT_INSPECT` asks for it. What is wrong is told on stderr, and keeps no program from running.
pub fn prepare_from_environment() -> Option<Prepared> {
    let settings = from_environment()?;
    prepare(&settings).map_err(|error| tell(&format!("{ADDRESS_VAR}: {error}"))).ok()
}

/// Binds the socket, and starts the thread. Called under the lock, so the thread does not end before it has a user.
fn start(settings: &Settings) -> io::Result<(Arc<Shared>, Option<String>)> {
    let at = |error: io::Error| io::Error::new(error.kind(), format!("cannot listen at {}: {error}", settings.address));
    let (poll, listener, waker) = Server::bind(settings.address).map_err(at)?;
    let address = listener.local_addr()?;
    let token = match &settings.token {
        Some(token) => Some(Token::new(token.clone())),
        None if settings.needs_token() => Some(Token::make()?),
        None => None,
    };
    let news = match &token {
        Some(token) if settings.token.is_none() => Some(format!("http://{address}/?token={}", token.as_str())),
        _ if settings.address.port() == 0 => Some(format!("http://{address}/")),
        _ => None,
    };
    let news = news.map(|place| format!("to look into the program: {place}"));
    let shared = Arc::new(Shared {
        requested: settings.address,
        address,
        token,
        waker,
        users: AtomicUsize::new(0),
        runtimes: Mutex::default(),
        written: Mutex::default(),
    });
    let server = Server::new(Arc::clone(&shared), poll, listener);
    thread::Builder::new().name("rt-inspect".into()).spawn(move || server.run())?;
    Ok((shared, news))
}

impl Prepared {
    /// Has the reports of blocked tasks kept, for the runtime that is made with this configuration.
    pub fn observe(&self, config: &mut Config) {
        config.on_blocked = Some(self.reports.hook(config.on_blocked.take()));
    }

    /// Serves a runtime from now on, until the registration is dropped.
    pub fn register(self, handle: &Handle) -> Registration {
        runtime_core::inspect::watch();
        let observed = Observed::new(handle, self.reports);
        self.server.0.runtimes.lock().push(Arc::clone(&observed));
        Registration { server: self.server, observed, handle: Some(handle.clone()) }
    }
}

impl Registration {
    /// The address that the server listens at.
    pub fn address(&self) -> SocketAddr {
        self.server.0.address
    }
}

// A runtime has one, and may be used after a panic: all that it can do with the server is to leave it.
impl UnwindSafe for Registration {}
impl RefUnwindSafe for Registration {}

impl Drop for Registration {
    fn drop(&mut self) {
        self.server.0.runtimes.lock().retain(|observed| !Arc::ptr_eq(observed, &self.observed));
        if let Some(handle) = self.handle.take() {
            self.observed.end(handle);
        }
    }
}

impl std::fmt::Debug for Prepared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Prepared").field("address", &self.server.0.address).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Registration {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Registration")
            .field("address", &self.address())
            .field("id", &self.observed.id)
            .finish_non_exhaustive()
    }
}
