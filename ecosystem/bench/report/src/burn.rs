//! A neighbour that takes a processor: this program again, with an argument.

use std::process::Command;
use std::{env, hint, io};

use crate::process::Ended;

const BURN: &str = "--burn";

/// Burns a processor until the process is ended, if the arguments say so.
pub(crate) fn burn_if_told() {
    if env::args().nth(1).is_some_and(|argument| argument == BURN) {
        loop {
            hint::black_box(());
        }
    }
}

/// Burns one in a process of its own, until that is dropped.
pub(crate) fn start() -> io::Result<Ended> {
    Command::new(env::current_exe()?).arg(BURN).spawn().map(Ended)
}
