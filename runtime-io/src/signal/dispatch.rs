//! The process's side of signals: the handlers, the teller, and the drivers that listen to it.
//!
//! Signals are the process's, so this is global. What there is of it:
//!
//! - [`DRIVERS`]: all drivers of the process, from their making to their shutdown.
//! - [`CENTRE`]: the [`Table`], and the *teller*, a pair of sockets of which the handlers write one and the drivers
//!   listen to the other. It is made when the process first listens for a signal, and stays. From then on each driver
//!   listens to the teller; until then a runtime costs an entry in a list, and no descriptor.
//! - a handler for each number that was ever listened for. It is installed once and stays for the life of the process,
//!   also when there is no listener any more: the default action (to end the process, mostly) does not come back.
//!   Handlers that were there before are called as well, by signal-hook-registry.
//!
//! A process that forks without `exec` shares the teller with its parent. The child's handlers write into it, but set
//! their own flags, so the parent's drivers look in vain, which is harmless; but the child's drivers may miss bytes
//! that the parent's take out. (A fork that goes on to `exec`, as all here do, closes the teller.) The pollers of the
//! parent's drivers are shared as well: a child that drops them leaves the teller in them.
//!
//! `table.rs` has the protocol.
#![allow(unsafe_code, reason = "installs a signal handler, whose code must be such as may run in one")]

use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Weak};

use runtime_core::primitive::{Mutex, OnceLock};
use slab::Slab;

use super::table::{Listener, Table};
use crate::driver::Handle;
use crate::readiness::WakeBatch;
use crate::shut_down;

/// How many numbers of signals there can be: no Unix has more than 128, which are numbered from 1.
const NUMBERS: usize = 129;

/// All drivers of the process that are not shut down.
static DRIVERS: Mutex<Slab<Entry>> = Mutex::new(Slab::new());

/// Set once, under the lock of [`DRIVERS`].
static CENTRE: OnceLock<Centre> = OnceLock::new();

/// One of the drivers.
struct Entry {
    driver: Weak<Handle>,
    listens: bool,
}

impl Entry {
    /// Has the driver listen to the teller, if it does not yet.
    fn listen(&mut self, centre: &Centre) -> io::Result<()> {
        if !self.listens {
            // It is there, or else somebody is about to take out the entry.
            if let Some(driver) = self.driver.upgrade() {
                driver.listen_for_signals(centre.receiver.as_raw_fd())?;
            }
            self.listens = true;
        }
        Ok(())
    }
}

/// What the process has of signals once it listens for any.
struct Centre {
    table: Arc<Table>,
    /// The handlers' side of the teller.
    sender: UnixStream,
    /// The drivers' side of the teller.
    receiver: UnixStream,
    /// The numbers that have a handler, a bit each.
    handled: Mutex<[u64; NUMBERS.div_ceil(64)]>,
}

impl Centre {
    fn new() -> io::Result<Self> {
        let (sender, receiver) = UnixStream::pair()?;
        sender.set_nonblocking(true)?;
        receiver.set_nonblocking(true)?;
        Ok(Self { table: Arc::new(Table::new(NUMBERS)), sender, receiver, handled: Mutex::new(Default::default()) })
    }

    /// What the handler does. It runs in the middle of anything, so it must not lock, allocate or panic.
    fn note(&self, number: usize) {
        self.table.note(number);
        // If there is no room, there is something in it, which says the same.
        let _ = (&self.sender).write(&[0]);
    }

    /// Installs the handler for a number, unless it is there.
    fn handle(&'static self, number: usize) -> io::Result<()> {
        let mut handled = self.handled.lock();
        let (word, bit) = (&mut handled[number / 64], 1 << (number % 64));
        if *word & bit == 0 {
            let raw = libc::c_int::try_from(number).expect("checked against the table, which is small");
            // SAFETY: `note` sets a bit in memory that is never freed, and makes one system call that a handler may
            // make. Both indexes are within bounds, as the table has this number, so there is no panic.
            unsafe { signal_hook_registry::register(raw, move || self.note(number)) }?;
            *word |= bit;
        }
        Ok(())
    }
}

/// A driver's place among those that listen for signals. Dropping it ends that.
pub(crate) struct Member {
    key: usize,
    /// The process that it joined in.
    process: u32,
}

impl Member {
    /// Adds a driver.
    ///
    /// # Errors
    ///
    /// If the process listens for signals and the driver's poller does not take the teller.
    pub(crate) fn join(driver: &Arc<Handle>) -> io::Result<Self> {
        let mut drivers = DRIVERS.lock();
        let mut entry = Entry { driver: Arc::downgrade(driver), listens: false };
        if let Some(centre) = CENTRE.get() {
            entry.listen(centre)?;
        }
        Ok(Self { key: drivers.insert(entry), process: std::process::id() })
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        let entry = DRIVERS.lock().remove(self.key);
        // After a fork the poller is the parent's, too, which goes on listening.
        if self.process == std::process::id()
            && let Some((centre, driver)) = CENTRE.get().zip(entry.driver.upgrade())
            && entry.listens
        {
            driver.ignore_signals(centre.receiver.as_raw_fd());
        }
    }
}

/// Listens for the signals of a number, on behalf of somebody in the runtime of `driver`.
///
/// # Errors
///
/// If no signal has that number, or it is one that must not be handled; if the runtime has shut down; if the system
/// refuses the handler, or a descriptor for the teller.
pub(crate) fn listen(driver: &Arc<Handle>, number: libc::c_int) -> io::Result<Listener> {
    if signal_hook_registry::FORBIDDEN.contains(&number) {
        return Err(io::Error::other(format!("signal {number} cannot be listened for: no handler may return from it")));
    }
    let centre = centre(driver)?;
    let number = match usize::try_from(number) {
        Ok(number) if number > 0 && centre.table.has(number) => number,
        _ => return Err(io::Error::other(format!("there is no signal with the number {number}"))),
    };
    // First the listener: what comes once there is a handler will be heard.
    let listener = centre.table.listen(number);
    centre.handle(number)?;
    Ok(listener)
}

/// The centre, with all drivers listening, above all this one.
fn centre(driver: &Arc<Handle>) -> io::Result<&'static Centre> {
    let mut drivers = DRIVERS.lock();
    let centre = match CENTRE.get() {
        Some(centre) => centre,
        None => {
            let centre = Centre::new()?;
            CENTRE.get_or_init(|| centre)
        }
    };
    let mut own = Err(shut_down());
    for (_, entry) in &mut *drivers {
        let outcome = entry.listen(centre);
        if Weak::as_ptr(&entry.driver) == Arc::as_ptr(driver) {
            own = outcome;
        }
        // Another one may be refused: its runtime will hear of signals from others, and is asked again next time.
    }
    own.map(|()| centre)
}

/// Delivers the signals that have come to all listeners. Called by a driver when the teller has become readable.
pub(crate) fn deliver(wakes: &mut WakeBatch) {
    let Some(centre) = CENTRE.get() else { return };
    // All of it, so that the next byte is a new event; and before the flags are looked at.
    let mut bytes = [0; 128];
    loop {
        match (&centre.receiver).read(&mut bytes) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // Whatever else it may say than that it is empty: what the flags say is true in any case.
            Ok(0) | Err(_) => break,
            Ok(_) => {}
        }
    }
    centre.table.deliver(wakes);
}
