//! The end of a runtime, what outlives it, and what happens to those who use it wrongly.

mod drops;
mod ends;
mod entangled;
#[cfg(unix)]
mod late;
mod local;
mod misuse;
mod outlive;
mod races;
mod while_busy;
