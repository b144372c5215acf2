//! The server as its clients see it: by hand and in a browser. A program that is not installed is not
//! looked for any further: such a test says so, and passes.

mod answers;
mod browser;
mod client;
mod clients;
mod page;
mod traces;
