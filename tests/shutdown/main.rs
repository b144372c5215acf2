//! The end of a runtime, what outlives it, and what a wrong use of it leads to.

mod drops;
mod ends;
mod entangled;
#[cfg(unix)]
mod late;
mod lent;
mod local;
mod misuse;
mod outlive;
mod races;
mod while_busy;
