//! `rt::test_util`: what helps tests, tested on both sides. What it is to notice it notices, with the text and the
//! place that lead to the cause.

mod assertions;
mod io;
mod task;
