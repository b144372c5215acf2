//! The server as its clients see it.

mod answers;
mod client;
mod clients;
mod traces;
