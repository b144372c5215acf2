//! The end of a runtime, what outlives it, and what happens to those who use it wrongly.

#[path = "../common/mod.rs"]
mod common;

mod ends;
mod misuse;
mod outlive;
mod while_busy;
