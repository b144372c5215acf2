//! [`Observed`]: a runtime that is served, and how it is read without ever being ended by the reader.
//!
//! A runtime's memory is freed by the last handle that is dropped, and with it the program's own values: hooks, and
//! what they have captured. Such a drop may block, or panic; it must not happen on the thread of a server. So the
//! server has no handle of its own. It *reads*: a [`Reading`] has a handle for as long as one answer takes.
//!
//! # Protocol
//!
//! A runtime's [`Registration`](crate::Registration) has a handle, too. One lock, the *gate*, orders the end of the
//! registration and the readings:
//!
//! - A reading begins under it, and only while the registration has not ended.
//! - The registration ends under it. If something is being read just then, it leaves its handle at the gate, and else
//!   drops it, on its own thread.
//! - A reading gives up its own handle first, and then says so under the lock. The last one takes what was left at the
//!   gate, and has a thread of its own drop that.
//!
//! So the handle of a reading is never the last one: as long as it is there, that of the registration is, either with
//! the registration or at the gate. The lock is held for some instructions, by both sides: nobody waits for a reading.

use std::ops::Deref;
use std::sync::Arc;
use std::thread;

use parking_lot::Mutex;
use runtime_core::runtime::{Handle, Id, WeakHandle};

use crate::reports::Reports;

/// A runtime that is served.
pub(crate) struct Observed {
    pub(crate) id: Id,
    pub(crate) reports: Arc<Reports>,
    runtime: WeakHandle,
    gate: Mutex<Gate>,
}

#[derive(Default)]
struct Gate {
    has_ended: bool,
    readings: usize,
    /// The registration's handle, if it ended while something was being read.
    left: Option<Handle>,
}

impl Observed {
    pub(crate) fn new(handle: &Handle, reports: Arc<Reports>) -> Arc<Self> {
        Arc::new(Self { id: handle.id(), reports, runtime: handle.downgrade(), gate: Mutex::default() })
    }

    /// Begins to read. `None` if the registration has ended.
    pub(crate) fn read(self: &Arc<Self>) -> Option<Reading> {
        let mut gate = self.gate.lock();
        if gate.has_ended {
            return None;
        }
        let handle = self.runtime.upgrade()?;
        gate.readings += 1;
        drop(gate);
        Some(Reading { observed: Arc::clone(self), handle: Some(handle) })
    }

    /// The registration ends. Called with its handle, on its thread.
    pub(crate) fn end(&self, handle: Handle) {
        let mut gate = self.gate.lock();
        gate.has_ended = true;
        if gate.readings > 0 {
            gate.left = Some(handle);
        } else {
            drop(gate);
            drop(handle);
        }
    }
}

/// A runtime, while an answer is made of it. What refers to the runtime, such as its metrics, must be gone before this.
pub(crate) struct Reading {
    observed: Arc<Observed>,
    /// Taken by the drop.
    handle: Option<Handle>,
}

impl Reading {
    pub(crate) fn reports(&self) -> &Reports {
        &self.observed.reports
    }
}

impl Deref for Reading {
    type Target = Handle;

    fn deref(&self) -> &Handle {
        self.handle.as_ref().expect("taken by the drop only")
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        // Before the gate hears of it: see the protocol.
        drop(self.handle.take());
        let mut gate = self.observed.gate.lock();
        gate.readings -= 1;
        let left = if gate.readings == 0 { gate.left.take() } else { None };
        drop(gate);
        if let Some(handle) = left {
            drop_elsewhere(handle);
        }
    }
}

/// Drops a handle that may be the last one, on a thread that nobody waits for.
fn drop_elsewhere(handle: Handle) {
    let place = Arc::new(Mutex::new(Some(handle)));
    let for_thread = Arc::clone(&place);
    let started = thread::Builder::new().name("rt-inspect-end".into()).spawn(move || {
        let handle = for_thread.lock().take();
        drop(handle);
    });
    // So that a handle that is dropped too late is the last one, and is noticed.
    #[cfg(test)]
    let started = started.map(thread::JoinHandle::join);
    if started.is_err() {
        // The closure is gone, but not the handle. Where no thread can be had, the memory of a runtime that has ended
        // is a small loss, and the program's code on this thread would be a large one.
        std::mem::forget(place.lock().take());
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Sender, channel};

    use rt::runtime::{Builder, Runtime};

    use super::*;

    /// Tells the name of the thread that drops it.
    struct Told(Sender<String>);

    impl Drop for Told {
        fn drop(&mut self) {
            let _ = self.0.send(thread::current().name().unwrap_or("another").to_owned());
        }
    }

    /// A runtime with a hook of the program's.
    fn runtime(told: Told) -> Runtime {
        Builder::new_current_thread()
            .on_thread_park(move || {
                let _ = &told;
            })
            .build()
            .unwrap()
    }

    #[test]
    fn the_last_handle_is_not_dropped_by_the_reader() {
        let (tell, told) = channel();
        let runtime = runtime(Told(tell));
        let (observed, handle) = (Observed::new(runtime.handle(), Arc::default()), runtime.handle().clone());
        let reading = observed.read().unwrap();
        drop(runtime);
        observed.end(handle);
        assert!(observed.read().is_none(), "a registration that has ended is not read");
        assert!(told.try_recv().is_err(), "the reading still has a handle");
        thread::Builder::new().name("reader".into()).spawn(move || drop(reading)).unwrap().join().unwrap();
        assert_eq!(told.recv().unwrap(), "rt-inspect-end");
    }

    #[test]
    fn without_a_reading_the_registration_drops_its_handle_itself() {
        let (tell, told) = channel();
        let runtime = runtime(Told(tell));
        let (observed, handle) = (Observed::new(runtime.handle(), Arc::default()), runtime.handle().clone());
        drop(observed.read().unwrap());
        drop(runtime);
        let ends = thread::Builder::new().name("owner".into()).spawn(move || observed.end(handle)).unwrap();
        ends.join().unwrap();
        assert_eq!(told.try_recv().unwrap(), "owner");
    }

    #[test]
    fn of_several_readings_the_last_one_ends_it() {
        let (tell, told) = channel();
        let runtime = runtime(Told(tell));
        let (observed, handle) = (Observed::new(runtime.handle(), Arc::default()), runtime.handle().clone());
        let (one, other) = (observed.read().unwrap(), observed.read().unwrap());
        drop(runtime);
        observed.end(handle);
        drop(one);
        assert!(told.try_recv().is_err());
        drop(other);
        assert_eq!(told.recv().unwrap(), "rt-inspect-end");
    }
}
