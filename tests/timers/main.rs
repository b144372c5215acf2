//! Sleeping, intervals, timeouts and the clock, through the facade. I6 is in `never_early.rs`.

mod never_early;
mod paused;
mod reset_and_cancel;
