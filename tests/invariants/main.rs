//! The promises, one by one: `ARCHITECTURE.md` lists them. A test's name begins with the promise that it is for.
//!
//! Two promises have more tests elsewhere. I5, that nothing leaks, needs an allocator of its own: `tests/leaks`. What
//! concerns blocked workers beyond I7 is in `tests/blocked`. I8 and the thousand runtimes of I10 look at a whole
//! process, and have one to themselves.

#[cfg(target_os = "linux")]
mod i10_many_runtimes;
mod i10_separate;
mod i1_wakes;
mod i2_one_poll;
mod i3_no_idle_worker;
mod i3_yielding_workers;
mod i4_bounded_wait;
mod i4_coop_budget;
mod i4_from_outside;
mod i4_long_polls;
mod i4_main_future_and_drivers;
mod i5_drops;
mod i5_panicking_drops;
mod i6_never_early;
mod i7_blocked_workers;
#[cfg(target_os = "linux")]
mod i8_idle;
mod i9_limits;
