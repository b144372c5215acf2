//! The invariants I1 to I5, I9 and I10, each in a file of its own. (I6 is in `timers/never_early.rs`, I7 in
//! `blocked/`. I8 is in `idle.rs`, the leaks of I5 in `leaks/`, what a thousand runtimes leave behind in `many_runtimes.rs`: they look at the whole process, and have it to
//! themselves.)

mod i10_separate;
mod i1_wakes;
mod i2_one_poll;
mod i3_no_idle_worker;
mod i4_bounded_wait;
mod i4_from_outside;
mod i4_long_polls;
mod i4_other_waits;
mod i5_drops;
mod i5_panicking_drops;
mod i9_limits;
