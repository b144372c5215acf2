//! The drivers that the features bring: sockets, and timers on top of them.
//!
//! Called by the builder. Without a feature there is no such driver: to enable it enables nothing.

use std::io;
use std::sync::Arc;

use runtime_core::clock::Clock;
use runtime_core::driver::DriverStack;

/// Waits for sockets, where the bare thread waited.
#[cfg(feature = "net")]
pub(super) fn add_io(
    drivers: &mut DriverStack,
    slots: usize,
    events: usize,
    busy_events: Option<usize>,
) -> io::Result<()> {
    let (mut driver, handle) = runtime_io::Driver::new(slots, events)?;
    if let Some(events) = busy_events {
        driver.limit_busy_events(events);
    }
    drivers.driver = Box::new(driver);
    drivers.unpark = handle.unpark_handle();
    drivers.io = Some(Box::new(handle));
    Ok(())
}

#[cfg(not(feature = "net"))]
pub(super) fn add_io(
    _: &mut DriverStack,
    _slots: usize,
    _events: usize,
    _busy_events: Option<usize>,
) -> io::Result<()> {
    Ok(())
}

/// Waits for timers, and lets what was there wait for the rest.
#[cfg(feature = "time")]
pub(super) fn add_time(drivers: &mut DriverStack, slots: usize, clock: &Arc<Clock>) {
    let below = std::mem::replace(drivers, DriverStack::bare());
    let (driver, handle) = runtime_time::driver::Driver::new(below.driver, below.unpark, Arc::clone(clock), slots);
    drivers.driver = Box::new(driver);
    drivers.unpark = handle.unpark_handle();
    drivers.io = below.io;
    drivers.time = Some(Box::new(handle));
}

#[cfg(not(feature = "time"))]
pub(super) fn add_time(_: &mut DriverStack, _slots: usize, _: &Arc<Clock>) {}
