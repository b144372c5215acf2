//! Sleeping, intervals, timeouts and the clock, through the facade. (That no timer is early: I6 in `tests/invariants`.)

mod delay_queue;
mod paused;
mod reset_and_cancel;
