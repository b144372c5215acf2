//! The server as its clients see it: by hand, in a browser, and by Prometheus. A program that is not installed is not
//! looked for any further: such a test says so, and passes.

mod answers;
mod browser;
mod client;
mod clients;
mod page;
mod prometheus;
mod traces;
